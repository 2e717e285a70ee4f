import type { SessionStore, StoredSession } from '../types/session-store.ts'
import { assertSessionId } from './session-id.ts'

/** A `SessionStore` that lives as long as this object. Copies are made with `structuredClone`, going in and coming out. */
export function memorySessionStore(): SessionStore {
  const sessions = new Map<string, StoredSession>()
  return {
    async save(session) {
      assertSessionId(session.sessionId)
      const copy = structuredClone(session)
      // A map keeps insertion order; re-inserting makes this the newest.
      sessions.delete(copy.sessionId)
      sessions.set(copy.sessionId, copy)
    },
    async load(sessionId) {
      assertSessionId(sessionId)
      return structuredClone(sessions.get(sessionId))
    },
    async listIds() {
      return [...sessions.keys()].reverse()
    },
    async delete(sessionId) {
      assertSessionId(sessionId)
      return sessions.delete(sessionId)
    },
  }
}
