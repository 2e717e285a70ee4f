import { aLogger, storeWith } from '../../../../src/base/argument-checks.ts'
import {
  aFlag,
  aFunction,
  aPositiveNumber,
  aText,
  either,
  listOf,
  type OptionTable,
  options as optionsOf,
  required,
  wholeFrom,
  withMethods,
} from '../../../../src/contract/shape/shape.ts'
import type { Logger, SessionStore } from '../../../../src/index.ts'
import type { Caller, SessionAddress } from '../../access/authorize.ts'
import type { NoticeHandlers } from '../../notices/session-notices.ts'
import type { ScheduleStore } from '../../schedules/schedule-store.ts'
import type { SessionSchedules } from '../../schedules/session-schedules.ts'
import type { LiveAgentOptions } from '../live-session-host.ts'
import type { LiveSessions } from '../live-sessions.ts'

/** Options of `memoryLiveSessions`. */
export interface MemoryLiveSessionsOptions extends NoticeHandlers {
  /** The store: one with a separate part per identity, or a store per caller. */
  store: SessionStore | ((caller: Caller) => SessionStore)
  /** Returns the options of a session's agent. Called when the session is loaded. */
  agent: (address: SessionAddress) => LiveAgentOptions | Promise<LiveAgentOptions>
  /** Milliseconds without activity until a session is evicted. Default: 300,000. */
  idleMs?: number
  /**
   * Milliseconds without a request or an event until a session's agent and the events of its last run are released. The next
   * prompt creates another agent. Default: 60,000.
   */
  restMs?: number
  /**
   * Sessions in memory. Beyond it the least recently used idle one is evicted; if none is idle, the response is 503. Default:
   * 1,000.
   */
  maxSessions?: number
  /** Sessions of one caller in memory; if none is idle, the response is 429. Default: 200; 1,000 for a single user. */
  maxSessionsPerCaller?: number
  /** Active runs of one caller; a further prompt gets 429. Default: 100; 1,000 for a single user. */
  maxOpenRuns?: number
  /** Store of scheduled prompts. Default: none, and schedules are refused. */
  schedules?: ScheduleStore
  /** Receives failures to start an agent. Default: none. */
  logger?: Logger | false
}

/** Shapes of these options. */
export const memoryOptionTable: OptionTable<MemoryLiveSessionsOptions> = {
  store: required(either(storeWith('open', 'tail'), aFunction)),
  agent: required(aFunction),
  idleMs: aPositiveNumber,
  restMs: aPositiveNumber,
  maxSessions: wholeFrom(1),
  maxSessionsPerCaller: wholeFrom(1),
  maxOpenRuns: wholeFrom(0),
  logger: aLogger,
  schedules: withMethods('a store for schedules', 'due', 'move'),
  onWaiting: aFunction,
  onEnd: aFunction,
}

/** The sessions to recover. */
export interface RecoverOptions {
  /** Owners of the sessions. Default: all owners in `store`; with a store per caller, the single user. */
  callers?: readonly Caller[]
  /** Selects sessions if several processes share a store. Default: all. */
  isMine?: (address: SessionAddress) => boolean
}

/** Milliseconds of a shutdown. */
export interface DrainOptions {
  deadlineMs?: number
}

/** Whether runs are stopped for good. */
export interface CloseOptions {
  abort?: boolean
}

/** Checks of these options. */
export const recoverOptions = optionsOf<RecoverOptions>({
  callers: listOf(optionsOf<Caller>({ identity: aText })),
  isMine: aFunction,
})
export const drainOptions = optionsOf<DrainOptions>({ deadlineMs: wholeFrom(0) })
export const closeOptions = optionsOf<CloseOptions>({ abort: aFlag })

/** Live sessions in this process, with startup and shutdown. */
export interface MemoryLiveSessions extends LiveSessions {
  /**
   * Resumes the interrupted runs in the store. Call it once at startup, if no other process owns them. Resolves with how many are
   * active again; failures go to `logger`. A run without progress in three attempts ends with the error `interrupted`. Resumes
   * eight at a time.
   */
  recover(options?: RecoverOptions): Promise<number>
  /**
   * Shuts down without losing a run: call it on SIGTERM. Afterwards reads work, and everything else is refused with 503 and `Retry-After`.
   * Current turns may finish within `deadlineMs` (default 10,000). Then, or at once if a call is pending, each run stays in the store, and
   * its clients are disconnected. They reconnect to the next process, which resumes the run with `recover`.
   */
  drain(options?: DrainOptions): Promise<void>
  /** Returns the scheduled prompts of a session. Throws `ConfigError` `invalidOption` without `schedules`. */
  schedulesOf(address: SessionAddress): SessionSchedules
  /** As `drain`, but at once, and later requests start again. With `abort` the runs are stopped for good. */
  close(options?: CloseOptions): Promise<void>
}
