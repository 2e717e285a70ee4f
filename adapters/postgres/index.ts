/**
 * Sessions in PostgreSQL, which any number of processes and machines share. It needs a pool of connections, such as that of `pg`, and imports none.
 *
 * @module
 */
export { type PostgresSessionStoreOptions, postgresSessionStore } from './postgres-session-store.ts'
export { type MigrateOptions, migrate } from './schema.ts'
export type { SqlPool } from './sql-pool.ts'
