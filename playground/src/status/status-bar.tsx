import { allMessages, type RunState } from '../../../src/store/index.ts'
import { RetryNotice } from './retry-notice.tsx'
import { ThemeToggle } from './theme-toggle.tsx'

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

/** Which model, what it is doing, and what it has used. */
export function StatusBar({ state, model }: { state: RunState; model: string }) {
  const { input, cacheRead, cacheWrite, output } = state.usage
  return (
    <header class="status-bar">
      <h1 class="brand">
        phi <span class="brand-sub">playground</span>
      </h1>
      <p class="model" title="No network, no key: the answers are scripted, everything around them is real.">
        <span class="badge">scripted</span> {model}
      </p>
      <p class="run-status" data-testid="run-status" data-status={state.status}>
        <span class="dot" aria-hidden="true" />
        {labels[state.status]}
      </p>
      <RetryNotice retry={state.retry} />
      <dl class="usage">
        <Figure name="turns" value={turnsIn(state)} />
        <Figure name="in" value={input + cacheRead + cacheWrite} unit="tok" />
        <Figure name="out" value={output} unit="tok" />
      </dl>
      <ThemeToggle />
    </header>
  )
}

/** Answers, not `state.turns`: those of a stored conversation were of other pages. */
function turnsIn(state: RunState): number {
  return allMessages(state).filter(({ role }) => role === 'assistant').length
}

function Figure({ name, value, unit = '' }: { name: string; value: number; unit?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value.toLocaleString('en')}
        {unit && <span class="unit"> {unit}</span>}
      </dd>
    </div>
  )
}
