import type { RunState } from '../../../../src/store.ts'
import { keepPlace } from '../../parts/keep-place.ts'

/** A stored conversation whose last message has no response. */
export function BrokenOff({ state, onGoOn }: { state: RunState; onGoOn: (() => void) | undefined }) {
  if (state.runId !== undefined || state.status !== 'idle' || !isUnanswered(state)) return null
  return (
    <div class="notice broken-off" data-testid="broken-off">
      <p>The page closed before the response was complete. The partial response was saved.</p>
      {onGoOn !== undefined && (
        <button type="button" class="small" onClick={keepPlace(onGoOn)}>
          Go on
        </button>
      )}
    </div>
  )
}

/** Returns whether the model can respond to a prompt, to results or to calls without approval, or can continue a truncated response. */
function isUnanswered({ messages, approvals }: RunState): boolean {
  // A marker, such as the one for interrupted calls, is not a message.
  const last = messages.findLast(({ role }) => role !== 'extension')
  if (last?.role === 'user' || last?.role === 'toolResult') return true
  if (last?.role !== 'assistant') return false
  return last.message?.role !== 'assistant' || (last.message.stopReason === 'toolUse' && approvals.length === 0)
}
