import { waitingApprovals, waitingClientCalls } from '../base/questions.ts'
import { type AgentMessage, callsToAnswer, loopIdOf, type ToolResultMessage } from '../contract/message/message.ts'
import { combineUsage, emptyUsage } from '../contract/model/usage.ts'
import type { PendingApproval, PendingClientCall } from '../contract/run/run-facts.ts'
import { openCallsOf } from '../types/tool/open-calls.ts'
import { hasContent, settledView, withCallsOf, withoutFailedAttempts } from './reduce-message.ts'
import { cancelOpenCalls, endOfCall } from './reduce-tool.ts'
import { initialState, type MessageView, type RunState, type ToolView, withEntries } from './state.ts'

/**
 * Returns the state of a stored conversation for a user interface. Start with it after a reload, and reduce the events of the
 * next run into it.
 *
 * **Contract**
 * - Equals the state after the runs that made `messages`, except for data that only events have: turns, notes, durations, reasons
 *   of denials.
 * - `approvals` and `clientCalls` are the pending calls of a paused run. Pass `agent.pendingApprovals()` and
 *   `agent.pendingClientCalls()` to include those of a process that ended.
 * - Other calls without a result are `unknown` at the end of the history, because their process may have crashed, and `cancelled`
 *   elsewhere.
 */
export function restoredState(
  messages: readonly AgentMessage[],
  approvals: readonly PendingApproval[] = waitingApprovals(messages),
  clientCalls: readonly PendingClientCall[] = waitingClientCalls(messages),
): RunState {
  const state = initialState()
  let tools = state.tools
  let usage = emptyUsage()
  for (const message of messages) {
    tools = message.role === 'toolResult' ? withResult(tools, message) : withCallsOf(tools, message)
    if (message.role === 'assistant') usage = combineUsage(usage, message.usage)
  }
  for (const id of leftCalls(messages)) {
    const left = tools[id]
    if (left !== undefined) tools = withEntries(tools, { [id]: { ...left, status: 'unknown' } })
  }
  const open = waiting(waiting(cancelOpenCalls(tools), approvals, 'pendingApproval'), clientCalls, 'pendingClient')
  return { ...state, messages: settledViews(messages), tools: open, approvals, clientCalls, usage }
}

/** As while they came: a response that failed gives its place to the next attempt that has content. */
function settledViews(messages: readonly AgentMessage[]): readonly MessageView[] {
  const views: MessageView[] = []
  for (const message of messages) {
    if (hasContent(message)) views.length = withoutFailedAttempts(views, loopIdOf(message)).length
    views.push(settledView(message.id, message))
  }
  return views
}

/** The calls with which a history ends, except for those that a run has left on purpose. */
function leftCalls(messages: readonly AgentMessage[]): string[] {
  const settled = new Set<string>()
  for (const message of messages.toReversed()) {
    if (message.role === 'user') return []
    if (message.role === 'toolResult') settled.add(message.toolCallId)
    for (const id of openCallsOf(message)) settled.add(id)
    if (message.role !== 'assistant') continue
    const isWhole = message.stopReason === 'toolUse' || message.stopReason === 'stop'
    return isWhole ? callsToAnswer(message.content).flatMap(({ id }) => (settled.has(id) ? [] : [id])) : []
  }
  return []
}

/** Returns `state` after a run goes back to `messages`: other messages are removed, all data of the remaining ones is kept. */
export function rewoundState(state: RunState, messages: readonly AgentMessage[]): RunState {
  const ids = new Set(messages.map(({ id }) => id))
  const kept = state.messages.filter(({ id }) => ids.has(id))
  const notes = state.notes.filter(({ afterMessageId }) => afterMessageId === undefined || ids.has(afterMessageId))
  const { live: _left, ...rest } = state
  return { ...rest, messages: kept, notes }
}

function waiting(tools: RunState['tools'], calls: readonly PendingApproval[], status: ToolView['status']): RunState['tools'] {
  const views = calls.map(({ toolCallId, toolName, args }): ToolView => {
    return { ...tools[toolCallId], toolCallId, toolName, args, status }
  })
  return views.length === 0 ? tools : withEntries(tools, Object.fromEntries(views.map((view) => [view.toolCallId, view])))
}

function withResult(tools: RunState['tools'], message: ToolResultMessage): RunState['tools'] {
  const { toolCallId, toolName, content } = message
  const view = { ...(tools[toolCallId] ?? { toolCallId, toolName }), status: endOfCall(message), result: { content } }
  return withEntries(tools, { [toolCallId]: view })
}
