import type { AgentMessage } from './message.ts'

/** A conversation as it is stored: who and what was said. */
export interface StoredSession {
  sessionId: string
  agentId: string
  messages: AgentMessage[]
}

/**
 * Keeps conversations. Source: spec/13 "SessionStore".
 *
 * **Contract**
 * - `save` replaces the session with that id; what is stored is a copy, later changes to the argument have no effect.
 * - `load` resolves with a copy, or `undefined` when there is no such session.
 * - Ids match `[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}`; another id rejects with `SessionError` code `invalidId`.
 */
export interface SessionStore {
  save(session: StoredSession): Promise<void>
  load(sessionId: string): Promise<StoredSession | undefined>
  /** Ids, most recently saved first. */
  listIds(): Promise<string[]>
  /** Resolves with whether there was something to delete. */
  delete(sessionId: string): Promise<boolean>
}
