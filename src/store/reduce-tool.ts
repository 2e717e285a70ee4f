import type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  InputRequestedEvent,
  ProgressMessageEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
} from '../contract/run/event.ts'
import type { PendingApproval } from '../contract/run/run-facts.ts'
import { withEntries } from './by-id.ts'
import type { RunState, ToolView } from './state.ts'

type ToolEvent = { toolCallId: string; toolName: string }

/** A call waits for a person. */
export function approvalRequested(state: RunState, event: ApprovalRequestedEvent): RunState {
  const { toolCallId, toolName, arguments: args, argumentsHash, subAgent } = event
  const pending = { toolCallId, toolName, arguments: args, argumentsHash, ...(subAgent !== undefined && { subAgent }) }
  const approvals = [...state.approvals, pending]
  // Calls of sub-agents have ids of their own: what they do is told by the call that asks.
  if (subAgent !== undefined) return { ...state, approvals }
  return { ...withTool(state, event, { status: 'pendingApproval', args }), approvals }
}

/** A person decided. */
export function approvalResolved(state: RunState, event: ApprovalResolvedEvent): RunState {
  const { toolCallId, subAgent } = event
  const isResolved = (pending: PendingApproval) =>
    pending.toolCallId === toolCallId &&
    pending.subAgent?.toolCallId === subAgent?.toolCallId &&
    pending.subAgent?.loopId === subAgent?.loopId
  const approvals = state.approvals.filter((pending) => !isResolved(pending))
  if (subAgent !== undefined) return { ...state, approvals }
  const change: Partial<ToolView> = { status: event.approved ? 'ready' : 'denied' }
  if (event.reason !== undefined) change.reason = event.reason
  return { ...withTool(state, event, change), approvals }
}

/** A running call asks a person. */
export function inputRequested(state: RunState, event: InputRequestedEvent): RunState {
  const { type: _type, runId: _run, seq: _seq, at: _at, sessionId: _session, loopId: _loop, ...pending } = event
  return { ...state, inputs: [...state.inputs, pending] }
}

/** A call runs. A refused call is answered through the same events; it stays `denied`. */
export function toolStarted(state: RunState, event: ToolExecutionStartEvent): RunState {
  const status = state.tools[event.toolCallId]?.status === 'denied' ? 'denied' : 'running'
  return withTool(state, event, { status, args: event.args, startedAt: event.at })
}

/** A running call shows what it has so far. */
export function toolUpdated(state: RunState, event: ToolExecutionUpdateEvent): RunState {
  return withTool(state, event, { partialResult: event.partialResult })
}

/** A running call says what it does. */
export function toolProgressed(state: RunState, event: ProgressMessageEvent): RunState {
  return withTool(state, event, { progress: event.text })
}

/** A call is over. */
export function toolEnded(state: RunState, event: ToolExecutionEndEvent): RunState {
  const before = state.tools[event.toolCallId]
  const ended = event.isError ? 'failed' : 'done'
  const change: Partial<ToolView> = { status: before?.status === 'denied' ? 'denied' : ended, result: event.result }
  if (before?.startedAt !== undefined) change.durationMs = event.at - before.startedAt
  return withTool(state, event, change)
}

/** The calls that were still open when the run ended. */
export function cancelOpenCalls(tools: RunState['tools']): RunState['tools'] {
  let next: Record<string, ToolView> | undefined
  for (const [id, tool] of Object.entries(tools)) {
    if (!isOpen(tool)) continue
    next ??= withEntries(tools)
    next[id] = { ...tool, status: 'cancelled' }
  }
  return next ?? tools
}

function isOpen(tool: ToolView): boolean {
  return tool.status === 'streaming' || tool.status === 'ready' || tool.status === 'running' || tool.status === 'pendingApproval'
}

function withTool(state: RunState, event: ToolEvent, change: Partial<ToolView>): RunState {
  const { toolCallId, toolName } = event
  const before: ToolView = state.tools[toolCallId] ?? { toolCallId, toolName, status: 'running' }
  return { ...state, tools: withEntries(state.tools, { [toolCallId]: { ...before, ...change } }) }
}
