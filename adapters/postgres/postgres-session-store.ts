import { checkOptions } from '../../src/contract/shape/read.ts'
import { aText, type OptionTable, options as optionsOf, required, wholeFrom } from '../../src/contract/shape/shape.ts'
import type { SessionStore } from '../../src/index.ts'
import { logSessionStore } from '../../src/session.ts'
import { postgresLogDriver } from './postgres-log-driver.ts'
import { aPool, placeOf } from './schema.ts'
import type { SqlPool } from './sql-pool.ts'

/** Where sessions are kept. */
export interface PostgresSessionStoreOptions {
  /** A `Pool` of `pg`, or anything else with its `query`. The one who made the pool ends it. */
  pool: SqlPool
  /** The schema that `migrate` has made. Default `phi`. */
  schema?: string
  /** Whose sessions these are: those of others are out of reach. At most 200 characters. Default: nobody's in particular. */
  tenant?: string
  /** Milliseconds in which a statement must be answered, the wait for a connection among them; then it has failed. Default 30,000. */
  statementTimeoutMs?: number
}

/** What they may be. */
export const storeOptionTable: OptionTable<PostgresSessionStoreOptions> = {
  pool: required(aPool),
  schema: aText,
  tenant: aText,
  statementTimeoutMs: wholeFrom(1),
}

/**
 * Sessions in PostgreSQL, for any number of processes and machines. Call `migrate({ pool })` before, at each start or when you deploy.
 *
 * **Contract**
 * - Each session has one writer at a time; the row of the session decides, so a writer that was taken over gets no acknowledgement any more, whatever its
 *   clock says.
 * - An acknowledged record survives a power cut, as far as the database is told to keep it (`synchronous_commit`).
 * - Everything is one statement each: it works over a pooler in transaction mode.
 * - Rejects with `SessionError`: `quota` where there is no room, `io` where the database does not answer, `conflict`.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/guides/choose-a-store.md
 *
 * @example
 * ```ts
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL })
 * await migrate({ pool })
 * const store = postgresSessionStore({ pool })
 * ```
 */
export function postgresSessionStore(options: PostgresSessionStoreOptions): SessionStore {
  checkOptions(options, optionsOf(storeOptionTable))
  return logSessionStore(postgresLogDriver(placeOf(options)))
}
