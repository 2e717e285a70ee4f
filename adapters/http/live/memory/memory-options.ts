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
import type { AgentTool, Logger, SessionStore } from '../../../../src/index.ts'
import type { Caller, SessionAddress } from '../../access/authorize.ts'
import type { NoticeHandlers } from '../../notices/session-notices.ts'
import type { ScheduleStore } from '../../schedules/schedule-store.ts'
import type { SessionSchedules } from '../../schedules/session-schedules.ts'
import type { LiveAgentOptions } from '../live-session-host.ts'
import type { LiveSessions } from '../live-sessions.ts'

/** Options for `memoryLiveSessions`. */
export interface MemoryLiveSessionsOptions<Tools extends readonly AgentTool[] = readonly AgentTool[]> extends NoticeHandlers {
  /** A store that is scoped per identity, or a function that returns a store per caller. */
  store: SessionStore | ((caller: Caller) => SessionStore)
  /** Returns the options of a session's agent. Called when the session is loaded. */
  agent: (address: SessionAddress) => LiveAgentOptions<Tools> | Promise<LiveAgentOptions<Tools>>
  /** Milliseconds without activity until a session is evicted. Default: 300,000. */
  idleMs?: number
  /**
   * Milliseconds without a request or event until a session's agent and its last run's events are released. The next prompt creates a new
   * agent. Default: 60,000.
   */
  restMs?: number
  /**
   * Maximum sessions in memory. Beyond this limit, the least recently used idle session is evicted. If no session is idle, the response is
   * 503. Default: 1,000.
   */
  maxSessions?: number
  /**
   * Maximum sessions in memory per caller. If none is idle, the response is 429. Default: 200, or 1,000 if the server has only one user.
   */
  maxSessionsPerCaller?: number
  /** Maximum active runs per caller. Further prompts get 429. Default: 100, or 1,000 if the server has only one user. */
  maxOpenRuns?: number
  /** Store for scheduled prompts. Default: none, which rejects schedules. */
  schedules?: ScheduleStore
  /** Logs failures to create an agent. Default: none. */
  logger?: Logger | false
}

/** Validation shapes for these options. */
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
  /** The sessions' owners. Default: all owners in `store`; with a store per caller, the single user. */
  callers?: readonly Caller[]
  /** Selects sessions if several processes share a store. Default: all. */
  isMine?: (address: SessionAddress) => boolean
}

/** Maximum duration of a shutdown in milliseconds. */
export interface DrainOptions {
  deadlineMs?: number
}

/** Options for closing. `abort` stops runs permanently instead of resuming them later. */
export interface CloseOptions {
  abort?: boolean
}

/** Validation shapes for the lifecycle options. */
export const recoverOptions = optionsOf<RecoverOptions>({
  callers: listOf(optionsOf<Caller>({ identity: aText })),
  isMine: aFunction,
})
export const drainOptions = optionsOf<DrainOptions>({ deadlineMs: wholeFrom(0) })
export const closeOptions = optionsOf<CloseOptions>({ abort: aFlag })

/** Live sessions in this process, with startup and shutdown methods. */
export interface MemoryLiveSessions extends LiveSessions {
  /**
   * Resumes the interrupted runs in the store, eight at a time. Call it once at startup, if no other process owns them. Resolves with the
   * number of active runs. Logs failures. A run that makes no progress in three attempts ends with the `interrupted` error.
   */
  recover(options?: RecoverOptions): Promise<number>
  /**
   * Shuts down without losing runs. Call it on SIGTERM. Afterwards, reads still work, but all other requests are rejected with 503 and
   * `Retry-After`. Waits up to `deadlineMs` (default 10,000) for current turns. Then, or immediately if a call is pending, leaves the runs
   * in the store and disconnects clients. Clients reconnect to the next process, which resumes the runs with `recover`.
   */
  drain(options?: DrainOptions): Promise<void>
  /** Returns a session's scheduled prompts. Throws `ConfigError` `invalidOption` without `schedules`. */
  schedulesOf(address: SessionAddress): SessionSchedules
  /** Like `drain`, but immediate, and later requests load sessions again. With `abort`, stops the runs permanently. */
  close(options?: CloseOptions): Promise<void>
}
