import { storeWith } from '../../../src/base/argument-checks.ts'
import { aFunction, type OptionTable, wholeFrom } from '../../../src/contract/shape/shape.ts'
import type { SessionStore } from '../../../src/index.ts'
import type { LiveSessions, MemoryLiveSessions } from '../../http/index.ts'
import { type CloseOptions, type DrainOptions, type MemoryLiveSessionsOptions, memoryOptionTable } from '../../http/internal.ts'
import { type PostgresSessionStoreOptions, storeOptionTable } from '../postgres-session-store.ts'
import { type PeerOptions, peerOptions } from './forwarding/peers.ts'
import type { SqlListen } from './wake-up.ts'

/** Options of `postgresLiveSessions`: the pool, the listener, and timings of processes. */
export interface PostgresLiveSessionsOptions extends PostgresSessionStoreOptions, Omit<MemoryLiveSessionsOptions, 'store'> {
  /**
   * Default: `postgresSessionStore` over the same pool. Another store must have the same sessions, such as `withEvents` of it.
   */
  store?: SessionStore
  /** Wakes this process when it has something to do, such as `listenWith(pool)`. Default: polls every `pollMs`. */
  listen?: SqlListen
  /** Milliseconds between polls without `listen`. Default: 50. */
  pollMs?: number
  /**
   * Milliseconds without a heartbeat after which other processes resume the runs of a process. At least 1,000. Default: 10,000.
   */
  leaseMs?: number
  /** Direct HTTP between processes, so that streams do not go through the database. Serve `forwarded` there. Default: none. */
  peers?: PeerOptions
  /**
   * Milliseconds until another process must begin its response to a forwarded request. A response without a stream begins when
   * its run has ended. Default: 600,000.
   */
  forwardTimeoutMs?: number
}

const { store: _, ...sharedTable } = memoryOptionTable
/** Shapes of these options. */
export const liveOptionTable: OptionTable<PostgresLiveSessionsOptions> = {
  ...sharedTable,
  ...storeOptionTable,
  store: storeWith('open', 'tail'),
  listen: aFunction,
  pollMs: wholeFrom(1),
  leaseMs: wholeFrom(1000),
  peers: peerOptions,
  forwardTimeoutMs: wholeFrom(1),
}

/** Live sessions that processes share, with shutdown. */
export interface PostgresLiveSessions extends LiveSessions, Pick<MemoryLiveSessions, 'schedulesOf'> {
  /**
   * Handles requests that another process forwards: serve it at the `url` of `peers`, if possible where only these processes
   * reach it. Refuses requests without their signature with 401, and all requests with 404 if there are no `peers`. Needs no
   * `this`.
   */
  readonly forwarded: (request: Request) => Promise<Response>
  /** Resumes runs of crashed processes now instead of with the next poll. Resolves with how many are active again here. */
  recover(): Promise<number>
  /**
   * Shuts down without losing a run: call it on SIGTERM, then `close`. Afterwards this process changes nothing. Current turns may
   * finish within `deadlineMs` (default 10,000); then other processes resume each run at once.
   */
  drain(options?: DrainOptions): Promise<void>
  /**
   * As `drain`, without waiting, and stops everything here: requests are refused from now on. With `abort` the runs are stopped
   * for good.
   */
  close(options?: CloseOptions): Promise<void>
}
