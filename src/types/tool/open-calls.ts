import { isJsonObject } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { PendingApproval, PendingClientCall } from '../../contract/run/run-facts.ts'
import { fits } from '../../contract/shape/read.ts'
import { editedArguments } from '../../contract/tool/edited-arguments.ts'

/**
 * Kinds of extension messages that list the last response's unfinished calls. Their data is `{ toolCallIds: string[] }`. Never sent to a
 * model.
 *
 * - `approvalPaused`: a run ended `paused`. `pendingApprovals` and `pendingClientCalls` list the requested calls. Other calls were held
 *   back.
 * - `callsInterrupted`: the process ended before these calls started, or while idempotent calls were running.
 */
const openCallKinds = ['approvalPaused', 'callsInterrupted']

/** Returns the ids of calls that `message` lists as open, or an empty list for other messages. */
export function openCallsOf(message: AgentMessage): string[] {
  if (message.role !== 'extension' || !openCallKinds.includes(message.kind)) return []
  const { data } = message
  const ids = data !== null && typeof data === 'object' && 'toolCallIds' in data ? data.toolCallIds : []
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
}

/** Returns the pending approvals stored in `message`, or an empty list for other messages. */
export function shownApprovalsOf(message: AgentMessage): PendingApproval[] {
  return shownIn(message, 'pendingApprovals')
}

/** Returns the pending client tool calls stored in `message`, or an empty list for other messages. */
export function shownClientCallsOf(message: AgentMessage): PendingClientCall[] {
  return shownIn(message, 'pendingClientCalls')
}

function shownIn(message: AgentMessage, list: 'pendingApprovals' | 'pendingClientCalls'): PendingClientCall[] {
  if (message.role !== 'extension' || message.kind !== 'approvalPaused') return []
  const shown: unknown = Object(message.data)[list]
  return Array.isArray(shown) ? shown.flatMap((value) => pendingCall(value)) : []
}

function pendingCall(value: unknown): PendingClientCall[] {
  const found: Partial<Record<keyof PendingClientCall | 'arguments', unknown>> = Object(value)
  // Histories before 0.1.0 use the key `arguments`.
  const { toolCallId, toolName, args = found.arguments, argumentsHash, edited } = found
  if (typeof toolCallId !== 'string' || typeof toolName !== 'string' || typeof argumentsHash !== 'string' || !isJsonObject(args)) return []
  return [{ toolCallId, toolName, args, argumentsHash, ...(fits(editedArguments, edited) && { edited }) }]
}

/**
 * Kind of the extension message that stores a background report if the run ended before the model received the report. The data is `{
 * message }`. Never sent to a model.
 */
export const keptReportKind = 'backgroundReport'

/** A background task whose report the model has not received. */
export interface OpenBackground {
  readonly backgroundId: string
  readonly toolName: string
  /** Stored report message, if any. */
  readonly kept: unknown
}

/** Returns the background tasks of a history that were never reported, in order. */
export function openBackground(messages: readonly AgentMessage[]): OpenBackground[] {
  const open = new Map<string, OpenBackground>()
  for (const message of messages) {
    if (message.role === 'toolResult') {
      const { backgroundId, toolName } = message
      if (backgroundId !== undefined) open.set(backgroundId, { backgroundId, toolName, kept: undefined })
    } else if (message.role === 'user') {
      if (message.provenanceHint?.kind === 'background') open.delete(message.provenanceHint.backgroundId)
    } else if (message.role === 'extension' && message.kind === keptReportKind) keep(open, message.data)
  }
  return [...open.values()]
}

function keep(open: Map<string, OpenBackground>, data: unknown): void {
  const { message }: { message?: unknown } = Object(data)
  const { provenanceHint }: { provenanceHint?: unknown } = Object(message)
  const { backgroundId }: { backgroundId?: unknown } = Object(provenanceHint)
  const begun = typeof backgroundId === 'string' ? open.get(backgroundId) : undefined
  if (begun !== undefined) open.set(begun.backgroundId, { ...begun, kept: message })
}
