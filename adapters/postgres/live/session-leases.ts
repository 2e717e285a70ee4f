import type { SessionAddress } from '../../http/internal.ts'
import { asked, now, type PostgresPlace } from '../sql-pool.ts'

/** The session that a row describes, with its owner. */
interface LeaseKey {
  /** Empty for a single user. */
  owner: string
  sessionId: string
}

/** Returns a session's row key. */
export function keyOf({ identity = '', sessionId }: SessionAddress): LeaseKey {
  return { owner: identity, sessionId }
}

/** Returns the session that a row describes. */
export function addressOf({ owner, sessionId }: LeaseKey): SessionAddress {
  return { sessionId, ...(owner !== '' && { identity: owner }) }
}

/** Returns the key as text, for maps. */
export function textOf({ owner, sessionId }: LeaseKey): string {
  return JSON.stringify([owner, sessionId])
}

/** A process and its database. */
export interface ProcessPlace extends PostgresPlace {
  processId: string
}

/** The process that owns a session. */
export interface Holder {
  processId: string
  /** Its URL for direct requests, if any. */
  url?: string
}

/** A session's owner. */
export interface Holding extends Holder {
  /** Whether a crashed process owned the session, so that its run has to be resumed. */
  wasLeft: boolean
}

/** Maximum number of orphaned sessions claimed at a time. */
const leftAtOnce = 16

/**
 * Leases: which process owns which session. A process is alive while it renews its lease in time, by the database's clock. Afterwards,
 * other processes may claim its sessions. A lease decides which process handles requests. The store's epoch decides which process may
 * write.
 */
export class SessionLeases {
  readonly #place: ProcessPlace
  readonly #leaseMs: number
  readonly #url: string | undefined
  /** Offset from `performance.now()` to the database's clock. */
  #clockMs = Date.now() - performance.now()

  /** `url` is the URL at which other processes reach this process. */
  constructor(place: ProcessPlace, { leaseMs, url }: { leaseMs: number; url?: string | undefined }) {
    this.#place = place
    this.#leaseMs = leaseMs
    this.#url = url
  }

  /** Returns the database's time in epoch milliseconds, as estimated by this process. The estimate may be too late, but not too early. */
  now(): number {
    return Math.round(performance.now() + this.#clockMs)
  }

  /** Renews the lease. Resolves with `false` if the lease had expired, because others may then have claimed its sessions. */
  async beat(): Promise<boolean> {
    const asked = performance.now()
    const [row] = await this.#rows(
      `WITH before AS (SELECT until FROM ${this.#table('processes')} WHERE tenant = $1 AND process_id = $2)
       INSERT INTO ${this.#table('processes')} (tenant, process_id, until, url) VALUES ($1, $2, ${now} + $3, $4)
       ON CONFLICT (tenant, process_id) DO UPDATE SET until = excluded.until
       RETURNING coalesce((SELECT until FROM before) > ${now}, false) AS lived, ${now} AS now`,
      [this.#leaseMs, this.#url ?? null],
    )
    this.#clockMs = Number(row?.now) - asked
    return row?.lived === true
  }

  /** Returns those of these processes that are no longer alive. */
  async expiredAmong(processIds: readonly string[]): Promise<string[]> {
    const rows = await this.#rowsOf(`SELECT each.id FROM unnest($2::text[]) AS each (id) WHERE NOT ${this.#lives('each.id')}`, [processIds])
    return rows.map(({ id }) => String(id))
  }

  /** Claims a session without a live owner. Resolves with its owner. */
  async take({ owner, sessionId }: LeaseKey): Promise<Holding> {
    const leases = this.#table('leases')
    // If a live process owns the session, the row stays unchanged. The second part reads the row as of the start of the statement.
    const [row] = await this.#rows(
      `WITH taken AS (
         INSERT INTO ${leases} AS l VALUES ($1, $3, $4, $2)
         ON CONFLICT (tenant, owner, session_id) DO UPDATE SET process_id = $2 WHERE l.process_id = $2 OR NOT ${this.#lives('l.process_id')}
         RETURNING process_id, xmax <> 0 AS was_there
       )
       SELECT t.process_id, t.was_there AND NOT EXISTS (${this.#own('$2')}) AS was_left, NULL AS url FROM taken t
       UNION ALL
       SELECT l.process_id, false, ${this.#urlOf('l.process_id')} FROM ${leases} l
       WHERE l.tenant = $1 AND l.owner = $3 AND l.session_id = $4 AND NOT EXISTS (SELECT 1 FROM taken)`,
      [owner, sessionId],
    )
    // Claimed and released by another process during this statement, so try again.
    if (row === undefined) return this.take({ owner, sessionId })
    return { ...holderIn(row), wasLeft: row.was_left === true }
  }

  /** Claims sessions orphaned by crashed processes. */
  async takeLeft(): Promise<LeaseKey[]> {
    const leases = this.#table('leases')
    const rows = await this.#rows(
      `UPDATE ${leases} SET process_id = $2 WHERE (tenant, owner, session_id) IN (
         SELECT l.tenant, l.owner, l.session_id FROM ${leases} l WHERE l.tenant = $1 AND NOT ${this.#lives('l.process_id')}
         LIMIT ${leftAtOnce} FOR UPDATE SKIP LOCKED
       ) RETURNING owner, session_id`,
    )
    return rows.map(keyIn)
  }

  /** Returns this process's sessions. */
  async held(): Promise<LeaseKey[]> {
    return (await this.#rows(`SELECT owner, session_id FROM ${this.#table('leases')} WHERE tenant = $1 AND process_id = $2`)).map(keyIn)
  }

  /** Releases a session that was evicted from memory. */
  async release({ owner, sessionId }: LeaseKey): Promise<void> {
    const text = `DELETE FROM ${this.#table('leases')} WHERE tenant = $1 AND process_id = $2 AND owner = $3 AND session_id = $4`
    await this.#rows(text, [owner, sessionId])
  }

  /** Leaves an unfinished session to the first process that claims it. Notifies the others, unless `notify` is false. */
  async leave({ owner, sessionId }: LeaseKey, { notify = true } = {}): Promise<void> {
    await this.#rows(
      `WITH gone AS (
         UPDATE ${this.#table('leases')} SET process_id = '' WHERE tenant = $1 AND process_id = $2 AND owner = $3 AND session_id = $4 RETURNING 1
       ) SELECT pg_notify($5, 'left') FROM gone WHERE $6`,
      [owner, sessionId, leftChannel(this.#place.schema), notify],
    )
  }

  /** Returns a session's live owner, if any. */
  async holder({ owner, sessionId }: LeaseKey): Promise<Holder | undefined> {
    const [row] = await this.#rows(
      `SELECT l.process_id, ${this.#urlOf('l.process_id')} AS url FROM ${this.#table('leases')} l
       WHERE l.tenant = $1 AND l.owner = $3 AND l.session_id = $4 AND (l.process_id = $2 OR ${this.#lives('l.process_id')})`,
      [owner, sessionId],
    )
    return row === undefined ? undefined : holderIn(row)
  }

  /** Ends this process's lease, so that others may claim its sessions immediately. Deletes processes that crashed long ago. */
  async end(): Promise<void> {
    const text = `DELETE FROM ${this.#table('processes')} WHERE tenant = $1 AND (process_id = $2 OR until < ${now} - 3600000)`
    await this.#rows(text)
  }

  #own(processId: string): string {
    return `SELECT 1 FROM ${this.#table('leases')} l WHERE l.tenant = $1 AND l.owner = $3 AND l.session_id = $4 AND l.process_id = ${processId}`
  }

  #urlOf(processId: string): string {
    return `(SELECT p.url FROM ${this.#table('processes')} p WHERE p.tenant = $1 AND p.process_id = ${processId})`
  }

  #lives(processId: string): string {
    return `EXISTS (SELECT 1 FROM ${this.#table('processes')} p WHERE p.tenant = $1 AND p.process_id = ${processId} AND p.until > ${now})`
  }

  #table(name: string): string {
    return `${this.#place.schema}.${name}`
  }

  async #rows(text: string, more: unknown[] = []): Promise<Record<string, unknown>[]> {
    return this.#rowsOf(text, [this.#place.processId, ...more])
  }

  async #rowsOf(text: string, more: unknown[]): Promise<Record<string, unknown>[]> {
    const { pool, tenant } = this.#place
    return asked('The place of a session', async () => (await pool.query(text, [tenant, ...more])).rows)
  }
}

/** Returns the channel that notifies of orphaned sessions. */
export function leftChannel(schema: string): string {
  return `phi_left_${schema}`
}

function holderIn({ process_id, url }: Record<string, unknown>): Holder {
  return { processId: String(process_id), ...(typeof url === 'string' && { url }) }
}

function keyIn({ owner, session_id }: Record<string, unknown>): LeaseKey {
  return { owner: String(owner), sessionId: String(session_id) }
}
