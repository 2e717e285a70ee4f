import { PhiError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { AgentEndEvent, AgentEvent } from '../../contract/run/event.ts'
import { bodyOf } from '../shared/encoding.ts'
import type { UiChunk, UiFinishReason, UiMetadata } from './ui-message.ts'

/** How a run ended, where that says why its answer did. */
export const reasons: Partial<Record<AgentEndEvent['status'], UiFinishReason>> = {
  error: 'error',
  rejected: 'error',
  aborted: 'interrupted',
  limit: 'other',
  paused: 'tool-calls',
}

/** Why an answer ended, after the model's last stop. */
export function finishReasonOf(stopReason: AssistantMessage['stopReason']): UiFinishReason {
  if (stopReason === 'length') return 'length'
  if (stopReason === 'toolUse') return 'tool-calls'
  return stopReason === 'guardRail' ? 'content-filter' : 'stop'
}

/** What an answer is told of the end of its run. */
export function endingOf({ status, totalUsage, costUsd }: AgentEndEvent): Partial<UiMetadata> {
  return { status, ...(totalUsage !== undefined && { totalUsage }), ...(costUsd !== undefined && { totalCostUsd: costUsd }) }
}

/** An event without a counterpart, for `onData` of the page. */
export function noteOf(event: AgentEvent): UiChunk {
  return { type: `data-phi-${event.type}`, data: bodyOf(event), transient: true }
}

/** Whether a run that has ended waits for what a page of this protocol may say. */
export function asksPage({ status, pendingApprovals = [], pendingClientCalls = [] }: AgentEndEvent): boolean {
  return status === 'paused' && (pendingApprovals.length > 0 || pendingClientCalls.some(({ subAgent }) => subAgent === undefined))
}

/** What a page is told of events that could not be read on. Errors that are not ours are not shown. */
export function failureText(error: unknown): string {
  return PhiError.isInstance(error) ? error.message : 'The events of the run could not be read on.'
}
