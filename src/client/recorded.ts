import { type AgentMessage, callsToAnswer } from '../contract/message/message.ts'
import type { PendingApproval, PendingClientCall } from '../contract/run/run-facts.ts'
import { endOf, type LoopRecord } from '../contract/session/session.ts'
import { RemoteError } from './remote-error.ts'
import type { QueuedReceipt } from './run/outbox.ts'
import type { RemoteRun } from './run/remote-run.ts'
import type { Wire } from './wire/wire.ts'

/** A queued message of a run. */
interface Queued {
  kind: QueuedReceipt['kind']
  loopId: string
  message: AgentMessage
}

/** A session's messages. */
export interface History {
  messages: AgentMessage[]
  approvals: PendingApproval[]
  clientCalls: PendingClientCall[]
  queued: Queued[]
  /** Whether `messages` contains only messages after the requested one. */
  isRest: boolean
  /** Whether the session has earlier messages that were not requested. */
  hasEarlier: boolean
  /** Id of the last loop. */
  loopId?: string
  runningLoopId?: string
}

/** The requested part of a history. */
export interface AskedHistory {
  /** Loads the history up to the end of this loop. */
  loopId?: string | undefined
  /** Loads only messages after this one, if the history contains it. */
  after?: string | undefined
  /** Maximum number of messages, from the end or before a given message. */
  limit?: number | undefined
  before?: string | undefined
}

/** Loads a session's history. */
export async function readHistory(wire: Wire, asked: AskedHistory = {}): Promise<History> {
  const { after } = asked
  const query = Object.entries(asked).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`))
  const path = query.length === 0 ? '/history' : `/history?${query.join('&')}`
  const answer: Partial<Omit<History, 'isRest'>> & { after?: string } = Object(await wire.json({ method: 'GET', path }))
  const { messages, approvals, clientCalls = [], queued = [], loopId, runningLoopId, hasEarlier = false } = answer
  if (!areObjects(messages) || !areObjects(approvals) || !areObjects(clientCalls) || !areObjects(queued)) throw noHistory()
  return {
    ...{ messages, approvals, clientCalls, queued },
    isRest: after !== undefined && answer.after === after,
    hasEarlier,
    ...(loopId !== undefined && { loopId }),
    ...(runningLoopId !== undefined && { runningLoopId }),
  }
}

/** Loads the records of a session's loops and the active loop. Rejects with `notFound` if the session does not exist. */
export async function readSession(wire: Wire): Promise<{ loops: LoopRecord[]; runningLoopId?: string }> {
  const answer: { session?: { loops?: LoopRecord[] }; runningLoopId?: string } = Object(
    await wire.json({ method: 'GET', path: '?events=false' }),
  )
  const loops = answer.session?.loops
  if (!areObjects(loops)) throw noHistory()
  return { loops, ...(answer.runningLoopId !== undefined && { runningLoopId: answer.runningLoopId }) }
}

/**
 * Continues `run` after the server has released its events: reads the results from the session record, then the loop that continues the
 * run. Rejects with a retryable error if no loop continues the run yet.
 */
export async function continueElsewhere(wire: Wire, run: RemoteRun, why: RemoteError): Promise<void> {
  const { loops, runningLoopId } = await readSession(wire).catch(noneAtAll)
  let record = loops.find(({ loopId }) => loopId === run.loopId)
  if (record === undefined) return run.refuse(interrupted)
  if (why.code === 'cursorExpired') return run.catchUp(record)
  const last = why.continuedBy ?? (runningLoopId === run.loopId ? undefined : runningLoopId)
  if (endOf(record) !== undefined) return run.finish(record)
  // The server records the outcomes of interrupted calls before the loop that continues the run.
  const isRecorded = loops.some(({ loopId }) => loopId === last) || !hasOpenCalls(record)
  if (last === undefined || !isRecorded)
    throw new RemoteError('gone', 'The run was interrupted, and the server did not resume it.', { isRetryable: true })
  // Follow every continuation, because a resumed loop may have been interrupted too.
  while (record !== undefined && record.loopId !== last) {
    const parent: string = record.loopId
    const next: LoopRecord | undefined = loops.findLast(({ parentLoopId }) => parentLoopId === parent)
    run.goOnWith(record, next?.loopId ?? last)
    record = next
  }
}

function hasOpenCalls({ messages }: LoopRecord): boolean {
  const answered = new Set(messages.flatMap((message) => (message.role === 'toolResult' ? [message.toolCallId] : [])))
  return messages.some((message) => message.role === 'assistant' && callsToAnswer(message.content).some(({ id }) => !answered.has(id)))
}

const interrupted = { code: 'interrupted', message: 'The server lost this run before it stored anything. Send the prompt again.' }

function noneAtAll(error: unknown): { loops: LoopRecord[]; runningLoopId?: string } {
  if (RemoteError.isInstance(error) && error.code === 'notFound') return { loops: [] }
  throw error
}

function areObjects<Entry>(list: Entry[] | undefined): list is Entry[] {
  return Array.isArray(list) && list.every((each) => typeof each === 'object' && each !== null)
}

function noHistory(): RemoteError {
  return new RemoteError('unexpectedAnswer', 'The response is JSON but not an agent session. Check url.')
}
