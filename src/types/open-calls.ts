import type { AgentMessage } from './message.ts'

/**
 * Kinds of the extension messages that say which calls of the last answer still have to be run; their data is `{ toolCallIds: string[] }`.
 * Models never see them.
 *
 * - `approvalPaused`: a run ended `paused`; nobody has decided yet.
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
