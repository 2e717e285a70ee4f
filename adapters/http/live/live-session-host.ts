import type { Agent, AgentOptions, Logger, SessionStore } from '../../../src/index.ts'
import type { SessionRecord } from '../../../src/session.ts'
import type { Caller } from '../access/authorize.ts'
import type { Problem } from '../access/problem.ts'
import type { NoticeHandlers } from '../notices/session-notices.ts'
import type { SessionSchedules } from '../schedules/session-schedules.ts'

/** What a live agent is made with; its session adds where it is recorded. */
export type LiveAgentOptions = Omit<AgentOptions, 'session' | 'journal' | 'sessionId' | 'messages'>

/** How often a run is taken up again that does not get on. */
export const maxAttempts = 3

/** Where in a session a run begins. Default: where it was said last. */
export interface Place {
  /** The end of this loop. */
  from?: string
}

/** What a live session needs of the host in which it lives. */
export interface LiveSessionHost extends NoticeHandlers {
  readonly sessionId: string
  /** Whose session it is, where the host knows; default: the only user there is. */
  readonly caller?: Caller
  readonly store: SessionStore
  readonly logger?: Logger | false | undefined
  agentOptions(): LiveAgentOptions | Promise<LiveAgentOptions>
  /** Another agent goes on with the session from now on: for who talks with it in this process too. */
  onAgent?(agent: Agent): void
  /** Who else holds the right to write, where the host can tell. */
  otherHolder?(): string | undefined
  /** The runs of a host are counted, and its process is kept for them. */
  readonly runs: {
    /** Asks for room for one more, before it begins. A problem says why there is none. */
    open(): Promise<Problem | undefined>
    /** A run that was on before the process ended is on again: it has its room. */
    keep(): void
    close(): void
  }
  /** Prompts of the session that are said later, where the host can. */
  readonly schedules?: SessionSchedules
  /** Called before a run begins, and before one is taken up again. */
  keepAwake?(): Promise<void>
  /** Sessions move between processes by themselves: where another one takes a session over, its clients are cut off, so that they ask there. */
  readonly moves?: boolean
  /** A run has ended here because it could not be recorded any more: in the log it is not over. */
  cutOff?(): void
  /** The attempts to go on with a run that a process has left. */
  readonly attempts: {
    /** Counts one more, unless there were `maxAttempts` that did not get on. */
    begin(records: readonly SessionRecord[]): Promise<boolean>
    /** The attempt that was begun last was none. */
    takeBack(): Promise<void>
  }
}
