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

/** How sessions are kept in this process. */
export interface MemoryLiveSessionsOptions extends NoticeHandlers {
  /** Where they are recorded: one store, in which each identity has its own part, or a store for each. */
  store: SessionStore | ((caller: Caller) => SessionStore)
  /** What the agent of a session is made with. Called when the session comes into memory. */
  agent: (address: SessionAddress) => LiveAgentOptions | Promise<LiveAgentOptions>
  /** Milliseconds after which a session in which nothing happens leaves the memory. Default 300,000. */
  idleMs?: number
  /**
   * Milliseconds without a request or an event after which a session in memory keeps no agent, and not the events of its last run. What is said next makes another
   * agent. Default 60,000.
   */
  restMs?: number
  /** Sessions in memory at once. Beyond it the one that has rested longest leaves; where none rests, the answer is 503. Default 1,000. */
  maxSessions?: number
  /** The same for the sessions of one caller; where none rests, the answer is 429. Default 200; 1,000 for the only user of a server. */
  maxSessionsPerCaller?: number
  /** Runs of one caller at once; a prompt beyond is answered with 429. Default 100; 1,000 for the only user of a server. */
  maxOpenRuns?: number
  /** Where prompts are recorded that are said later. Default: none are taken. */
  schedules?: ScheduleStore
  /** Learns why an agent could not be started. Default: silence. */
  logger?: Logger | false
}

/** What they may be. */
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

/** Which sessions are looked at. */
export interface RecoverOptions {
  /** Those of these alone. Default: those of everybody in `store`; where that is a store for each caller, those of the only user of a server. */
  callers?: readonly Caller[]
  /** Says which of them are taken up, where several processes serve one store. Default: all. */
  isMine?: (address: SessionAddress) => boolean
}

/** How long it may take: ms. */
export interface DrainOptions {
  deadlineMs?: number
}

/** Whether runs are stopped for good. */
export interface CloseOptions {
  abort?: boolean
}

/** What is asked of each of these. */
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
   * Shuts down without losing a run: call it on SIGTERM. Afterwards reads work, and everything else is refused with 503 and
   * `Retry-After`. Current turns may finish within `deadlineMs` (default 10,000). Then, or at once if a call is pending, each run
   * stays in the store, and its clients are disconnected so that they reconnect to the next process, which resumes the run with
   * `recover`.
   */
  drain(options?: DrainOptions): Promise<void>
  /** Returns the scheduled prompts of a session. Throws `ConfigError` `invalidOption` without `schedules`. */
  schedulesOf(address: SessionAddress): SessionSchedules
  /** As `drain`, but at once, and later requests start again. With `abort` the runs are stopped for good. */
  close(options?: CloseOptions): Promise<void>
}
