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
import { openInTime } from '../log/open-in-time.ts'
import { type KnownLog, Missed } from '../takeover/catch-up.ts'
import { CutOffLoops, resultEntries } from '../takeover/cut-off-loops.ts'
import { HistoryEnds } from '../takeover/history-ends.ts'
import { RepeatedRequests } from '../views/repeated-requests.ts'

/** Of what its beginning says: whose it is, and the call that runs it. */
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
 * The log of one session as it is written live, by one writer after the other. See `SessionJournal`.
 *
 * Whoever claims a session goes on with it: a conversation that could not is refused before, and takes the right to write from nobody.
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
  /** Records that no writer has got yet. */
  #waiting: Waiting[] = []
  /** Groups of records that are being written. */
  #pending = 0
  /** Conversations of which something was refused, and why: nothing more of that loop may follow. */
  readonly #refused = new WeakMap<JournaledConversation, unknown>()
  /** Conversations whose next loop could not be opened, and why. */
  readonly #unopened = new WeakMap<JournaledConversation, unknown>()
  /** Until its answers are written down. */
  #resumed: ResumePoint | undefined
  /** What others have written, until the conversations that began with the takeover have caught up. */
  #missed: Missed | undefined
  /** Whether the log says what it has to say before the first loop. */
  #hasBegun = false
  /** Whether the next loop records its whole history. */
  #startsOver = false
  /** Whether somebody has taken over from here. */
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
    // Nobody waits for it: the record it is written with says it too.
    else written.catch(() => undefined)
    return written
  }

  /** What was accepted is written first. */
  async close(): Promise<void> {
    void this.#write()
    this.#requests.forget()
    const writer = this.#writer
    this.#writer = undefined
    if (this.#missed?.isUntold === true) this.#readAgain()
    if (writer !== undefined) this.#closing = writer.then((open) => open.close())
    await this.#closing
  }

  /** Gives the right to write back, and holds on to nothing, unless something is being written: the conversation goes on elsewhere. */
  rest(): void {
    if (this.#pending > 0) return
    this.#known.ends.clear()
    this.close().catch(() => undefined)
  }

  /** Hands over what waits, and acknowledges it together. Never rejects. */
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
      // Nobody has told this conversation what it missed.
      if (this.#missed?.isUntold === true) throw this.#changed()
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

  /** What was refused is in memory only, and what the store has of it is not known. */
  #refuse(group: readonly Waiting[], error: unknown): void {
    for (const { record, records, conversation, reject } of group) {
      this.#known.ends.forget(record.loopId)
      this.#cutOff.refuse(record.loopId, records, error)
      this.#refused.set(conversation, error)
      reject(error)
    }
  }

  /** The next loop writes with a writer of its own. */
  #startOver(failed: Promise<SessionWriter>, error: unknown): void {
    this.#startsOver = true
    this.#requests.forget()
    this.#readAgain()
    if (SessionError.isInstance(error) && error.code === 'conflict') this.#isLost = true
    if (this.#writer === failed) this.#writer = undefined
    void failed.then((writer) => writer.close()).catch(() => undefined)
  }

  /** What others have written is told when the log is opened next. */
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
    // What is still missing of a loop that was cut off is written before this one.
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
    const writer = await openInTime(subject, open, (late) => late.close())
    try {
      await this.#begin(writer, { entry: start })
    } catch (error) {
      await writer.close().catch(() => undefined)
      throw error
    }
    return writer
  }

  /**
   * Looks before it takes anything from others, where what is in memory could not go on with what they have written: a session of somebody else,
   * one that was taken over from here, or loops that were cut off.
   */
  async #assertFree(onProgress: () => void): Promise<void> {
    const isStrange = !this.#hasBegun && this.#resumed === undefined
    if (!isStrange && !this.#isLost && this.#cutOff.isEmpty) return
    const tail = await this.#tail(this.#known.seq, onProgress)
    if (tail !== undefined && (this.#isLost || tail.records.some(({ epoch }) => epoch !== this.#known.writer))) throw this.#changed()
  }

  /** What needs no look: up to the record before the last one that is known, which says whether the log is the one that it was. */
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
    // A writer that failed may have written them.
    if (!this.#hasBegun && !isOurs && first.length > 0) await writer.append(first)
    this.#cutOff.reopened(records)
    this.#hasBegun = true
    this.#startsOver = false
    this.#resumed = undefined
  }

  /** All that is there, where that is not what is known. */
  async #recordsOf({ records }: SessionWriter): Promise<readonly SessionRecord[]> {
    const last = records.at(-1)
    const isKnown = last !== undefined && (last.epoch === this.#known.writer || this.#wasThere(last))
    const before = this.#knownBefore
    if (isKnown || before <= 0) return records
    const all = (await this.#tail(0))?.records ?? []
    // What an older writer has added since this one took over does not count.
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

  /** Writes what `unfinished` calls of the others came to, and gives what the conversation goes on from. */
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

  /** Writes what is missing of the loops that this conversation goes on from. */
  async #restore(writer: SessionWriter, parentLoopId: string | undefined, conversation: JournaledConversation): Promise<void> {
    const missing = this.#cutOff.missing(parentLoopId, conversation)
    if (missing === undefined || parentLoopId === undefined) return
    await writer.append(missing.records)
    this.#cutOff.restored(parentLoopId)
    if (missing.isWhole) this.#known.ends.set(parentLoopId, conversation)
  }

  /** Somebody has deleted the session. It begins anew with a loop that records its whole history. */
  #beginAgain(): void {
    this.#hasBegun = false
    this.#known.ends.clear()
    this.#known = { seq: 0, ends: this.#known.ends }
    this.#cutOff.clear()
    if (this.#startsOver) return
    throw new SessionError('conflict', `Session ${JSON.stringify(this.#sessionId)} was deleted. The next run begins a new one.`)
  }

  #changed(): SessionError {
    const next =
      this.#hasBegun || this.#resumed !== undefined
        ? 'Somebody else has written to it since; resume it again.'
        : 'Use resumeAgent to go on with it, or another id.'
    return new SessionError('conflict', `Session ${JSON.stringify(this.#sessionId)} has records this agent does not know. ${next}`)
  }
}

/** What was made up for calls of `loopId` that nobody will finish. */
function recoveredEntries({ loopId, recovered = [] }: Partial<ResumePoint> = {}): NewSessionRecord[] {
  if (recovered.length === 0) return []
  return [{ entry: { type: 'recovered', messages: [...recovered] }, ...(loopId !== undefined && { loopId }) }]
}

function placed({ loopId, turnIndex, at }: JournalRecord, entry: SessionEntry): NewSessionRecord {
  // Of the session as a whole.
  if (entry.type === 'title') return { at, entry: { ...entry, title: toTitle(entry.title) } }
  if (entry.type === 'sharedState') return { at, entry }
  return { loopId, turnIndex, at, entry }
}
