import type { ContextState } from '../types/context-change.ts'
import { SessionError } from '../types/errors.ts'
import type { JournalRecord } from '../types/journal.ts'
import type { AgentMessage } from '../types/message.ts'
import type { SessionFormation, SessionScope, SpawnRef } from '../types/session.ts'
import type { SessionEntry } from '../types/session-record.ts'
import type { NewSessionRecord, SessionStore, SessionWriter } from '../types/session-store.ts'

/** What a recording keeps beside messages, and how it says the session came about. */
export interface RecordingOptions {
  /** Also keep what the model was sent each turn. Default `false`. */
  captureTurnRequests?: boolean
  /** Default `persistent`. */
  scope?: SessionScope
  /** Set for a sub-agent's session. */
  spawnRef?: SpawnRef
}

/** The conversation a loop works on, as it is when a record is written. */
export interface RecordedConversation {
  readonly messages: readonly AgentMessage[]
  readonly state?: ContextState
}

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
 * - Serves all agents of one session, forks too: there is one writer. Each says with every record which conversation it is about.
 * - The session is opened with the first record. One that exists already is refused with `conflict`, unless it was resumed from exactly there.
 * - A loop whose history is not that of its parent loop is recorded with the whole of it.
 *
 * Source: reference/reliability.md §2.
 */
export class LiveRecording {
  readonly #store: SessionStore
  readonly #options: RecordingOptions
  readonly #ends = new Map<string, HistoryEnd>()
  #writer: Promise<SessionWriter> | undefined
  #sessionId: string | undefined
  #resumed: ResumePoint | undefined
  #formation: SessionFormation | undefined
  /** Epoch of a writer of this recording that failed. */
  #lastEpoch: number | undefined

  constructor(store: SessionStore, options: RecordingOptions = {}) {
    this.#store = store
    this.#options = options
  }

  /** Goes on with a session that was read from the store. */
  resume(point: ResumePoint): void {
    this.#resumed = point
    if (point.loopId !== undefined) this.#ends.set(point.loopId, endOf(point.messages))
  }

  /** Says why the next session is opened. */
  formAs(formation: SessionFormation): void {
    this.#formation = formation
  }

  /** Resolves when `record` is durable. Rejects with `SessionError`. */
  async append(record: JournalRecord, conversation: RecordedConversation): Promise<void> {
    const { entry } = record
    if (entry.type === 'turnRequest' && this.#options.captureTurnRequests !== true) return
    const writer = await this.#open(record)
    try {
      await writer.append(this.#entriesOf(record, conversation).map((made) => placed(record, made)))
    } catch (error) {
      this.#startOver(writer)
      throw error
    }
  }

  /** Gives the right to write back. */
  async close(): Promise<void> {
    const writer = this.#writer
    this.#writer = undefined
    await (await writer)?.close()
  }

  /** What was refused is in memory only: the next loop records its whole history, with a writer of its own. */
  #startOver(failed: SessionWriter): void {
    if (this.#lastEpoch === failed.epoch) return
    this.#lastEpoch = failed.epoch
    this.#writer = undefined
    this.#ends.clear()
    void failed.close().catch(() => undefined)
  }

  #entriesOf({ entry, loopId }: JournalRecord, { messages, state = {} }: RecordedConversation): SessionEntry[] {
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
  async #open({ sessionId, agentId }: JournalRecord): Promise<SessionWriter> {
    if (this.#writer !== undefined && this.#sessionId === sessionId) return this.#writer
    if (this.#sessionId !== sessionId) this.#lastEpoch = undefined
    await this.close()
    this.#sessionId = sessionId
    const writer = this.#begin(sessionId, agentId)
    this.#writer = writer
    // Another try may work.
    writer.catch(() => {
      if (this.#writer === writer) this.#writer = undefined
    })
    return writer
  }

  async #begin(sessionId: string, agentId: string): Promise<SessionWriter> {
    const writer = await this.#store.open(sessionId, { agentId })
    const last = writer.records.at(-1)
    const resumed = this.#resumed
    const isOurs = last !== undefined && last.epoch === this.#lastEpoch
    if (!isOurs && (last?.seq ?? 0) !== (resumed?.cursor ?? 0)) {
      await writer.close()
      throw existing(sessionId, resumed !== undefined)
    }
    const first = resumed === undefined ? (isOurs ? [] : this.#start(agentId)) : recoveredEntries(resumed)
    if (first.length > 0) await writer.append(first)
    this.#resumed = undefined
    return writer
  }

  #start(agentId: string): NewSessionRecord[] {
    const { scope = 'persistent', spawnRef } = this.#options
    const formation = this.#formation ?? { type: 'firstLoop', at: Date.now() }
    this.#formation = undefined
    return [{ entry: { type: 'sessionStart', agentId, formation, scope, ...(spawnRef !== undefined && { spawnRef }) } }]
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
