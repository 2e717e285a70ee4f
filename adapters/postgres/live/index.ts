/**
 * Live sessions on PostgreSQL, which any number of processes and machines answer for. It needs Hono, as the endpoint does.
 *
 * @module
 */
export type { PeerOptions } from './forwarding/peers.ts'
export type { PostgresLiveSessions, PostgresLiveSessionsOptions } from './postgres-live-options.ts'
export { postgresLiveSessions } from './postgres-live-sessions.ts'
export { postgresSchedules } from './postgres-schedules.ts'
export { type ListeningClient, type ListeningPool, listenWith, type SqlListen } from './wake-up.ts'
