import { useEffect, useState } from 'preact/hooks'
import type { RunState } from '../../../src/store.ts'
import { RemedyButton } from '../notices/remedy-button.tsx'
import { duration } from '../parts/figures.ts'

/** Milliseconds until a wait is shown, and until it is shown as unusually long. */
const [long, veryLong] = [10_000, 60_000]

/** Shows that the model has not started to respond, and for how long, while nothing else of the run is visible. */
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

/** Returns whether nothing of the run is visible because its model has not started to respond. */
function isWaiting({ status, live, retry, tools, approvals, inputs }: RunState): boolean {
  if (status !== 'running' || live !== undefined || retry !== undefined) return false
  // In this case the run is waiting for the user, and the request is shown elsewhere.
  if (approvals.length > 0 || inputs.length > 0) return false
  return Object.values(tools).every(({ result, status: at }) => result !== undefined || at === 'denied' || at === 'cancelled')
}
