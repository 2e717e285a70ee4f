import { SessionError } from '../../types/errors.ts'
import type { JournaledConversation, JournalRecord } from '../../types/journal.ts'
import { type AgentMessage, now } from '../../types/message.ts'
import type { SpawnRef } from '../../types/session.ts'
import type { SessionEntry, SessionRecord } from '../../types/session-record.ts'
import type { NewSessionRecord, ResumePoint, SessionStore, SessionWriter } from '../../types/session-store.ts'
import { toTitle } from '../log/digest.ts'
import { sessionOfChild } from '../views/spawn-links.ts'
import { HistoryEnds } from './history-ends.ts'

/** A record that is not yet written. */
interface Waiting {
  record: JournalRecord
  conversation: JournaledConversation
  records: NewSessionRecord[]
  resolve: () => void
  reject: (error: unknown) => void
}

/** The log of one session as it is written live, by one writer after the other. See `SessionJournal`. */
export class SessionLog {
  readonly #store: Pick<SessionStore, 'open'>
  readonly #sessionId: string
  readonly #spawnRef: SpawnRef | undefined
  readonly #ends = new HistoryEnds()
  #writer: Promise<SessionWriter> | undefined
  #closing: Promise<void> | undefined
  /** Records that no writer has got yet. */
  #waiting: Waiting[] = []
  /** Groups of records that are being written. */
  #pending = 0
  /** Conversations of which something was refused, and why: nothing more of that loop may follow. */
  readonly #refused = new WeakMap<JournaledConversation, unknown>()
  /** Until its answers are written down. */
  #resumed: ResumePoint | undefined
  /** Whether the log says what it has to say before the first loop. */
  #hasBegun = false
  /** Whether the next loop records its whole history. */
  #startsOver = false
  /** What the log ended with when the last writer took over, and the epoch of that writer: what is there beside that, others have written. */
  #before: { seq: number; epoch?: number | undefined }
  #lastEpoch: number | undefined

  constructor(
    store: Pick<SessionStore, 'open'>,
    sessionId: string,
    { spawnRef, resume }: { spawnRef: SpawnRef | undefined; resume: ResumePoint | undefined },
  ) {
    this.#store = store
    this.#sessionId = sessionId
    this.#spawnRef = spawnRef
    this.#resumed = resume
    this.#before = { seq: resume?.cursor ?? 0 }
    if (resume?.loopId !== undefined) this.#ends.set(resume.loopId, resume)
  }

  async append(record: JournalRecord, conversation: JournaledConversation): Promise<void> {
    const { type } = record.entry
    if (type === 'loopStart') this.#refused.delete(conversation)
    else if (this.#refused.has(conversation)) return Promise.reject(this.#refused.get(conversation))
    const records = this.#entriesOf(record, conversation).map((entry) => placed(record, entry))
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ record, conversation, records, resolve, reject })
    })
    if (type !== 'turnStart') void this.#write()
    // Nobody waits for it: the record it is written with says it too.
    else written.catch(() => undefined)
    return written
  }

  /** What was accepted is written first. */
  async close(): Promise<void> {
    void this.#write()
    const writer = this.#writer
    this.#writer = undefined
    if (writer !== undefined) this.#closing = writer.then((open) => open.close())
    await this.#closing
  }

  /** Gives the right to write back, and holds on to nothing, unless something is being written: the conversation goes on elsewhere. */
  rest(): void {
    if (this.#pending > 0) return
    this.#ends.clear()
    this.close().catch(() => undefined)
  }

  /** Hands over what waits, and acknowledges it together. Never rejects. */
  async #write(): Promise<void> {
    const group = this.#waiting
    const [first] = group
    if (first === undefined) return
    this.#waiting = []
    this.#writer ??= this.#open(first)
    const writer = this.#writer
    this.#pending += 1
    try {
      await (await writer).append(group.flatMap(({ records }) => records))
      for (const { resolve } of group) resolve()
    } catch (error) {
      this.#startOver(writer)
      for (const { conversation, reject } of group) {
        this.#refused.set(conversation, error)
        reject(error)
      }
    } finally {
      this.#pending -= 1
    }
  }

  /** What was refused is in memory only: the next loop records its whole history, with a writer of its own. */
  #startOver(failed: Promise<SessionWriter>): void {
    this.#ends.clear()
    this.#startsOver = true
    if (this.#writer === failed) this.#writer = undefined
    void failed.then((writer) => writer.close()).catch(() => undefined)
  }

  #entriesOf({ entry, loopId }: JournalRecord, conversation: JournaledConversation): SessionEntry[] {
    if (entry.type !== 'loopStart') {
      this.#ends.advance(loopId, entry)
      return entry.type === 'toolResult' ? [entry, ...childLoop(entry.message)] : [entry]
    }
    const isKnown = this.#ends.isAt(entry.parentLoopId, conversation)
    this.#ends.set(loopId, conversation)
    const { messages, state = {} } = conversation
    return isKnown ? [entry] : [entry, { type: 'history', messages: [...messages], state }]
  }

  async #open({ record, conversation }: Waiting): Promise<SessionWriter> {
    const start = this.#start(record, conversation)
    await this.#closing?.catch(() => undefined)
    const writer = await this.#store.open(this.#sessionId, { agentId: record.agentId })
    try {
      await this.#begin(writer, start)
    } catch (error) {
      await writer.close().catch(() => undefined)
      throw error
    }
    return writer
  }

  async #begin(writer: SessionWriter, start: NewSessionRecord): Promise<void> {
    const last = writer.records.at(-1)
    if (last === undefined && this.#hasBegun) this.#beginAgain()
    const isOurs = last !== undefined && last.epoch === this.#lastEpoch
    if (!isOurs && !this.#wasThere(last)) throw this.#changed()
    this.#before = { seq: last?.seq ?? 0, epoch: last?.epoch }
    this.#lastEpoch = writer.epoch
    const first = last === undefined ? [start] : recoveredEntries(this.#resumed)
    // A writer that failed may have written them.
    if (!this.#hasBegun && !isOurs && first.length > 0) await writer.append(first)
    this.#hasBegun = true
    this.#startsOver = false
    this.#resumed = undefined
  }

  #wasThere(last: SessionRecord | undefined): boolean {
    const { seq, epoch = last?.epoch } = this.#before
    return (last?.seq ?? 0) === seq && last?.epoch === epoch
  }

  /** Somebody has deleted the session. It begins anew with a loop that records its whole history. */
  #beginAgain(): void {
    this.#hasBegun = false
    this.#before = { seq: 0 }
    if (this.#startsOver) return
    throw new SessionError('conflict', `Session ${JSON.stringify(this.#sessionId)} was deleted. The next run begins it anew.`)
  }

  #changed(): SessionError {
    const next =
      this.#hasBegun || this.#resumed !== undefined
        ? 'Somebody else has written to it since; resume it again.'
        : 'Use resumeAgent to go on with it, or another id.'
    return new SessionError('conflict', `Session ${JSON.stringify(this.#sessionId)} has records this agent does not know. ${next}`)
  }

  #start({ agentId }: JournalRecord, { formation = { type: 'firstLoop', at: now() } }: JournaledConversation): NewSessionRecord {
    const spawnRef = this.#spawnRef
    return { entry: { type: 'sessionStart', agentId, formation, scope: 'persistent', ...(spawnRef !== undefined && { spawnRef }) } }
  }
}

function recoveredEntries(resumed: ResumePoint | undefined): NewSessionRecord[] {
  if (resumed === undefined || resumed.recovered.length === 0) return []
  const { recovered, loopId } = resumed
  return [{ entry: { type: 'recovered', messages: [...recovered] }, ...(loopId !== undefined && { loopId }) }]
}

/** The loop that a sub-agent ran: its session is the part of the loop's id before `.sub.`. */
function childLoop(message: AgentMessage): SessionEntry[] {
  if (message.role !== 'toolResult' || message.childLoopId === undefined) return []
  const { toolCallId, toolName, childLoopId } = message
  return [{ type: 'childLoop', ref: { toolCallId, toolName, childLoopId, childSessionId: sessionOfChild(childLoopId) } }]
}

function placed({ loopId, turnIndex, at }: JournalRecord, entry: SessionEntry): NewSessionRecord {
  // Of the session as a whole.
  if (entry.type === 'title') return { at, entry: { ...entry, title: toTitle(entry.title) } }
  return { loopId, turnIndex, at, entry }
}
