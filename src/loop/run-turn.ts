import type { ToolCallContent } from '../types/content.ts'
import { errorText } from '../types/errors.ts'
import type { TurnTrigger } from '../types/event.ts'
import { toolCallsOf } from '../types/message.ts'
import { addInput } from './add-input.ts'
import { type AssistantEntry, AssistantStream } from './assistant-stream.ts'
import { keepWithinContext } from './keep-within-context.ts'
import type { MessageSupplier } from './loop-config.ts'
import type { LoopRun } from './loop-run.ts'
import { streamResponse } from './stream-response.ts'
import type { ToolResultEntry } from './tool-result.ts'

/** What a turn came to. */
export interface TurnOutcome {
  message: AssistantEntry
  results: ToolResultEntry[]
}

/**
 * One turn: input, one answer of the model, the tools it asked for. What `inputs` holds stays there until it goes into the history, so that
 * none is lost.
 *
 * **Contract**: never rejects. `turnStart` and `turnEnd` always come as a pair; what failed shows in the message (`stopReason` `error`) and
 * in `run.failure`.
 */
export async function runTurn(run: LoopRun, inputs: MessageSupplier, triggeredBy: TurnTrigger): Promise<TurnOutcome> {
  const { turnIndex } = run
  run.events.emit({ type: 'turnStart', turnIndex, triggeredBy })
  const message = await answer(run, inputs, triggeredBy)
  // Also when the run has failed by now: each is answered then, and none is run.
  const calls = runnableCalls(message)
  const isCut = message.stopReason === 'length' && message.content.at(-1)?.type === 'toolCall'
  const results = calls.length === 0 ? [] : await runCalls(run, calls, isCut)
  if (message.stopReason === 'error') await run.lifecycle?.onError()
  run.events.emit({ type: 'turnEnd', turnIndex, message, usage: message.usage, toolResults: results })
  await run.lifecycle?.afterTurn(message, message.usage, results)
  return { message, results }
}

/**
 * Runs the calls of a message. Never rejects: what cannot be done fails the run. What it takes is loaded when a model first calls a tool: many programs have none.
 */
export async function runCalls(run: LoopRun, calls: readonly ToolCallContent[], isCut: boolean): Promise<ToolResultEntry[]> {
  try {
    const { executeTools } = await import('./execute-tools.ts')
    return await executeTools(run, calls, isCut)
  } catch (error) {
    run.fail(error)
    return []
  }
}

/** Accepts the input, asks the model, and puts both into the history. */
async function answer(run: LoopRun, inputs: MessageSupplier, triggeredBy: TurnTrigger): Promise<AssistantEntry> {
  let message: AssistantEntry | undefined
  try {
    const { steering, followUps, journal } = run.config
    // Not awaited: nothing rests on it alone, so it is written with the record that follows.
    if (journal) run.record({ type: 'turnStart', triggeredBy }).catch((error) => run.fail(error))
    await addInput(run, run.takeFrom(inputs), inputs === followUps ? 'followUp' : undefined)
    await addInput(run, run.takeFrom(steering), 'steering')
    await keepWithinContext(run)
    message = await streamResponse(run)
    run.append(message)
    run.addUsage(message.usage)
    await run.record({ type: 'assistant', message })
  } catch (error) {
    run.fail(error)
    message ??= refused(run, error)
  }
  run.events.emit({ type: 'messageEnd', messageId: message.id, message })
  return message
}

/** The message that closes a turn whose input could not be stored: the model was never asked. */
function refused(run: LoopRun, error: unknown): AssistantEntry {
  const message = new AssistantStream(run).fail('error', errorText(error))
  run.append(message)
  return message
}

/** The calls of a message that may be run: none when the model was stopped or failed. */
function runnableCalls(message: AssistantEntry): ToolCallContent[] {
  const { stopReason } = message
  return stopReason === 'toolUse' || stopReason === 'stop' || stopReason === 'length' ? toolCallsOf(message.content) : []
}
