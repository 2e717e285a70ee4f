import { ExecutionTracker, hasRates } from '../context/execution-tracker.ts'
import type { RunStatus, TurnTrigger } from '../types/event.ts'
import { userMessage, withId } from '../types/message.ts'
import { defaultLimits } from '../types/settings.ts'
import { emptyUsage } from '../types/usage.ts'
import { addNotice } from './add-input.ts'
import type { AssistantEntry } from './assistant-stream.ts'
import { executeTools } from './execute-tools.ts'
import type { LoopRun } from './loop-run.ts'
import { markPaused, type PausedTurn } from './paused-turn.ts'
import { type InputSource, runTurn } from './run-turn.ts'
import type { ToolResultEntry } from './tool-result.ts'

/** How the turns of a loop begin. */
export interface TurnsStart {
  /** Input of the first turn. */
  inputs: InputSource
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
  const tracker = makeTracker(run)
  let inputs = start.inputs
  let trigger = start.trigger
  // Stopped before it began: the calls go on waiting, their answer would be 'Cancelled' for good.
  if (start.paused !== undefined && !run.signal.aborted) {
    await resumeTurn(run, start.paused, trigger)
    trigger = 'continuation'
  }
  for (;;) {
    const ended = await endedEarly(run)
    if (ended !== undefined) return end(ended)
    const reason = tracker?.exceeded(run.usage)
    if (reason !== undefined) return end(await stopAtLimit(run, reason))
    const { message, results } = await runTurn(run, inputs, trigger)
    tracker?.recordTurn()
    const stopped = (await endedEarly(run)) ?? statusOf(message)
    if (stopped !== undefined) return end(stopped)
    inputs = noInputs
    trigger = 'continuation'
    run.turnIndex += 1
    const { steering, followUps } = run.config
    if (results.length > 0 || run.hasWaiting(steering)) continue
    if (!run.hasWaiting(followUps)) return end(run.failure === undefined ? 'completed' : 'error')
    inputs = () => run.takeFrom(followUps)
  }
}

const noInputs: InputSource = () => []

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
  const toolResults = await executeTools(run, paused.calls, false)
  run.events.emit({ type: 'turnEnd', turnIndex, message: paused.message, usage: emptyUsage(), toolResults })
  run.turnIndex += 1
  return toolResults
}

function makeTracker(run: LoopRun): ExecutionTracker | undefined {
  if (run.config.limits === false) return undefined
  const limits = { ...defaultLimits, ...run.config.limits }
  const { cost, id } = run.config.model.config
  if (limits.maxCost !== undefined && !hasRates(cost)) {
    run.warn('costLimitWithoutRates', {
      model: id,
      maxCost: limits.maxCost,
      hint: 'Set cost in the model config; without rates the limit never applies.',
    })
  }
  return new ExecutionTracker(limits, cost)
}

async function stopAtLimit(run: LoopRun, reason: string): Promise<RunStatus> {
  await addNotice(run, withId(userMessage(`[Agent stopped: ${reason}]`)))
  return run.failure === undefined ? 'limit' : 'error'
}
