import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { escapeControls, type RunState } from '../../../../src/store.ts'
import { RemedyButton } from '../../notices/remedy-button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import type { Why } from '../../state/log/why-ended.ts'
import { topicOf } from '../../state/notices/failure-words.ts'
import type { Remedy } from '../../state/notices/remedies.ts'
import { type NetworkCause, networkCause, networkCauses } from './network-cause.ts'
import { askedToWaitUntil, WaitUntil } from './wait-until.tsx'

interface EndingProps {
  why: Why
  state: RunState
  /** The model's URL. Absent if unknown. */
  modelUrl: string | undefined
  /** Absent if sending is disabled. */
  onRemedy: ((remedy: Remedy) => void) | undefined
  /** Whether the agent runs in this page, with its settings. */
  hasSettings: boolean
}

/** The end of the last run: the error, and possible actions. */
export function Ending({ why, state, modelUrl, onRemedy, hasSettings }: EndingProps) {
  const { failure, retries } = state
  const remedies = why.remedies.filter((remedy) => hasSettings || remedy !== 'schema')
  const until = askedToWaitUntil(state)
  const tries = failure !== undefined && retries > 0 ? ` It was tried ${retries + 1} times.` : ''
  return (
    <div class={why.isFailure ? 'failure' : 'notice'} role={why.isFailure ? 'alert' : undefined} data-testid={idOf(state)}>
      <p>
        <strong>{failure === undefined ? why.word : topicOf(failure)}</strong> {escapeControls(why.text)}
        {tries}
      </p>
      {until !== undefined && <WaitUntil time={until} />}
      {failure !== undefined && <Cause failure={failure} modelUrl={modelUrl} />}
      <span class="failure-actions">
        {onRemedy && remedies.map((remedy) => <RemedyButton key={remedy} remedy={remedy} onClick={() => onRemedy(remedy)} />)}
        {failure !== undefined && <CopyButton label="Copy the error" text={() => JSON.stringify(failure, undefined, 2)} />}
      </span>
    </div>
  )
}

function idOf({ status }: RunState): string {
  return status === 'rejected' ? 'rejection' : 'ending'
}

/** The cause of a failed request, which the browser hides. */
function Cause({ failure, modelUrl }: { failure: NonNullable<RunState['failure']>; modelUrl: string | undefined }) {
  const cause = useSignal<NetworkCause | undefined>(undefined)
  useEffect(() => {
    if (failure.code !== 'network' || modelUrl === undefined || !/could not be reached/.test(failure.message)) return
    let isLooking = true
    void networkCause(modelUrl).then((found) => {
      if (isLooking) cause.value = found
    })
    const onBack = () => {
      if (cause.value === 'offline') cause.value = 'back'
    }
    addEventListener('online', onBack)
    return () => {
      isLooking = false
      removeEventListener('online', onBack)
    }
  }, [failure, modelUrl])
  return cause.value === undefined ? null : <p data-testid="network-cause">{networkCauses[cause.value]}</p>
}
