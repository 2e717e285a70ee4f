import type { Agent, AgentOptions, AgentTool, Logger, SessionStore } from '../../../src/index.ts'
import type { SessionRecord } from '../../../src/session.ts'
import type { Caller } from '../access/authorize.ts'
import type { Problem } from '../access/problem.ts'
import type { NoticeHandlers } from '../notices/session-notices.ts'
import type { SessionSchedules } from '../schedules/session-schedules.ts'
import type { ContextRequest, RunContext } from './run-context.ts'

/** Options for a live agent. The session adds its store. */
export type LiveAgentOptions<Tools extends readonly AgentTool[] = readonly AgentTool[]> = Omit<
  AgentOptions<unknown, Tools>,
  'session' | 'journal' | 'sessionId' | 'messages'
>

/** Maximum attempts to resume a run without progress. */
export const maxAttempts = 3

/** Point in a session where a run starts. Default: the end. */
export interface Place {
  /** Id of the loop to continue from. */
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
  /** Called when another agent continues the session, to notify code in this process that uses it. */
  onAgent?(agent: Agent): void
  /** Returns the process that holds the lease, if the host knows it. */
  otherHolder?(): string | undefined
  /** Counts a host's runs, and keeps its process alive while any run is active. */
  readonly runs: {
    /** Reserves a slot for a new run. Returns a problem if no slot is free. */
    open(): Promise<Problem | undefined>
    /** Occupies a slot for a run that was resumed after a restart. */
    keep(): void
    close(): void
  }
  /** Returns the `context` of a run that starts without a request. Rejects if the run must wait for one. Default: none. */
  contextFor?(reason: ContextRequest['reason']): Promise<RunContext>
  /** The session's scheduled prompts, if the host supports schedules. */
  readonly schedules?: SessionSchedules
  /** Called before a run begins or is resumed. */
  keepAwake?(): Promise<void>
  /**
   * Whether sessions move between processes. If another process takes over a session, this process disconnects the session's clients, so
   * that they reconnect to the new owner.
   */
  readonly moves?: boolean
  /** Called when a run ended in this process because it could not be recorded. The run's log is still unfinished. */
  cutOff?(): void
  /** Counts attempts to resume an interrupted run. */
  readonly attempts: {
    /** Counts an attempt. Resolves with `false` after `maxAttempts` attempts without progress. */
    begin(records: readonly SessionRecord[]): Promise<boolean>
    /** Reverts the count of the last attempt. */
    takeBack(): Promise<void>
  }
}
