import { checkOptions } from '../../src/contract/shape/read.ts'
import { aText, type OptionTable, options as optionsOf, required, wholeFrom } from '../../src/contract/shape/shape.ts'
import type { SessionStore } from '../../src/index.ts'
import { logSessionStore } from '../../src/session.ts'
import { postgresLogDriver } from './postgres-log-driver.ts'
import { aPool, placeOf } from './schema.ts'
import type { SqlPool } from './sql-pool.ts'

/** Options for `postgresSessionStore`: pool, schema, tenant and timeout. */
export interface PostgresSessionStoreOptions {
  /** A `Pool` from `pg`, or any object with its `query` method. The caller ends the pool. */
  pool: SqlPool
  /** The schema that `migrate` created. Default: `phi`. */
  schema?: string
  /** The sessions' owner. Other tenants' sessions are unreachable. At most 200 characters. Default: none. */
  tenant?: string
  /** Milliseconds until a statement fails, including the wait for a connection. Default: 30,000. */
  statementTimeoutMs?: number
}

/** Validators for these options. */
export const storeOptionTable: OptionTable<PostgresSessionStoreOptions> = {
  pool: required(aPool),
  schema: aText,
  tenant: aText,
  statementTimeoutMs: wholeFrom(1),
}

/**
 * Creates a session store in PostgreSQL, for any number of processes and machines. Call `migrate({ pool })` first, at each start or
 * when you deploy.
 *
 * **Contract**
 * - Each session has one writer at a time. The session's row decides which one, so a writer that lost ownership gets no acknowledgement,
 *   whatever its clock says.
 * - An acknowledged record survives a power failure, as far as the database's `synchronous_commit` setting promises.
 * - Each operation is one statement, so a pooler in transaction mode works.
 * - Rejects with `SessionError`: `quota` if there is no room, `io` if the database does not respond, `conflict`.
 * - Throws `ConfigError` `invalidOption` for an invalid option.
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
