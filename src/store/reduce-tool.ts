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

/** Adds or ends a request to a user or a client. Sub-agent calls have separate ids; the parent's call reports them. */
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
  if (event.type === 'approvalRequested') return withTool(asked, event, { status: 'pendingApproval', args: event.args })
  if (event.type === 'clientCallRequested') return withTool(asked, event, { status: 'pendingClient', args: event.args })
  if (event.type === 'clientCallResolved') return withTool(asked, event, { status: 'ready' })
  const change: Partial<ToolView> = { status: event.approved ? 'ready' : 'denied' }
  if (event.reason !== undefined) change.reason = event.reason
  return withTool(asked, event, change)
}

/** Starts a call. A denied call gets the same events; it stays `denied`. */
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

/** Returns the status of a call with this result. */
export function endOfCall({ isError, outcome }: Pick<ToolExecutionEndEvent, 'isError' | 'outcome'>): 'done' | 'failed' | 'unknown' {
  if (outcome === 'unknown') return outcome
  return isError ? 'failed' : 'done'
}

/** Starts a background task of a finished call. */
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

/** Ends the calls that were still open when the run ended. */
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
