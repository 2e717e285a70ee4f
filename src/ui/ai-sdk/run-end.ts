import { PhiError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { AgentEndEvent, AgentEvent } from '../../contract/run/event.ts'
import { bodyOf } from '../shared/encoding.ts'
import type { UiChunk, UiFinishReason, UiMetadata } from './ui-message.ts'

/** Finish reasons by run status. Other statuses use the last stop reason. */
export const reasons: Partial<Record<AgentEndEvent['status'], UiFinishReason>> = {
  error: 'error',
  rejected: 'error',
  aborted: 'interrupted',
  limit: 'other',
  paused: 'tool-calls',
}

/** Returns the finish reason for a stop reason. */
export function finishReasonOf(stopReason: AssistantMessage['stopReason']): UiFinishReason {
  if (stopReason === 'length') return 'length'
  if (stopReason === 'toolUse') return 'tool-calls'
  return stopReason === 'guardRail' ? 'content-filter' : 'stop'
}

/** Returns the metadata of an ended run. */
export function endingOf({ status, totalUsage, costUsd }: AgentEndEvent): Partial<UiMetadata> {
  return { status, ...(totalUsage !== undefined && { totalUsage }), ...(costUsd !== undefined && { totalCostUsd: costUsd }) }
}

/** Encodes an event without an equivalent, for the client's `onData`. */
export function noteOf(event: AgentEvent): UiChunk {
  return { type: `data-phi-${event.type}`, data: bodyOf(event), transient: true }
}

/** Returns whether an ended run waits for input that this protocol can send. */
export function asksPage({ status, pendingApprovals = [], pendingClientCalls = [] }: AgentEndEvent): boolean {
  return status === 'paused' && (pendingApprovals.length > 0 || pendingClientCalls.some(({ subAgent }) => subAgent === undefined))
}

/** Returns the error text for clients. Hides the text of third-party errors. */
export function failureText(error: unknown): string {
  return PhiError.isInstance(error) ? error.message : 'The event stream of the run failed.'
}
