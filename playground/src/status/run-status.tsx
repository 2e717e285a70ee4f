import { plural } from '../parts/figures.ts'
import type { AppState } from '../state/app/app-state.ts'
import { asksWord } from '../state/app/open-conversations.ts'
import { runWords } from '../state/log/run-words.ts'
import { whyEnded } from '../state/log/why-ended.ts'

/** The status of the current conversation and of background conversations. */
export function RunStatus({ appState, onAway }: { appState: AppState; onAway: () => void }) {
  const { state, race, sessionId, log, chat } = appState.current.value
  const isRacing = race.value?.isRunning === true
  const { approvals, inputs } = state.value
  const status = isRacing ? 'running' : state.value.status
  const isAsking = approvals.length > 0 || inputs.length > 0
  const why = isRacing ? undefined : whyEnded(state.value, log.misfits.value)
  const lost = chat.connection?.value
  const label = lost ?? (isAsking ? asksWord : (why?.word ?? runWords[status]))
  const away = [...appState.activity.value].filter(([id]) => id !== sessionId).map(([, doing]) => doing)
  const asking = away.filter(({ kind }) => kind === 'needsYou').length
  const running = away.filter(({ kind }) => kind === 'running').length
  return (
    <div class="run-states">
      <p
        class="run-status"
        data-testid="run-status"
        data-status={status}
        data-asks={isAsking || undefined}
        data-partial={lost || (status === 'completed' && why !== undefined && why.word !== runWords.completed) || undefined}
      >
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
