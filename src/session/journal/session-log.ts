import { SessionError } from '../../contract/errors.ts'
import { definedFields } from '../../contract/json.ts'
import { now } from '../../contract/message/message.ts'
import type { SessionEntry, SessionRecord } from '../../contract/session/session-record.ts'
import type { JournaledConversation, JournalRecord } from '../../types/session/journal.ts'
import type {
  CaughtUp,
  LoopPlace,
  NewSessionRecord,
  ResumePoint,
  SessionJournalOptions,
  SessionStore,
  SessionTail,
  SessionWriter,
} from '../../types/session/session-store.ts'
import { toTitle } from '../log/digest.ts'
import { openWithTimeout } from '../log/open-with-timeout.ts'
import { type KnownLog, Missed } from '../takeover/catch-up.ts'
import { CutOffLoops, resultEntries } from '../takeover/cut-off-loops.ts'
import { HistoryEnds } from '../takeover/history-ends.ts'
import { RepeatedRequests } from '../views/repeated-requests.ts'

/** Session data that only the first record contains. */
type SessionOrigin = Pick<SessionJournalOptions, 'owner' | 'spawnRef'>

/** A record that is not yet written. */
interface Waiting {
  record: JournalRecord
  conversation: JournaledConversation
  records: NewSessionRecord[]
  resolve: () => void
  reject: (error: unknown) => void
}

/**
 * Writes one session's log live, through successive writers. See `SessionJournal`.
 *
 * Rejects a conversation that cannot continue the session before the session is claimed.
 */
export class SessionLog {
  readonly #store: Pick<SessionStore, 'open' | 'tail'>
  readonly #sessionId: string
  readonly #origin: SessionOrigin
  readonly #mediaFrom: () => readonly string[]
  #known: KnownLog
  readonly #cutOff = new CutOffLoops()
  readonly #requests = new RepeatedRequests()
  #writer: Promise<SessionWriter> | undefined
  #closing: Promise<void> | undefined
  /** Records that were not passed to a writer yet. */
  #waiting: Waiting[] = []
  /** Number of batches being written. */
  #pending = 0
  /** Errors by conversation with a rejected record. No further records may follow in the same loop. */
  readonly #refused = new WeakMap<JournaledConversation, unknown>()
  /** Errors by conversation whose next loop could not be opened. */
  readonly #unopened = new WeakMap<JournaledConversation, unknown>()
  /** Recovered results that are not recorded yet. */
  #resumed: ResumePoint | undefined
  /** Records from other writers. Retained until every conversation that was active at the takeover has caught up. */
  #missed: Missed | undefined
  /** Whether the session's first records are written. */
  #hasBegun = false
  /** Whether the next loop records its whole history. */
  #startsOver = false
  /** Whether another process has taken over. */
  #isLost = false

  constructor(
    store: Pick<SessionStore, 'open' | 'tail'>,
    sessionId: string,
    { origin, resume, mediaFrom }: { origin: SessionOrigin; resume: ResumePoint | undefined; mediaFrom: () => readonly string[] },
  ) {
    this.#mediaFrom = mediaFrom
    this.#store = store
    this.#sessionId = sessionId
    this.#origin = origin
    this.#resumed = resume
    this.#known = { seq: resume?.cursor ?? 0, ends: new HistoryEnds() }
    if (resume?.loopId !== undefined) this.#known.ends.set(resume.loopId, resume)
  }

  async open({ agentId, parentLoopId }: LoopPlace, conversation: JournaledConversation): Promise<CaughtUp | undefined> {
    this.#unopened.delete(conversation)
    this.#writer ??= this.#open(agentId, conversation)
    const opening = this.#writer
    try {
      const writer = await opening
      if (this.#missed !== undefined) return await this.#catchUp(this.#missed, writer, parentLoopId, conversation)
      await this.#restore(writer, parentLoopId, conversation)
      return undefined
    } catch (error) {
      this.#startOver(opening, error)
      this.#unopened.set(conversation, error)
      throw error
    }
  }

  append(record: JournalRecord, conversation: JournaledConversation): Promise<void> {
    const { type } = record.entry
    const unopened = this.#unopened.get(conversation)
    if (unopened !== undefined) this.#requests.forget()
    if (type === 'loopStart') this.#refused.delete(conversation)
    else if (this.#refused.has(conversation)) return Promise.reject(this.#refused.get(conversation))
    const records = this.#entriesOf(record, conversation).map((entry) => placed(record, entry))
    const written = new Promise<void>((resolve, reject) => {
      const waiting = { record, conversation, records, resolve, reject }
      if (unopened === undefined) this.#waiting.push(waiting)
      else this.#refuse([waiting], unopened)
    })
    this.#unopened.delete(conversation)
    if (type !== 'turnStart') void this.#write()
    // Ignore the rejection, because the record written together with this one reports the same error.
    else written.catch(() => undefined)
    return written
  }

  /** Writes accepted records, then closes the writer. */
  async close(): Promise<void> {
    void this.#write()
    this.#requests.forget()
    const writer = this.#writer
    this.#writer = undefined
    if (this.#missed?.isUnreported === true) this.#readAgain()
    if (writer !== undefined) this.#closing = writer.then((open) => open.close())
    await this.#closing
  }

  /** Releases the claim and all memory, unless a write is pending, because the conversation continues elsewhere. */
  rest(): void {
    if (this.#pending > 0) return
    this.#known.ends.clear()
    this.close().catch(() => undefined)
  }

  /** Writes the pending records and acknowledges them together. Never rejects. */
  async #write(): Promise<void> {
    const group = this.#waiting
    const [first] = group
    if (first === undefined) return
    this.#waiting = []
    this.#writer ??= this.#open(first.record.agentId, first.conversation)
    const opening = this.#writer
    this.#pending += 1
    try {
      const writer = await opening
      // No conversation has caught up yet.
      if (this.#missed?.isUnreported === true) throw this.#changed()
      this.#missed = undefined
      await writer.append(group.flatMap(({ records }) => records))
      for (const { record, resolve } of group) {
        if (record.entry.type === 'loopEnd') this.#cutOff.end(record.loopId)
        resolve()
      }
    } catch (error) {
      this.#startOver(opening, error)
      this.#refuse(group, error)
    } finally {
      this.#pending -= 1
    }
  }

  /** Marks a batch as rejected. Its records are only in memory, and it is unknown which of them the store contains. */
  #refuse(group: readonly Waiting[], error: unknown): void {
    for (const { record, records, conversation, reject } of group) {
      this.#known.ends.forget(record.loopId)
      this.#cutOff.refuse(record.loopId, records, error)
      this.#refused.set(conversation, error)
      reject(error)
    }
  }

  /** Lets the next loop use a new writer. */
  #startOver(failed: Promise<SessionWriter>, error: unknown): void {
    this.#startsOver = true
    this.#requests.forget()
    this.#readAgain()
    if (SessionError.isInstance(error) && error.code === 'conflict') this.#isLost = true
    if (this.#writer === failed) this.#writer = undefined
    void failed.then((writer) => writer.close()).catch(() => undefined)
  }

  /** Reads other writers' records the next time the log is opened. */
  #readAgain(): void {
    if (this.#missed !== undefined) this.#known = this.#missed.known
    this.#missed = undefined
  }

  #entriesOf({ entry, loopId, turnIndex }: JournalRecord, conversation: JournaledConversation): SessionEntry[] {
    if (entry.type !== 'loopStart') {
      this.#known.ends.advance(loopId, entry)
      if (entry.type === 'turnRequest') return [this.#requests.shortened(entry, { loopId, turnIndex })]
      return entry.type === 'toolResult' ? resultEntries(entry.message) : [entry]
    }
    const { parentLoopId } = entry
    // Write an interrupted loop's missing records before this record.
    const isMissing = this.#unopened.has(conversation) && this.#cutOff.missing(parentLoopId, conversation)?.isWhole === true
    const isKnown = isMissing || this.#known.ends.isAt(parentLoopId, conversation)
    this.#known.ends.set(loopId, conversation)
    this.#cutOff.begin(loopId, parentLoopId, conversation)
    const { messages, state = {} } = conversation
    return isKnown ? [entry] : [entry, { type: 'history', messages: [...messages], state }]
  }

  async #open(agentId: string, { formation = { type: 'firstLoop', at: now() } }: JournaledConversation): Promise<SessionWriter> {
    const start: SessionEntry = {
      ...{ type: 'sessionStart', agentId, formation, scope: 'persistent' },
      ...definedFields(this.#origin),
    }
    const subject = `Session ${JSON.stringify(this.#sessionId)}`
    const open = async (isLate: () => boolean, onProgress: () => void) => {
      await this.#closing?.catch(() => undefined)
      await this.#assertFree(onProgress)
      if (isLate()) throw this.#changed()
      const after = this.#knownBefore > 0 ? { after: this.#knownBefore } : {}
      return this.#store.open(this.#sessionId, { agentId, onProgress, mediaFrom: this.#mediaFrom(), ...after })
    }
    const writer = await openWithTimeout(subject, open, (late) => late.close())
    try {
      await this.#begin(writer, { entry: start })
    } catch (error) {
      await writer.close().catch(() => undefined)
      throw error
    }
    return writer
  }

  /**
   * Checks the log before claiming it if the in-memory state may not match: for an unknown session, after a takeover, or with interrupted
   * loops.
   */
  async #assertFree(onProgress: () => void): Promise<void> {
    const isStrange = !this.#hasBegun && this.#resumed === undefined
    if (!isStrange && !this.#isLost && this.#cutOff.isEmpty) return
    const tail = await this.#tail(this.#known.seq, onProgress)
    if (tail !== undefined && (this.#isLost || tail.records.some(({ epoch }) => epoch !== this.#known.writer))) throw this.#changed()
  }

  /**
   * Sequence number up to which no check is needed: the record before the last known one. The last known record shows whether the log is
   * unchanged.
   */
  get #knownBefore(): number {
    return this.#cutOff.isEmpty ? this.#known.seq - 1 : 0
  }

  async #begin(writer: SessionWriter, start: NewSessionRecord): Promise<void> {
    const records = await this.#recordsOf(writer)
    const last = records.at(-1)
    if (last === undefined && this.#hasBegun) this.#beginAgain()
    const isOurs = last !== undefined && last.epoch === this.#known.writer
    const isKnown = isOurs || this.#wasThere(last)
    if (!isKnown) this.#miss(records)
    const ends = isKnown ? this.#known.ends : new HistoryEnds()
    this.#known = { seq: last?.seq ?? 0, epoch: last?.epoch, writer: writer.epoch, ends }
    this.#isLost = false
    const first = last === undefined ? [start] : isKnown ? recoveredEntries(this.#resumed) : []
    // A failed writer may have written them already.
    if (!this.#hasBegun && !isOurs && first.length > 0) await writer.append(first)
    this.#cutOff.reopened(records)
    this.#hasBegun = true
    this.#startsOver = false
    this.#resumed = undefined
  }

  /** Returns all records if they differ from the known records. */
  async #recordsOf({ records }: SessionWriter): Promise<readonly SessionRecord[]> {
    const last = records.at(-1)
    const isKnown = last !== undefined && (last.epoch === this.#known.writer || this.#wasThere(last))
    const before = this.#knownBefore
    if (isKnown || before <= 0) return records
    const all = (await this.#tail(0))?.records ?? []
    // Ignore records that an older writer added after this one claimed the log.
    return all.filter(({ seq }) => seq <= (last?.seq ?? before))
  }

  async #tail(after: number, onProgress?: () => void): Promise<SessionTail | undefined> {
    const options = { after, ...(onProgress !== undefined && { onProgress }) }
    return this.#store.tail(this.#sessionId, options).catch((error: unknown) => {
      if (SessionError.isInstance(error) && error.code === 'notFound') return undefined
      throw error
    })
  }

  #wasThere(last: SessionRecord | undefined): boolean {
    const { seq, epoch = last?.epoch } = this.#known
    return (last?.seq ?? 0) === seq && last?.epoch === epoch
  }

  #miss(records: readonly SessionRecord[]): void {
    if (!this.#cutOff.isEmpty) throw this.#changed()
    this.#missed = new Missed(this.#sessionId, records, this.#known)
  }

  /** Records the outcome of calls that other writers left `unfinished`, and returns the state to continue from. */
  async #catchUp(
    missed: Missed,
    writer: SessionWriter,
    parentLoopId: string | undefined,
    conversation: JournaledConversation,
  ): Promise<CaughtUp> {
    const { caughtUp, snapshot, isFirst } = missed.of(parentLoopId, conversation)
    const { lastLoopId } = caughtUp
    if (lastLoopId !== undefined && snapshot !== undefined) this.#known.ends.set(lastLoopId, snapshot)
    if (isFirst && snapshot !== undefined)
      await writer.append(recoveredEntries({ loopId: lastLoopId, recovered: snapshot.unfinished.recovered }))
    return caughtUp
  }

  /** Writes the missing records of the loops that this conversation builds on. */
  async #restore(writer: SessionWriter, parentLoopId: string | undefined, conversation: JournaledConversation): Promise<void> {
    const missing = this.#cutOff.missing(parentLoopId, conversation)
    if (missing === undefined || parentLoopId === undefined) return
    await writer.append(missing.records)
    this.#cutOff.restored(parentLoopId)
    if (missing.isWhole) this.#known.ends.set(parentLoopId, conversation)
  }

  /** Starts the session again after another process deleted it. The next loop records its whole history. */
  #beginAgain(): void {
    this.#hasBegun = false
    this.#known.ends.clear()
    this.#known = { seq: 0, ends: this.#known.ends }
    this.#cutOff.clear()
    if (this.#startsOver) return
    throw new SessionError('conflict', `Session ${JSON.stringify(this.#sessionId)} was deleted. The next run starts a new session.`)
  }

  #changed(): SessionError {
    const next =
      this.#hasBegun || this.#resumed !== undefined
        ? 'Another writer has changed it. Resume it again.'
        : 'Use resumeAgent to continue it, or use another id.'
    return new SessionError('conflict', `Session ${JSON.stringify(this.#sessionId)} has records that this agent has not read. ${next}`)
  }
}

/** Returns the generated results for unfinished calls of `loopId`. */
function recoveredEntries({ loopId, recovered = [] }: Partial<ResumePoint> = {}): NewSessionRecord[] {
  if (recovered.length === 0) return []
  return [{ entry: { type: 'recovered', messages: [...recovered] }, ...(loopId !== undefined && { loopId }) }]
}

function placed({ loopId, turnIndex, at }: JournalRecord, entry: SessionEntry): NewSessionRecord {
  // This entry belongs to the whole session, not to one loop.
  if (entry.type === 'title') return { at, entry: { ...entry, title: toTitle(entry.title) } }
  if (entry.type === 'sharedState') return { at, entry }
  return { loopId, turnIndex, at, entry }
}
