import { checkOptions } from '../../../src/contract/shape/read.ts'
import { options as optionsOf } from '../../../src/contract/shape/shape.ts'
import { liveOptionTable, type PostgresLiveSessions, type PostgresLiveSessionsOptions } from './postgres-live-options.ts'
import { SharedSessions } from './shared-sessions.ts'

/**
 * Creates live sessions in PostgreSQL that any number of processes serve. The process that owns a session handles its requests,
 * whichever process receives them.
 *
 * **Contract**
 * - One process at a time has a session in memory. Others forward requests to it through the database and stream its responses,
 *   including events that are not in the log yet.
 * - A process without a heartbeat for `leaseMs` loses its sessions: others resume their runs. If it comes back, the store refuses
 *   its writes.
 * - Call `migrate({ pool })` first. Clocks of machines need not agree.
 * - Call `close` at the end: until then it polls the database.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/guides/choose-a-store.md
 */
export function postgresLiveSessions(options: PostgresLiveSessionsOptions): PostgresLiveSessions {
  checkOptions(options, optionsOf(liveOptionTable))
  return new SharedSessions(options)
}
