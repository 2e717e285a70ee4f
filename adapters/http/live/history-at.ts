import type { Agent, AgentMessage, PendingApproval } from '../../../src/index.ts'
import { type SessionRecord, sessionOf, snapshotOf } from '../../../src/session/index.ts'
import { ProblemError, unknownLoop } from '../access/problem.ts'

/** What was said, and the calls that wait for a person. */
export interface History {
  messages: readonly AgentMessage[]
  approvals: PendingApproval[]
}

/** The history that `records` have up to the end of this loop, as `agent` would go on with it. Throws as `assertLoop`. */
export function historyAt(records: readonly SessionRecord[], loopId: string, agent: Agent): History {
  assertLoop(records, loopId)
  const { messages } = snapshotOf(records, { sessionId: agent.sessionId, loopId })
  return { messages, approvals: agent.with({ messages }).pendingApprovals() }
}

/** Throws `ProblemError` 404 for a loop that is none of the session. */
export function assertLoop(records: readonly SessionRecord[], loopId: string): void {
  if (!sessionOf(records, '').loops.some((loop) => loop.loopId === loopId)) throw new ProblemError(unknownLoop)
}
