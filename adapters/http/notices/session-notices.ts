import type { PendingApproval, PendingClientCall, PendingInput, RunStatus } from '../../../src/index.ts'
import type { RunFailure } from '../../../src/loop.ts'

interface NoticeBase {
  /** The same for every process that sends it. */
  id: string
  /** Epoch milliseconds. */
  at: number
  sessionId: string
  /** Owner of the session; absent for a single user. */
  identity?: string
  loopId: string
}

/** A call is pending and no client is connected to the session. */
export interface WaitingNotice extends NoticeBase {
  type: 'waiting'
  approvals: readonly PendingApproval[]
  inputs: readonly PendingInput[]
  /** Pending client tool calls. */
  clientCalls: readonly PendingClientCall[]
}

/** A run has ended and its end is recorded. A paused run has not ended. */
export interface EndNotice extends NoticeBase {
  type: 'end'
  status: Exclude<RunStatus, 'paused'>
  error?: RunFailure
}

/** A notification from a host of sessions to its application. */
export type SessionNotice = WaitingNotice | EndNotice

/**
 * Handlers for sessions that no client is connected to.
 *
 * **Contract**
 * - Nothing waits for them. A rejection goes to `logger`.
 * - The process in which it happens notifies once. A process that resumes a run calls `onWaiting` again. If a process is killed
 *   first, the notification is lost: after a restart, check the `status` of the sessions in `list`.
 *
 * Source: docs/guides/deploy.md
 */
export interface NoticeHandlers {
  /** Called when an approval or input request is pending and no client has been connected for 3 s, or since it began. */
  onWaiting?: (notice: WaitingNotice) => void | Promise<void>
  /** Called when a run has ended: completed, stopped, at a limit, or with an error. */
  onEnd?: (notice: EndNotice) => void | Promise<void>
}
