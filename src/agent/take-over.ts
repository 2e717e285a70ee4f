import { settleWithin } from '../base/abort.ts'
import type { LoopOrigin, LoopRequest } from '../loop/agent-loop.ts'
import { isCounted, nextLoopId, raiseCounts } from '../loop/loop-id.ts'
import type { SessionJournal } from '../types/session/session-store.ts'
import type { Conversation } from './conversation.ts'
import type { RunStart } from './run-start.ts'

/** How long an aborted run still waits for its session, in ms. */
const openGraceMs = 1000

/** Of an agent, which names its loops before they begin. */
type AgentLoopRequest = LoopRequest & { origin: LoopOrigin & { loopId: string }; context: Conversation['context'] }

/**
 * Takes the right to write, and catches up with what others have written since this history was read: then the run goes on from there. What cannot
 * be opened refuses the first record of the loop too, which ends the run.
 */
export async function takeOver(request: AgentLoopRequest, journal: SessionJournal, { afterTakeover }: RunStart): Promise<AgentLoopRequest> {
  const { context, config, origin, options } = request
  const { agentId, sessionId } = context
  const { parentLoopId } = origin
  const place = { sessionId, agentId, ...(parentLoopId !== undefined && { parentLoopId }) }
  // An async function, so that a journal that throws at once is a rejection too.
  const opening = (async () => journal.open(place, context))()
  const caughtUp = await settleWithin(opening, options.signal, openGraceMs).catch(() => undefined)
  if (caughtUp === undefined) return request
  const { messages, state, loopCounts, lastLoopId } = caughtUp
  const isTaken = isCounted(origin.loopId, sessionId, loopCounts)
  Object.assign(context, { messages, state, loopCounts: raiseCounts(context.loopCounts, loopCounts), lastLoopId })
  const loopId = isTaken ? nextLoopId(context, sessionId, config) : origin.loopId
  const start = afterTakeover?.(context) ?? request.start
  return { ...request, start, origin: { kind: origin.kind, loopId, ...(lastLoopId !== undefined && { parentLoopId: lastLoopId }) } }
}
