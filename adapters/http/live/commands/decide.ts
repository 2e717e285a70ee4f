import { type AgentRun, ConfigError, type PendingApproval } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'
import { askedCall, type CallRef, forPeople } from './asked-calls.ts'

/** What a person says about a call that waits. Without a hash nothing is approved. */
export interface Decision extends CallRef {
  approved: boolean
  reason?: string
}

/**
 * Decides about a call that waits; resolves with the run in which it does. Where the run has ended `paused`, it is continued first.
 *
 * **Contract**
 * - Only what the session itself waits for can be decided. Refuses with 404 `notFound` for another call, 409 `argumentsChanged` for arguments that
 *   were not shown.
 */
export async function decide(live: LiveSession, decision: Decision): Promise<AgentRun> {
  const asked = await askedCall(live, forPeople, decision)
  if (asked === undefined) refuseUndecided(decision)
  tell(asked.run, asked.pending, decision)
  return asked.run
}

/** Tells the run; says whether the decision counts: somebody else may have been faster, or the run was stopped meanwhile. Refuses with 409 `argumentsChanged`. */
export function tell(run: AgentRun, request: PendingApproval, { approved, argumentsHash, reason }: Decision): boolean {
  const { toolCallId, argumentsHash: waiting } = request
  try {
    // By what the person was shown, not by what waits now.
    if (approved && argumentsHash !== undefined) run.approve({ toolCallId, argumentsHash })
    else if (approved) refuse(409, 'argumentsChanged', 'An approval names the arguments that were shown. Show them, and ask again.')
    else run.deny({ toolCallId, argumentsHash: waiting }, reason)
    return true
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error
    return false
  }
}

/** Refuses with 404 `notFound` a decision that no call waits for. */
export function refuseUndecided({ toolCallId }: CallRef): never {
  refuse(404, 'notFound', `No call ${JSON.stringify(toolCallId.slice(0, 100))} waits for a decision. Read which ones do from …/approvals.`)
}
