/**
 * Sessions in PostgreSQL, stored and live, for any number of processes and machines. Pass a connection pool, such as a `Pool` from `pg`.
 * This entry imports none.
 *
 * @module
 *
 * @module
 */

export type { PostgresLiveSessions, PostgresLiveSessionsOptions } from './live/postgres-live-options.ts'
export { postgresLiveSessions } from './live/postgres-live-sessions.ts'
export { postgresSchedules } from './live/postgres-schedules.ts'
export { type ListeningClient, type ListeningPool, listenWith, type SqlListen } from './live/wake-up.ts'
export { type PostgresSessionStoreOptions, postgresSessionStore } from './postgres-session-store.ts'
export { migrate } from './schema.ts'
export type { SqlPool } from './sql-pool.ts'
