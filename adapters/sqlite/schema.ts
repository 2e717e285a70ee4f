import { ownerChars } from '../../src/internal.ts'
import type { SqlBatch } from './sql-batch.ts'

/** The store's tables. Creating an existing table again has no effect. */
const tables = [
  'CREATE TABLE IF NOT EXISTS phi_epochs (id INTEGER PRIMARY KEY CHECK (id = 1), epoch INTEGER NOT NULL)',
  'INSERT OR IGNORE INTO phi_epochs (id, epoch) VALUES (1, 0)',
  `CREATE TABLE IF NOT EXISTS phi_sessions (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    session_id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    claimant TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    created_at INTEGER NOT NULL DEFAULT 0,
    last_active_at INTEGER NOT NULL DEFAULT 0,
    is_written INTEGER NOT NULL DEFAULT 0,
    status TEXT,
    digest TEXT,
    UNIQUE (tenant, session_id)
  )`,
  `CREATE INDEX IF NOT EXISTS phi_sessions_by_time ON phi_sessions (tenant, last_active_at DESC, session_id DESC) WHERE is_written`,
  `CREATE INDEX IF NOT EXISTS phi_sessions_by_owner
    ON phi_sessions (tenant, substr(session_id, 1, ${ownerChars}), last_active_at DESC, session_id DESC) WHERE is_written`,
  `CREATE INDEX IF NOT EXISTS phi_sessions_by_status
    ON phi_sessions (tenant, status, last_active_at DESC, session_id DESC) WHERE is_written`,
  // Clustered by session, so that a session is read from adjacent pages.
  `CREATE TABLE IF NOT EXISTS phi_records (
    session INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (session, epoch, seq, chunk)
  ) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS phi_blobs (
    session INTEGER NOT NULL,
    hash TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (session, hash, epoch, chunk)
  )`,
]

const noTable = /no such table:? (?:main\.)?phi_/

/** Creates the tables when a statement misses them, so that later starts cost nothing. */
export function withTables(batch: SqlBatch): SqlBatch {
  return async (statements) => {
    try {
      return await batch(statements)
    } catch (error) {
      if (!noTable.test(String(Object(error).message))) throw error
      await batch(tables.map((text) => ({ text, values: [] })))
      return batch(statements)
    }
  }
}
