import { DatabaseSync } from 'node:sqlite'
import type { SessionStore } from 'phi-core'
import { type LogClaim, type LogDriver, logSessionStore, SessionError } from 'phi-core/session'

const tables = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS claims (epoch INTEGER PRIMARY KEY AUTOINCREMENT);
  CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, epoch INTEGER, claimant TEXT, agent TEXT, created INTEGER, active INTEGER, digest TEXT);
  CREATE TABLE IF NOT EXISTS lines (position INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT, epoch INTEGER, seq INTEGER, text TEXT);
  CREATE INDEX IF NOT EXISTS lines_of ON lines (session, position);`

/** Stores the logs of sessions in one file. Several processes can open the file. */
export function sqliteDriver(file: string): LogDriver {
  const db = new DatabaseSync(file, { timeout: 5_000 })
  db.exec(tables)

  /** Runs `work` in one transaction. No other process can write during it. */
  function atOnce<T>(work: () => T): T {
    db.exec('BEGIN IMMEDIATE')
    try {
      const done = work()
      db.exec('COMMIT')
      return done
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }

  /** Throws `conflict` unless this claim is the newest one. */
  function check({ sessionId, epoch }: LogClaim): void {
    const newest = db.prepare('SELECT epoch FROM sessions WHERE id = ?').get(sessionId)
    if (newest?.epoch !== epoch) throw new SessionError('conflict', `Another writer took over session ${sessionId}.`)
  }

  const linesOf = (sessionId: string, after = 0): string[] =>
    db
      .prepare('SELECT text FROM lines WHERE session = ? AND seq > ? ORDER BY position')
      .all(sessionId, after)
      .map(({ text }) => String(text))

  const isWritten = (sessionId: string): boolean => db.prepare('SELECT 1 FROM lines WHERE session = ?').get(sessionId) !== undefined

  return {
    promises: { conflict: 'refused', readAfterWrite: 'immediate', list: 'immediate', survives: 'powerCut' },
    claim: async (sessionId, agentId) =>
      atOnce(() => {
        const epoch = Number(db.prepare('INSERT INTO claims DEFAULT VALUES').run().lastInsertRowid)
        // Block the older writer first, then read the log.
        const begin = `INSERT INTO sessions (id, epoch, claimant, digest) VALUES (?, ?, ?, '{"loops":0,"messages":0}')
          ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch, claimant = excluded.claimant`
        db.prepare(begin).run(sessionId, epoch, agentId)
        return { sessionId, epoch, lines: linesOf(sessionId) }
      }),
    append: async (claim, lines, digest) =>
      atOnce(() => {
        check(claim)
        const add = db.prepare('INSERT INTO lines (session, epoch, seq, text) VALUES (?, ?, ?, ?)')
        for (const { epoch, seq, text } of lines) add.run(claim.sessionId, epoch, seq, text)
        const now = Date.now()
        const change =
          'UPDATE sessions SET agent = claimant, created = ifnull(created, ?), active = ?, digest = ifnull(?, digest) WHERE id = ?'
        db.prepare(change).run(now, now, digest === undefined ? null : JSON.stringify(digest), claim.sessionId)
      }),
    discardOlder: async ({ sessionId, epoch }) => {
      db.prepare('DELETE FROM lines WHERE session = ? AND epoch < ?').run(sessionId, epoch)
    },
    release: async ({ sessionId, epoch }) => {
      const empty = 'DELETE FROM sessions WHERE id = ? AND epoch = ? AND NOT EXISTS (SELECT 1 FROM lines WHERE session = id)'
      db.prepare(empty).run(sessionId, epoch)
    },
    read: async (sessionId, after) => (isWritten(sessionId) ? linesOf(sessionId, after) : undefined),
    list: async () =>
      db
        .prepare('SELECT * FROM sessions WHERE active IS NOT NULL ORDER BY (SELECT max(position) FROM lines WHERE session = id) DESC')
        .all()
        .map(({ id, agent, created, active, digest }) => ({
          ...JSON.parse(String(digest)),
          sessionId: String(id),
          agentId: String(agent),
          createdAt: Number(created),
          lastActiveAt: Number(active),
        })),
    delete: async (sessionId) =>
      atOnce(() => {
        db.prepare('DELETE FROM sessions WHERE id = ?').run(sessionId)
        return db.prepare('DELETE FROM lines WHERE session = ?').run(sessionId).changes > 0
      }),
  }
}

export const sqliteSessionStore = (file: string): SessionStore => logSessionStore(sqliteDriver(file))
