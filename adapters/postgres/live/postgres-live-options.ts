import { storeWith } from '../../../src/base/argument-checks.ts'
import { aFunction, type OptionTable, wholeFrom } from '../../../src/contract/shape/shape.ts'
import type { SessionStore } from '../../../src/index.ts'
import type { LiveSessions, MemoryLiveSessions } from '../../http/index.ts'
import { type CloseOptions, type DrainOptions, type MemoryLiveSessionsOptions, memoryOptionTable } from '../../http/internal.ts'
import { type PostgresSessionStoreOptions, storeOptionTable } from '../postgres-session-store.ts'
import { type PeerOptions, peerOptions } from './forwarding/peers.ts'
import type { SqlListen } from './wake-up.ts'

/** How sessions are shared by processes. */
export interface PostgresLiveSessionsOptions extends PostgresSessionStoreOptions, Omit<MemoryLiveSessionsOptions, 'store'> {
  /** Default: `postgresSessionStore` over the same pool. Give another one that leads to the same sessions, such as `withEvents` of it. */
  store?: SessionStore
  /** Wakes this process when there is something for it, such as `listenWith(pool)`. Default: it looks every `pollMs`. */
  listen?: SqlListen
  /** Milliseconds between two looks where `listen` is not given. Default 50. */
  pollMs?: number
  /** Milliseconds after which a process that says nothing is taken for gone, and others take up its runs. At least 1,000; default 10,000. */
  leaseMs?: number
  /** How processes reach each other over HTTP, so that what they stream does not go through the database. Serve `forwarded` there. Default: they do not. */
  peers?: PeerOptions
  /** Milliseconds that another process has until it begins to answer what was passed on to it. Default 600,000: an answer that is no stream begins when its run is over. */
  forwardTimeoutMs?: number
}

const { store: _, ...sharedTable } = memoryOptionTable
/** What they may be. */
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

/** Live sessions that processes share, and how a process leaves. */
export interface PostgresLiveSessions extends LiveSessions, Pick<MemoryLiveSessions, 'schedulesOf'> {
  /**
   * Answers what another process has passed on: serve it at the `url` of `peers`, where only these processes come if possible. Refuses with 401 what is not
   * signed with their key, and with 404 where there are no `peers`. It needs no `this`.
   */
  readonly forwarded: (request: Request) => Promise<Response>
  /** Takes up runs that processes which are gone have left, at once instead of soon. Resolves with how many are on again here. */
  recover(): Promise<number>
  /**
   * Leaves without losing a run: call it when the process is told to end, and `close` after it. From now on this process changes nothing; turns that are on may
   * end within `deadlineMs` (default 10,000), then each run is left to the other processes, which take it up at once.
   */
  drain(options?: DrainOptions): Promise<void>
  /** As `drain`, without waiting, and ends all that goes on here: requests are refused from now on. With `abort` the runs are stopped for good instead. */
  close(options?: CloseOptions): Promise<void>
}
