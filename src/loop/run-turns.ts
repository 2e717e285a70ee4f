import type { RunStatus, TurnTrigger } from '../types/event.ts'
import { userMessage, withId } from '../types/message.ts'
import { emptyUsage } from '../types/usage.ts'
import { addNotice } from './add-input.ts'
import type { AssistantEntry } from './assistant-stream.ts'
import type { MessageSupplier } from './loop-config.ts'
import type { LoopRun } from './loop-run.ts'
import { markPaused, type PausedTurn } from './paused-turn.ts'
import { noInputs } from './prompt-input.ts'
import { runCalls, runTurn } from './run-turn.ts'
import type { ToolResultEntry } from './tool-result.ts'

/** How the turns of a loop begin. */
export interface TurnsStart {
  /** Input of the first turn. */
  inputs: MessageSupplier
  trigger: TurnTrigger
  /** Calls of an earlier run that still wait for an approval. */
  paused?: PausedTurn
}

/**
 * Runs turns until the model has nothing more to do: a turn follows while there are tool results, steering or follow-ups to answer.
 *
 * **Contract**
 * - Never rejects; calls `end` once with how the run ended and resolves with what it returns. The last look at the queues and `end` are one
 *   step: what is queued before it is answered, nobody can queue in between.
 * - Limits are checked before each turn; a limit adds the documented message to the history.
 *
 * Source: spec/27 "run_loop", order in reference/phi-core-0.10.md §3 row 1.
 */
export async function runTurns<T>(run: LoopRun, start: TurnsStart, end: (status: RunStatus) => T): Promise<T> {
  if (run.config.limits && run.config.limits.maxCost !== undefined)
    await import('./cost-limit.ts').then((loaded) => loaded.warnOfUselessLimit(run))
  let { inputs, trigger } = start
  // Stopped before it began: the calls go on waiting, their answer would be 'Cancelled' for good.
  if (start.paused !== undefined && !run.signal.aborted) {
    const refused = await run.lifecycle?.beforeTurn()
    if (refused !== undefined) return end(refused)
    await resumeTurn(run, start.paused, trigger)
    trigger = 'continuation'
  }
  for (let isOwed = true; ; ) {
    const ended = await endedEarly(run)
    if (ended !== undefined) return end(ended)
    const reason = run.budget.exceeded()
    if (reason !== undefined) return end(await stopAtLimit(run, reason))
    const refused = await run.lifecycle?.beforeTurn(inputs)
    if (refused !== undefined) return end(refused)
    if (!isOwed && run.lifecycle?.isUnasked) return end(run.failure === undefined ? 'completed' : 'error')
    const { message, results } = await runTurn(run, inputs, trigger)
    run.budget.recordTurn()
    const stopped = (await endedEarly(run)) ?? statusOf(message)
    if (stopped !== undefined) return end(stopped)
    inputs = noInputs
    trigger = 'continuation'
    run.turnIndex += 1
    const { steering, followUps } = run.config
    isOwed = results.length > 0
    if (isOwed || run.hasWaiting(steering)) continue
    if (!run.hasWaiting(followUps)) return end(run.failure === undefined ? 'completed' : 'error')
    inputs = followUps ?? noInputs
  }
}

/** What ends the run whatever the model wants: a failure, an abort, a call that nobody approved. */
async function endedEarly(run: LoopRun): Promise<RunStatus | undefined> {
  const isPaused = run.pausedCalls.length > 0
  // Whatever else ended the run: what still waits can be continued.
  if (isPaused) await markPaused(run)
  if (run.failure !== undefined) return 'error'
  if (run.signal.aborted) return 'aborted'
  return isPaused ? 'paused' : undefined
}

function statusOf(message: AssistantEntry): RunStatus | undefined {
  if (message.stopReason === 'aborted') return 'aborted'
  return message.stopReason === 'error' ? 'error' : undefined
}

/** Runs the calls that were waiting for an approval, as a turn of its own without a model call. */
async function resumeTurn(run: LoopRun, paused: PausedTurn, triggeredBy: TurnTrigger): Promise<ToolResultEntry[]> {
  const { turnIndex } = run
  run.events.emit({ type: 'turnStart', turnIndex, triggeredBy })
  run.record({ type: 'turnStart', triggeredBy }).catch((error) => run.fail(error))
  const { message, calls } = paused
  const toolResults = await runCalls(run, calls, false)
  const usage = emptyUsage()
  run.events.emit({ type: 'turnEnd', turnIndex, message, usage, toolResults })
  await run.lifecycle?.afterTurn(message, usage, toolResults)
  run.turnIndex += 1
  return toolResults
}

async function stopAtLimit(run: LoopRun, reason: string): Promise<RunStatus> {
  await addNotice(run, withId(userMessage(`[Agent stopped: ${reason}]`)))
  return run.failure === undefined ? 'limit' : 'error'
}
