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

/** The calls of an earlier run that still have to be run, and the message they belong to: they wait for an approval, or their process ended. */
export interface PausedTurn {
  message: AssistantEntry
  calls: AnswerableCall[]
  /** Of those that were permitted and wait for a page: the hash of the arguments with which they may run, by id. */
  permitted: ReadonlyMap<string, string>
}

/** The paused turn a history ends with. Only calls that a marker names count: others may have run. */
export function findPausedTurn(messages: readonly AgentMessage[]): PausedTurn | undefined {
  const marked = new Set<string>()
  const permitted = new Map<string, string>()
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message === undefined || message.role === 'user') return undefined
    for (const id of openCallsOf(message)) marked.add(id)
    for (const { toolCallId, argumentsHash } of shownClientCallsOf(message)) {
      // What was shown last counts.
      if (!permitted.has(toolCallId)) permitted.set(toolCallId, argumentsHash)
    }
    if (message.role !== 'assistant') continue
    const answered = new Set(messages.slice(at).flatMap((later) => (later.role === 'toolResult' ? [later.toolCallId] : [])))
    const calls = callsToAnswer(message.content).filter((call) => marked.has(call.id) && !answered.has(call.id))
    return calls.length === 0 ? undefined : { message, calls, permitted }
  }
  return undefined
}

/** Runs the calls that an earlier run left open, as a turn of its own without a model call. Never rejects. */
export async function resumeTurn(
  loop: LoopState,
  { message, calls, permitted }: PausedTurn,
  triggeredBy: TurnTrigger,
): Promise<TurnOutcome> {
  const started = openTurn(loop, triggeredBy)
  try {
    await prepareToGoOn(loop)
  } catch (error) {
    // The calls go on waiting: an answer would be 'Cancelled' for good.
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
