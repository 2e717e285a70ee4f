import type { AgentEvent, AgentRun } from '../../../../src/index.ts'
import { answerOrJoin, type ClientResult } from '../../live/commands/client-calls.ts'
import { type Decision, decideOrJoin } from '../../live/commands/decide.ts'
import type { LiveSession } from '../../live/live-session.ts'

/** What a client of a protocol for pages sends about calls: what a person has decided, and what came of those that the page has run. */
export interface Settlement {
  decisions: readonly Decision[]
  results: readonly ClientResult[]
}

/** Tells the session what a client sends about calls, as `decideOrJoin` and `answerOrJoin`. Resolves with the run that goes on. */
export async function settle(live: LiveSession, { decisions, results }: Settlement): Promise<AgentRun> {
  if (decisions.length === 0) return answerOrJoin(live, results)
  const run = await decideOrJoin(live, decisions)
  return results.length === 0 ? run : answerOrJoin(live, results)
}

/** What a client has seen of a run when it says something about calls: everything up to the first answer to what it was asked. */
export function untilResolved(about: readonly { toolCallId: string }[]): (event: AgentEvent) => boolean {
  const settled = new Set(about.map(({ toolCallId }) => toolCallId))
  let isBefore = true
  return (event) => {
    const isAnswer = event.type === 'approvalResolved' || event.type === 'clientCallResolved'
    if (isAnswer && settled.has(event.toolCallId)) isBefore = false
    return isBefore
  }
}
