import { combineUsage, emptyUsage } from '../../../../src/context.ts'
import type { SavedState } from '../../../../src/contract/session/shared-state.ts'
import type { RunStatus, SessionStore } from '../../../../src/index.ts'
import type { RecordedInput } from '../../../../src/internal.ts'
import { agentIdOf } from '../../../../src/internal.ts'
import type { RunFailure } from '../../../../src/loop.ts'
import { queuedInputs, SessionError, type SessionRecord, sessionOf, snapshotOf } from '../../../../src/session.ts'
import type { SessionTailOptions } from '../../../../src/types/session/session-store.ts'
import { ProblemError, unknownLoop } from '../../access/problem.ts'
import { maxAttempts } from '../live-session-host.ts'
import { continuationOf, type UnfinishedRun, unfinishedRun } from '../unfinished-run.ts'
import { type History, type HistoryPage, historyIn, type LoopPage, type PageQuery, readLoops, readPage } from './history-page.ts'
import { endsOf } from './log-end.ts'

/** Number of records to read initially when searching from the end of a log. */
const recordsReadFirst = 64

/** How a run ended. */
interface Outcome {
  status: RunStatus
  error?: RunFailure
}

/** A stored session. Reads need neither ownership nor an agent, so they work even if no agent can be created. */
export class RecordedSession {
  readonly #store: SessionStore
  readonly #sessionId: string
  readonly #onEnd: (loopId: string, outcome: Outcome) => void

  /** The last returned history and its last record, so that a repeated read does not read the log again. */
  #shown: { seq: number; epoch: number; history: History } | undefined

  /** `onEnd` receives run ends that this class writes. */
  constructor(store: SessionStore, sessionId: string, onEnd: (loopId: string, outcome: Outcome) => void = () => undefined) {
    this.#store = store
    this.#onEnd = onEnd
    this.#sessionId = sessionId
  }

  /** Returns the session's records, with media as references, or an empty list for a session without messages. */
  async records(which: Pick<SessionTailOptions, 'after' | 'last'> = {}): Promise<readonly SessionRecord[]> {
    try {
      return (await this.#store.tail(this.#sessionId, which)).records
    } catch (error) {
      if (SessionError.isInstance(error) && error.code === 'notFound') return []
      throw error
    }
  }

  /** Resolves when all earlier writers have lost ownership. */
  async claim(): Promise<void> {
    const writer = await this.#store.open(this.#sessionId, { agentId: agentIdOf(await this.records()) })
    await writer.close()
  }

  /** Returns whether the session has any messages. */
  async isKnown(): Promise<boolean> {
    return (await this.records({ last: 1 })).length > 0
  }

  /** Returns whether the message with this id was ever accepted, even if the conversation no longer contains it. */
  async hasUserMessage(id: string): Promise<boolean> {
    return (await this.#recordOf(id)) !== undefined
  }

  /** Returns the loop that contains the last message with this id. */
  async loopOf(id: string): Promise<string | undefined> {
    return (await this.#recordOf(id))?.loopId
  }

  /** Returns the history, or the history up to the end of the given loop. Throws like `assertLoop`. */
  async history(loopId?: string): Promise<History> {
    const shown = this.#shown
    if (loopId === undefined && shown !== undefined && (await this.#endsAt(shown))) return shown.history
    const records = await this.records()
    if (loopId !== undefined) assertLoop(records, loopId)
    const history = historyIn(records, this.#sessionId, loopId)
    const last = records.at(-1)
    if (loopId === undefined && last !== undefined) this.#shown = { seq: last.seq, epoch: last.epoch, history }
    return history
  }

  /** Returns the shared state, if any. */
  async sharedState(): Promise<SavedState | undefined> {
    return sessionOf(await this.records(), this.#sessionId).sharedState
  }

  /** Releases the cached history. */
  rest(): void {
    this.#shown = undefined
  }

  /** Returns a page of the history. Rejects with 400 `invalidCursor`. */
  async page(query: PageQuery): Promise<HistoryPage> {
    return readPage((last) => this.records({ last }), this.#sessionId, query)
  }

  /** Returns a page of loops, without media bytes. Rejects with 400 `invalidCursor`. */
  async loops(query: PageQuery): Promise<LoopPage> {
    return readLoops((last) => this.records({ last }), this.#sessionId, query)
  }

  /** Returns whether the last run, other than a compaction, failed, was aborted or interrupted. */
  async hasFailed(): Promise<boolean> {
    const { loops } = await this.loops({ limit: 5 })
    const last = loops.findLast(({ continuationKind: { kind } }) => kind !== 'compaction')
    return last !== undefined && ['error', 'aborted', 'interrupted', 'rejected'].includes(last.status)
  }

  /** Returns whether the log ends with this record. */
  async #endsAt({ seq, epoch }: { seq: number; epoch: number }): Promise<boolean> {
    const [last, ...more] = await this.records({ after: seq - 1 })
    return last?.seq === seq && last.epoch === epoch && more.length === 0
  }

  /** Returns whether each of these messages was queued for a running run. Reads only as much of the log as necessary. */
  async wereQueued(messageIds: ReadonlySet<string>): Promise<boolean> {
    for await (const { records } of this.#ends()) {
      const queued = deliveredIn(records)
      const others = [...messageIds].filter((id) => !queued.has(id))
      if (others.length === 0) return true
      const began = messagesThatBegan(records)
      if (others.some((id) => began.has(id))) return false
    }
    return false
  }

  /** Returns a queued message by id. */
  async queuedInput(messageId: string): Promise<RecordedInput | undefined> {
    return queuedInputs(await this.records()).get(messageId)
  }

  /** Throws `ProblemError` 404 for a loop that does not exist in the session. */
  async assertLoop(loopId: string): Promise<void> {
    assertLoop(await this.records(), loopId)
  }

  /** Returns whether a loop exists, and the loop that continues it. `running` is the active loop. */
  async trace(loopId: string, running: string | undefined): Promise<{ continuedBy?: string } | undefined> {
    const records = await this.records()
    if (!records.some((record) => record.loopId === loopId)) return undefined
    const continuedBy = continuationOf(records, loopId, running)
    return continuedBy === undefined ? {} : { continuedBy }
  }

  /** Returns the run that was active when its process ended, if any. */
  async unfinished(): Promise<UnfinishedRun | undefined> {
    return unfinishedRun(await this.records())
  }

  /**
   * Takes ownership and writes the end record that the run's process could not write. Writes nothing if that process ended the run first,
   * or if another process has continued it.
   */
  async end(run: UnfinishedRun, outcome: Outcome | ((left: UnfinishedRun) => Outcome)): Promise<void> {
    const writer = await this.#store.open(this.#sessionId, { agentId: run.agentId })
    try {
      const left = unfinishedRun(writer.records)
      if (left?.loopId !== run.loopId) return
      const how = typeof outcome === 'function' ? outcome(left) : outcome
      await writer.append(endOf(writer.records, this.#sessionId, left, how))
      this.#onEnd(run.loopId, how)
    } finally {
      await writer.close()
    }
  }

  /** Ends a run that will not be resumed again. */
  giveUp(run: UnfinishedRun): Promise<void> {
    const message = `The run was interrupted and resumed ${maxAttempts} times without completing a turn. It will not be resumed again.`
    return this.end(run, { status: 'error', error: { code: 'interrupted', message } })
  }

  /** Ends a run that has no remaining work: only its end is missing, or it never received its input. */
  endComplete(run: UnfinishedRun): Promise<void> {
    const message = 'The process ended before the input of this run was stored. Send it again.'
    // The run's process may have recorded the response since `run` was read.
    return this.end(run, ({ isAnswered }) =>
      isAnswered ? { status: 'completed' } : { status: 'error', error: { code: 'interrupted', message } },
    )
  }

  /** Reads only as much of the log as needed to find the newest entry. */
  async #recordOf(messageId: string): Promise<SessionRecord | undefined> {
    for await (const { records } of this.#ends()) {
      const found = records.findLast(({ entry }) => 'message' in entry && entry.message.id === messageId)
      if (found !== undefined) return found
    }
    return undefined
  }

  #ends() {
    return endsOf((last) => this.records({ last }), recordsReadFirst)
  }
}

/** Returns the queued messages that runs have received. */
function deliveredIn(records: readonly SessionRecord[]): Set<string> {
  const heard = [...queuedInputs(records).values()].filter(({ status }) => status === 'delivered')
  return new Set(heard.flatMap(({ messages }) => messages.map(({ id }) => id)))
}

/**
 * Returns the initial messages of runs that are completely in these records and do not continue another run. The records then also contain
 * their queued messages.
 */
function messagesThatBegan(records: readonly SessionRecord[]): Set<string> {
  const ended = new Set<string>()
  const begun = new Set<string>()
  const userMessageIds = new Set<string>()
  const queued = deliveredIn(records)
  for (const { entry, loopId = '' } of records) {
    if (entry.type === 'loopEnd') ended.add(loopId)
    else if (entry.type === 'loopStart' && (entry.parentLoopId === undefined || ended.has(entry.parentLoopId))) begun.add(loopId)
    else if (entry.type === 'input' && begun.has(loopId) && !queued.has(entry.message.id)) userMessageIds.add(entry.message.id)
  }
  return userMessageIds
}

/** Returns the end record of a run. */
function endOf(records: readonly SessionRecord[], sessionId: string, { loopId }: UnfinishedRun, outcome: Outcome) {
  const answers = records.flatMap(({ loopId: of, entry }) =>
    of === loopId && entry.type === 'assistant' && entry.message.role === 'assistant' ? [entry.message.usage] : [],
  )
  // Calls that stay open intentionally do not run. This record does not finish a started call.
  const { recovered } = snapshotOf(records, { sessionId, loopId }).unfinished
  const messages = recovered.filter(({ role }) => role === 'toolResult')
  return [
    ...(messages.length > 0 ? [{ loopId, entry: { type: 'recovered' as const, messages } }] : []),
    { loopId, entry: { type: 'loopEnd' as const, usage: answers.reduce(combineUsage, emptyUsage()), ...outcome } },
  ]
}

function assertLoop(records: readonly SessionRecord[], loopId: string): void {
  if (!sessionOf(records, '').loops.some((loop) => loop.loopId === loopId)) throw new ProblemError(unknownLoop)
}
