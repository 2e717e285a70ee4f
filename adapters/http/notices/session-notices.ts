import type { PendingApproval, PendingClientCall, PendingInput, RunStatus } from '../../../src/index.ts'
import type { RunFailure } from '../../../src/loop.ts'

interface NoticeBase {
  /** The same however often a process tells it. */
  id: string
  /** Epoch ms. */
  at: number
  sessionId: string
  /** Whose session it is; absent for the only user of a server. */
  identity?: string
  loopId: string
}

/** Somebody has to decide or to answer, or a page has to run a call, and no client is connected to the session. */
export interface WaitingNotice extends NoticeBase {
  type: 'waiting'
  approvals: readonly PendingApproval[]
  inputs: readonly PendingInput[]
  /** Calls that a page is to run. */
  clientCalls: readonly PendingClientCall[]
}

/** A run is over, and its end is in the log. One that waits for a person is not. */
export interface EndNotice extends NoticeBase {
  type: 'end'
  status: Exclude<RunStatus, 'paused'>
  error?: RunFailure
}

/** What a host of sessions tells its application. */
export type SessionNotice = WaitingNotice | EndNotice

/**
 * Who is told what becomes of sessions that nobody watches.
 *
 * **Contract**
 * - Nothing waits for them, and a rejection goes to the `logger` alone.
 * - Each is told once by the process in which it happens; of a run that another process takes up, `onWaiting` is told there again. What a process has not told
 *   when it is killed nobody tells: after a restart, look at the `status` of the sessions in `list`.
 *
 * Source: docs/guides/deploy.md
 */
export interface NoticeHandlers {
  /** Somebody has to decide or to answer, and no client has been connected for 3 s, or since the question came. */
  onWaiting?: (notice: WaitingNotice) => void | Promise<void>
  /** A run has ended: completed, stopped, at a limit, with an error. */
  onEnd?: (notice: EndNotice) => void | Promise<void>
}
