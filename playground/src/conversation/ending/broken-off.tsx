import type { RunState } from '../../../../src/store.ts'
import { keepPlace } from '../../parts/keep-place.ts'

/** A stored conversation whose last message still waits for an answer. */
export function BrokenOff({ state, onGoOn }: { state: RunState; onGoOn: (() => void) | undefined }) {
  if (state.runId !== undefined || state.status !== 'idle' || !isUnanswered(state)) return null
  return (
    <div class="notice broken-off" data-testid="broken-off">
      <p>The page ended before the answer did. What you see was kept.</p>
      {onGoOn !== undefined && (
        <button type="button" class="small" onClick={keepPlace(onGoOn)}>
          Go on
        </button>
      )}
    </div>
  )
}

/** Whether the model has something to say: to a question, to results, to calls that nobody is asked about, or to the end of what it was saying. */
function isUnanswered({ messages, approvals }: RunState): boolean {
  // A mark such as that of interrupted calls is no part of what was said.
  const last = messages.findLast(({ role }) => role !== 'extension')
  if (last?.role === 'user' || last?.role === 'toolResult') return true
  if (last?.role !== 'assistant') return false
  return last.message?.role !== 'assistant' || (last.message.stopReason === 'toolUse' && approvals.length === 0)
}
