import type { SessionJournal, SessionJournalOptions, SessionStore } from '../../types/session/session-store.ts'
import { SessionLog } from './session-log.ts'

/**
 * The journal of a store: what `SessionStore.journal` gives, written over its `open` and `tail`. For who makes a store of their own.
 *
 * @example
 * ```ts
 * const store: SessionStore = { …, journal: (options) => sessionJournal(store, options) }
 * ```
 */
export function sessionJournal(
  store: Pick<SessionStore, 'open' | 'tail'>,
  { spawnRef, resume }: SessionJournalOptions = {},
): SessionJournal {
  const logs = new Map<string, SessionLog>()

  function logOf(sessionId: string): SessionLog {
    const known = logs.get(sessionId)
    if (known !== undefined) return known
    for (const log of logs.values()) log.rest()
    const log = new SessionLog(store, sessionId, { spawnRef, resume: resume?.sessionId === sessionId ? resume : undefined })
    logs.set(sessionId, log)
    return log
  }

  // At once: what its owner adds to the history from now on is not in the log.
  if (resume !== undefined) logOf(resume.sessionId)
  return {
    open: (place, conversation) => logOf(place.sessionId).open(place, conversation),
    append: (record, conversation) => logOf(record.sessionId).append(record, conversation),
    close: async () => {
      await Promise.all([...logs.values()].map((log) => log.close()))
    },
  }
}
