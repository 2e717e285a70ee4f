import { escapeControls, type RunState } from '../../../src/store/index.ts'
import { CopyButton } from '../parts/copy-button.tsx'

/** How the last run ended, where that needs saying: what failed, and what can be done. */
export function Ending({ state, onRetry }: { state: RunState; onRetry: (() => void) | undefined }) {
  const { status, failure, rejection = '' } = state
  if (status === 'running') return null
  if (failure !== undefined) {
    return (
      <div class="failure" role="alert">
        <p>
          <strong>{failure.code}</strong> {escapeControls(failure.message)}
        </p>
        <span class="failure-actions">
          {onRetry !== undefined && (
            <button type="button" class="small" onClick={onRetry}>
              Try again
            </button>
          )}
          <CopyButton label="Copy the error" text={() => JSON.stringify(failure, undefined, 2)} />
        </span>
      </div>
    )
  }
  if (status === 'rejected') {
    return (
      <p class="failure" role="alert" data-testid="rejection">
        <strong>Rejected</strong> {escapeControls(rejection)}
      </p>
    )
  }
  if (status === 'limit') return <p class="notice">The run stopped at a limit. Send a message to go on.</p>
  return status === 'aborted' ? <p class="notice">Stopped. Nothing is lost: go on with a new message.</p> : null
}

/** A stored conversation whose last message still waits for an answer. */
export function BrokenOff({ state: { runId, messages }, onGoOn }: { state: RunState; onGoOn: (() => void) | undefined }) {
  const role = messages.at(-1)?.role
  if (runId !== undefined || (role !== 'user' && role !== 'toolResult')) return null
  return (
    <div class="notice broken-off" data-testid="broken-off">
      <p>The page ended before the answer did. Everything up to here was kept.</p>
      {onGoOn !== undefined && (
        <button type="button" class="small" onClick={onGoOn}>
          Go on
        </button>
      )}
    </div>
  )
}
