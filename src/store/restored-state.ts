import type { AgentMessage, ToolResultMessage } from '../types/message.ts'
import { combineUsage, emptyUsage } from '../types/usage.ts'
import { settledView, withCallsOf } from './reduce-message.ts'
import { cancelOpenCalls } from './reduce-tool.ts'
import { initialState, type RunState } from './state.ts'

/**
 * What a user interface shows of a conversation that was stored: begin with it when a page is loaded again, and reduce the events of the next run
 * into it.
 *
 * **Contract**: as after the runs that made `messages`, except for what only their events told: turns, notes, durations, reasons of refusals. Calls
 * without a result are `cancelled`.
 */
export function restoredState(messages: readonly AgentMessage[]): RunState {
  const state = initialState()
  let tools = state.tools
  let usage = emptyUsage()
  for (const message of messages) {
    tools = message.role === 'toolResult' ? withResult(tools, message) : withCallsOf(tools, message)
    if (message.role === 'assistant') usage = combineUsage(usage, message.usage)
  }
  return { ...state, messages: messages.map((message) => settledView(message.id, message)), tools: cancelOpenCalls(tools), usage }
}

function withResult(tools: RunState['tools'], { toolCallId, toolName, content, isError }: ToolResultMessage): RunState['tools'] {
  const status = isError ? 'failed' : 'done'
  return { ...tools, [toolCallId]: { ...(tools[toolCallId] ?? { toolCallId, toolName }), status, result: { content } } }
}
