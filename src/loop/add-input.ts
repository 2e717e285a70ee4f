import { type AgentMessage, isLlmMessage } from '../types/message.ts'
import type { LoopRun } from './loop-run.ts'

/**
 * Puts messages that no model wrote into the history, all of them before anything is awaited, makes them durable one by one and reports each.
 * Rejects with `JournalError`. `origin` is noted on what was queued, for request captures.
 */
export async function addInput(run: LoopRun, inputs: readonly AgentMessage[], origin?: 'steering' | 'followUp'): Promise<void> {
  const turnId = { loopId: run.events.loopId, turnIndex: run.turnIndex }
  const hint = origin && { provenanceHint: { kind: origin } }
  const stamped = inputs.map((message) => (isLlmMessage(message) ? { ...hint, ...message, turnId } : message))
  for (const message of stamped) run.append(message)
  for (const message of stamped) {
    await run.record({ type: 'input', message })
    run.events.message(message)
  }
}

/** As `addInput`, for what the loop itself has to say. Never rejects: a journal that refuses it fails the run. */
export async function addNotice(run: LoopRun, notice: AgentMessage): Promise<void> {
  try {
    await addInput(run, [notice])
  } catch (error) {
    run.fail(error)
  }
}
