import { type AgentRun, ConfigError, type PendingApproval } from '../../../../src/index.ts'
import type { ApproveOptions } from '../../../../src/loop.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'
import { askedCall, type CallRef, forPeople } from './asked-calls.ts'

/** A decision about a pending approval. Approval requires a hash. */
export interface Decision extends CallRef, Pick<ApproveOptions, 'arguments' | 'tellModel'> {
  approved: boolean
  reason?: string
}

/**
 * Decides a pending approval. Continues a paused run first. Resolves with the run.
 *
 * **Contract**
 * - Accepts only decisions about the session's pending approvals. Rejects with 404 `notFound` for any other call, 409 `argumentsChanged`
 *   for arguments that were not displayed, and 400 `invalidBody` for edited arguments that the call cannot run with.
 */
export async function decide(live: LiveSession, decision: Decision): Promise<AgentRun> {
  const asked = await askedCall(live, forPeople, decision)
  if (asked === undefined) refuseUndecided(decision)
  if (!(await tell(live, asked.run, asked.pending, decision))) refuseUndecided(decision)
  return asked.run
}

/**
 * Passes the decision to the run. Returns false if another client was faster or the run was stopped. Rejects
 * with 409 `argumentsChanged`, and with 400 `invalidBody` for edited arguments that the call cannot run with.
 */
export async function tell(
  { caller: { identity: by } }: Pick<LiveSession, 'caller'>,
  run: AgentRun,
  request: PendingApproval,
  { approved, argumentsHash, reason, arguments: edited, tellModel }: Decision,
): Promise<boolean> {
  const { toolCallId, argumentsHash: waiting } = request
  try {
    // Use the arguments that the user saw, which may differ from the pending ones.
    const shown = argumentsHash === undefined ? undefined : { toolCallId, argumentsHash }
    if (approved && shown !== undefined && edited !== undefined)
      await run.approve(shown, { arguments: edited, ...(by !== undefined && { by }), ...(tellModel !== undefined && { tellModel }) })
    else if (approved && shown !== undefined) run.approve(shown)
    else if (approved)
      refuse(409, 'argumentsChanged', 'The approval does not match the arguments of the call. Show the arguments and ask again.')
    else run.deny({ toolCallId, argumentsHash: waiting }, reason)
    return true
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error
    if (edited !== undefined && error.code === 'invalidOption') refuse(400, 'invalidBody', error.message)
    return false
  }
}

/** Rejects a decision about a call that is not pending with 404 `notFound`. */
export function refuseUndecided({ toolCallId }: CallRef): never {
  refuse(404, 'notFound', `No call ${JSON.stringify(toolCallId.slice(0, 100))} needs a decision. See …/approvals for pending approvals.`)
}
