import { type AgentRun, ConfigError, type PendingApproval } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'
import { askedCall, type CallRef, forPeople } from './asked-calls.ts'

/** A decision about a pending approval. Approval requires a hash. */
export interface Decision extends CallRef {
  approved: boolean
  reason?: string
}

/**
 * Decides about a pending approval; resolves with its run. A paused run is continued first.
 *
 * **Contract**
 * - Accepts decisions about pending approvals of the session only. Refuses with 404 `notFound` for another call, 409
 *   `argumentsChanged` for arguments that were not shown.
 */
export async function decide(live: LiveSession, decision: Decision): Promise<AgentRun> {
  const asked = await askedCall(live, forPeople, decision)
  if (asked === undefined) refuseUndecided(decision)
  tell(asked.run, asked.pending, decision)
  return asked.run
}

/**
 * Passes the decision to the run. Returns whether it counts: another client may have been faster, or the run was stopped. Refuses
 * with 409 `argumentsChanged`.
 */
export function tell(run: AgentRun, request: PendingApproval, { approved, argumentsHash, reason }: Decision): boolean {
  const { toolCallId, argumentsHash: waiting } = request
  try {
    // Uses the arguments that the user saw, not those that are pending now.
    if (approved && argumentsHash !== undefined) run.approve({ toolCallId, argumentsHash })
    else if (approved) refuse(409, 'argumentsChanged', 'An approval names the arguments that were shown. Show them, and ask again.')
    else run.deny({ toolCallId, argumentsHash: waiting }, reason)
    return true
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error
    return false
  }
}

/** Refuses a decision about a call that is not pending with 404 `notFound`. */
export function refuseUndecided({ toolCallId }: CallRef): never {
  refuse(404, 'notFound', `No call ${JSON.stringify(toolCallId.slice(0, 100))} waits for a decision. Read which ones do from …/approvals.`)
}
