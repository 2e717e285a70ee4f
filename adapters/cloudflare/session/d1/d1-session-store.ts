import { checkOptions } from '../../../../src/contract/shape/read.ts'
import { aText, options as optionsOf, required, withMethods } from '../../../../src/contract/shape/shape.ts'
import type { SessionStore } from '../../../../src/index.ts'
import { logSessionStore } from '../../../../src/session.ts'
import { assertTenant, type SqlBatch, type SqlValue, sqliteLogDriver } from '../../../sqlite/internal.ts'

/** The part of a prepared D1 statement that the store uses. */
export interface D1Prepared {
  bind(...values: SqlValue[]): D1Prepared
}

/** The part of a D1 binding that the store uses. */
export interface D1Binding {
  prepare(query: string): D1Prepared
  /** Runs the statements in one transaction. */
  batch(statements: D1Prepared[]): Promise<{ results: Record<string, unknown>[] }[]>
}

/** Options for `d1SessionStore`: the binding and the tenant. */
export interface D1SessionStoreOptions {
  /** Binding of a D1 database, such as `env.DB`. */
  database: D1Binding
  /** The sessions' owner. Other tenants' sessions are unreachable. At most 200 characters. Default: none. */
  tenant?: string
}

const storeOptions = optionsOf<D1SessionStoreOptions>({
  database: required(withMethods('a binding of a D1 database, such as env.DB', 'prepare', 'batch')),
  tenant: aText,
})

/**
 * Creates a session store in Cloudflare D1, for any number of Workers. Creates its tables, whose names start with `phi_`, on the first use.
 *
 * **Contract**
 * - Each session has one writer at a time. A writer that lost ownership gets no acknowledgement.
 * - Each operation is one request to the database and one transaction. An acknowledged record is durable, and every reader sees it.
 * - Use the binding itself, because a session from `withSession` may read from a replica that lags behind.
 * - Rejects with `SessionError`: `quota` if the database is full, `io` if it does not respond, `conflict`.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/guides/choose-a-store.md
 *
 * @example
 * ```ts
 * const store = d1SessionStore({ database: env.DB })
 * ```
 */
export function d1SessionStore(options: D1SessionStoreOptions): SessionStore {
  checkOptions(options, storeOptions)
  const { database, tenant = '' } = options
  assertTenant(tenant)
  const batch: SqlBatch = async (statements) => {
    const results = await database.batch(statements.map(({ text, values }) => database.prepare(text).bind(...values)))
    return results.map((result) => result.results)
  }
  return logSessionStore(sqliteLogDriver(batch, tenant))
}
