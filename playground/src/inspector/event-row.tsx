import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { type AgentEvent, escapeControls } from '../../../src/index.ts'

/** One event: cursor, type, the gist; its JSON on opening. */
export function EventRow({ event }: { event: AgentEvent }) {
  const isOpen = useSignal(false)
  // Events never change, so neither does their row: a frame with a hundred new events renders a hundred rows, not all of them.
  return useMemo(
    () => (
      <li data-testid="event" data-type={event.type}>
        <details onToggle={(toggle) => (isOpen.value = toggle.currentTarget.open)}>
          <summary>
            <span class="seq">{event.seq}</span>
            <code class="type">{event.type}</code>
            <span class="gist">{escapeControls(gist(event))}</span>
          </summary>
          {isOpen.value && <pre>{escapeControls(JSON.stringify(event, undefined, 2))}</pre>}
        </details>
      </li>
    ),
    [event, isOpen.value],
  )
}

function gist(event: AgentEvent): string {
  switch (event.type) {
    case 'agentEnd':
      return event.status
    case 'turnStart':
    case 'turnEnd':
      return `turn ${event.turnIndex}`
    case 'messageStart':
    case 'messageEnd':
      return event.message.role
    case 'messageUpdate':
      return JSON.stringify(event.delta.delta)
    case 'toolExecutionStart':
    case 'toolExecutionUpdate':
    case 'approvalRequested':
      return event.toolName
    case 'toolExecutionEnd':
      return `${event.toolName} ${event.isError ? 'failed' : 'done'}`
    case 'progressMessage':
      return event.text
    case 'approvalResolved':
      return event.approved ? 'approved' : 'denied'
    case 'inputRequested':
      return event.message
    case 'inputResolved':
      return event.action
    case 'providerRetry':
      return event.error.code
    case 'inputRejected':
      return event.reason
    case 'turnRequest':
      return `${event.request.messages.length} messages to ${event.request.modelId}`
    case 'compactionStarted':
      return `${event.messageCount} messages`
    case 'compactionEnded':
      return `${event.estimatedTokensBefore} → ${event.estimatedTokensAfter} tokens`
    case 'prunApplied':
      return `${event.messagesRemoved} messages`
    case 'revertApplied':
      return `${event.category} to n${event.target}${event.applied ? '' : ', refused'}`
    case 'parallelLoopStart':
      return `${event.loopIds.length} branches`
    case 'parallelLoopEnd':
      return `branch ${event.selectedConfigIndex}`
    case 'childEvent':
      return `${event.toolName}: ${event.event.type}`
    default:
      return ''
  }
}
