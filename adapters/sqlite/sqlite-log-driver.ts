import { joinedBytes } from '../../src/base/base64.ts'
import { splitText } from '../../src/base/text/characters.ts'
import { ownerChars, summaryOfRow } from '../../src/internal.ts'
import { type BlobDriver, type LogClaim, type LogDriver, type LogLine, type LogQuery, SessionError } from '../../src/session.ts'
import { withTables } from './schema.ts'
import { asked, type SqlBatch, type SqlRow, type SqlStatement, type SqlValue } from './sql-batch.ts'

/** Rows per batch, so that a long log is never in memory as a whole. */
const batchSize = 200
/** Maximum bytes of text or media per row. Cloudflare limits a row to 2 MB. Smaller rows do not fill the cache. */
export const maxRowBytes = 512 * 1024
/** Maximum characters of lines per statement, for the same reason. */
const maxStatementChars = 512 * 1024

/** The database's time in epoch milliseconds. */
const now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
/** The session of `?1`, `?2`, if the epoch `?3` is still the newest. */
const held = 'tenant = ?1 AND session_id = ?2 AND epoch = ?3'

/**
 * Stores one tenant's logs in SQLite.
 *
 * A claim takes the next epoch and stores it in its session's row. Each change is one transaction that first looks for its epoch
 * there, so that no append is acknowledged after a newer claim.
 */
export function sqliteLogDriver(given: SqlBatch, tenant: string): LogDriver {
  const batch = withTables(given)
  const of = (sessionId: string) => `Session ${sessionId}`
  const run = (sessionId: string, statements: readonly SqlStatement[]) => asked(of(sessionId), () => batch(statements))
  const rowsOf = async (sessionId: string, text: string, more: readonly SqlValue[] = []): Promise<SqlRow[]> =>
    (await run(sessionId, [{ text, values: [tenant, sessionId, ...more], returns: true }]))[0] ?? []

  /**
   * Runs changes to a session if `claim` is its newest claim, in which case the first statement returns a row. Otherwise, rejects with
   * `conflict`.
   */
  async function whileHeld({ sessionId }: LogClaim, statements: readonly SqlStatement[]): Promise<void> {
    const [first = []] = await run(sessionId, statements)
    if (first.length > 0) return
    throw new SessionError('conflict', `Another writer took over session ${sessionId}, or the session was deleted. Open it again to write.`)
  }

  const isWritten = async (sessionId: string): Promise<boolean> =>
    (await rowsOf(sessionId, 'SELECT 1 FROM phi_sessions WHERE tenant = ?1 AND session_id = ?2 AND is_written')).length > 0

  /** Yields the lines after a cursor, or the lines from epochs before one, in batches. */
  async function* linesOf(sessionId: string, after: number, before = Number.MAX_SAFE_INTEGER): AsyncGenerator<readonly string[]> {
    let at: SqlRow = { epoch: 0, seq: -1, chunk: -1 }
    let open: string | undefined
    for (;;) {
      const cursor = [Number(at.epoch), Number(at.seq), Number(at.chunk)]
      const rows = await rowsOf(sessionId, after === 0 ? linesQuery : linesAfterQuery, [after, before, ...cursor])
      const lines: string[] = []
      for (const { chunk, line } of rows) {
        if (chunk === 0 && open !== undefined) lines.push(open)
        open = chunk === 0 ? String(line) : (open ?? '') + String(line)
      }
      const last = rows.at(-1)
      if (rows.length < batchSize || last === undefined) {
        if (open !== undefined) lines.push(open)
        if (lines.length > 0) yield lines
        return
      }
      at = last
      yield lines
    }
  }

  return {
    promises: { conflict: 'refused', readAfterWrite: 'immediate', list: 'immediate', survives: 'powerCut' },
    claim: async (sessionId, agentId) => {
      const [, rows = []] = await run(sessionId, [
        { text: 'UPDATE phi_epochs SET epoch = epoch + 1', values: [] },
        { text: claimText, values: [tenant, sessionId, agentId], returns: true },
      ])
      const epoch = Number(rows[0]?.epoch)
      const batches = linesOf(sessionId, 0, epoch)
      const first = await batches.next()
      return { sessionId, epoch, lines: first.done === true ? [] : first.value, ...(first.done !== true && { more: batches }) }
    },
    append: (claim, lines, digest) => {
      const place = [tenant, claim.sessionId, claim.epoch]
      const entry = digest === undefined ? [null, null] : [JSON.stringify(digest), digest.status ?? null]
      return whileHeld(claim, [
        { text: updateText, values: [...place, ...entry], returns: true },
        ...insertsOf(lines).map((json) => ({ text: insertText, values: [...place, json] })),
      ])
    },
    discardOlder: async ({ sessionId, epoch }) => {
      const older = (table: string): SqlStatement => ({
        text: `DELETE FROM ${table} WHERE epoch < ?3 AND session = (SELECT id FROM phi_sessions WHERE ${held})`,
        values: [tenant, sessionId, epoch],
      })
      await run(sessionId, [older('phi_records'), older('phi_blobs')])
    },
    release: async ({ sessionId, epoch }) => {
      await run(sessionId, [{ text: `DELETE FROM phi_sessions WHERE ${held} AND NOT is_written`, values: [tenant, sessionId, epoch] }])
    },
    read: async (sessionId, after) => {
      const lines: string[] = []
      for await (const each of linesOf(sessionId, after)) for (const line of each) lines.push(line)
      return lines.length > 0 || (await isWritten(sessionId)) ? lines : undefined
    },
    stream: async (sessionId, after) => ((await isWritten(sessionId)) ? linesOf(sessionId, after) : undefined),
    lastSeq: async (sessionId) => {
      const [last] = await rowsOf(sessionId, lastSeqQuery)
      return last === undefined ? undefined : Number(last.seq)
    },
    list: (query) =>
      asked('The list of sessions', async () => {
        const [rows = []] = await batch([listQuery(tenant, query)])
        return rows.map(summaryOfRow)
      }),
    delete: async (sessionId) => {
      const values = [tenant, sessionId]
      const id = '(SELECT id FROM phi_sessions WHERE tenant = ?1 AND session_id = ?2)'
      const [, , rows = []] = await run(sessionId, [
        { text: `DELETE FROM phi_records WHERE session = ${id}`, values },
        { text: `DELETE FROM phi_blobs WHERE session = ${id}`, values },
        { text: 'DELETE FROM phi_sessions WHERE tenant = ?1 AND session_id = ?2 RETURNING is_written', values, returns: true },
      ])
      return rows[0]?.is_written === 1
    },
    blobs: blobsOf({ tenant, run, rowsOf, whileHeld }),
  }
}

const claimText = `INSERT INTO phi_sessions (tenant, session_id, epoch, claimant, agent_id)
  VALUES (?1, ?2, (SELECT epoch FROM phi_epochs), ?3, ?3)
  ON CONFLICT (tenant, session_id) DO UPDATE SET epoch = excluded.epoch, claimant = excluded.claimant RETURNING epoch`

const updateText = `UPDATE phi_sessions SET last_active_at = ${now}, agent_id = claimant, digest = coalesce(?4, digest),
    status = coalesce(?5, status), created_at = CASE WHEN is_written THEN created_at ELSE ${now} END, is_written = 1
  WHERE ${held} RETURNING 1`

const insertText = `INSERT INTO phi_records (session, epoch, seq, chunk, line)
  SELECT s.id, json_extract(e.value, '$[0]'), json_extract(e.value, '$[1]'), json_extract(e.value, '$[2]'), json_extract(e.value, '$[3]')
  FROM phi_sessions s, json_each(?4) e WHERE s.tenant = ?1 AND s.session_id = ?2 AND s.epoch = ?3`

const ofSession = 'FROM phi_sessions s JOIN phi_records r ON r.session = s.id'
const columns = 'r.epoch AS epoch, r.seq AS seq, r.chunk AS chunk, r.line AS line'
const whole = 's.tenant = ?1 AND s.session_id = ?2'

const linesQuery = `SELECT ${columns} ${ofSession} WHERE ${whole} AND r.seq > ?3 AND r.epoch < ?4
  AND (r.epoch, r.seq, r.chunk) > (?5, ?6, ?7) ORDER BY r.epoch, r.seq, r.chunk LIMIT ${batchSize}`

/** The same for a cursor near the end. Reads epoch by epoch, so that it skips earlier lines. */
const linesAfterQuery = `WITH RECURSIVE epochs (session, epoch) AS (
    SELECT s.id, (SELECT min(epoch) FROM phi_records WHERE session = s.id AND epoch >= ?5) FROM phi_sessions s WHERE ${whole}
    UNION ALL
    SELECT e.session, (SELECT min(epoch) FROM phi_records WHERE session = e.session AND epoch > e.epoch) FROM epochs e WHERE e.epoch IS NOT NULL
  )
  SELECT ${columns} FROM epochs e JOIN phi_records r ON r.session = e.session AND r.epoch = e.epoch AND r.seq > ?3
  WHERE r.epoch < ?4 AND (r.epoch, r.seq, r.chunk) > (?5, ?6, ?7) ORDER BY r.epoch, r.seq, r.chunk LIMIT ${batchSize}`

const lastSeqQuery = `SELECT r.seq AS seq ${ofSession} WHERE ${whole} ORDER BY r.epoch DESC, r.seq DESC LIMIT 1`

/** Returns lines as JSON lists of `[epoch, seq, chunk, text]`, one list per statement. */
function insertsOf(lines: readonly LogLine[]): string[] {
  const lists: [number, number, number, string][][] = [[]]
  let chars = 0
  for (const { epoch, seq, text } of lines) {
    for (const [chunk, piece] of splitText(text, maxRowBytes).entries()) {
      if (chars > 0 && chars + piece.length > maxStatementChars) {
        lists.push([])
        chars = 0
      }
      lists.at(-1)?.push([epoch, seq, chunk, piece])
      chars += piece.length
    }
  }
  return lists.map((list) => JSON.stringify(list))
}

interface BlobParts {
  tenant: string
  run: (sessionId: string, statements: readonly SqlStatement[]) => Promise<SqlRow[][]>
  rowsOf: (sessionId: string, text: string, more?: readonly SqlValue[]) => Promise<SqlRow[]>
  whileHeld: (claim: LogClaim, statements: readonly SqlStatement[]) => Promise<void>
}

function blobsOf({ tenant, run, rowsOf, whileHeld }: BlobParts): BlobDriver {
  return {
    put: (claim, hash, bytes) => {
      const place = [tenant, claim.sessionId, claim.epoch, hash]
      const statements: SqlStatement[] = [
        { text: `SELECT 1 FROM phi_sessions WHERE ${held}`, values: place.slice(0, 3), returns: true },
        {
          text: `DELETE FROM phi_blobs WHERE hash = ?4 AND epoch = ?3 AND session = (SELECT id FROM phi_sessions WHERE ${held})`,
          values: place,
        },
      ]
      for (let at = 0, chunk = 0; at < bytes.length; at += maxRowBytes, chunk += 1) {
        const text = `INSERT INTO phi_blobs (session, hash, epoch, chunk, bytes) SELECT id, ?4, ?3, ?5, ?6 FROM phi_sessions WHERE ${held}`
        statements.push({ text, values: [...place, chunk, bytes.slice(at, at + maxRowBytes)] })
      }
      return whileHeld(claim, statements)
    },
    get: async (sessionId, hash) => {
      const rows = await rowsOf(sessionId, blobQuery, [hash])
      return rows.length === 0 ? undefined : joinedBytes(rows.map(({ bytes }) => bytesOf(bytes)))
    },
    keep: async ({ sessionId, epoch }, hashes) => {
      const text = `DELETE FROM phi_blobs WHERE epoch < ?3 AND hash NOT IN (SELECT value FROM json_each(?4))
        AND session = (SELECT id FROM phi_sessions WHERE tenant = ?1 AND session_id = ?2)`
      await run(sessionId, [{ text, values: [tenant, sessionId, epoch, JSON.stringify([...hashes])] }])
    },
  }
}

const blobQuery = `SELECT b.bytes AS bytes FROM phi_sessions s JOIN phi_blobs b ON b.session = s.id WHERE ${whole} AND b.hash = ?3
  AND b.epoch = (SELECT max(epoch) FROM phi_blobs WHERE session = s.id AND hash = ?3) ORDER BY b.chunk`

/** Returns a column's bytes, which are a `Uint8Array`, or in D1 an array of numbers. */
function bytesOf(value: unknown): Uint8Array {
  return Array.isArray(value) || value instanceof ArrayBuffer || value instanceof Uint8Array ? new Uint8Array(value) : new Uint8Array()
}

/** Returns the query for a page of sessions, the most recently active first. */
function listQuery(tenant: string, { agentId, status, idPrefix, limit, after }: LogQuery = {}): SqlStatement {
  const values: SqlValue[] = [tenant]
  const value = (given: SqlValue): string => `?${values.push(given)}`
  const conditions = ['tenant = ?1', 'is_written']
  if (agentId !== undefined) conditions.push(`agent_id = ${value(agentId)}`)
  if (status !== undefined) conditions.push(`status = ${value(status)}`)
  if (idPrefix !== undefined) conditions.push(`substr(session_id, 1, ${idPrefix.length}) = ${value(idPrefix)}`)
  if (idPrefix !== undefined && idPrefix.length > ownerChars)
    conditions.push(`substr(session_id, 1, ${ownerChars}) = ${value(idPrefix.slice(0, ownerChars))}`)
  if (after !== undefined) conditions.push(`(last_active_at, session_id) < (${value(after.lastActiveAt)}, ${value(after.sessionId)})`)
  const most = limit === undefined ? '' : `LIMIT ${value(limit)}`
  const text = `SELECT session_id, agent_id, created_at, last_active_at, digest FROM phi_sessions
    WHERE ${conditions.join(' AND ')} ORDER BY last_active_at DESC, session_id DESC ${most}`
  return { text, values, returns: true }
}
