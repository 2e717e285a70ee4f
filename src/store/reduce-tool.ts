import { questionsAfter } from '../base/questions.ts'
import type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  BackgroundEndEvent,
  BackgroundStartEvent,
  ClientCallRequestedEvent,
  ClientCallResolvedEvent,
  InputRequestedEvent,
  InputResolvedEvent,
  ProgressMessageEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
} from '../contract/run/call-event.ts'
import { type RunState, type ToolView, withEntries } from './state.ts'

type ToolEvent = { toolCallId: string; toolName: string }

/**
 * Adds or removes a pending request to a user or client. Does not change the tool view of a sub-agent's call, because the parent's call
 * shows the request.
 */
export function questioned(
  state: RunState,
  event:
    | ApprovalRequestedEvent
    | ApprovalResolvedEvent
    | InputRequestedEvent
    | InputResolvedEvent
    | ClientCallRequestedEvent
    | ClientCallResolvedEvent,
): RunState {
  const asked = { ...state, ...questionsAfter(state, event) }
  if (event.type === 'inputRequested' || event.type === 'inputResolved' || event.subAgent !== undefined) return asked
  if (event.type === 'approvalRequested') return askedAgain(asked, event)
  if (event.type === 'clientCallRequested') return withTool(asked, event, { status: 'pendingClient', args: event.args })
  if (event.type === 'clientCallResolved') return withTool(asked, event, { status: 'ready' })
  const change: Partial<ToolView> = { status: event.approved ? 'ready' : 'denied' }
  if (event.reason !== undefined) change.reason = event.reason
  if (event.edited !== undefined) Object.assign(change, { args: event.edited.arguments, edited: event.edited })
  return withTool(asked, event, change)
}

/** Shows an approval request. Discards an earlier edit of the call. */
function askedAgain(state: RunState, event: ApprovalRequestedEvent): RunState {
  const { edited: _old, ...before }: Partial<ToolView> = state.tools[event.toolCallId] ?? {}
  const { toolCallId, toolName, args } = event
  const view: ToolView = { ...before, toolCallId, toolName, status: 'pendingApproval', args }
  return { ...state, tools: withEntries(state.tools, { [toolCallId]: view }) }
}

/** Starts a call. A denied call emits the same events, but stays `denied`. */
export function toolStarted(state: RunState, event: ToolExecutionStartEvent): RunState {
  const status = state.tools[event.toolCallId]?.status === 'denied' ? 'denied' : 'running'
  return withTool(state, event, { status, args: event.args, startedAt: event.at })
}

/** Shows a partial result of a running call. */
export function toolUpdated(state: RunState, event: ToolExecutionUpdateEvent): RunState {
  return withTool(state, event, { partialResult: event.partialResult })
}

/** Shows a status line of a running call. */
export function toolProgressed(state: RunState, event: ProgressMessageEvent): RunState {
  return withTool(state, event, { progress: event.text })
}

/** Ends a call. */
export function toolEnded(state: RunState, event: ToolExecutionEndEvent): RunState {
  const before = state.tools[event.toolCallId]
  const change: Partial<ToolView> = { status: before?.status === 'denied' ? 'denied' : endOfCall(event), result: event.result }
  if (before?.startedAt !== undefined) change.durationMs = event.at - before.startedAt
  return withTool(state, event, change)
}

/** Returns the status that this result gives a call. */
export function endOfCall({ isError, outcome }: Pick<ToolExecutionEndEvent, 'isError' | 'outcome'>): 'done' | 'failed' | 'unknown' {
  if (outcome === 'unknown') return outcome
  return isError ? 'failed' : 'done'
}

/** Starts a finished call's background task. */
export function backgroundStarted(state: RunState, event: BackgroundStartEvent): RunState {
  const { backgroundId, task, at: startedAt } = event
  return withTool(state, event, { background: { backgroundId, task, status: 'running', startedAt } })
}

/** Ends a background task. */
export function backgroundEnded(state: RunState, event: BackgroundEndEvent): RunState {
  const before = state.tools[event.toolCallId]?.background
  if (before?.backgroundId !== event.backgroundId) return state
  const { isError, result, at } = event
  const background = { ...before, status: isError ? ('failed' as const) : ('done' as const), result, durationMs: at - before.startedAt }
  return withTool(state, event, { background })
}

/** Ends calls that were unfinished when the run ended. */
export function cancelOpenCalls(tools: RunState['tools']): RunState['tools'] {
  let next: Record<string, ToolView> | undefined
  for (const [id, tool] of Object.entries(tools)) {
    const { background } = tool
    if (background?.status === 'running') {
      next ??= withEntries(tools)
      next[id] = { ...tool, background: { ...background, status: 'cancelled' } }
    }
    if (!isOpen(tool)) continue
    next ??= withEntries(tools)
    next[id] = { ...(next[id] ?? tool), status: 'cancelled' }
  }
  return next ?? tools
}

const openStatuses: ReadonlySet<ToolView['status']> = new Set(['streaming', 'ready', 'running', 'pendingApproval', 'pendingClient'])

function isOpen(tool: ToolView): boolean {
  return openStatuses.has(tool.status)
}

function withTool(state: RunState, event: ToolEvent, change: Partial<ToolView>): RunState {
  const { toolCallId, toolName } = event
  const before: ToolView = state.tools[toolCallId] ?? { toolCallId, toolName, status: 'running' }
  return { ...state, tools: withEntries(state.tools, { [toolCallId]: { ...before, ...change } }) }
}
