import { waitingApprovals } from '../base/questions.ts'
import type { AgentMessage, ToolResultMessage } from '../contract/message/message.ts'
import { combineUsage, emptyUsage } from '../contract/model/usage.ts'
import type { PendingApproval } from '../contract/run/run-facts.ts'
import { settledView, withCallsOf } from './reduce-message.ts'
import { cancelOpenCalls } from './reduce-tool.ts'
import { initialState, type RunState, type ToolView, withEntries } from './state.ts'

/**
 * What a user interface shows of a conversation that was stored: begin with it when a page is loaded again, and reduce the events of the next run
 * into it.
 *
 * **Contract**
 * - As after the runs that made `messages`, except for what only their events told: turns, notes, durations, reasons of refusals.
 * - `approvals` are the calls that wait for a person: those that a paused run has left, unless `agent.pendingApprovals()` is given, which knows
 *   also the calls of a process that ended while they waited. Other calls without a result are `cancelled`.
 */
export function restoredState(
  messages: readonly AgentMessage[],
  approvals: readonly PendingApproval[] = waitingApprovals(messages),
): RunState {
  const state = initialState()
  let tools = state.tools
  let usage = emptyUsage()
  for (const message of messages) {
    tools = message.role === 'toolResult' ? withResult(tools, message) : withCallsOf(tools, message)
    if (message.role === 'assistant') usage = combineUsage(usage, message.usage)
  }
  const views = messages.map((message) => settledView(message.id, message))
  return { ...state, messages: views, tools: waiting(cancelOpenCalls(tools), approvals), approvals, usage }
}

function waiting(tools: RunState['tools'], approvals: readonly PendingApproval[]): RunState['tools'] {
  const views = approvals.map(({ toolCallId, toolName, arguments: args }): ToolView => {
    return { ...tools[toolCallId], toolCallId, toolName, args, status: 'pendingApproval' }
  })
  return views.length === 0 ? tools : withEntries(tools, Object.fromEntries(views.map((view) => [view.toolCallId, view])))
}

function withResult(tools: RunState['tools'], { toolCallId, toolName, content, isError }: ToolResultMessage): RunState['tools'] {
  const status = isError ? 'failed' : 'done'
  return withEntries(tools, { [toolCallId]: { ...(tools[toolCallId] ?? { toolCallId, toolName }), status, result: { content } } })
}
