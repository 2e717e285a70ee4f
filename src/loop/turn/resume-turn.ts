import { type AgentMessage, type AnswerableCall, callsToAnswer } from '../../contract/message/message.ts'
import { emptyUsage } from '../../contract/model/usage.ts'
import type { PendingClientCall, TurnTrigger } from '../../contract/run/run-facts.ts'
import { openCallsOf, shownClientCallsOf } from '../../types/tool/open-calls.ts'
import { noCalls, planCalls, runCalls } from '../calls/tool-calls.ts'
import { pruneAndRevert } from '../compaction.ts'
import type { LoopState } from '../loop-state.ts'
import type { AssistantEntry } from '../model/assistant-stream.ts'
import { prepareToGoOn } from './prepare-turn.ts'
import { closeTurn, failUnlessStopped, openTurn, type TurnOutcome } from './turn.ts'

/** An earlier run's unfinished calls and their message: pending approvals, or calls that a process exit interrupted. */
export interface PausedTurn {
  message: AssistantEntry
  calls: AnswerableCall[]
  /** Approved calls that wait for a client, by id. */
  permitted: ReadonlyMap<string, PendingClientCall>
}

/** Returns the paused turn at the end of a history. Includes only calls that a marker lists, because other calls may have run. */
export function findPausedTurn(messages: readonly AgentMessage[]): PausedTurn | undefined {
  const marked = new Set<string>()
  const permitted = new Map<string, PendingClientCall>()
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message === undefined || message.role === 'user') return undefined
    for (const id of openCallsOf(message)) marked.add(id)
    for (const shown of shownClientCallsOf(message)) {
      // Use the arguments that were displayed last.
      if (!permitted.has(shown.toolCallId)) permitted.set(shown.toolCallId, shown)
    }
    if (message.role !== 'assistant') continue
    const answered = new Set(messages.slice(at).flatMap((later) => (later.role === 'toolResult' ? [later.toolCallId] : [])))
    const calls = callsToAnswer(message.content).filter((call) => marked.has(call.id) && !answered.has(call.id))
    return calls.length === 0 ? undefined : { message, calls, permitted }
  }
  return undefined
}

/** Runs an earlier run's unfinished calls as a turn without a model call. Never rejects. */
export async function resumeTurn(
  loop: LoopState,
  { message, calls, permitted }: PausedTurn,
  triggeredBy: TurnTrigger,
): Promise<TurnOutcome> {
  const started = openTurn(loop, triggeredBy)
  try {
    await prepareToGoOn(loop)
  } catch (error) {
    // Leave the calls pending, because a `Cancelled` result would be final.
    failUnlessStopped(loop, error)
    return closeTurn(loop, { ...noCalls(), message, usage: emptyUsage() })
  }
  // Run a call with the arguments that were approved.
  const shown = calls.map((call) => ({ ...call, arguments: permitted.get(call.id)?.edited?.arguments ?? call.arguments }))
  const planned = planCalls(loop, shown, false).map((each) => ({ ...each, permitted: permitted.get(each.call.id) }))
  const ran = await runCalls(loop, planned)
  await pruneAndRevert(loop, ran.changes)
  if (ran.results.length > 0) await started
  return closeTurn(loop, { ...ran, message, usage: emptyUsage() })
}
