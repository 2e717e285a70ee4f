import { checkOptions } from '../../../src/contract/shape/read.ts'
import { options as optionsOf } from '../../../src/contract/shape/shape.ts'
import { liveOptionTable, type PostgresLiveSessions, type PostgresLiveSessionsOptions } from './postgres-live-options.ts'
import { SharedSessions } from './shared-sessions.ts'

/**
 * Live sessions that any number of processes answer for, on PostgreSQL. Whichever process a request reaches, it is answered by the one that has the session.
 *
 * **Contract**
 * - A session is in the memory of one process at a time. Others pass requests on to it through the database, and stream its answers, events that are in no log
 *   yet among them.
 * - A process that is gone for `leaseMs` has lost its sessions: the others take up their runs by themselves. Where it comes back, the store refuses what it
 *   writes.
 * - `migrate({ pool })` was called. Clocks of machines play no part.
 * - Call `close` in the end: until then it asks the database every now and then.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/guides/choose-a-store.md
 */
export function postgresLiveSessions(options: PostgresLiveSessionsOptions): PostgresLiveSessions {
  checkOptions(options, optionsOf(liveOptionTable))
  return new SharedSessions(options)
}
