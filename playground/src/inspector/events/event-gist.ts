import type { AgentEvent } from '../../../../src/index.ts'
import { plural } from '../../parts/figures.ts'
import { kindWords, runWords, speakerOf, toolWords } from '../../state/log/run-words.ts'
import { topicOf } from '../../state/notices/failure-words.ts'

const triggers = { user: 'begun by you', subAgent: 'begun by an agent', continuation: 'continued', branch: 'branch' } as const

/** Summarizes an event. */
export function gist(event: AgentEvent): string {
  switch (event.type) {
    case 'agentStart':
      return `${kindWords[event.continuationKind.kind]} · ${event.configSnapshot.name}`
    case 'agentEnd':
      return runWords[event.status]
    case 'turnStart':
      return `turn ${event.turnIndex} · ${triggers[event.triggeredBy]}`
    case 'turnEnd':
      return `turn ${event.turnIndex} · ${event.usage.totalTokens} tok`
    case 'messageStart':
    case 'messageEnd':
      return event.message.role === 'extension' ? event.message.role : speakerOf(event.message)
    case 'messageUpdate':
      return 'delta' in event.delta ? JSON.stringify(event.delta.delta) : event.delta.type
    case 'toolExecutionStart':
    case 'toolExecutionUpdate':
    case 'approvalRequested':
      return event.toolName
    case 'toolExecutionEnd':
      if (event.outcome === 'unknown') return `${event.toolName}: ${toolWords.unknown}`
      return `${event.toolName} ${event.isError ? 'failed' : 'done'}`
    case 'backgroundStart':
      return `${event.backgroundId}: ${event.task}`
    case 'backgroundEnd':
      return `${event.backgroundId} ${event.isError ? 'failed' : 'done'}`
    case 'progressMessage':
      return event.text
    case 'data':
      return `${event.name} ${JSON.stringify(event.value)}`
    case 'approvalResolved':
      return event.approved ? 'approved' : toolWords.denied
    case 'inputRequested':
      return event.message
    case 'inputResolved':
      return event.action
    case 'providerRetry':
      return `${topicOf(event.error)}, attempt ${event.attempt} in ${event.delayMs} ms`
    case 'inputRejected':
      return event.reason
    case 'turnRequest':
      return `${plural(event.request.messages.length, 'message')} to ${event.request.modelId}`
    case 'compactionStarted':
      return plural(event.messageCount, 'message')
    case 'compactionEnded':
      return `${event.estimatedTokensBefore} → ${event.estimatedTokensAfter} tokens`
    case 'prunApplied':
      return plural(event.messagesRemoved, 'message')
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

/** Returns the turn or call that an event belongs to. */
export function targetOf(event: AgentEvent, turnIndex: number): { loopId: string; turnIndex: number; toolCallId?: string } {
  const { loopId } = event
  return 'toolCallId' in event ? { loopId, turnIndex, toolCallId: event.toolCallId } : { loopId, turnIndex }
}
