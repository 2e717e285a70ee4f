import type { AgentEvent } from '../../../../src/index.ts'

/** What an event says, in a few words. */
export function gist(event: AgentEvent): string {
  switch (event.type) {
    case 'agentStart':
      return `${event.continuationKind.kind} · ${event.configSnapshot.name}`
    case 'agentEnd':
      return event.status
    case 'turnStart':
      return `turn ${event.turnIndex} · ${event.triggeredBy}`
    case 'turnEnd':
      return `turn ${event.turnIndex} · ${event.usage.totalTokens} tok`
    case 'messageStart':
    case 'messageEnd':
      return event.message.role
    case 'messageUpdate':
      return 'delta' in event.delta ? JSON.stringify(event.delta.delta) : event.delta.type
    case 'toolExecutionStart':
    case 'toolExecutionUpdate':
    case 'approvalRequested':
      return event.toolName
    case 'toolExecutionEnd':
      if (event.outcome === 'unknown') return `${event.toolName}: outcome unknown`
      return `${event.toolName} ${event.isError ? 'failed' : 'done'}`
    case 'backgroundStart':
      return `${event.backgroundId}: ${event.task}`
    case 'backgroundEnd':
      return `${event.backgroundId} ${event.isError ? 'failed' : 'done'}`
    case 'progressMessage':
      return event.text
    case 'approvalResolved':
      return event.approved ? 'approved' : 'denied'
    case 'inputRequested':
      return event.message
    case 'inputResolved':
      return event.action
    case 'providerRetry':
      return `${event.error.code}, attempt ${event.attempt} in ${event.delayMs} ms`
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
      return `${event.toolName}: ${event.event.type} ${gist(event.event)}`
    default:
      return ''
  }
}

/** Which turn or call an event is about. */
export function targetOf(event: AgentEvent, turnIndex: number): { loopId: string; turnIndex: number; toolCallId?: string } {
  const { loopId } = event
  return 'toolCallId' in event ? { loopId, turnIndex, toolCallId: event.toolCallId } : { loopId, turnIndex }
}
