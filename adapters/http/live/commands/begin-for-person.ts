import { type Agent, AgentBusyError, type AgentRun } from '../../../../src/index.ts'
import { refuse } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'

/** Begins a run for a page that shows its person why none can begin: what to do, in words of no program. Refuses with 409 `busy`. */
export async function beginForPerson(live: LiveSession, begin: (agent: Agent) => AgentRun): Promise<AgentRun> {
  try {
    return await live.starts.begin(begin)
  } catch (error) {
    if (!AgentBusyError.isInstance(error)) throw error
    const run = await live.currentRun()
    const isAsked = (run?.pendingApprovals() ?? []).length > 0
    const isForPage = (run?.pendingClientCalls() ?? []).length > 0
    refuse(
      409,
      'busy',
      isAsked
        ? 'The assistant waits for a decision of yours. Allow or deny what it asks for, or stop it; then send this again.'
        : isForPage
          ? 'The assistant waits for something that a page of yours does. Open it, or stop the answer; then send this again.'
          : 'The assistant is still answering. Wait for the end of its answer, or stop it; then send this again.',
    )
  }
}
