import { usageBeyond } from '../contract/model/usage.ts'
import type { TurnTrigger } from '../contract/run/run-facts.ts'
import type { RunEnding, RunResult } from '../types/run/run.ts'
import { hasBackgroundWork, waitForBackground } from './background.ts'
import { repairCalls } from './calls/repair-calls.ts'
import { type PlannedCall, planAndRecordIntents, runCalls } from './calls/tool-calls.ts'
import { compactIfDue, pruneAndRevert } from './compaction.ts'
import { endingOf, endingsAfterResumedTurn, endingsAfterTurn, endingsBeforeTurn, idleEnding, turnRefused } from './endings.ts'
import { acceptUnanswered, type Intake, type TurnInput } from './intake.ts'
import type { LoopState } from './loop-state.ts'
import { type ChargedAnswer, callModel } from './model/model-call.ts'
import { guardAnswer, isRefused, repairs } from './turn/answer-guard.ts'
import { prepareTurn } from './turn/prepare-turn.ts'
import { type PausedTurn, resumeTurn } from './turn/resume-turn.ts'
import {
  closeTurn,
  failUnlessStopped,
  messageUnasked,
  openTurn,
  storeData,
  type TurnOutcome,
  warnOfAnswer,
  warnOfUncountedCost,
} from './turn/turn.ts'

/** Describes how a loop's turns start. */
export interface TurnsStart {
  input: TurnInput
  trigger: TurnTrigger
  /** Whether the model must respond to the history even without new input. */
  mustAnswer: boolean
  /** Calls of an earlier run that have not run yet. */
  paused?: PausedTurn
}

/** Ends the run immediately, or after its background tasks. */
type EndRun = (ending: RunEnding) => RunResult | Promise<RunResult>

/**
 * Runs turns until the model finishes. Tool results, steering messages and follow-ups cause another turn. `endings.ts` lists all endings in
 * check order.
 *
 * **Contract**
 * - Never rejects. Calls `end` once with the ending and resolves with its return value. The last queue check and `end` run synchronously,
 *   so that no message can be queued in between.
 * - Adds input without content for the model to the history, without a turn.
 * - Checks limits before each turn. If a limit is reached, adds the documented message to the history.
 *
 * Source: docs/concepts/agent-and-run.md
 */
export async function runTurns(loop: LoopState, start: TurnsStart, end: EndRun): Promise<RunResult> {
  warnOfUncountedCost(loop)
  let { input, trigger, mustAnswer } = start

  // If the run was stopped before it started, the calls stay pending, because a `Cancelled` result would be final.
  if (start.paused !== undefined && !loop.stop.aborted) {
    const refused = await turnRefused(loop)
    if (refused !== undefined) return end(refused)
    const resumed = await resumeTurn(loop, start.paused, trigger)
    const ended = await endingOf(endingsAfterResumedTurn(mustAnswer), loop, resumed)
    if (ended !== undefined) return end(ended)
    loop.turnIndex += 1
    trigger = 'continuation'
  }

  for (let hasLookedInVain = false; ; ) {
    const refused = await endingOf(endingsBeforeTurn, loop, input)
    if (refused !== undefined) return end(refused)
    const intake = loop.inputs.take(input)
    input = {}

    if (mustAnswer || intake.hasWords) {
      const turn = await takeTurn(loop, intake, trigger)
      const ended = await endingOf(endingsAfterTurn, loop, turn)
      if (ended !== undefined) return end(ended)
      loop.turnIndex += 1
      trigger = 'continuation'
      mustAnswer = turn.results.length > 0 || isRefused(turn) || (await repairs(loop, turn))
    } else {
      // The caller withdrew the input while a filter or hook ran. After two such turns, treat the supplier's messages as unavailable.
      const isInVain = intake.messages.length === 0
      if (isInVain && (hasLookedInVain || !loop.inputs.isWaiting) && !hasBackgroundWork(loop)) return end(idleEnding(loop))
      hasLookedInVain = isInVain
      await acceptUnanswered(loop, intake)
    }
    if (mustAnswer || loop.inputs.isSteered) continue

    // The model has finished. Nothing is awaited between the last queue check and the end.
    const wasBusy = hasBackgroundWork(loop)
    if (wasBusy) await waitForBackground(loop)
    const more = loop.inputs.followUps() ?? (wasBusy && loop.inputs.isSteered ? {} : pluginPrompts(loop))
    if (more === undefined) return end(idleEnding(loop))
    input = more
  }
}

/**
 * Runs one turn. Never rejects: failures are in the message and in `loop.failure`.
 *
 * 1. `turnStart`. Input and steering enter the history and are recorded.
 * 2. `prepareTurn` may change model, tools and prompt. The history is compacted if due. The request is derived and sent.
 * 3. Plugins, then the `afterAnswer` hook, check the response. It is recorded together with the intents of its calls. `messageEnd`.
 * 4. Calls run, and their results are recorded. Tools prune and revert. `turnEnd` and the `afterTurn` hook.
 */
async function takeTurn(loop: LoopState, intake: Intake, triggeredBy: TurnTrigger): Promise<TurnOutcome> {
  const started = openTurn(loop, triggeredBy)
  const { message, calls, failure } = await takeResponse(loop, intake, started)
  if (calls.length === 0) warnOfAnswer(loop, message)
  // Do this even after a failure. Each call then gets a result without running.
  const ran = await runCalls(loop, calls)
  await pruneAndRevert(loop, ran.changes)
  const outcome = await closeTurn(loop, { ...ran, message, usage: message.usage, failure })
  loop.budget.recordTurn()
  return outcome
}

interface Planned extends ChargedAnswer {
  calls: PlannedCall[]
}

/** Runs steps 1 to 3 of the turn, up to `messageEnd`. */
async function takeResponse(loop: LoopState, intake: Intake, started: Promise<unknown> | undefined): Promise<Planned> {
  let answered: Planned | undefined
  try {
    await loop.inputs.accept(intake)
    await prepareTurn(loop)
    await compactIfDue(loop)
    const storing = storeData(loop)
    if (storing !== undefined) await storing
    answered = { ...(await callModel(loop)), calls: [] }
    const { message } = answered
    await guardAnswer(loop, message)
    await repairCalls(loop, message)
    loop.append(message)
    loop.addUsage(answered.charged === undefined ? message.usage : usageBeyond(message.usage, answered.charged), message)
    const recorded = loop.record({ type: 'assistant', message, ...(loop.turn.changes !== undefined && { prepared: loop.turn.changes }) })
    // Plan the calls before the response is durable, so that a journal can write the response and the intents together.
    answered.calls = planAndRecordIntents(loop, message)
    if (answered.calls.length > 0) loop.turns.hasCalled = true
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

function pluginPrompts({ plugins, inputs }: LoopState): TurnInput | undefined {
  const words = plugins?.idle()
  return words && inputs.more(words)
}
