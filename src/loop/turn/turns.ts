import { errorText } from '../../contract/errors.ts'
import { type AnswerableCall, callsToAnswer, extensionMessage, textOf, userMessage, withId } from '../../contract/message/message.ts'
import { emptyUsage, hasRates, type Usage, usageBeyond } from '../../contract/model/usage.ts'
import type { EndedBy, RunFailure, TurnTrigger } from '../../contract/run/run-facts.ts'
import type { ReachedLimit } from '../../contract/run/settings.ts'
import type { RunEnding, RunResult } from '../../types/run/run.ts'
import type { RunProgress } from '../../types/run/turn.ts'
import { type AssistantEntry, AssistantStream } from '../assistant-stream.ts'
import { repairCalls } from '../calls/repair-calls.ts'
import { type CallOutcome, isPaused, noCalls, type PlannedCall, planCalls, runCalls } from '../calls/tool-calls.ts'
import { keepWithinContext } from '../compaction.ts'
import { addNotice, type Intake, type TurnInput } from '../intake.ts'
import type { LoopState } from '../loop-state.ts'
import { type ChargedAnswer, callModel, continuationsOf } from '../model-call.ts'
import { guardAnswer, isRefused, refusedEnding, repairs } from './answer-guard.ts'
import { prepareToGoOn, prepareTurn } from './prepare-turn.ts'
import { metCondition } from './stop-conditions.ts'

/** The calls of an earlier run that still have to be run, and the message they belong to: they wait for an approval, or their process ended. */
export interface PausedTurn {
  message: AssistantEntry
  calls: AnswerableCall[]
  /** Of those that were permitted and wait for a page: the hash of the arguments with which they may run, by id. */
  permitted: ReadonlyMap<string, string>
}

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

/** What a turn came to. */
interface TurnOutcome extends CallOutcome {
  message: AssistantEntry
  usage: Usage
  /** Why the model call failed. */
  failure?: RunFailure | undefined
}

/**
 * Runs turns until the model has nothing more to do: a turn follows while there are tool results, steering or follow-ups to answer.
 *
 * **Order** of a turn: limits, input filters, `beforeTurn`; `turnStart`; its input and steering; compaction where it is due; the request and the
 * answer of the model; its calls, then their prunes and reverts; `onError`, `turnEnd`, `afterTurn`. Then steering is looked for, then follow-ups.
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
    const refused = await loop.hooks.beforeTurn()
    if (refused !== undefined) return end(refused)
    const resumed = await resumeTurn(loop, start.paused, trigger)
    if (isPaused(resumed)) await markPaused(loop, resumed)
    const ended = endedBy(loop, resumed) ?? (await stuckEnding(loop)) ?? (mustAnswer ? await asConfigured(loop, resumed) : undefined)
    if (ended !== undefined) return end(ended)
    // A prompt is answered, whatever the calls before it wanted.
    loop.endedBy = undefined
    loop.turnIndex += 1
    trigger = 'continuation'
  }
  for (let hasLookedInVain = false; ; ) {
    const asked = mayBegin(loop, input)
    const refused = asked instanceof Promise ? await asked : asked
    if (refused !== undefined) return end(refused)
    const intake = loop.inputs.take(input)
    input = {}
    if (mustAnswer || intake.hasWords) {
      const outcome = await modelTurn(loop, intake, trigger)
      loop.budget.recordTurn()
      if (isPaused(outcome)) await markPaused(loop, outcome)
      const ending = endedBy(loop, outcome) ?? pausedEnding(loop, outcome) ?? stuckEnding(loop) ?? asConfigured(loop, outcome)
      const ended = ending instanceof Promise ? await ending : ending
      if (ended !== undefined) return end(ended)
      loop.turnIndex += 1
      trigger = 'continuation'
      mustAnswer = outcome.results.length > 0 || isRefused(outcome) || (await repairs(loop, outcome))
    } else {
      // Taken back while a filter or a hook looked at it. What waits and cannot be had twice in a row never comes.
      const isInVain = intake.messages.length === 0
      if (isInVain && (hasLookedInVain || !loop.inputs.isWaiting) && !goesOnBeside(loop)) return end(stoppedEnding(loop) ?? completed(loop))
      hasLookedInVain = isInVain
      await acceptInput(loop, intake)
    }
    if (mustAnswer || loop.inputs.isSteered) continue
    const waiting = goesOnBeside(loop) ? waitBeside(loop) : undefined
    if (waiting !== undefined) await waiting
    const followUps = loop.inputs.followUps()
    if (followUps !== undefined) input = followUps
    else if (waiting === undefined || !loop.inputs.isSteered) return end(stoppedEnding(loop) ?? completed(loop))
  }
}

function goesOnBeside({ background }: LoopState): boolean {
  return background?.isRunning === true
}

/** The model has nothing more to do: waits until there is something to tell it, or nothing goes on beside the run any more. */
async function waitBeside(loop: LoopState): Promise<void> {
  const { inputs, background, stop } = loop
  while (background?.isRunning === true && !stop.aborted && !inputs.isSteered && inputs.followUps() === undefined) await background.next()
}

/** How the run ends instead of with another turn: it was stopped, a limit is reached, a filter or a hook says no. A promise where one of these is asked. */
function mayBegin(loop: LoopState, input: TurnInput): Promise<RunEnding | undefined> | RunEnding | undefined {
  const stopped = stoppedEnding(loop)
  if (stopped !== undefined) return stopped
  const limit = loop.budget.reached()
  if (limit !== undefined) return limitEnding(loop, limit)
  const filtering = loop.inputs.filter(input)
  return filtering === undefined ? loop.hooks.beforeTurn() : filtering.then((refused) => refused ?? loop.hooks.beforeTurn())
}

async function limitEnding(loop: LoopState, limit: ReachedLimit): Promise<RunEnding> {
  await addNotice(loop, withId({ ...userMessage(`[Agent stopped: ${limit.reason}]`), provenanceHint: { kind: 'runtime' } }))
  return loop.failure === undefined ? { status: 'limit', limit } : { status: 'error', error: loop.failure }
}

/** The service paused its answer once more than it is continued, or a limit was reached meanwhile: half an answer completes no run. */
function pausedEnding(loop: LoopState, { message }: TurnOutcome): Promise<RunEnding> | undefined {
  if (message.stopReason !== 'paused') return undefined
  const max = continuationsOf(loop)
  const reason = `The service paused its answer more than ${max} times.`
  return limitEnding(loop, loop.budget.reached() ?? { name: 'maxContinuations', reason, max, used: max })
}

/** The model asks again and again for what it is refused. */
function stuckEnding(loop: LoopState): Promise<RunEnding> | undefined {
  const limit = loop.refusals.closeTurn()
  return limit && limitEnding(loop, limit)
}

/** What was configured to end the run after a turn that would be followed by another: a tool's result, a condition. */
function asConfigured(loop: LoopState, outcome: TurnOutcome): Promise<RunEnding | undefined> | RunEnding | undefined {
  if (loop.endedBy !== undefined) return { status: 'completed', endedBy: loop.endedBy }
  if (isRefused(outcome)) return refusedEnding(loop, outcome)
  const wouldGoOn = outcome.results.length > 0 || loop.inputs.isWaiting || goesOnBeside(loop)
  if (loop.config.stopWhen === undefined || !wouldGoOn) return undefined
  return metCondition(loop, () => progressOf(loop, outcome)).then((met) =>
    met === undefined ? stoppedEnding(loop) : { status: 'completed', endedBy: met },
  )
}

function progressOf({ turnIndex, added, usage, budget, stop }: LoopState, { message, results }: TurnOutcome): RunProgress {
  const { costUsd } = budget.used()
  return {
    turns: turnIndex + 1,
    messages: [...added],
    message,
    toolResults: [...results],
    usage: { ...usage },
    costUsd,
    signal: stop.signal,
  }
}

/** What ends the run whatever the model wants: a failure, an abort, a call that nobody approved, a model call that failed. */
function endedBy(loop: LoopState, outcome: TurnOutcome): RunEnding | undefined {
  const { waiting, clientCalls, message, failure } = outcome
  const stopped = stoppedEnding(loop)
  if (stopped !== undefined) return stopped
  if (isPaused(outcome))
    return { status: 'paused', pendingApprovals: waiting, ...(clientCalls.length > 0 && { pendingClientCalls: clientCalls }) }
  if (failure !== undefined) return { status: 'error', error: failure }
  return message.stopReason === 'aborted' ? { status: 'aborted' } : undefined
}

function stoppedEnding({ failure, stop }: LoopState): RunEnding | undefined {
  if (failure !== undefined) return { status: 'error', error: failure }
  return stop.aborted ? { status: 'aborted' } : undefined
}

/** The model has nothing more to do. A queue that could not be looked into has failed the run. */
function completed({ failure }: LoopState): RunEnding {
  return failure === undefined ? { status: 'completed' } : { status: 'error', error: failure }
}

/** Input that no turn answers. Never rejects: a journal that refuses it fails the run. */
async function acceptInput(loop: LoopState, intake: Intake): Promise<void> {
  try {
    await loop.inputs.accept(intake)
  } catch (error) {
    loop.fail(error)
  }
}

/**
 * Leaves a mark in the history that says which calls wait, and which they hold back, so that another process can continue, whatever else ended the
 * run. Models never see it.
 */
function markPaused(loop: LoopState, { waiting, clientCalls, heldBack }: TurnOutcome): Promise<void> {
  const toolCallIds = [...waiting, ...clientCalls].map((pending) => pending.toolCallId).concat(heldBack)
  const pendingApprovals = waiting.map(({ subAgent: _, ...pending }) => pending)
  // Its record says when its time is over.
  const pendingClientCalls = clientCalls.map(({ subAgent: _, deadline: _end, ...pending }) => pending)
  const mark = { toolCallIds, pendingApprovals, ...(pendingClientCalls.length > 0 && { pendingClientCalls }) }
  return addNotice(loop, extensionMessage('approvalPaused', mark))
}

/**
 * Opens a turn. `turnStart` and `turnEnd` always come as a pair. Nothing depends on the record of the start alone: a journal may write it with the next
 * one, so what it returns is waited for only after that.
 */
function openTurn(loop: LoopState, triggeredBy: TurnTrigger): Promise<unknown> | undefined {
  loop.events.emit({ type: 'turnStart', turnIndex: loop.turnIndex, triggeredBy })
  return loop.record({ type: 'turnStart', triggeredBy })?.catch((error) => loop.fail(error))
}

/** Closes a turn, once its hooks have run: no promise where there is none. Never rejects. */
function closeTurn(loop: LoopState, outcome: TurnOutcome): Promise<TurnOutcome> | TurnOutcome {
  const telling = outcome.failure && loop.hooks.onError(outcome.failure)
  const { message, usage, results } = outcome
  const end = (): Promise<TurnOutcome> | TurnOutcome => {
    loop.events.emit({ type: 'turnEnd', turnIndex: loop.turnIndex, message, usage, toolResults: results })
    return loop.hooks.afterTurn(message, usage, results)?.then(() => outcome) ?? outcome
  }
  return telling === undefined ? end() : telling.then(end)
}

/** One turn: input, one answer of the model, the tools it asked for. Never rejects: what failed shows in the message and in `loop.failure`. */
async function modelTurn(loop: LoopState, intake: Intake, triggeredBy: TurnTrigger): Promise<TurnOutcome> {
  const started = openTurn(loop, triggeredBy)
  const { message, calls, failure } = await answer(loop, intake, started)
  // Also when the run has failed by now: each is answered then, and none is run.
  if (calls.length === 0) warnOfAnswer(loop, message)
  const outcome = calls.length === 0 ? noCalls() : await runCalls(loop, calls)
  return closeTurn(loop, { ...outcome, message, usage: message.usage, failure })
}

/** Runs the calls that an earlier run left open, as a turn of its own without a model call. */
async function resumeTurn(loop: LoopState, { message, calls, permitted }: PausedTurn, triggeredBy: TurnTrigger): Promise<TurnOutcome> {
  const started = openTurn(loop, triggeredBy)
  loop.endedBy = endedBefore(loop, message)
  try {
    await prepareToGoOn(loop)
  } catch (error) {
    // The calls go on waiting: an answer would be 'Cancelled' for good.
    failUnlessStopped(loop, error)
    await started
    return closeTurn(loop, { ...noCalls(), message, usage: emptyUsage() })
  }
  const planned = planCalls(loop, calls, false).map((each) => ({ ...each, permitted: permitted.get(each.call.id) }))
  const ran = await runCalls(loop, planned)
  if (ran.results.length > 0) await started
  return closeTurn(loop, { ...ran, message, usage: emptyUsage() })
}

/** What wanted to end the run among the calls of the message that ran before the pause. */
function endedBefore({ context }: LoopState, message: AssistantEntry): EndedBy | undefined {
  const { messages } = context
  const ran = messages.slice(messages.indexOf(message)).find((each) => each.role === 'toolResult' && each.endRun)
  return ran?.role === 'toolResult' ? { type: 'tool', toolName: ran.toolName, toolCallId: ran.toolCallId } : undefined
}

interface Answer extends ChargedAnswer {
  calls: PlannedCall[]
}

/** Accepts the input, asks the model, and puts both into the history. */
async function answer(loop: LoopState, intake: Intake, started: Promise<unknown> | undefined): Promise<Answer> {
  let answered: Answer | undefined
  try {
    const accepted = loop.inputs.accept(intake)
    if (accepted !== undefined) await accepted
    const preparing = prepareTurn(loop)
    if (preparing !== undefined) await preparing
    const compacting = keepWithinContext(loop)
    if (compacting !== undefined) await compacting
    answered = { ...(await callModel(loop)), calls: [] }
    const { message } = answered
    const guarding = guardAnswer(loop, message)
    if (guarding !== undefined) await guarding
    const repairing = repairCalls(loop, message)
    if (repairing !== undefined) await repairing
    loop.append(message)
    loop.addUsage(answered.charged === undefined ? message.usage : usageBeyond(message.usage, answered.charged), message)
    const recorded = loop.record({ type: 'assistant', message, ...(loop.turn.changes !== undefined && { prepared: loop.turn.changes }) })
    // Before the answer is durable, so that a journal can write both together.
    answered.calls = callsToRun(loop, message)
    if (answered.calls.length > 0) loop.hasCalled = true
    if (recorded !== undefined) await recorded
    if (started !== undefined) await started
  } catch (error) {
    failUnlessStopped(loop, error)
    answered ??= { message: unasked(loop, error), calls: [] }
  }
  const { message } = answered
  loop.events.emit({ type: 'messageEnd', messageId: message.id, message })
  return answered
}

/** An abort while a hook is asked is no failure of the run. */
function failUnlessStopped(loop: LoopState, error: unknown): void {
  if (!loop.stop.aborted || error !== loop.stop.reason) loop.fail(error)
}

/** The message that closes a turn whose model was never asked: its input could not be stored, or what is sent of the history not be had. */
function unasked(loop: LoopState, error: unknown): AssistantEntry {
  const stream = new AssistantStream(loop)
  const message = loop.failure === undefined ? stream.fail('aborted', 'Cancelled') : stream.fail('error', errorText(error))
  loop.append(message)
  return message
}

/** The calls of a message that may be run: none when the model was stopped or failed. */
function callsToRun(loop: LoopState, { stopReason, content }: AssistantEntry): PlannedCall[] {
  if (stopReason !== 'toolUse' && stopReason !== 'stop' && stopReason !== 'length') return []
  const calls = callsToAnswer(content)
  return calls.length === 0 ? [] : planCalls(loop, calls, stopReason === 'length' && content.at(-1)?.type === 'toolCall')
}

/** What nobody would notice: an answer that completes the run, and is not what was asked for. */
function warnOfAnswer(loop: LoopState, { stopReason, content, usage, guarded }: AssistantEntry): void {
  // The application has said its own word about it.
  if (guarded !== undefined) return
  if (stopReason === 'length') {
    loop.warn('answerCut', {
      message: `The answer was cut after ${usage.output} tokens: the model may write no more of them at a time.`,
      hint: 'Raise maxTokens of the agent, or ask the model to go on.',
    })
  } else if (stopReason === 'guardRail') {
    loop.warn('answerRefused', {
      message: 'The model, or a filter of its service, refused to answer.',
      hint: 'The answer says why, where the service did.',
    })
  } else if (stopReason === 'stop' && content.some(({ type }) => type === 'thinking') && textOf(content).trim() === '') {
    loop.warn('answerWithoutText', {
      message: 'The model thought, and ended without saying anything.',
      hint: 'Raise maxTokens, lower thinking, or ask again.',
    })
  }
}

/** A loop in a run whose cost is limited, such as a sub-agent's: where its model has no prices, nothing of it counts. */
function warnOfUncountedCost(loop: LoopState): void {
  const { config } = loop.config.model
  if (!loop.budget.limitsCost || hasRates(config)) return
  loop.warn('costNotCounted', {
    message: `The cost of this run is limited, but the model ${JSON.stringify(config.id)} has no prices: its calls count for nothing.`,
    hint: 'Pass cost, in USD per million tokens, to the factory of the model.',
  })
}
