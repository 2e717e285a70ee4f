import { AgentBusyError, type AgentRun, userMessage } from '../../../../src/index.ts'
import { leaving, ProblemError, refuse, soonMs } from '../../access/problem.ts'
import type { GatewayCommand, GatewayResults } from '../gateway/gateway-command.ts'
import type { LiveSession } from '../live-session.ts'
import { withKey } from './begin.ts'
import type { QueuedInput } from './queued-inputs.ts'

/** Queues a message with `add`, once per `key`, for the active run if there is one. */
async function queueOnce(
  live: LiveSession,
  key: string | undefined,
  add: (run: AgentRun | undefined) => QueuedInput,
): Promise<QueuedInput> {
  // Do this first, because an earlier process may have queued the message.
  const run = await live.continuedRun()
  return live.queued.once(key, async () => add(run))
}

/**
 * Queues a message for the active run, once per key. Resolves once the message is stored. Rejects with 409 `notRunning` if that run is not
 * active.
 */
export async function queueMessage(live: LiveSession, command: GatewayCommand<'steer' | 'followUp'>): Promise<GatewayResults['steer']> {
  const { type: kind, messages, loopId: meant, key } = command
  const { loopId, receipt } = await queueOnce(live, key, (run) => {
    const isMeant = meant === undefined || meant === run?.loopId
    if (run === undefined || !isMeant) refuse(409, 'notRunning', 'No active run can accept this message. Send it to …/runs.')
    return { kind, loopId: run.loopId, receipt: run[kind](withKey(messages, key)) }
  })
  await receipt.stored.catch(() =>
    refuse(503, 'storeFailed', 'The message could not be stored, so the run ended. Send the message to …/runs.', soonMs),
  )
  const { message, status } = receipt
  if (status === 'returned') refuse(409, 'notRunning', 'The run has just ended. Send the message to …/runs.')
  return { loopId, messageId: message.id, status }
}

/** Sends a text to a session without a client, once per `key`: as a prompt, or to the active run. */
export async function sayIn(live: LiveSession, text: string, key: string): Promise<void> {
  const message = { ...userMessage(text), id: key }
  try {
    await live.starts.once(key, (agent, own) => agent.prompt(message, own), { reason: 'queued' })
  } catch (error) {
    if (!AgentBusyError.isInstance(error)) throw error
    const { receipt } = await queueOnce(live, key, (run) => {
      // The run has just ended.
      if (run === undefined) throw new ProblemError(leaving)
      return { kind: 'followUp', loopId: run.loopId, receipt: run.followUp(message) }
    })
    await receipt.stored
  }
}
