import { checkOptions } from '../../../src/contract/shape/read.ts'
import { options as optionsOf } from '../../../src/contract/shape/shape.ts'
import type { AgentTool } from '../../../src/index.ts'
import type { ContextOf } from '../../../src/types/tool/tool.ts'
import type { WithContext } from '../../http/internal.ts'
import { liveOptionTable, type PostgresLiveSessions, type PostgresLiveSessionsOptions } from './postgres-live-options.ts'
import { SharedSessions } from './shared-sessions.ts'

/**
 * Creates live sessions in PostgreSQL that any number of processes serve. The process that owns a session handles its requests,
 * whichever process receives them.
 *
 * **Contract**
 * - One process at a time has a session in memory. Others forward requests to it through the database and stream its responses,
 *   including events that are not in the log yet.
 * - A process without a heartbeat for `leaseMs` loses its sessions, and other processes resume their runs. If it comes back, the store
 *   rejects its writes.
 * - Call `migrate({ pool })` first. The machines' clocks need not agree.
 * - Call `close` when you are done, because the process polls the database until then.
 * - Throws `ConfigError` `invalidOption` for an invalid option.
 *
 * Source: docs/guides/choose-a-store.md
 */
export function postgresLiveSessions<Tools extends readonly AgentTool[] = readonly AgentTool[]>(
  options: PostgresLiveSessionsOptions<Tools>,
): PostgresLiveSessions & WithContext<ContextOf<Tools>> {
  checkOptions(options, optionsOf(liveOptionTable))
  return new SharedSessions(options)
}
