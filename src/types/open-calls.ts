import type { JsonValue } from './json.ts'
import type { AgentMessage } from './message.ts'

/**
 * Kinds of the extension messages that say which calls of the last answer still have to be run; their data is `{ toolCallIds: string[] }`.
 * Models never see them.
 *
 * - `approvalPaused`: a run ended `paused`; nobody has decided yet.
 * - `callsInterrupted`: the process ended; these calls were not begun, or may be run twice without harm.
 */
export const openCallKinds = ['approvalPaused', 'callsInterrupted'] as const

/** The calls that `message` says are still to be run; none when it is something else. */
export function openCallsOf(message: AgentMessage): string[] {
  if (message.role !== 'extension' || !openCallKinds.some((kind) => kind === message.kind)) return []
  return idsOf(message.data)
}

function idsOf(data: JsonValue): string[] {
  if (data === null || typeof data !== 'object' || Array.isArray(data) || !Array.isArray(data.toolCallIds)) return []
  return data.toolCallIds.filter((id) => typeof id === 'string')
}
