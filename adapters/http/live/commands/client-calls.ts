import type { ClientCallAnswer } from '../../../../src/client.ts'
import type { AgentRun } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'
import { askedCall, type CallRef, forPages } from './asked-calls.ts'

/** Which call a page is about. */
export interface ClientCallRef extends CallRef {
  /** Who holds the call. */
  clientId?: string
}

/** What a page says came of a call. */
export interface ClientResult extends ClientCallRef {
  answer: ClientCallAnswer
}

/** Says that this client runs the call, and whether it may. Refuses with 404 `notFound` where it does not wait, 409 `argumentsChanged`. */
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
 * Tells a run what came of a call; resolves with the run that goes on, once that is recorded. Where the run has ended `paused`, it is continued first.
 *
 * **Contract**
 * - Only a result for a call that waits for a page counts. Refuses with 404 `notFound` for any other, 409 `argumentsChanged` and `claimedElsewhere`, 400 `invalidBody` for what
 *   is no result.
 */
export async function answerClientCall(live: LiveSession, result: ClientResult): Promise<AgentRun> {
  const asked = await askedCall(live, forPages, result)
  if (asked === undefined) refuseUnasked(result)
  const { run, pending } = asked
  await run.answerCall(refOf(result, pending), result.answer, result.clientId)
  return run
}

/** What `run.answerCall` takes: by what the page was shown, where it says so. */
export function refOf({ toolCallId, argumentsHash }: CallRef, pending: Required<CallRef>): Required<CallRef> {
  return { toolCallId, argumentsHash: argumentsHash ?? pending.argumentsHash }
}

/** Refuses with 404 `notFound` a result that no call waits for. */
export function refuseUnasked({ toolCallId }: CallRef): never {
  refuse(
    404,
    'notFound',
    `No call ${JSON.stringify(toolCallId.slice(0, 100))} waits for a page here: it has its result, its time is over, or it was never asked. Drop it; …/client-calls lists those that wait.`,
  )
}
