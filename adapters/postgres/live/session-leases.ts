import type { SessionAddress } from '../../http/internal.ts'
import { asked, now, type PostgresPlace } from '../sql-pool.ts'

/** Which session of whom, as it stands in a row. */
interface LeaseKey {
  /** Empty for the only user of a server. */
  owner: string
  sessionId: string
}

/** The row of a session. */
export function keyOf({ identity = '', sessionId }: SessionAddress): LeaseKey {
  return { owner: identity, sessionId }
}

/** The session of a row. */
export function addressOf({ owner, sessionId }: LeaseKey): SessionAddress {
  return { sessionId, ...(owner !== '' && { identity: owner }) }
}

/** Returns the key as text, for maps. */
export function textOf({ owner, sessionId }: LeaseKey): string {
  return JSON.stringify([owner, sessionId])
}

/** Which process of which database. */
export interface ProcessPlace extends PostgresPlace {
  processId: string
}

/** A process that has a session. */
export interface Holder {
  processId: string
  /** Where the others reach it without the database, if anywhere. */
  url?: string
}

/** Who has a session. */
export interface Holding extends Holder {
  /** A process that is gone had it: its run is to be taken up. */
  wasLeft: boolean
}

/** How many sessions of gone processes are taken at a time. */
const leftAtOnce = 16

/**
 * Which process answers for which session. A process lives as long as it says so in time, by the clock of the database; what it had is then anybody's. A lease
 * decides where requests go, not who may write: that is the epoch of the store.
 */
export class SessionLeases {
  readonly #place: ProcessPlace
  readonly #leaseMs: number
  readonly #url: string | undefined
  /** What is to be added to `performance.now()`. */
  #clockMs = Date.now() - performance.now()

  /** `url` is where the others reach this process. */
  constructor(place: ProcessPlace, { leaseMs, url }: { leaseMs: number; url?: string | undefined }) {
    this.#place = place
    this.#leaseMs = leaseMs
    this.#url = url
  }

  /** The time of the database, as far as this process knows it: epoch ms, rather too late than too early. */
  now(): number {
    return Math.round(performance.now() + this.#clockMs)
  }

  /** Says that this process lives. Resolves with whether it had lived all the time: if not, others may have taken what it had. */
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

  /** Those of these processes that live no more. */
  async gone(processIds: readonly string[]): Promise<string[]> {
    const rows = await this.#rowsOf(`SELECT each.id FROM unnest($2::text[]) AS each (id) WHERE NOT ${this.#lives('each.id')}`, [processIds])
    return rows.map(({ id }) => String(id))
  }

  /** Takes a session that nobody alive has. Resolves with who has it now. */
  async take({ owner, sessionId }: LeaseKey): Promise<Holding> {
    const leases = this.#table('leases')
    // Where somebody alive has it the row stays as it is: it is read by the second part, as it was when the statement began.
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
    // Taken and left again by another one while this statement ran: whoever asks again gets it.
    if (row === undefined) return this.take({ owner, sessionId })
    return { ...holderIn(row), wasLeft: row.was_left === true }
  }

  /** Takes some of the sessions that gone processes have left. */
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

  /** Those that this process has. */
  async held(): Promise<LeaseKey[]> {
    return (await this.#rows(`SELECT owner, session_id FROM ${this.#table('leases')} WHERE tenant = $1 AND process_id = $2`)).map(keyIn)
  }

  /** The session is out of memory: nobody has it. */
  async release({ owner, sessionId }: LeaseKey): Promise<void> {
    const text = `DELETE FROM ${this.#table('leases')} WHERE tenant = $1 AND process_id = $2 AND owner = $3 AND session_id = $4`
    await this.#rows(text, [owner, sessionId])
  }

  /** Leaves the session to whoever takes it first, with what was not done in it. The others are told, unless `isTold` is false. */
  async leave({ owner, sessionId }: LeaseKey, { isTold = true } = {}): Promise<void> {
    await this.#rows(
      `WITH gone AS (
         UPDATE ${this.#table('leases')} SET process_id = '' WHERE tenant = $1 AND process_id = $2 AND owner = $3 AND session_id = $4 RETURNING 1
       ) SELECT pg_notify($5, 'left') FROM gone WHERE $6`,
      [owner, sessionId, leftChannel(this.#place.schema), isTold],
    )
  }

  /** Who has a session, if it is somebody alive. */
  async holder({ owner, sessionId }: LeaseKey): Promise<Holder | undefined> {
    const [row] = await this.#rows(
      `SELECT l.process_id, ${this.#urlOf('l.process_id')} AS url FROM ${this.#table('leases')} l
       WHERE l.tenant = $1 AND l.owner = $3 AND l.session_id = $4 AND (l.process_id = $2 OR ${this.#lives('l.process_id')})`,
      [owner, sessionId],
    )
    return row === undefined ? undefined : holderIn(row)
  }

  /** This process lives no more: what it still has is anybody's at once. Forgets processes that have been gone for long. */
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

/** Where everybody is told that sessions were left. */
export function leftChannel(schema: string): string {
  return `phi_left_${schema}`
}

function holderIn({ process_id, url }: Record<string, unknown>): Holder {
  return { processId: String(process_id), ...(typeof url === 'string' && { url }) }
}

function keyIn({ owner, session_id }: Record<string, unknown>): LeaseKey {
  return { owner: String(owner), sessionId: String(session_id) }
}
