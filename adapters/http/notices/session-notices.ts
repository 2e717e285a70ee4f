import type { PendingApproval, PendingClientCall, PendingInput, RunStatus } from '../../../src/index.ts'
import type { RunFailure } from '../../../src/loop.ts'

interface NoticeBase {
  /** Notification id. Every process that sends the notification uses the same id. */
  id: string
  /** Epoch milliseconds. */
  at: number
  sessionId: string
  /** The session's owner. Absent for a single user. */
  identity?: string
  loopId: string
}

/** Notification that a call is pending and no client is connected. */
export interface WaitingNotice extends NoticeBase {
  type: 'waiting'
  approvals: readonly PendingApproval[]
  inputs: readonly PendingInput[]
  /** Pending client tool calls. */
  clientCalls: readonly PendingClientCall[]
}

/** Notification that a run has ended and its end is recorded. A paused run does not count as ended. */
export interface EndNotice extends NoticeBase {
  type: 'end'
  status: Exclude<RunStatus, 'paused'>
  error?: RunFailure
}

/** A notification from a host of sessions to its application. */
export type SessionNotice = WaitingNotice | EndNotice

/**
 * Handlers for sessions without a connected client.
 *
 * **Contract**
 * - The host does not wait for handlers and logs rejections.
 * - The process in which the event occurs calls a handler once. A process that resumes a run calls `onWaiting` again. If a process is
 *   killed before it calls a handler, the notification is lost, so check the `status` of listed sessions after a restart.
 *
 * Source: docs/guides/deploy.md
 */
export interface NoticeHandlers {
  /** Called when an approval or input request is pending and no client has been connected for 3 s or since the request. */
  onWaiting?: (notice: WaitingNotice) => void | Promise<void>
  /** Called when a run has ended: completed, stopped, at a limit, or with an error. */
  onEnd?: (notice: EndNotice) => void | Promise<void>
}
