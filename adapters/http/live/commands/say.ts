import { AgentBusyError, userMessage } from '../../../../src/index.ts'
import { leaving, ProblemError } from '../../access/problem.ts'
import type { LiveSession } from '../live-session.ts'
import { queueOnce } from './queue-message.ts'

/** Says something to a session once for each `key`, with nobody there: as a prompt, or to the run that is on. */
export async function sayIn(live: LiveSession, text: string, key: string): Promise<void> {
  const message = { ...userMessage(text), id: key }
  try {
    await live.starts.once(key, (agent) => agent.prompt(message))
  } catch (error) {
    if (!AgentBusyError.isInstance(error)) throw error
    const { receipt } = await queueOnce(live, key, (run) => {
      // It has ended just now.
      if (run === undefined) throw new ProblemError(leaving)
      return { kind: 'followUp', loopId: run.loopId, receipt: run.followUp(message) }
    })
    await receipt.stored
  }
}
