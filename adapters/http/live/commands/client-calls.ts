import type { ClientCallAnswer } from '../../../../src/client.ts'
import type { AgentRun } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'
import { askedCall, type CallRef, forPages } from './asked-calls.ts'

/** A client's reference to a call. */
export interface ClientCallRef extends CallRef {
  /** The client that claimed the call. */
  clientId?: string
}

/** A client's result for a call. */
export interface ClientResult extends ClientCallRef {
  answer: ClientCallAnswer
}

/**
 * Claims a call for a client. Resolves with whether the claim succeeded. Rejects with 404 `notFound` if the call is not pending, 409
 * `argumentsChanged`.
 */
export async function claimClientCall(
  live: LiveSession,
  ref: ClientCallRef & { clientId: string },
): Promise<{ loopId: string; claimed: boolean }> {
  const asked = await askedCall(live, forPages, ref)
  if (asked === undefined) refuseUnasked(ref)
  const { run, pending } = asked
  return { loopId: run.loopId, claimed: await run.claimCall(refOf(ref, pending), ref.clientId) }
}

/**
 * Submits the result of a client tool call. Continues a paused run first. Resolves with the run that continues, once the result is
 * recorded.
 *
 * **Contract**
 * - Accepts results only for pending client tool calls. Rejects with 404 `notFound` for any other call, 409 `argumentsChanged` and
 *   `claimedElsewhere`, 400 `invalidBody` for an invalid result.
 */
export async function answerClientCall(live: LiveSession, result: ClientResult): Promise<AgentRun> {
  const asked = await askedCall(live, forPages, result)
  if (asked === undefined) refuseUnasked(result)
  const { run, pending } = asked
  await run.answerCall(refOf(result, pending), result.answer, result.clientId)
  return run
}

/** Returns the reference for `run.answerCall`, with the hash that the client sent, if any. */
export function refOf({ toolCallId, argumentsHash }: CallRef, pending: Required<CallRef>): Required<CallRef> {
  return { toolCallId, argumentsHash: argumentsHash ?? pending.argumentsHash }
}

/** Rejects a result for a call that is not pending with 404 `notFound`. */
export function refuseUnasked({ toolCallId }: CallRef): never {
  refuse(
    404,
    'notFound',
    `No call ${JSON.stringify(toolCallId.slice(0, 100))} is pending: it has a result, timed out, or never existed. Discard it; …/client-calls lists the pending calls.`,
  )
}
