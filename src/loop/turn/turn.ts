import { errorText } from '../../contract/errors.ts'
import { extensionMessage, textOf } from '../../contract/message/message.ts'
import { hasRates, type Usage } from '../../contract/model/usage.ts'
import type { RunFailure, TurnTrigger } from '../../contract/run/run-facts.ts'
import { type CallOutcome, isPaused } from '../calls/tool-calls.ts'
import { addNotice } from '../intake.ts'
import type { LoopState } from '../loop-state.ts'
import { type AssistantEntry, AssistantStream } from '../model/assistant-stream.ts'

/** A turn's outcome. */
export interface TurnOutcome extends CallOutcome {
  message: AssistantEntry
  usage: Usage
  /** The reason why the model call failed. */
  failure?: RunFailure | undefined
}

/**
 * Opens a turn. Every `turnStart` has a matching `turnEnd`. Await the returned promise only after the next record, because a journal may
 * write both together.
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
  const storing = storeData(loop)
  if (storing !== undefined) await storing
  if (isPaused(outcome)) await markPaused(loop, outcome)
  return outcome
}

/** Stores the turn's data parts so far. Returns `undefined` if there are none. Never rejects: if recording fails, the run fails. */
export function storeData(loop: LoopState): Promise<void> | undefined {
  const messages = loop.data.take()
  return messages.length === 0 ? undefined : addNotice(loop, ...messages)
}

/** Adds a marker with the pending and delayed calls to the history, so that another process can continue the run. Never sent to a model. */
function markPaused(loop: LoopState, { waiting, clientCalls, heldBack }: TurnOutcome): Promise<void> {
  const toolCallIds = [...waiting, ...clientCalls].map((pending) => pending.toolCallId).concat(heldBack)
  const pendingApprovals = waiting.map(({ subAgent: _, ...pending }) => pending)
  // Omit the deadline, which a separate record contains.
  const pendingClientCalls = clientCalls.map(({ subAgent: _, deadline: _end, ...pending }) => pending)
  const mark = { toolCallIds, pendingApprovals, ...(pendingClientCalls.length > 0 && { pendingClientCalls }) }
  return addNotice(loop, extensionMessage('approvalPaused', mark))
}

/** Fails the run, unless the error is the reason of the run's abort. */
export function failUnlessStopped(loop: LoopState, error: unknown): void {
  if (!loop.stop.aborted || error !== loop.stop.reason) loop.fail(error)
}

/** Creates the assistant message of a turn that made no model call, because recording its input or deriving its request failed. */
export function messageUnasked(loop: LoopState, error: unknown): AssistantEntry {
  const stream = new AssistantStream(loop)
  const message = loop.failure === undefined ? stream.fail('aborted', 'Cancelled') : stream.fail('error', errorText(error))
  loop.append(message)
  return message
}

/** Logs a warning if a completed response silently differs from the request. */
export function warnOfAnswer(loop: LoopState, { stopReason, content, usage, guarded }: AssistantEntry): void {
  // The application has already handled this mismatch.
  if (guarded !== undefined) return
  if (stopReason === 'length') {
    loop.log.warn('answerCut', {
      message: `The response was truncated after ${usage.output} tokens, the output limit of the model.`,
      hint: 'Raise maxTokens, or ask the model to continue.',
    })
  } else if (stopReason === 'guardRail') {
    loop.log.warn('answerRefused', {
      message: 'The model or a provider filter refused to respond.',
      hint: 'The response contains the reason if the provider gave one.',
    })
  } else if (stopReason === 'stop' && content.some(({ type }) => type === 'thinking') && textOf(content).trim() === '') {
    loop.log.warn('answerWithoutText', {
      message: 'The model stopped after its reasoning without writing any text.',
      hint: 'Raise maxTokens, lower the thinking level, or retry.',
    })
  }
}

/** Warns if the run's cost is limited but this model has no prices, for example in a sub-agent. */
export function warnOfUncountedCost(loop: LoopState): void {
  const { config } = loop.config.model
  if (!loop.budget.limitsCost || hasRates(config)) return
  loop.log.warn('costNotCounted', {
    message: `The run has a cost limit, but model ${JSON.stringify(config.id)} has no prices, so its calls do not count.`,
    hint: 'Pass catalogue from phi-core/models, or cost in USD per million tokens, to the model factory.',
  })
}
