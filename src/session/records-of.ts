import type { Session } from '../types/session.ts'
import type { SessionEntry } from '../types/session-record.ts'
import type { NewSessionRecord } from '../types/session-store.ts'

/**
 * The records of a tree, in order: its beginning, then each loop as a whole.
 *
 * **Contract**: `sessionOf` makes the same session of them, with keys that nobody knows, but without the events of its loops. A log can go on
 * from there as from any other.
 */
export function recordsOf(session: Session): NewSessionRecord[] {
  const { sessionId: _, createdAt, parentSpawnRef, loops, ...header } = session
  const start: SessionEntry = { type: 'sessionStart', ...header, ...(parentSpawnRef !== undefined && { spawnRef: parentSpawnRef }) }
  return [
    { at: createdAt, entry: start },
    ...loops.map(
      ({ events: __, ...loop }): NewSessionRecord => ({ at: loop.startedAt, loopId: loop.loopId, entry: { type: 'loop', loop } }),
    ),
  ]
}
