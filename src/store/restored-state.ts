import { waitingApprovals, waitingClientCalls } from '../base/questions.ts'
import { type DataPart, newestDataIn } from '../contract/message/data-part.ts'
import { type AgentMessage, callsToAnswer, loopIdOf, type ToolResultMessage } from '../contract/message/message.ts'
import { combineUsage, emptyUsage } from '../contract/model/usage.ts'
import type { PendingApproval, PendingClientCall } from '../contract/run/run-facts.ts'
import { openCallsOf } from '../types/tool/open-calls.ts'
import { hasContent, settledView, withCallsOf, withoutFailedAttempts } from './reduce-message.ts'
import { cancelOpenCalls, endOfCall } from './reduce-tool.ts'
import { type DataPartView, initialState, type MessageView, type RunState, type ToolView, withEntries } from './state.ts'

/**
 * Returns a stored conversation's state for a user interface. After a reload, use it as the initial state and reduce the next run's events
 * into it.
 *
 * **Contract**
 * - The result equals the state after the runs that produced `messages`, except for data that only events contain: turns, notes, durations,
 *   denial reasons.
 * - `approvals` and `clientCalls` are the pending calls of a paused run. Pass `agent.pendingApprovals()` and
 *   `agent.pendingClientCalls()` to include those of a process that ended.
 * - Other calls without a result are `unknown` if they are the last in the history, because their process may have crashed. Elsewhere they
 *   are `cancelled`.
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
  return { ...state, messages: settledViews(messages), data: newestDataIn(messages), tools: open, approvals, clientCalls, usage }
}

/** Replaces a failed response with the next attempt that has content, as live events do. */
function settledViews(messages: readonly AgentMessage[]): readonly MessageView[] {
  const views: MessageView[] = []
  for (const message of messages) {
    if (hasContent(message)) views.length = withoutFailedAttempts(views, loopIdOf(message)).length
    views.push(settledView(message.id, message))
  }
  return views
}

/** Returns the history's last calls without a result, except those that a run left pending on purpose. */
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

/** Returns `state` after a run reverted the conversation to `messages`. Removes other messages and keeps all data of the remaining ones. */
export function rewoundState(state: RunState, messages: readonly AgentMessage[]): RunState {
  const ids = new Set(messages.map(({ id }) => id))
  const kept = state.messages.filter(({ id }) => ids.has(id))
  const notes = state.notes.filter(({ afterMessageId }) => afterMessageId === undefined || ids.has(afterMessageId))
  const { live: _left, ...rest } = state
  return { ...rest, messages: kept, notes, data: withCalls(newestDataIn(messages), state.data) }
}

/** Adds the extension messages that the application appended to the history between runs. */
export function withAppended(state: RunState, messages: readonly AgentMessage[]): RunState {
  const ids = new Set(state.messages.map(({ id }) => id))
  const added = messages.filter(({ id, role }) => role === 'extension' && !ids.has(id))
  if (added.length === 0) return state
  const views = added.map((message) => settledView(message.id, message))
  return { ...state, messages: [...state.messages, ...views], data: withCalls(newestDataIn(messages), state.data) }
}

/** Copies the call ids of parts from the shown parts, because the history does not record which call sent a part. */
function withCalls(parts: readonly DataPart[], shown: readonly DataPartView[]): DataPartView[] {
  const calls = new Map(shown.map(({ name, dataId, toolCallId }) => [`${name} ${dataId}`, toolCallId]))
  return parts.map((part) => {
    const toolCallId = calls.get(`${part.name} ${part.dataId}`)
    return toolCallId === undefined ? part : { ...part, toolCallId }
  })
}

function waiting(tools: RunState['tools'], calls: readonly PendingApproval[], status: ToolView['status']): RunState['tools'] {
  const views = calls.map(({ toolCallId, toolName, args }): ToolView => {
    return { ...tools[toolCallId], toolCallId, toolName, args, status }
  })
  return views.length === 0 ? tools : withEntries(tools, Object.fromEntries(views.map((view) => [view.toolCallId, view])))
}

function withResult(tools: RunState['tools'], message: ToolResultMessage): RunState['tools'] {
  const { toolCallId, toolName, content, edited } = message
  const view: ToolView = { ...(tools[toolCallId] ?? { toolCallId, toolName }), status: endOfCall(message), result: { content } }
  if (edited !== undefined) Object.assign(view, { args: edited.arguments, edited })
  return withEntries(tools, { [toolCallId]: view })
}
