import { delay } from '../../src/base/timer.ts'
import { checkOptions } from '../../src/contract/shape/read.ts'
import { aText, options as optionsOf, required, wholeFrom, withMethods } from '../../src/contract/shape/shape.ts'
import { ConfigError, type SessionStore } from '../../src/index.ts'
import { logSessionStore } from '../../src/session.ts'
import { type SqlBatch, type SqlRow, type SqlStatement, type SqlValue, sqliteCode } from './sql-batch.ts'
import { sqliteLogDriver } from './sqlite-log-driver.ts'

/** A prepared statement for a {@link SqliteDatabase}. */
export interface SqlitePrepared {
  /** Returns all rows as objects. */
  all(...values: SqlValue[]): unknown[]
  run(...values: SqlValue[]): unknown
}

/**
 * An open SQLite database: `DatabaseSync` from `node:sqlite`, or `Database` from `bun:sqlite` or `better-sqlite3`. Blobs are `Uint8Array`.
 *
 * Source: docs/guides/choose-a-store.md
 */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): SqlitePrepared
}

/** Options for `sqliteSessionStore`: the database, the tenant and the timeout. */
export interface SqliteSessionStoreOptions {
  /** An open database. Only this store may use the connection. The caller closes it. */
  database: SqliteDatabase
  /** The sessions' owner. Other tenants' sessions are unreachable. At most 200 characters. Default: none. */
  tenant?: string
  /** Milliseconds to wait while another process writes to the database. Default: 10,000. */
  busyTimeoutMs?: number
}

const storeOptions = optionsOf<SqliteSessionStoreOptions>({
  database: required(
    withMethods("an open database, such as new DatabaseSync('sessions.db') of node:sqlite, or Database of bun:sqlite", 'exec', 'prepare'),
  ),
  tenant: aText,
  busyTimeoutMs: wholeFrom(1),
})

/**
 * Creates a session store in a SQLite file, for any number of processes on one machine. Creates its tables, whose names start with `phi_`,
 * on the first write.
 *
 * **Contract**
 * - Each session has one writer at a time. A writer that lost ownership gets no acknowledgement.
 * - An acknowledged record survives a power failure. The store sets `journal_mode = WAL` and `synchronous = FULL`.
 * - SQLite is synchronous, so an append blocks the thread while the disk stores it, typically for less than a millisecond on an SSD. The
 *   store waits for other processes without blocking.
 * - Network file systems do not support SQLite's locks. Use PostgreSQL for several machines.
 * - Rejects with `SessionError`: `quota` if the disk is full, `io` if the database fails or stays locked, `conflict`.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/guides/choose-a-store.md
 *
 * @example
 * ```ts
 * import { DatabaseSync } from 'node:sqlite'
 *
 * const store = sqliteSessionStore({ database: new DatabaseSync('sessions.db') })
 * ```
 */
export function sqliteSessionStore(options: SqliteSessionStoreOptions): SessionStore {
  checkOptions(options, storeOptions)
  const { database, tenant = '', busyTimeoutMs = 10_000 } = options
  assertTenant(tenant)
  return logSessionStore(sqliteLogDriver(localBatch(database, busyTimeoutMs), tenant))
}

/** Throws `ConfigError` `invalidOption` for a long tenant. */
export function assertTenant(tenant: string): void {
  if (tenant.length > 200) throw new ConfigError('invalidOption', 'tenant has more than 200 characters. Use a shorter name, or its hash.')
}

/** Runs batches on a connection. Retries while another process holds the lock. */
function localBatch(database: SqliteDatabase, busyTimeoutMs: number): SqlBatch {
  const connection = new Connection(database)
  return async (statements) => {
    const deadline = Date.now() + busyTimeoutMs
    for (let attempt = 0; ; attempt += 1) {
      try {
        return connection.transact(statements)
      } catch (error) {
        const isBusy = /^SQLITE_(?:BUSY|LOCKED)$/.test(sqliteCode(error))
        if (!isBusy || Date.now() > deadline) throw error
        await delay(Math.random() * Math.min(50, 2 ** attempt))
      }
    }
  }
}

/** A connection with its prepared statements. Everything is synchronous, so that transactions never overlap. */
class Connection {
  readonly #database: SqliteDatabase
  readonly #prepared = new Map<string, SqlitePrepared>()
  #isSetUp = false

  constructor(database: SqliteDatabase) {
    this.#database = database
  }

  transact(statements: readonly SqlStatement[]): SqlRow[][] {
    this.#setUp()
    const [only] = statements
    // A single statement is a transaction. A read takes no lock for writing.
    if (statements.length === 1 && only !== undefined) return [this.#run(only)]
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const rows = statements.map((statement) => this.#run(statement))
      this.#database.exec('COMMIT')
      return rows
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  #run({ text, values, returns = false }: SqlStatement): SqlRow[] {
    const known = this.#prepared.get(text)
    const statement = known ?? this.#database.prepare(text)
    if (known === undefined) this.#prepared.set(text, statement)
    if (returns) return statement.all(...values).map((row) => Object(row))
    statement.run(...values)
    return []
  }

  /** SQLite itself rolls back after some failures, and refuses another rollback then. */
  #rollBack(): void {
    try {
      this.#database.exec('ROLLBACK')
    } catch {
      // Nothing is open.
    }
  }

  #setUp(): void {
    if (this.#isSetUp) return
    // Disable SQLite's own wait, which blocks the thread.
    this.#database.exec('PRAGMA busy_timeout = 0')
    this.#database.exec('PRAGMA journal_mode = WAL')
    this.#database.exec('PRAGMA synchronous = FULL')
    this.#isSetUp = true
  }
}
