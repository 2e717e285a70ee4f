import { userMessage, withId } from '../contract/message/message.ts'
import type { ReachedLimit } from '../contract/run/settings.ts'
import type { RunEnding } from '../types/run/run.ts'
import { hasBackgroundWork } from './background.ts'
import { isPaused } from './calls/tool-calls.ts'
import { addNotice, type TurnInput } from './intake.ts'
import type { LoopState } from './loop-state.ts'
import { continuationsOf } from './model/model-call.ts'
import { isRefused, refusedEnding } from './turn/answer-guard.ts'
import { metCondition } from './turn/stop-conditions.ts'
import type { TurnOutcome } from './turn/turn.ts'

/**
 * Returns the run's ending at this point, or `undefined` to continue. May add a notice to the history. Never rejects: errors fail the run.
 */
type Ending<Moment> = (loop: LoopState, moment: Moment) => RunEnding | undefined | Promise<RunEnding | undefined>

/** Checks before each turn, in this order. `failed` comes first, because a failure also stops the run. */
export const endingsBeforeTurn: readonly Ending<TurnInput>[] = [failed, aborted, limitReached, inputRejected, turnRefused]

/** Checks after each turn with a model call, in this order. */
export const endingsAfterTurn: readonly Ending<TurnOutcome>[] = [
  failed,
  aborted,
  paused,
  modelFailed,
  responsePaused,
  stuck,
  toolEnded,
  answerRefused,
  conditionMet,
]

const afterCalls: readonly Ending<TurnOutcome>[] = [failed, aborted, paused, modelFailed, stuck]

/** Returns the checks after a turn that only ran an earlier run's calls. A following prompt always gets a response. */
export function endingsAfterResumedTurn(isAnswerAsked: boolean): readonly Ending<TurnOutcome>[] {
  return isAnswerAsked ? [...afterCalls, toolEnded, answerRefused, conditionMet] : afterCalls
}

/** Returns the first ending that applies. Awaits only checks that return a promise. */
export async function endingOf<Moment>(
  endings: readonly Ending<Moment>[],
  loop: LoopState,
  moment: Moment,
): Promise<RunEnding | undefined> {
  for (const ending of endings) {
    const asked = ending(loop, moment)
    const found = asked && (await asked)
    if (found !== undefined) return found
  }
  return undefined
}

/** Ends the run because the model has finished. Runs synchronously with the last queue check, which may fail the run. */
export function idleEnding(loop: LoopState): RunEnding {
  return stopped(loop) ?? { status: 'completed' }
}

function stopped(loop: LoopState): RunEnding | undefined {
  return failed(loop) ?? aborted(loop)
}

function failed({ failure }: LoopState): RunEnding | undefined {
  return failure && { status: 'error', error: failure }
}

function aborted({ stop }: LoopState): RunEnding | undefined {
  return stop.aborted ? { status: 'aborted' } : undefined
}

function limitReached(loop: LoopState): Promise<RunEnding> | undefined {
  const limit = loop.budget.reached()
  return limit && limitEnding(loop, limit)
}

function inputRejected({ inputs }: LoopState, input: TurnInput): Promise<RunEnding | undefined> | undefined {
  return inputs.filter(input)
}

/** Ends the run if a plugin or hook refuses the turn. Plugins run before hooks, so that hooks also guard plugin output. */
export function turnRefused({ hooks, plugins }: LoopState): Promise<RunEnding | undefined> | undefined {
  return plugins === undefined ? hooks.beforeTurn() : plugins.beforeTurn().then((refused) => refused ?? hooks.beforeTurn())
}

/** Ends the run if a call waits for an approval or a client. */
function paused(_: LoopState, outcome: TurnOutcome): RunEnding | undefined {
  const { waiting, clientCalls } = outcome
  if (!isPaused(outcome)) return undefined
  return { status: 'paused', pendingApprovals: waiting, ...(clientCalls.length > 0 && { pendingClientCalls: clientCalls }) }
}

function modelFailed(_: LoopState, { message, failure }: TurnOutcome): RunEnding | undefined {
  if (failure !== undefined) return { status: 'error', error: failure }
  return message.stopReason === 'aborted' ? { status: 'aborted' } : undefined
}

/** Ends the run if the provider paused the response and a limit prevents its continuation. A partial response must not complete a run. */
function responsePaused(loop: LoopState, { message }: TurnOutcome): Promise<RunEnding> | undefined {
  if (message.stopReason !== 'paused') return undefined
  const max = continuationsOf(loop)
  const reason = `The provider paused its response more than ${max} times.`
  return limitEnding(loop, loop.budget.reached() ?? { name: 'maxContinuations', reason, max, used: max })
}

/** Ends the run if the model keeps repeating a refused call. */
function stuck(loop: LoopState): Promise<RunEnding> | undefined {
  const limit = loop.refusals.closeTurn()
  return limit && limitEnding(loop, limit)
}

/** Ends the run if a tool result requests it. A resumed turn also considers results from before the pause. */
function toolEnded({ context }: LoopState, { message }: TurnOutcome): RunEnding | undefined {
  const { messages } = context
  for (const each of messages.slice(messages.lastIndexOf(message) + 1)) {
    if (each.role !== 'toolResult' || each.endRun !== true) continue
    return { status: 'completed', endedBy: { type: 'tool', toolName: each.toolName, toolCallId: each.toolCallId } }
  }
  return undefined
}

/**
 * Ends the run if the `afterAnswer` hook refused the response too often. After earlier refusals, the model gets the reason and responds
 * again.
 */
function answerRefused(loop: LoopState, outcome: TurnOutcome): Promise<RunEnding | undefined> | undefined {
  return isRefused(outcome) ? refusedEnding(loop, outcome) : undefined
}

/** Ends the run if a `stopWhen` condition applies after a turn that another turn would follow. */
function conditionMet(loop: LoopState, outcome: TurnOutcome): Promise<RunEnding | undefined> | undefined {
  const wouldGoOn = outcome.results.length > 0 || loop.inputs.isWaiting || hasBackgroundWork(loop) || loop.plugins?.mayGoOn === true
  if (loop.config.stopWhen === undefined || !wouldGoOn || isRefused(outcome)) return undefined
  return metCondition(loop, outcome).then((endedBy) => (endedBy === undefined ? stopped(loop) : { status: 'completed', endedBy }))
}

async function limitEnding(loop: LoopState, limit: ReachedLimit): Promise<RunEnding> {
  await addNotice(loop, withId({ ...userMessage(`[Agent stopped: ${limit.reason}]`), provenanceHint: { kind: 'runtime' } }))
  return failed(loop) ?? { status: 'limit', limit }
}
