import type { AgentRun } from '../../../../src/index.ts'
import type { AboutRun, DeskCommands } from '../desk/desk-command.ts'
import type { LiveSession } from '../live-session.ts'
import { about } from './begin.ts'
import { answerOrJoin } from './client-calls.ts'
import { decideOrJoin } from './decide.ts'
import { answerUnattended } from './unattended.ts'

/**
 * Tells the session what a client sends about calls, as `decideOrJoin` and `answerOrJoin`, and what it says after that, unless it was said before. Resolves with the run
 * that goes on.
 */
export async function settle(live: LiveSession, { messages = [], unattended, ...settlement }: DeskCommands['settle']): Promise<AboutRun> {
  const before = messages.length > 0 ? (await live.agent()).messages : []
  const fresh = messages.filter(({ id }) => !before.some((said) => said.id === id))
  const run = await settled(live, settlement)
  if (unattended !== undefined) answerUnattended(run, unattended)
  // Where it cannot be stored, the run says so with its end.
  if (fresh.length > 0) await run.followUp(fresh).stored.catch(() => undefined)
  return about(run)
}

async function settled(
  live: LiveSession,
  { decisions, results }: Pick<DeskCommands['settle'], 'decisions' | 'results'>,
): Promise<AgentRun> {
  if (decisions.length === 0) return answerOrJoin(live, results)
  const run = await decideOrJoin(live, decisions)
  return results.length === 0 ? run : answerOrJoin(live, results)
}
