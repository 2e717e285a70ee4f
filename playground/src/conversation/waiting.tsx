import { useEffect, useState } from 'preact/hooks'
import type { RunState } from '../../../src/store.ts'
import { RemedyButton } from '../notices/remedy-button.tsx'
import { duration } from '../parts/figures.ts'

/** Milliseconds from which on a person wonders, and from which on something may be wrong. */
const [long, veryLong] = [10_000, 60_000]

/** Says that the model has not begun to answer, and for how long: nothing else can be seen of the run then. */
export function Waiting({ state, onStop }: { state: RunState; onStop: (() => void) | undefined }) {
  return isWaiting(state) ? <Clock key={state.turns.length} onStop={onStop} /> : null
}

function Clock({ onStop }: { onStop: (() => void) | undefined }) {
  const [waited, setWaited] = useState(0)
  useEffect(() => {
    const from = Date.now()
    const timer = setInterval(() => setWaited(Date.now() - from), 1000)
    return () => clearInterval(timer)
  }, [])
  return (
    <p class="waiting" data-testid="waiting">
      <span class="dot" aria-hidden="true" />
      <span>
        {waited < long
          ? 'Waiting for the model…'
          : `Waiting for the model for ${waited < veryLong ? `${Math.floor(waited / 1000)} s` : duration(waited)}…`}
        {waited >= veryLong &&
          ' A server that loads its model first, and a model that thinks, take long. What you write meanwhile is kept.'}
      </span>
      {waited >= long && onStop !== undefined && <RemedyButton remedy="stop" onClick={onStop} />}
    </p>
  )
}

/** Whether nothing can be seen of the run, because its model has not begun to answer. */
function isWaiting({ status, live, retry, tools, approvals, inputs }: RunState): boolean {
  if (status !== 'running' || live !== undefined || retry !== undefined) return false
  // Then a person is waited for, and the page says so where it asks.
  if (approvals.length > 0 || inputs.length > 0) return false
  return Object.values(tools).every(({ result, status: at }) => result !== undefined || at === 'denied' || at === 'cancelled')
}
