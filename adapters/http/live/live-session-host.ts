import type { Agent, AgentOptions, Logger, SessionStore } from '../../../src/index.ts'
import type { SessionRecord } from '../../../src/session.ts'
import type { Caller } from '../access/authorize.ts'
import type { Problem } from '../access/problem.ts'
import type { NoticeHandlers } from '../notices/session-notices.ts'
import type { SessionSchedules } from '../schedules/session-schedules.ts'

/** Options of a live agent. The session adds its store. */
export type LiveAgentOptions = Omit<AgentOptions, 'session' | 'journal' | 'sessionId' | 'messages'>

/** Attempts to resume a run without progress. */
export const maxAttempts = 3

/** The place in a session where a run starts. Default: the end. */
export interface Place {
  /** The end of this loop. */
  from?: string
}

/** The interface between a live session and its host. */
export interface LiveSessionHost extends NoticeHandlers {
  readonly sessionId: string
  /** The owner of the session. Default: the single user. */
  readonly caller?: Caller
  readonly store: SessionStore
  readonly logger?: Logger | false | undefined
  agentOptions(): LiveAgentOptions | Promise<LiveAgentOptions>
  /** Called when another agent continues the session, for code in this process that uses it. */
  onAgent?(agent: Agent): void
  /** Returns the process that holds the lease, if the host can tell. */
  otherHolder?(): string | undefined
  /** Counts the runs of a host, and keeps its process alive for them. */
  readonly runs: {
    /** Reserves a slot for a new run. Returns a problem if there is none. */
    open(): Promise<Problem | undefined>
    /** Takes the slot of a run that was resumed after a restart. */
    keep(): void
    close(): void
  }
  /** Scheduled prompts of the session, if the host stores any. */
  readonly schedules?: SessionSchedules
  /** Called before a run begins or is resumed. */
  keepAwake?(): Promise<void>
  /**
   * Whether sessions move between processes. If another process takes a session over, this one disconnects its clients so that
   * they reconnect there.
   */
  readonly moves?: boolean
  /** Called when a run ended here because it could not be recorded. The log of the run is still unfinished. */
  cutOff?(): void
  /** Counts attempts to resume an interrupted run. */
  readonly attempts: {
    /** Counts another attempt. Resolves with `false` after `maxAttempts` without progress. */
    begin(records: readonly SessionRecord[]): Promise<boolean>
    /** Uncounts the last attempt. */
    takeBack(): Promise<void>
  }
}
