import type { ToolCallContent } from '../types/content.ts'
import { errorText } from '../types/errors.ts'
import type { TurnTrigger } from '../types/event.ts'
import { type AgentMessage, toolCallsOf } from '../types/message.ts'
import { addInput } from './add-input.ts'
import { type AssistantEntry, AssistantStream } from './assistant-stream.ts'
import { executeTools } from './execute-tools.ts'
import type { LoopRun } from './loop-run.ts'
import { streamResponse } from './stream-response.ts'
import type { ToolResultEntry } from './tool-result.ts'

/** Hands over the input of a turn at the moment it goes into the history; until then it stays where it is, so that none is lost. */
export type InputSource = () => readonly AgentMessage[]

/** What a turn came to. */
export interface TurnOutcome {
  message: AssistantEntry
  results: ToolResultEntry[]
}

/**
 * One turn: input, one answer of the model, the tools it asked for.
 *
 * **Contract**: never rejects. `turnStart` and `turnEnd` always come as a pair; what failed shows in the message (`stopReason` `error`) and
 * in `run.failure`.
 */
export async function runTurn(run: LoopRun, inputs: InputSource, triggeredBy: TurnTrigger): Promise<TurnOutcome> {
  const { turnIndex } = run
  run.events.emit({ type: 'turnStart', turnIndex, triggeredBy })
  const message = await answer(run, inputs)
  const calls = run.failure === undefined ? runnableCalls(message) : []
  const isCut = message.stopReason === 'length' && message.content.at(-1)?.type === 'toolCall'
  const results = calls.length === 0 ? [] : await executeTools(run, calls, isCut)
  run.events.emit({ type: 'turnEnd', turnIndex, message, usage: message.usage, toolResults: results })
  return { message, results }
}

/** Accepts the input, asks the model, and puts both into the history. */
async function answer(run: LoopRun, inputs: InputSource): Promise<AssistantEntry> {
  let message: AssistantEntry | undefined
  try {
    await addInput(run, inputs())
    await addInput(run, run.takeFrom(run.config.steering))
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
