import { errorText } from '../../contract/errors.ts'
import { extensionMessage, textOf } from '../../contract/message/message.ts'
import { hasRates, type Usage } from '../../contract/model/usage.ts'
import type { RunFailure, TurnTrigger } from '../../contract/run/run-facts.ts'
import { type CallOutcome, isPaused } from '../calls/tool-calls.ts'
import { addNotice } from '../intake.ts'
import type { LoopState } from '../loop-state.ts'
import { type AssistantEntry, AssistantStream } from '../model/assistant-stream.ts'

/** What a turn came to. */
export interface TurnOutcome extends CallOutcome {
  message: AssistantEntry
  usage: Usage
  /** Why the model call failed. */
  failure?: RunFailure | undefined
}

/**
 * Opens a turn. `turnStart` and `turnEnd` always come as a pair. Nothing depends on the record of the start alone: a journal may write it with the next
 * one, so what it returns is waited for only after that.
 */
export function openTurn(loop: LoopState, triggeredBy: TurnTrigger): Promise<unknown> | undefined {
  loop.events.emit({ type: 'turnStart', turnIndex: loop.turnIndex, triggeredBy })
  return loop.record({ type: 'turnStart', triggeredBy })?.catch((error) => loop.fail(error))
}

/** Closes a turn, once its hooks have run. Never rejects. */
export async function closeTurn(loop: LoopState, outcome: TurnOutcome): Promise<TurnOutcome> {
  const { message, usage, results, failure } = outcome
  if (failure !== undefined) await loop.hooks.onError(failure)
  loop.events.emit({ type: 'turnEnd', turnIndex: loop.turnIndex, message, usage, toolResults: results })
  await loop.plugins?.endTurn({ message, usage, toolResults: results })
  await loop.hooks.afterTurn(message, usage, results)
  if (isPaused(outcome)) await markPaused(loop, outcome)
  return outcome
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

/** An abort while a hook is asked is no failure of the run. */
export function failUnlessStopped(loop: LoopState, error: unknown): void {
  if (!loop.stop.aborted || error !== loop.stop.reason) loop.fail(error)
}

/** The message that closes a turn whose model was never asked: its input could not be stored, or what is sent of the history not be had. */
export function messageUnasked(loop: LoopState, error: unknown): AssistantEntry {
  const stream = new AssistantStream(loop)
  const message = loop.failure === undefined ? stream.fail('aborted', 'Cancelled') : stream.fail('error', errorText(error))
  loop.append(message)
  return message
}

/** What nobody would notice: an answer that completes the run, and is not what was asked for. */
export function warnOfAnswer(loop: LoopState, { stopReason, content, usage, guarded }: AssistantEntry): void {
  // The application has said its own word about it.
  if (guarded !== undefined) return
  if (stopReason === 'length') {
    loop.log.warn('answerCut', {
      message: `The answer was cut after ${usage.output} tokens: the model may write no more of them at a time.`,
      hint: 'Raise maxTokens of the agent, or ask the model to go on.',
    })
  } else if (stopReason === 'guardRail') {
    loop.log.warn('answerRefused', {
      message: 'The model, or a filter of its service, refused to answer.',
      hint: 'The answer says why, where the service did.',
    })
  } else if (stopReason === 'stop' && content.some(({ type }) => type === 'thinking') && textOf(content).trim() === '') {
    loop.log.warn('answerWithoutText', {
      message: 'The model thought, and ended without saying anything.',
      hint: 'Raise maxTokens, lower thinking, or ask again.',
    })
  }
}

/** A loop in a run whose cost is limited, such as a sub-agent's: where its model has no prices, nothing of it counts. */
export function warnOfUncountedCost(loop: LoopState): void {
  const { config } = loop.config.model
  if (!loop.budget.limitsCost || hasRates(config)) return
  loop.log.warn('costNotCounted', {
    message: `The cost of this run is limited, but the model ${JSON.stringify(config.id)} has no prices: its calls count for nothing.`,
    hint: 'Pass catalogue of phi-core/models, or cost in USD per million tokens, to the factory of the model.',
  })
}
