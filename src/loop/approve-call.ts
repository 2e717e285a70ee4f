import { raceAbort, startTimer } from '../base/abort.ts'
import type { PendingApproval } from '../types/event.ts'
import type { ApprovalDecision } from './approvals.ts'
import { argumentsHash } from './arguments-hash.ts'
import type { LoopRun } from './loop-run.ts'
import type { PreparedCall } from './run-tool.ts'

/** Whether a call may run, and if not, why. */
export type ApprovalOutcome = { type: 'approved' } | { type: 'denied'; message: string } | { type: 'paused' }

/**
 * Asks for approval of a call that needs it. Loaded when a tool first does: most programs never ask.
 *
 * **Contract**
 * - `approvalRequested` is followed by exactly one `approvalResolved`, also when nobody answers or the run is stopped.
 * - `paused`: nobody answered within `approvalTimeoutMs`, or nobody can; the call is added to `run.pausedCalls`.
 * - Rejects with the signal's reason when it aborts first; it is the run's, or follows it.
 */
export async function approveCall(run: LoopRun, call: PreparedCall, signal = run.signal): Promise<ApprovalOutcome> {
  const { id: toolCallId, name: toolName, written } = call
  // A copy: whoever is shown the arguments cannot change what runs, or the history.
  const pending: PendingApproval = {
    toolCallId,
    toolName,
    arguments: structuredClone(written),
    argumentsHash: await argumentsHash(written),
  }
  // Stopped before anybody was asked.
  if (signal.aborted) throw signal.reason
  const decision = await decide(run, pending, signal)
  if (decision.type === 'approved') return decision
  if (decision.type === 'denied') {
    const reason = decision.reason === undefined ? '' : `: ${decision.reason}`
    return { type: 'denied', message: `The user denied this tool call${reason}` }
  }
  run.pausedCalls.push(pending)
  return { type: 'paused' }
}

async function decide(run: LoopRun, pending: PendingApproval, signal: AbortSignal): Promise<ApprovalDecision> {
  // Registered before the event goes out, so that a listener may decide at once.
  const decision = decisionOf(run, pending, signal)
  run.events.emit({ type: 'approvalRequested', ...pending })
  const { toolCallId, toolName } = pending
  const resolved = (approved: boolean, reason?: string) =>
    run.events.emit({ type: 'approvalResolved', toolCallId, toolName, approved, ...(reason !== undefined && { reason }) })
  try {
    const made = await decision
    if (made.type === 'approved') resolved(true)
    else resolved(false, made.type === 'timeout' ? 'nobody answered in time' : made.reason)
    return made
  } catch (error) {
    resolved(false, run.signal.aborted ? 'the run was stopped' : 'withdrawn by the hook that asked')
    throw error
  }
}

/** What is decided, `timeout` when nobody does in time, or can. Afterwards the call no longer waits, and neither timer nor listener is left. */
async function decisionOf(run: LoopRun, pending: PendingApproval, signal: AbortSignal): Promise<ApprovalDecision> {
  const { approvals } = run.options
  if (approvals === undefined) return { type: 'timeout' }
  const { approvalTimeoutMs } = run.config
  let decide: (decision: ApprovalDecision) => void = () => undefined
  const decided = new Promise<ApprovalDecision>((resolve) => {
    decide = resolve
  })
  const withdraw = approvals.wait(pending, decide)
  const stopTimer = approvalTimeoutMs === undefined ? undefined : startTimer(approvalTimeoutMs, () => decide({ type: 'timeout' }))
  // At once, not when the promise has settled: nobody can approve what was stopped.
  signal.addEventListener('abort', withdraw, { once: true })
  try {
    return await raceAbort(decided, signal)
  } finally {
    withdraw()
    stopTimer?.()
    signal.removeEventListener('abort', withdraw)
  }
}
