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

/** Live sessions in this process, and how they begin and end with it. */
export interface MemoryLiveSessions extends LiveSessions {
  /**
   * Takes up the runs that processes have left in the store: call it once when the process starts, and where no other one has them. Resolves with how
   * many are on again; what cannot be taken up the `logger` learns. A run that got nowhere three times ends with the error `interrupted`. Eight are taken up
   * at the same time.
   */
  recover(options?: RecoverOptions): Promise<number>
  /**
   * Ends the service here without losing a run: call it when the process is told to end. From now on reading is answered, and everything else refused with
   * 503 and `Retry-After`. Turns that are on may end within `deadlineMs` (default 10,000); then, or where a call waits for a person at once, each run is left
   * as it is in the store, and its clients are cut off, so that they connect to the next process. `recover` goes on with it there.
   */
  drain(options?: DrainOptions): Promise<void>
  /** The prompts of a session that are said later. Throws `ConfigError` `invalidOption` without `schedules`. */
  schedulesOf(address: SessionAddress): SessionSchedules
  /** As `drain`, at once and for now: later requests begin again. With `abort` the runs are stopped for good instead. */
  close(options?: CloseOptions): Promise<void>
}
