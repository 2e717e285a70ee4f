import { waitingApprovals, waitingClientCalls } from '../../../../src/base/questions.ts'
import type { AgentMessage, PendingApproval, PendingClientCall } from '../../../../src/index.ts'
import { type LoopRecord, loopChainTo, queuedInputs, type SessionRecord, sessionOf, snapshotOf } from '../../../../src/session.ts'
import { refuse } from '../../access/problem.ts'
import type { WaitingInput } from '../commands/queued-inputs.ts'
import { endsOf, type LastOf } from './log-end.ts'

/** The messages and pending calls. */
export interface History {
  messages: readonly AgentMessage[]
  approvals: PendingApproval[]
  /** Pending client tool calls. */
  clientCalls: PendingClientCall[]
  queued: WaitingInput[]
  /** Id of the last loop in the history. */
  loopId?: string
}

/** Selects the last messages of a history, or the messages before the message with this id. */
export interface PageQuery {
  limit: number
  before?: string
}

/** A page of a history. */
export interface HistoryPage extends History {
  /** Whether there are earlier messages. */
  hasEarlier: boolean
}

/** Returns the history in records, or the history up to the end of the given loop. */
export function historyIn(records: readonly SessionRecord[], sessionId: string, loopId?: string): History {
  const snapshot = snapshotOf(records, { sessionId, ...(loopId !== undefined && { loopId }) })
  const { lastLoopId, unfinished } = snapshot
  // The outcome of calls that run in another process is not known yet.
  const madeUp = new Set(unfinished.recovered.map(({ id }) => id))
  const messages = snapshot.messages.filter(({ id }) => !madeUp.has(id))
  const waiting = [...queuedInputs(records).values()].filter(({ status }) => status === 'queued')
  const queued = waiting.flatMap(({ kind, loopId: of, messages: queuedMessages }) =>
    queuedMessages.slice(-1).map((message) => ({ kind, loopId: of, message })),
  )
  const open = { approvals: waitingApprovals(messages), clientCalls: waitingClientCalls(messages), queued }
  return { messages, ...open, ...(lastLoopId !== undefined && { loopId: lastLoopId }) }
}

/** Returns a page of a history. Rejects with 400 `invalidCursor` if the message `before` does not exist. */
export function pageIn(history: History, { limit, before }: PageQuery): HistoryPage {
  const { messages } = history
  const end = before === undefined ? messages.length : messages.findLastIndex(({ id }) => id === before)
  if (end < 0) refuse(400, 'invalidCursor', 'The conversation no longer has a message with this id. Read it again from the end.')
  const start = Math.max(0, end - limit)
  return { ...history, messages: messages.slice(start, end), hasEarlier: start > 0 }
}

/** Number of records to read initially per message. */
const recordsPerMessage = 3
const leastRecords = 64

/** Returns a history page. Reads only as much of the log as necessary. */
export async function readPage(lastOf: LastOf, sessionId: string, query: PageQuery): Promise<HistoryPage> {
  for await (const { records, isWhole } of endsOf(lastOf, Math.max(leastRecords, query.limit * recordsPerMessage))) {
    if (isWhole) return pageIn(historyIn(records, sessionId), query)
    const end = endIn(records, sessionId)
    if (end === undefined) continue
    const at = query.before === undefined ? end.messages.length : end.messages.findLastIndex(({ id }) => id === query.before)
    if (at >= query.limit) return { ...pageIn(end, query), hasEarlier: at > query.limit || !end.isWhole }
  }
  // The whole log is read.
  return pageIn(historyIn([], sessionId), query)
}

/** Returns the end of a history, or `undefined` if the last records do not determine it. */
function endIn(records: readonly SessionRecord[], sessionId: string): (History & { isWhole: boolean }) | undefined {
  // Queued messages follow the last ended loop.
  if (!records.some(({ entry }) => entry.type === 'loopEnd' || entry.type === 'loop')) return undefined
  const session = sessionOf(records, sessionId)
  const begun = new Set(records.flatMap(({ entry, loopId }) => (entry.type === 'loopStart' || entry.type === 'loop' ? [loopId] : [])))
  // These records do not determine the order of several open loops.
  if (session.loops.filter(({ loopId }) => !begun.has(loopId)).length > 1) return undefined
  const history = historyIn(records, sessionId)
  if (history.loopId === undefined) return undefined
  const chain = loopChainTo(session, history.loopId).map((id) => session.loops.find(({ loopId }) => loopId === id))
  const [first] = chain
  const isRoot = first !== undefined && begun.has(first.loopId) && first.parentLoopId === undefined
  if (isRoot || chain.some((loop) => loop?.base !== undefined)) return { ...history, isWhole: true }
  // Earlier records contain the response that made these calls.
  const start = history.messages.findIndex(({ role }) => role !== 'toolResult')
  return start < 0 ? undefined : { ...history, messages: history.messages.slice(start), isWhole: false }
}

/** A loop without the agent id, which all loops of the session share. */
export type PagedLoop = Omit<LoopRecord, 'agentId'>

/** A page of loops, in order. */
export interface LoopPage {
  loops: PagedLoop[]
  /** Whether there are earlier loops. */
  hasEarlier: boolean
}

/** Number of records to read initially per loop. */
const recordsPerLoop = 8

/**
 * Returns the last loops, or the loops before the loop with this id. Reads only as much of the log as necessary. Rejects with 400
 * `invalidCursor` for an unknown loop.
 */
export async function readLoops(lastOf: LastOf, sessionId: string, { limit, before }: PageQuery): Promise<LoopPage> {
  for await (const { records, isWhole } of endsOf(lastOf, limit * recordsPerLoop)) {
    const loops = begunIn(records, sessionId)
    const end = before === undefined ? loops.length : loops.findIndex(({ loopId }) => loopId === before)
    const start = Math.max(0, end - limit)
    if (end > limit || (isWhole && end >= 0)) return { loops: loops.slice(start, end), hasEarlier: start > 0 }
  }
  refuse(400, 'invalidCursor', 'The session has no loop with this id. Read its loops again from the end.')
}

/** Returns the loops whose start is among the records, because only these are complete. */
function begunIn(records: readonly SessionRecord[], sessionId: string): PagedLoop[] {
  const begun = new Set(records.flatMap(({ entry, loopId }) => (entry.type === 'loopStart' || entry.type === 'loop' ? [loopId] : [])))
  const whole = sessionOf(records, sessionId).loops.filter(({ loopId }) => begun.has(loopId))
  return whole.map(({ agentId: _ofBeginning, ...loop }) => loop)
}
