import type { Logger, SessionStore } from 'phi-core'
import { deleteAllSessions, exportAllSessions, pruneSessions, scopedSessionStore } from 'phi-core/session'

const dayMs = 24 * 3_600_000

/** Deletes sessions that were inactive for 90 days. Call it once a day. */
export function pruneOld(store: SessionStore, audit: Logger) {
  return pruneSessions(store, { olderThan: Date.now() - 90 * dayMs, logger: audit })
}

/** Exports all sessions of a user, then deletes them. */
export async function forget(store: SessionStore, person: string, audit: Logger, keep: (name: string, line: string) => Promise<void>) {
  const theirs = scopedSessionStore(store, person)
  for await (const { sessionId, lines } of exportAllSessions(theirs, { logger: audit }))
    for await (const line of lines) await keep(`${sessionId}.jsonl`, line)
  return deleteAllSessions(theirs, { logger: audit })
}
