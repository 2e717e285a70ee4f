import { errorText } from '../../contract/errors.ts'
import { extensionMessage, textOf } from '../../contract/message/message.ts'
import { hasRates, type Usage } from '../../contract/model/usage.ts'
import type { RunFailure, TurnTrigger } from '../../contract/run/run-facts.ts'
import { type CallOutcome, isPaused } from '../calls/tool-calls.ts'
import { addNotice } from '../intake.ts'
import type { LoopState } from '../loop-state.ts'
import { type AssistantEntry, AssistantStream } from '../model/assistant-stream.ts'

/** Outcome of a turn. */
export interface TurnOutcome extends CallOutcome {
  message: AssistantEntry
  usage: Usage
  /** Why the model call failed. */
  failure?: RunFailure | undefined
}

/**
 * Opens a turn. `turnStart` and `turnEnd` always come as a pair. A journal may write the record of the start with the next one, so the
 * returned promise is awaited only after that.
 */
export function openTurn(loop: LoopState, triggeredBy: TurnTrigger): Promise<unknown> | undefined {
  loop.events.emit({ type: 'turnStart', turnIndex: loop.turnIndex, triggeredBy })
  return loop.record({ type: 'turnStart', triggeredBy })?.catch((error) => loop.fail(error))
}

/** Closes a turn after its hooks. Never rejects. */
export async function closeTurn(loop: LoopState, outcome: TurnOutcome): Promise<TurnOutcome> {
  const { message, usage, results, failure } = outcome
  if (failure !== undefined) await loop.hooks.onError(failure)
  loop.events.emit({ type: 'turnEnd', turnIndex: loop.turnIndex, message, usage, toolResults: results })
  await loop.plugins?.endTurn({ message, usage, toolResults: results })
  await loop.hooks.afterTurn(message, usage, results)
  if (isPaused(outcome)) await markPaused(loop, outcome)
  return outcome
}

/** Adds a marker to the history with the pending and held-back calls, so that another process can continue. Models never see it. */
function markPaused(loop: LoopState, { waiting, clientCalls, heldBack }: TurnOutcome): Promise<void> {
  const toolCallIds = [...waiting, ...clientCalls].map((pending) => pending.toolCallId).concat(heldBack)
  const pendingApprovals = waiting.map(({ subAgent: _, ...pending }) => pending)
  // Its own record has the deadline.
  const pendingClientCalls = clientCalls.map(({ subAgent: _, deadline: _end, ...pending }) => pending)
  const mark = { toolCallIds, pendingApprovals, ...(pendingClientCalls.length > 0 && { pendingClientCalls }) }
  return addNotice(loop, extensionMessage('approvalPaused', mark))
}

/** An abort during a hook is not a failure of the run. */
export function failUnlessStopped(loop: LoopState, error: unknown): void {
  if (!loop.stop.aborted || error !== loop.stop.reason) loop.fail(error)
}

/** Creates the message of a turn without a model call: its input could not be recorded, or the request could not be derived. */
export function messageUnasked(loop: LoopState, error: unknown): AssistantEntry {
  const stream = new AssistantStream(loop)
  const message = loop.failure === undefined ? stream.fail('aborted', 'Cancelled') : stream.fail('error', errorText(error))
  loop.append(message)
  return message
}

/** Warns of a completed response that is not what was requested and would go unnoticed. */
export function warnOfAnswer(loop: LoopState, { stopReason, content, usage, guarded }: AssistantEntry): void {
  // The application has handled it.
  if (guarded !== undefined) return
  if (stopReason === 'length') {
    loop.log.warn('answerCut', {
      message: `The answer was cut after ${usage.output} tokens: the model may write no more of them at a time.`,
      hint: 'Raise maxTokens of the agent, or ask the model to continue.',
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

/** Warns if the cost of the run is limited but this model has no prices, such as in a sub-agent. */
export function warnOfUncountedCost(loop: LoopState): void {
  const { config } = loop.config.model
  if (!loop.budget.limitsCost || hasRates(config)) return
  loop.log.warn('costNotCounted', {
    message: `The cost of this run is limited, but the model ${JSON.stringify(config.id)} has no prices: its calls count for nothing.`,
    hint: 'Pass catalogue of phi-core/models, or cost in USD per million tokens, to the factory of the model.',
  })
}
