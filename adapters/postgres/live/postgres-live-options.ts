import { storeWith } from '../../../src/base/argument-checks.ts'
import { aFunction, type OptionTable, wholeFrom } from '../../../src/contract/shape/shape.ts'
import type { AgentTool, SessionStore } from '../../../src/index.ts'
import type { LiveSessions, MemoryLiveSessions } from '../../http/index.ts'
import { type CloseOptions, type DrainOptions, type MemoryLiveSessionsOptions, memoryOptionTable } from '../../http/internal.ts'
import { type PostgresSessionStoreOptions, storeOptionTable } from '../postgres-session-store.ts'
import { type PeerOptions, peerOptions } from './forwarding/peers.ts'
import type { SqlListen } from './wake-up.ts'

/** Options for `postgresLiveSessions`: the pool, the listener, and process timings. */
export interface PostgresLiveSessionsOptions<Tools extends readonly AgentTool[] = readonly AgentTool[]>
  extends PostgresSessionStoreOptions,
    Omit<MemoryLiveSessionsOptions<Tools>, 'store'> {
  /**
   * Default: `postgresSessionStore` over the same pool. Another store must have the same sessions, such as `withEvents` over that store.
   */
  store?: SessionStore
  /** Wakes this process when it has something to do, such as `listenWith(pool)`. Default: polls every `pollMs`. */
  listen?: SqlListen
  /** Milliseconds between polls without `listen`. Default: 50. */
  pollMs?: number
  /**
   * Milliseconds without a heartbeat after which other processes resume a process's runs. At least 1,000. Default: 10,000.
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
/** Validators for these options. */
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

/** Live sessions that processes share, with shutdown methods. */
export interface PostgresLiveSessions extends LiveSessions, Pick<MemoryLiveSessions, 'schedulesOf'> {
  /**
   * Handles requests that another process forwards. Serve it at the `url` in `peers`, if possible where only these processes can reach it.
   * Rejects requests without their signature with 401, and all requests with 404 if there are no `peers`. The function needs no `this`.
   */
  readonly forwarded: (request: Request) => Promise<Response>
  /** Resumes runs of crashed processes now instead of with the next poll. Resolves with the number of runs that are active again here. */
  recover(): Promise<number>
  /**
   * Shuts down without losing a run. Call it on SIGTERM, then call `close`. Afterwards, this process changes nothing. Current turns may
   * finish within `deadlineMs` (default 10,000). Then other processes resume each run immediately.
   */
  drain(options?: DrainOptions): Promise<void>
  /**
   * Like `drain`, but does not wait, and stops everything in this process. Requests are rejected from now on. With `abort`, runs are
   * stopped for good.
   */
  close(options?: CloseOptions): Promise<void>
}
