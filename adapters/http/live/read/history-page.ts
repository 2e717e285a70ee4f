import { waitingApprovals, waitingClientCalls } from '../../../../src/base/questions.ts'
import type { AgentMessage, PendingApproval, PendingClientCall } from '../../../../src/index.ts'
import { type LoopRecord, loopChainTo, queuedInputs, type SessionRecord, sessionOf, snapshotOf } from '../../../../src/session.ts'
import { refuse } from '../../access/problem.ts'
import type { WaitingInput } from '../commands/queued-inputs.ts'
import { endsOf, type LastOf } from './log-end.ts'

/** What was said, and the calls that wait for a person. */
export interface History {
  messages: readonly AgentMessage[]
  approvals: PendingApproval[]
  /** Calls that wait for a page. */
  clientCalls: PendingClientCall[]
  queued: WaitingInput[]
  /** The loop with which it ends. */
  loopId?: string
}

/** Which messages of a history: the last ones, or those before the one with this id. */
export interface PageQuery {
  limit: number
  before?: string
}

/** A part of a history. */
export interface HistoryPage extends History {
  /** Whether something was said before it. */
  hasEarlier: boolean
}

/** The history that records amount to, up to the end of this loop, by default so far. */
export function historyIn(records: readonly SessionRecord[], sessionId: string, loopId?: string): History {
  const snapshot = snapshotOf(records, { sessionId, ...(loopId !== undefined && { loopId }) })
  const { lastLoopId, unfinished } = snapshot
  // Nobody knows yet what became of calls that are under way elsewhere.
  const madeUp = new Set(unfinished.recovered.map(({ id }) => id))
  const messages = snapshot.messages.filter(({ id }) => !madeUp.has(id))
  const waiting = [...queuedInputs(records).values()].filter(({ status }) => status === 'queued')
  const queued = waiting.flatMap(({ kind, loopId: of, messages: said }) => said.slice(-1).map((message) => ({ kind, loopId: of, message })))
  const open = { approvals: waitingApprovals(messages), clientCalls: waitingClientCalls(messages), queued }
  return { messages, ...open, ...(lastLoopId !== undefined && { loopId: lastLoopId }) }
}

/** A page of a whole history. Refuses with 400 `invalidCursor` where `before` is no message of it. */
export function pageIn(history: History, { limit, before }: PageQuery): HistoryPage {
  const { messages } = history
  const end = before === undefined ? messages.length : messages.findLastIndex(({ id }) => id === before)
  if (end < 0) refuse(400, 'invalidCursor', 'The conversation has no message with this id any more. Read it again from its end.')
  const start = Math.max(0, end - limit)
  return { ...history, messages: messages.slice(start, end), hasEarlier: start > 0 }
}

/** Records that are read first for one message. */
const recordsPerMessage = 3
const leastRecords = 64

/** A page of a history, of no more of its log than that takes. */
export async function readPage(lastOf: LastOf, sessionId: string, query: PageQuery): Promise<HistoryPage> {
  for await (const { records, isWhole } of endsOf(lastOf, Math.max(leastRecords, query.limit * recordsPerMessage))) {
    if (isWhole) return pageIn(historyIn(records, sessionId), query)
    const end = endIn(records, sessionId)
    if (end === undefined) continue
    const at = query.before === undefined ? end.messages.length : end.messages.findLastIndex(({ id }) => id === query.before)
    if (at >= query.limit) return { ...pageIn(end, query), hasEarlier: at > query.limit || !end.isWhole }
  }
  // The last end is the whole log.
  return pageIn(historyIn([], sessionId), query)
}

/** The end of a history, as far as the last records of its log say it for certain; `undefined` where they do not. */
function endIn(records: readonly SessionRecord[], sessionId: string): (History & { isWhole: boolean }) | undefined {
  // What waits to be heard was said since the last loop that has ended.
  if (!records.some(({ entry }) => entry.type === 'loopEnd' || entry.type === 'loop')) return undefined
  const session = sessionOf(records, sessionId)
  const begun = new Set(records.flatMap(({ entry, loopId }) => (entry.type === 'loopStart' || entry.type === 'loop' ? [loopId] : [])))
  // Of several that were on at once nobody knows here which began last.
  if (session.loops.filter(({ loopId }) => !begun.has(loopId)).length > 1) return undefined
  const history = historyIn(records, sessionId)
  if (history.loopId === undefined) return undefined
  const chain = loopChainTo(session, history.loopId).map((id) => session.loops.find(({ loopId }) => loopId === id))
  const [first] = chain
  const isRoot = first !== undefined && begun.has(first.loopId) && first.parentLoopId === undefined
  if (isRoot || chain.some((loop) => loop?.base !== undefined)) return { ...history, isWhole: true }
  // The answer that these results are of stands before what was read.
  const start = history.messages.findIndex(({ role }) => role !== 'toolResult')
  return start < 0 ? undefined : { ...history, messages: history.messages.slice(start), isWhole: false }
}

/** A loop as the end of a log says it: the session has one agent, which its beginning names. */
export type PagedLoop = Omit<LoopRecord, 'agentId'>

/** Some of the loops of a session, in order. */
export interface LoopPage {
  loops: PagedLoop[]
  /** Whether others began before them. */
  hasEarlier: boolean
}

/** Records that are read first for one loop. */
const recordsPerLoop = 8

/** The last loops, or those before the one with this id, of no more of the log than that takes. Refuses with 400 `invalidCursor` where there is no such loop. */
export async function readLoops(lastOf: LastOf, sessionId: string, { limit, before }: PageQuery): Promise<LoopPage> {
  for await (const { records, isWhole } of endsOf(lastOf, limit * recordsPerLoop)) {
    const loops = begunIn(records, sessionId)
    const end = before === undefined ? loops.length : loops.findIndex(({ loopId }) => loopId === before)
    const start = Math.max(0, end - limit)
    if (end > limit || (isWhole && end >= 0)) return { loops: loops.slice(start, end), hasEarlier: start > 0 }
  }
  refuse(400, 'invalidCursor', 'The session has no loop with this id. Read its loops again from the end.')
}

/** The loops whose beginning is among the records: what they say of these is all there is. */
function begunIn(records: readonly SessionRecord[], sessionId: string): PagedLoop[] {
  const begun = new Set(records.flatMap(({ entry, loopId }) => (entry.type === 'loopStart' || entry.type === 'loop' ? [loopId] : [])))
  const whole = sessionOf(records, sessionId).loops.filter(({ loopId }) => begun.has(loopId))
  return whole.map(({ agentId: _ofBeginning, ...loop }) => loop)
}
