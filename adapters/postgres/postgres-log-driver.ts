import { ownerChars, summaryOfRow } from '../../src/internal.ts'
import { type BlobDriver, type LogClaim, type LogDriver, type LogQuery, SessionError } from '../../src/session.ts'
import { asked, now, type PostgresPlace } from './sql-pool.ts'

/** Records per batch, so that a long log is never entirely in memory. */
const batchSize = 500

/**
 * Stores one tenant's logs in PostgreSQL. Each call is one statement, so a pooler works.
 *
 * A claim locks its session's row and takes the next epoch. An append locks the same row and writes only if it finds its
 * epoch there, so that no append is acknowledged after a newer claim.
 */
export function postgresLogDriver({ pool, schema, tenant }: PostgresPlace): LogDriver {
  const rowsOf = async (text: string, values: unknown[]) => (await pool.query(text, values)).rows
  const of = (sessionId: string) => `Session ${sessionId}`

  /** Yields the lines after a cursor, or the lines from epochs before one, in batches. */
  async function* linesOf(
    sessionId: string,
    { after = 0, before }: { after?: number; before?: number },
  ): AsyncGenerator<readonly string[]> {
    let [epoch, seq] = ['0', '-1']
    const text = after === 0 ? linesQuery(schema) : linesAfterQuery(schema)
    for (;;) {
      const rows = await asked(of(sessionId), () => rowsOf(text, [tenant, sessionId, after, before ?? '9223372036854775807', epoch, seq]))
      const last = rows.at(-1)
      if (last === undefined) return
      yield rows.map(({ line }) => String(line))
      if (rows.length < batchSize) return
      epoch = String(last.epoch)
      seq = String(last.seq)
    }
  }

  async function isWritten(sessionId: string): Promise<boolean> {
    const text = `SELECT 1 FROM ${schema}.sessions WHERE tenant = $1 AND session_id = $2 AND is_written`
    return (await asked(of(sessionId), () => rowsOf(text, [tenant, sessionId]))).length > 0
  }

  /** Changes a session that `claim` still holds. Rejects with `conflict` otherwise. */
  async function whileHeld({ sessionId, epoch }: LogClaim, text: string, more: unknown[]): Promise<void> {
    const [found] = await asked(of(sessionId), () => rowsOf(text, [tenant, sessionId, epoch, ...more]))
    if (Number(found?.held) === 1) return
    throw new SessionError('conflict', `Another writer took over session ${sessionId}, or the session was deleted. Open it again to write.`)
  }

  return {
    promises: { conflict: 'refused', readAfterWrite: 'immediate', list: 'immediate', survives: 'powerCut' },
    claim: async (sessionId, agentId) => {
      const next = `nextval('${schema}.epochs')`
      const [row] = await asked(of(sessionId), () =>
        rowsOf(
          `INSERT INTO ${schema}.sessions (tenant, session_id, epoch, claimant, agent_id) VALUES ($1, $2, ${next}, $3, $3)
           ON CONFLICT (tenant, session_id) DO UPDATE SET epoch = ${next}, claimant = $3 RETURNING epoch::text AS epoch`,
          [tenant, sessionId, agentId],
        ),
      )
      const epoch = Number(row?.epoch)
      const batches = linesOf(sessionId, { before: epoch })
      const first = await batches.next()
      const lines = first.done === true ? [] : first.value
      return { sessionId, epoch, lines, ...(lines.length === batchSize && { more: batches }) }
    },
    append: async (claim, lines, digest) => {
      const columns = [lines.map(({ epoch }) => epoch), lines.map(({ seq }) => seq), lines.map(({ text }) => text)]
      await whileHeld(
        claim,
        `WITH held AS (
           UPDATE ${schema}.sessions SET last_active_at = ${now}, agent_id = claimant, digest = coalesce($7, digest), status = coalesce($8, status), is_written = true,
             created_at = CASE WHEN is_written THEN created_at ELSE ${now} END
           WHERE tenant = $1 AND session_id = $2 AND epoch = $3 RETURNING 1
         ), written AS (
           INSERT INTO ${schema}.records SELECT $1, $2, each.* FROM unnest($4::bigint[], $5::bigint[], $6::text[]) AS each, held
         ) SELECT count(*) AS held FROM held`,
        [...columns, digest === undefined ? null : JSON.stringify(digest), digest?.status ?? null],
      )
    },
    discardOlder: async ({ sessionId, epoch }) => {
      const older = (table: string) => `DELETE FROM ${schema}.${table} r USING ${schema}.sessions s
        WHERE r.tenant = $1 AND r.session_id = $2 AND r.epoch < $3 AND s.tenant = $1 AND s.session_id = $2 AND s.epoch = $3`
      await asked(of(sessionId), () => rowsOf(`WITH records AS (${older('records')}) ${older('blobs')}`, [tenant, sessionId, epoch]))
    },
    release: async ({ sessionId, epoch }) => {
      const text = `DELETE FROM ${schema}.sessions WHERE tenant = $1 AND session_id = $2 AND epoch = $3 AND NOT is_written`
      await asked(of(sessionId), () => rowsOf(text, [tenant, sessionId, epoch]))
    },
    read: async (sessionId, after) => {
      const lines: string[] = []
      for await (const batch of linesOf(sessionId, { after })) for (const line of batch) lines.push(line)
      return lines.length > 0 || (await isWritten(sessionId)) ? lines : undefined
    },
    stream: async (sessionId, after) => ((await isWritten(sessionId)) ? linesOf(sessionId, { after }) : undefined),
    lastSeq: async (sessionId) => {
      // Qualified with the table name, because `seq` alone would be the text column.
      const text = `SELECT r.seq::text AS seq FROM ${schema}.records r WHERE r.tenant = $1 AND r.session_id = $2 ORDER BY r.epoch DESC, r.seq DESC LIMIT 1`
      const [last] = await asked(of(sessionId), () => rowsOf(text, [tenant, sessionId]))
      return last === undefined ? undefined : Number(last.seq)
    },
    list: (query) => asked('The list of sessions', async () => (await rowsOf(...listQuery({ schema, tenant }, query))).map(summaryOfRow)),
    delete: async (sessionId) => {
      const text = `DELETE FROM ${schema}.sessions WHERE tenant = $1 AND session_id = $2 RETURNING is_written`
      const [row] = await asked(of(sessionId), () => rowsOf(text, [tenant, sessionId]))
      return row?.is_written === true
    },
    blobs: blobsOf({ pool, schema, tenant }, whileHeld),
  }
}

/** Returns the query for a batch of lines from a cursor on. */
function linesQuery(schema: string): string {
  return `SELECT r.epoch::text AS epoch, r.seq::text AS seq, r.line FROM ${schema}.records r
    WHERE r.tenant = $1 AND r.session_id = $2 AND r.seq > $3 AND r.epoch < $4 AND (r.epoch, r.seq) > ($5, $6)
    ORDER BY r.epoch, r.seq LIMIT ${batchSize}`
}

/** Like the query above, for a cursor near the end. It reads epoch by epoch, so that earlier lines are skipped. */
function linesAfterQuery(schema: string): string {
  const from = `FROM ${schema}.records r WHERE r.tenant = $1 AND r.session_id = $2`
  // Not `min()`, which would read all rows if there are no statistics.
  const first = (condition: string) => `SELECT (SELECT r.epoch ${from} AND r.epoch ${condition} ORDER BY r.epoch LIMIT 1)`
  return `WITH RECURSIVE epochs (epoch) AS (
      ${first('>= $5::bigint')}
      UNION ALL ${first('> e.epoch')} FROM epochs e WHERE e.epoch IS NOT NULL
    )
    SELECT r.epoch::text AS epoch, r.seq::text AS seq, r.line FROM epochs e JOIN LATERAL (
      SELECT * ${from} AND r.epoch = e.epoch AND r.seq > $3 AND r.epoch < $4 AND (r.epoch, r.seq) > ($5, $6) ORDER BY r.seq LIMIT ${batchSize}
    ) r ON true ORDER BY r.epoch, r.seq LIMIT ${batchSize}`
}

function blobsOf(
  { pool, schema, tenant }: PostgresPlace,
  whileHeld: (claim: LogClaim, text: string, more: unknown[]) => Promise<void>,
): BlobDriver {
  return {
    put: (claim, hash, bytes) =>
      whileHeld(
        claim,
        `WITH held AS (
           SELECT 1 FROM ${schema}.sessions WHERE tenant = $1 AND session_id = $2 AND epoch = $3 FOR UPDATE
         ), written AS (
           INSERT INTO ${schema}.blobs (tenant, session_id, epoch, hash, bytes) SELECT $1, $2, $3, $4, $5::bytea FROM held
           ON CONFLICT (tenant, session_id, hash, epoch) DO UPDATE SET bytes = excluded.bytes
         ) SELECT count(*) AS held FROM held`,
        [hash, bytes],
      ),
    get: async (sessionId, hash) => {
      const text = `SELECT bytes FROM ${schema}.blobs WHERE tenant = $1 AND session_id = $2 AND hash = $3 ORDER BY epoch DESC LIMIT 1`
      const { rows } = await asked(`Session ${sessionId}`, () => pool.query(text, [tenant, sessionId, hash]))
      const bytes = rows[0]?.bytes
      return bytes instanceof Uint8Array ? new Uint8Array(bytes) : undefined
    },
    keep: async ({ sessionId, epoch }, hashes) => {
      const text = `DELETE FROM ${schema}.blobs WHERE tenant = $1 AND session_id = $2 AND epoch < $3 AND NOT (hash = ANY($4::text[]))`
      await asked(`Session ${sessionId}`, () => pool.query(text, [tenant, sessionId, epoch, [...hashes]]))
    },
  }
}

/** Returns the query for a page of sessions, the most recently active first. */
function listQuery(
  { schema, tenant }: Omit<PostgresPlace, 'pool'>,
  { agentId, status, idPrefix, limit, after }: LogQuery = {},
): [string, unknown[]] {
  const values: unknown[] = [tenant]
  const given = (value: unknown): string => `$${values.push(value)}`
  const conditions = ['tenant = $1', 'is_written']
  if (agentId !== undefined) conditions.push(`agent_id = ${given(agentId)}`)
  if (status !== undefined) conditions.push(`status = ${given(status)}`)
  if (idPrefix !== undefined) conditions.push(`starts_with(session_id, ${given(idPrefix)})`)
  if (idPrefix !== undefined && idPrefix.length >= ownerChars)
    conditions.push(`left(session_id, ${ownerChars}) = ${given(idPrefix.slice(0, ownerChars))}`)
  if (after !== undefined) conditions.push(`(last_active_at, session_id) < (${given(after.lastActiveAt)}, ${given(after.sessionId)})`)
  const most = limit === undefined ? '' : `LIMIT ${given(limit)}`
  const text = `SELECT session_id, agent_id, created_at, last_active_at, digest FROM ${schema}.sessions
    WHERE ${conditions.join(' AND ')} ORDER BY last_active_at DESC, session_id DESC ${most}`
  return [text, values]
}
