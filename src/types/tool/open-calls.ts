import { isJsonObject } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { PendingApproval, PendingClientCall } from '../../contract/run/run-facts.ts'

/**
 * Kinds of the extension messages that say which calls of the last answer still have to be run; their data is `{ toolCallIds: string[] }`.
 * Models never see them.
 *
 * - `approvalPaused`: a run ended `paused`; nobody has decided yet. `pendingApprovals` in its data are those that were shown to a person, `pendingClientCalls` those
 *   that were shown to pages; the others were held back.
 * - `callsInterrupted`: the process ended; these calls were not begun, or may be run twice without harm.
 */
const openCallKinds = ['approvalPaused', 'callsInterrupted']

/** The calls that `message` says are still to be run; none when it is something else. */
export function openCallsOf(message: AgentMessage): string[] {
  if (message.role !== 'extension' || !openCallKinds.includes(message.kind)) return []
  const { data } = message
  const ids = data !== null && typeof data === 'object' && 'toolCallIds' in data ? data.toolCallIds : []
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
}

/** The calls that were shown to a person, and nobody has decided about, as `message` keeps them; none when it is something else. */
export function shownApprovalsOf(message: AgentMessage): PendingApproval[] {
  return shownIn(message, 'pendingApprovals')
}

/** The calls that a page was to run, and that have no result, as `message` keeps them; none when it is something else. */
export function shownClientCallsOf(message: AgentMessage): PendingClientCall[] {
  return shownIn(message, 'pendingClientCalls')
}

function shownIn(message: AgentMessage, list: 'pendingApprovals' | 'pendingClientCalls'): PendingApproval[] {
  if (message.role !== 'extension' || message.kind !== 'approvalPaused') return []
  const shown: unknown = Object(message.data)[list]
  return Array.isArray(shown) ? shown.flatMap((value) => pendingCall(value)) : []
}

function pendingCall(value: unknown): PendingApproval[] {
  const found: Partial<Record<keyof PendingApproval | 'arguments', unknown>> = Object(value)
  // Histories before 0.1.0 say `arguments`.
  const { toolCallId, toolName, args = found.arguments, argumentsHash } = found
  if (typeof toolCallId !== 'string' || typeof toolName !== 'string' || typeof argumentsHash !== 'string' || !isJsonObject(args)) return []
  return [{ toolCallId, toolName, args, argumentsHash }]
}

/** Kind of the extension message that keeps a report which no model was told: the run ended before. Its data is `{ message }`. Models never see it. */
export const keptReportKind = 'backgroundReport'

/** What was begun in a history and not reported to its model. */
export interface OpenBackground {
  readonly backgroundId: string
  readonly toolName: string
  /** The message of the report, where one was kept. */
  readonly kept: unknown
}

/** What a history says was begun beside a run and was never reported, in order. */
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
