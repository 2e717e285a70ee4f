import { callsToAnswer } from '../contract/message/message.ts'
import { usageBeyond } from '../contract/model/usage.ts'
import type { TurnTrigger } from '../contract/run/run-facts.ts'
import type { RunEnding, RunResult } from '../types/run/run.ts'
import { goesOnBeside, waitBeside } from './background.ts'
import { repairCalls } from './calls/repair-calls.ts'
import { type PlannedCall, planCalls, runCalls } from './calls/tool-calls.ts'
import { keepWithinContext } from './compaction.ts'
import { afterResumedTurn, afterTurn, beforeTurn, endingOf, idleEnding, turnRefused } from './endings.ts'
import { acceptUnanswered, type Intake, type TurnInput } from './intake.ts'
import type { LoopState } from './loop-state.ts'
import { type ChargedAnswer, callModel } from './model/model-call.ts'
import { guardAnswer, isRefused, repairs } from './turn/answer-guard.ts'
import { prepareTurn } from './turn/prepare-turn.ts'
import { type PausedTurn, resumeTurn } from './turn/resume-turn.ts'
import { closeTurn, failUnlessStopped, messageUnasked, openTurn, type TurnOutcome } from './turn/turn.ts'
import { warnOfAnswer, warnOfUncountedCost } from './turn/turn-warnings.ts'

/** How the turns of a loop begin. */
export interface TurnsStart {
  input: TurnInput
  trigger: TurnTrigger
  /** The history itself is to be answered, whatever the input says. */
  mustAnswer: boolean
  /** Calls of an earlier run that still have to be run. */
  paused?: PausedTurn
}

/** Ends the run: at once, or when what goes on beside it has ended. */
type EndRun = (ending: RunEnding) => RunResult | Promise<RunResult>

/**
 * Runs turns until the model has nothing more to do: a turn follows while there are tool results, steering or follow-ups to answer. How a run may
 * end, and in which order that is asked, is in `endings.ts`.
 *
 * **Contract**
 * - Never rejects; calls `end` once with how the run ended and resolves with what it returns. The last look at the queues and `end` are one
 *   step: what is queued before it is answered, nobody can queue in between.
 * - Input without a word for the model goes into the history and causes no turn.
 * - Limits are checked before each turn; a limit adds the documented message to the history.
 *
 * Source: docs/concepts/loop-and-turns.md
 */
export async function runTurns(loop: LoopState, start: TurnsStart, end: EndRun): Promise<RunResult> {
  warnOfUncountedCost(loop)
  let { input, trigger, mustAnswer } = start

  // Stopped before it began: the calls go on waiting, their answer would be 'Cancelled' for good.
  if (start.paused !== undefined && !loop.stop.aborted) {
    const refused = await turnRefused(loop)
    if (refused !== undefined) return end(refused)
    const resumed = await resumeTurn(loop, start.paused, trigger)
    const ended = await endingOf(afterResumedTurn(mustAnswer), loop, resumed)
    if (ended !== undefined) return end(ended)
    beginNext(loop)
    trigger = 'continuation'
  }

  for (let hasLookedInVain = false; ; ) {
    const refused = await endingOf(beforeTurn, loop, input)
    if (refused !== undefined) return end(refused)
    const intake = loop.inputs.take(input)
    input = {}

    if (mustAnswer || intake.hasWords) {
      const turn = await takeTurn(loop, intake, trigger)
      const ended = await endingOf(afterTurn, loop, turn)
      if (ended !== undefined) return end(ended)
      beginNext(loop)
      trigger = 'continuation'
      mustAnswer = turn.results.length > 0 || isRefused(turn) || (await repairs(loop, turn))
    } else {
      // Taken back while a filter or a hook looked at it. What waits and cannot be had twice in a row never comes.
      const isInVain = intake.messages.length === 0
      if (isInVain && (hasLookedInVain || !loop.inputs.isWaiting) && !goesOnBeside(loop)) return end(idleEnding(loop))
      hasLookedInVain = isInVain
      await acceptUnanswered(loop, intake)
    }
    if (mustAnswer || loop.inputs.isSteered) continue

    // The model has nothing more to do. From the last look at the queues to the end nothing is awaited.
    const wasBusy = goesOnBeside(loop)
    if (wasBusy) await waitBeside(loop)
    const more = loop.inputs.followUps() ?? (wasBusy && loop.inputs.isSteered ? {} : saidByPlugins(loop))
    if (more === undefined) return end(idleEnding(loop))
    input = more
  }
}

/** What the turn before wanted of the run is done. */
function beginNext(loop: LoopState): void {
  loop.endedBy = undefined
  loop.turnIndex += 1
}

/** One turn: input, one answer of the model, the tools it asked for. Never rejects: what failed shows in the message and in `loop.failure`. */
async function takeTurn(loop: LoopState, intake: Intake, triggeredBy: TurnTrigger): Promise<TurnOutcome> {
  const started = openTurn(loop, triggeredBy)
  const { message, calls, failure } = await answer(loop, intake, started)
  if (calls.length === 0) warnOfAnswer(loop, message)
  // Also when the run has failed by now: each is answered then, and none is run.
  const ran = await runCalls(loop, calls)
  const outcome = await closeTurn(loop, { ...ran, message, usage: message.usage, failure })
  loop.budget.recordTurn()
  return outcome
}

interface Answer extends ChargedAnswer {
  calls: PlannedCall[]
}

/** Accepts the input, asks the model, and puts both into the history. */
async function answer(loop: LoopState, intake: Intake, started: Promise<unknown> | undefined): Promise<Answer> {
  let answered: Answer | undefined
  try {
    await loop.inputs.accept(intake)
    await prepareTurn(loop)
    await keepWithinContext(loop)
    answered = { ...(await callModel(loop)), calls: [] }
    const { message } = answered
    await guardAnswer(loop, message)
    await repairCalls(loop, message)
    loop.append(message)
    loop.addUsage(answered.charged === undefined ? message.usage : usageBeyond(message.usage, answered.charged), message)
    const recorded = loop.record({ type: 'assistant', message, ...(loop.turn.changes !== undefined && { prepared: loop.turn.changes }) })
    // Before the answer is durable, so that a journal can write both together.
    answered.calls = callsToRun(loop, message)
    if (answered.calls.length > 0) loop.hasCalled = true
    await recorded
    await started
  } catch (error) {
    failUnlessStopped(loop, error)
    answered ??= { message: messageUnasked(loop, error), calls: [] }
  }
  const { message } = answered
  loop.events.emit({ type: 'messageEnd', messageId: message.id, message })
  return answered
}

/** The calls of a message that may be run: none when the model was stopped or failed. */
function callsToRun(loop: LoopState, { stopReason, content }: ChargedAnswer['message']): PlannedCall[] {
  if (stopReason !== 'toolUse' && stopReason !== 'stop' && stopReason !== 'length') return []
  const calls = callsToAnswer(content)
  return calls.length === 0 ? [] : planCalls(loop, calls, stopReason === 'length' && content.at(-1)?.type === 'toolCall')
}

function saidByPlugins({ plugins, inputs }: LoopState): TurnInput | undefined {
  const words = plugins?.idle()
  return words && inputs.more(words)
}
