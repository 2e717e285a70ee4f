import { PhiError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { AgentEndEvent, AgentEvent } from '../../contract/run/event.ts'
import { bodyOf } from '../shared/encoding.ts'
import type { UiChunk, UiFinishReason, UiMetadata } from './ui-message.ts'

/** Statuses of a run that explain the end of its response. */
export const reasons: Partial<Record<AgentEndEvent['status'], UiFinishReason>> = {
  error: 'error',
  rejected: 'error',
  aborted: 'interrupted',
  limit: 'other',
  paused: 'tool-calls',
}

/** Returns the finish reason of a response, from the last stop reason. */
export function finishReasonOf(stopReason: AssistantMessage['stopReason']): UiFinishReason {
  if (stopReason === 'length') return 'length'
  if (stopReason === 'toolUse') return 'tool-calls'
  return stopReason === 'guardRail' ? 'content-filter' : 'stop'
}

/** The end of a run as the client gets it. */
export function endingOf({ status, totalUsage, costUsd }: AgentEndEvent): Partial<UiMetadata> {
  return { status, ...(totalUsage !== undefined && { totalUsage }), ...(costUsd !== undefined && { totalCostUsd: costUsd }) }
}

/** An event without a counterpart, for `onData` of the client. */
export function noteOf(event: AgentEvent): UiChunk {
  return { type: `data-phi-${event.type}`, data: bodyOf(event), transient: true }
}

/** Returns whether an ended run waits for input that this protocol can send. */
export function asksPage({ status, pendingApprovals = [], pendingClientCalls = [] }: AgentEndEvent): boolean {
  return status === 'paused' && (pendingApprovals.length > 0 || pendingClientCalls.some(({ subAgent }) => subAgent === undefined))
}

/** Returns the client's text for a stream error. Foreign errors are not shown. */
export function failureText(error: unknown): string {
  return PhiError.isInstance(error) ? error.message : 'The events of the run could not be read on.'
}
