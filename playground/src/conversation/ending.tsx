import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { escapeControls, type RunState } from '../../../src/store/index.ts'
import { RemedyButton } from '../notices/remedy-button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import type { Remedy } from '../state/desk/remedies.ts'
import { type NetworkCause, networkCause, networkCauses } from './network-cause.ts'
import { askedToWaitUntil, WaitUntil } from './wait-until.tsx'
import { whyEnded } from './why-ended.ts'

interface EndingProps {
  state: RunState
  /** Where the model was asked; absent where that is not known here. */
  modelUrl: string | undefined
  /** Absent where nothing can be said. */
  onRemedy: ((remedy: Remedy) => void) | undefined
}

/** How the last run ended, where that needs saying: what failed, in the words of who refused, and what can be done. */
export function Ending({ state, modelUrl, onRemedy }: EndingProps) {
  const why = state.status === 'running' ? undefined : whyEnded(state)
  if (why === undefined) return null
  const { failure, retries } = state
  const until = askedToWaitUntil(state)
  const tries = failure !== undefined && retries > 0 ? ` It was tried ${retries + 1} times.` : ''
  return (
    <div class={why.isFailure ? 'failure' : 'notice'} role={why.isFailure ? 'alert' : undefined} data-testid={idOf(state)}>
      <p>
        <strong>{failure?.code ?? why.word}</strong> {escapeControls(why.text)}
        {tries}
      </p>
      {until !== undefined && <WaitUntil time={until} />}
      {failure !== undefined && <Cause failure={failure} modelUrl={modelUrl} />}
      <span class="failure-actions">
        {onRemedy && why.remedies.map((remedy) => <RemedyButton key={remedy} remedy={remedy} onClick={() => onRemedy(remedy)} />)}
        {failure !== undefined && <CopyButton label="Copy the error" text={() => JSON.stringify(failure, undefined, 2)} />}
      </span>
    </div>
  )
}

function idOf({ status }: RunState): string {
  return status === 'rejected' ? 'rejection' : 'ending'
}

/** What the browser did not say of a request that never came back. */
function Cause({ failure, modelUrl }: { failure: NonNullable<RunState['failure']>; modelUrl: string | undefined }) {
  const cause = useSignal<NetworkCause | undefined>(undefined)
  useEffect(() => {
    if (failure.code !== 'network' || modelUrl === undefined || !/could not be reached/.test(failure.message)) return
    let isLooking = true
    void networkCause(modelUrl).then((found) => {
      if (isLooking) cause.value = found
    })
    return () => {
      isLooking = false
    }
  }, [failure, modelUrl])
  return cause.value === undefined ? null : <p data-testid="network-cause">{networkCauses[cause.value]}</p>
}

/** A stored conversation whose last message still waits for an answer. */
export function BrokenOff({ state, onGoOn }: { state: RunState; onGoOn: (() => void) | undefined }) {
  if (state.runId !== undefined || state.status !== 'idle' || !isUnanswered(state)) return null
  return (
    <div class="notice broken-off" data-testid="broken-off">
      <p>The page ended before the answer did. What you see was kept.</p>
      {onGoOn !== undefined && (
        <button type="button" class="small" onClick={onGoOn}>
          Go on
        </button>
      )}
    </div>
  )
}

/** Whether the model has something to say: to a question, to results, to calls that nobody is asked about, or to the end of what it was saying. */
function isUnanswered({ messages, approvals }: RunState): boolean {
  const last = messages.at(-1)
  if (last?.role === 'user' || last?.role === 'toolResult') return true
  if (last?.role !== 'assistant') return false
  return last.message?.role !== 'assistant' || (last.message.stopReason === 'toolUse' && approvals.length === 0)
}
