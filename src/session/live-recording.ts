import type { JournaledConversation, JournalRecord } from '../types/journal.ts'
import type { SpawnRef } from '../types/session.ts'
import type { SessionRecording, SessionStore } from '../types/session-store.ts'
import { RecordedSession, type ResumePoint } from './recorded-session.ts'

/**
 * Writes what loops make durable into the session they belong to.
 *
 * **Contract**
 * - Serves all agents of one session, forks and branches too: there is one writer. A rotated session id begins the next session; the writer of
 *   the one before is given back.
 * - The session is opened with the first record. One that exists already is refused with `conflict`, unless it was resumed from exactly there.
 * - A loop whose history is not that of its parent loop is recorded with the whole of it.
 * - What a store refused, or lost because somebody deleted the session, is recorded with the next loop.
 *
 * Source: reference/reliability.md §2.
 */
export class LiveRecording implements SessionRecording {
  readonly store: SessionStore
  readonly #spawnRef: SpawnRef | undefined
  readonly #sessions = new Map<string, RecordedSession>()
  #resumed: ResumePoint | undefined

  /** `spawnRef` is that of a sub-agent's session. */
  constructor(store: SessionStore, { spawnRef }: { spawnRef?: SpawnRef } = {}) {
    this.store = store
    this.#spawnRef = spawnRef
  }

  /** Goes on with a session that was read from the store. Before the first `append`. */
  resume(point: ResumePoint): void {
    this.#resumed = point
  }

  /** Resolves when `record` is durable. Rejects with `SessionError`. Records are written in the order of the calls. */
  async append(record: JournalRecord, conversation: JournaledConversation): Promise<void> {
    return this.#session(record.sessionId).append(record, conversation)
  }

  /** Gives the right to write back; the next record takes it again, unless somebody else has written since. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.close()))
  }

  #session(sessionId: string): RecordedSession {
    const known = this.#sessions.get(sessionId)
    if (known !== undefined) return known
    for (const session of this.#sessions.values()) session.rest()
    const resumed = this.#resumed?.sessionId === sessionId ? this.#resumed : undefined
    const session = new RecordedSession(this.store, sessionId, { spawnRef: this.#spawnRef, resumed })
    this.#sessions.set(sessionId, session)
    return session
  }
}
