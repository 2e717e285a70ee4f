import type { RunState } from '../../../src/store/index.ts'
import { plural } from '../parts/figures.ts'
import type { Desk } from '../state/desk/desk.ts'
import { whyEnded } from '../state/log/why-ended.ts'

const labels: Record<RunState['status'], string> = {
  idle: 'Ready',
  running: 'Running',
  completed: 'Done',
  error: 'Failed',
  aborted: 'Stopped',
  limit: 'Limit reached',
  paused: 'Paused',
  rejected: 'Rejected',
}

/** What the conversation that is shown is doing, and what others do out of sight. */
export function RunStatus({ desk, onAway }: { desk: Desk; onAway: () => void }) {
  const { state, race, sessionId } = desk.current.value
  const isRacing = race.value?.isRunning === true
  const { approvals, inputs } = state.value
  const status = isRacing ? 'running' : state.value.status
  const isAsking = approvals.length > 0 || inputs.length > 0
  const label = isAsking ? 'Needs you' : (!isRacing && whyEnded(state.value)?.word) || labels[status]
  const away = [...desk.activity.value].filter(([id]) => id !== sessionId).map(([, doing]) => doing)
  const asking = away.filter((doing) => doing === 'needsYou').length
  const running = away.filter((doing) => doing === 'running').length
  return (
    <div class="run-states">
      <p class="run-status" data-testid="run-status" data-status={status} data-asks={isAsking || undefined}>
        <span class="dot" aria-hidden="true" />
        {label}
      </p>
      {asking + running > 0 && (
        <button type="button" class="small away" data-testid="away" data-asks={asking > 0 || undefined} onClick={onAway}>
          {asking > 0 ? `${asking} more ${asking === 1 ? 'needs' : 'need'} you` : `${plural(running, 'other')} running`}
        </button>
      )}
    </div>
  )
}
