import { SessionError } from '../types/errors.ts'
import type { JournaledConversation, JournalRecord } from '../types/journal.ts'
import { type AgentMessage, now } from '../types/message.ts'
import type { SessionFormation, SpawnRef } from '../types/session.ts'
import type { SessionEntry } from '../types/session-record.ts'
import type { NewSessionRecord, SessionRecording, SessionStore, SessionWriter } from '../types/session-store.ts'

/** Where a resumed session goes on. */
export interface ResumePoint {
  /** The last `seq` that was read. */
  cursor: number
  /** Loop whose history this is. */
  loopId: string | undefined
  messages: readonly AgentMessage[]
  /** Answers that were made up for calls whose outcome nobody knows; the last of `messages`. */
  recovered: readonly AgentMessage[]
}

/** How far the history of a loop reaches, and with which message. */
interface HistoryEnd {
  length: number
  lastId: string | undefined
}

/**
 * Writes what loops make durable into the session they belong to.
 *
 * **Contract**
 * - Serves all agents of one session, forks and branches too: there is one writer.
 * - The session is opened with the first record. One that exists already is refused with `conflict`, unless it was resumed from exactly there.
 * - A loop whose history is not that of its parent loop is recorded with the whole of it.
 *
 * Source: reference/reliability.md §2.
 */
export class LiveRecording implements SessionRecording {
  readonly store: SessionStore
  readonly #spawnRef: SpawnRef | undefined
  readonly #ends = new Map<string, HistoryEnd>()
  #writer: Promise<SessionWriter> | undefined
  #sessionId: string | undefined
  #resumed: ResumePoint | undefined
  /** Epoch of the writer before, which failed or was closed: what it wrote is known. */
  #lastEpoch: number | undefined

  /** `spawnRef` is that of a sub-agent's session. */
  constructor(store: SessionStore, { spawnRef }: { spawnRef?: SpawnRef } = {}) {
    this.store = store
    this.#spawnRef = spawnRef
  }

  /** Goes on with a session that was read from the store. */
  resume(point: ResumePoint): void {
    this.#resumed = point
    if (point.loopId !== undefined) this.#ends.set(point.loopId, endOf(point.messages))
  }

  /** Resolves when `record` is durable. Rejects with `SessionError`. Records are written in the order of the calls. */
  async append(record: JournalRecord, conversation: JournaledConversation): Promise<void> {
    const entries = this.#entriesOf(record, conversation).map((entry) => placed(record, entry))
    const writer = await this.#open(record, conversation)
    try {
      await writer.append(entries)
    } catch (error) {
      this.#startOver(writer)
      throw error
    }
  }

  /** Gives the right to write back; the next record takes it again, unless somebody else has written since. */
  async close(): Promise<void> {
    const closing = this.#writer
    this.#writer = undefined
    const writer = await closing
    if (writer === undefined) return
    this.#lastEpoch = writer.epoch
    await writer.close()
  }

  /** What was refused is in memory only: the next loop records its whole history, with a writer of its own. */
  #startOver(failed: SessionWriter): void {
    if (this.#lastEpoch === failed.epoch) return
    this.#lastEpoch = failed.epoch
    this.#writer = undefined
    this.#ends.clear()
    void failed.close().catch(() => undefined)
  }

  #entriesOf({ entry, loopId }: JournalRecord, { messages, state = {} }: JournaledConversation): SessionEntry[] {
    if (entry.type === 'loopStart') {
      const parent = entry.parentLoopId === undefined ? undefined : this.#ends.get(entry.parentLoopId)
      this.#ends.set(loopId, endOf(messages))
      return isAt(messages, parent ?? endOf([])) ? [entry] : [entry, { type: 'history', messages: [...messages], state }]
    }
    if (entry.type !== 'input' && entry.type !== 'assistant' && entry.type !== 'toolResult') return [entry]
    const { length } = this.#ends.get(loopId) ?? endOf([])
    this.#ends.set(loopId, { length: length + 1, lastId: entry.message.id })
    return entry.type === 'toolResult' ? [entry, ...childLoop(entry.message)] : [entry]
  }

  /** A rotated session id opens the next session. */
  #open({ sessionId, agentId }: JournalRecord, { formation }: JournaledConversation): Promise<SessionWriter> {
    if (this.#writer !== undefined && this.#sessionId === sessionId) return this.#writer
    if (this.#sessionId !== sessionId) this.#lastEpoch = undefined
    this.#sessionId = sessionId
    const start = this.#start(agentId, formation)
    const writer = this.#begin(sessionId, { agentId, start, previous: this.#writer })
    this.#writer = writer
    // Another try may work.
    writer.catch(() => {
      if (this.#writer === writer) this.#writer = undefined
    })
    return writer
  }

  async #begin(
    sessionId: string,
    { agentId, start, previous }: { agentId: string; start: NewSessionRecord; previous: Promise<SessionWriter> | undefined },
  ): Promise<SessionWriter> {
    await previous?.then((writer) => writer.close()).catch(() => undefined)
    const writer = await this.store.open(sessionId, { agentId })
    const last = writer.records.at(-1)
    const resumed = this.#resumed
    const isOurs = last !== undefined && last.epoch === this.#lastEpoch
    if (!isOurs && (last?.seq ?? 0) !== (resumed?.cursor ?? 0)) {
      await writer.close()
      throw existing(sessionId, resumed !== undefined)
    }
    const first = resumed === undefined ? (isOurs ? [] : [start]) : recoveredEntries(resumed)
    if (first.length > 0) await writer.append(first)
    this.#resumed = undefined
    return writer
  }

  #start(agentId: string, formation: SessionFormation = { type: 'firstLoop', at: now() }): NewSessionRecord {
    const spawnRef = this.#spawnRef
    return { entry: { type: 'sessionStart', agentId, formation, scope: 'persistent', ...(spawnRef !== undefined && { spawnRef }) } }
  }
}

function endOf(messages: readonly AgentMessage[]): HistoryEnd {
  return { length: messages.length, lastId: messages.at(-1)?.id }
}

/** Messages are never edited: the same last message at the same place is the same history. */
function isAt(messages: readonly AgentMessage[], end: HistoryEnd): boolean {
  return messages.length === end.length && messages.at(-1)?.id === end.lastId
}

function recoveredEntries({ recovered, loopId }: ResumePoint): NewSessionRecord[] {
  if (recovered.length === 0) return []
  return [{ entry: { type: 'recovered', messages: [...recovered] }, ...(loopId !== undefined && { loopId }) }]
}

/** The loop that a sub-agent ran: its session is the part of the loop's id before `.sub.`. */
function childLoop(message: AgentMessage): SessionEntry[] {
  if (message.role !== 'toolResult' || message.childLoopId === undefined) return []
  const { toolCallId, toolName, childLoopId } = message
  const end = childLoopId.lastIndexOf('.sub.')
  return [{ type: 'childLoop', ref: { toolCallId, toolName, childLoopId, childSessionId: childLoopId.slice(0, Math.max(0, end)) } }]
}

function placed({ loopId, turnIndex, at }: JournalRecord, entry: SessionEntry): NewSessionRecord {
  return { loopId, turnIndex, at, entry }
}

function existing(sessionId: string, wasResumed: boolean): SessionError {
  const next = wasResumed
    ? 'Somebody else has written to it since it was read; resume it again.'
    : 'Use resumeAgent to go on with it, or another id.'
  return new SessionError('conflict', `Session ${JSON.stringify(sessionId)} has records this agent does not know. ${next}`)
}
