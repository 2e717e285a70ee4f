import { type AgentMessage, type AnswerableCall, callsToAnswer } from '../../contract/message/message.ts'
import { emptyUsage } from '../../contract/model/usage.ts'
import type { TurnTrigger } from '../../contract/run/run-facts.ts'
import { openCallsOf, shownClientCallsOf } from '../../types/tool/open-calls.ts'
import { noCalls, planCalls, runCalls } from '../calls/tool-calls.ts'
import { pruneAndRevert } from '../compaction.ts'
import type { LoopState } from '../loop-state.ts'
import type { AssistantEntry } from '../model/assistant-stream.ts'
import { prepareToGoOn } from './prepare-turn.ts'
import { closeTurn, failUnlessStopped, openTurn, type TurnOutcome } from './turn.ts'

/** Open calls of an earlier run and their message: pending approvals, or calls of an interrupted process. */
export interface PausedTurn {
  message: AssistantEntry
  calls: AnswerableCall[]
  /** Hashes of the approved arguments by call id, for approved calls that wait for a client. */
  permitted: ReadonlyMap<string, string>
}

/** Returns the paused turn at the end of a history. Only calls listed in a marker count, because others may have run. */
export function findPausedTurn(messages: readonly AgentMessage[]): PausedTurn | undefined {
  const marked = new Set<string>()
  const permitted = new Map<string, string>()
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message === undefined || message.role === 'user') return undefined
    for (const id of openCallsOf(message)) marked.add(id)
    for (const { toolCallId, argumentsHash } of shownClientCallsOf(message)) {
      // The latest shown arguments count.
      if (!permitted.has(toolCallId)) permitted.set(toolCallId, argumentsHash)
    }
    if (message.role !== 'assistant') continue
    const answered = new Set(messages.slice(at).flatMap((later) => (later.role === 'toolResult' ? [later.toolCallId] : [])))
    const calls = callsToAnswer(message.content).filter((call) => marked.has(call.id) && !answered.has(call.id))
    return calls.length === 0 ? undefined : { message, calls, permitted }
  }
  return undefined
}

/** Runs the open calls of an earlier run, as a turn without a model call. Never rejects. */
export async function resumeTurn(
  loop: LoopState,
  { message, calls, permitted }: PausedTurn,
  triggeredBy: TurnTrigger,
): Promise<TurnOutcome> {
  const started = openTurn(loop, triggeredBy)
  try {
    await prepareToGoOn(loop)
  } catch (error) {
    // The calls stay pending, because a result `Cancelled` would be final.
    failUnlessStopped(loop, error)
    await started
    return closeTurn(loop, { ...noCalls(), message, usage: emptyUsage() })
  }
  const planned = planCalls(loop, calls, false).map((each) => ({ ...each, permitted: permitted.get(each.call.id) }))
  const ran = await runCalls(loop, planned)
  await pruneAndRevert(loop, ran.changes)
  if (ran.results.length > 0) await started
  return closeTurn(loop, { ...ran, message, usage: emptyUsage() })
}
