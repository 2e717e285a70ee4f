import { cancelOpenCalls } from './reduce-tool.ts'
import { type MessageView, type RunState, type ToolView, withEntries } from './state.ts'

/** Maximum messages, turns and notes to keep per nested loop. */
const childLimit = 50

/** Returns the state of a call's nested loop, if its tool forwards events. Otherwise `undefined`. */
export function childOf(state: RunState, toolCallId: string): RunState | undefined {
  return state.children[toolCallId] ?? state.tools[toolCallId]?.child
}

/** Returns the newest messages of a nested loop, with their tool calls. */
export function newestPart(child: RunState): RunState {
  if (child.messages.length <= childLimit) return child
  const dropped = child.messages.slice(0, -childLimit)
  return {
    ...child,
    messages: child.messages.slice(-childLimit),
    tools: withoutCallsOf(dropped, child.tools),
    turns: child.turns.slice(-childLimit),
    notes: child.notes.slice(-childLimit),
  }
}

function withoutCallsOf(dropped: readonly MessageView[], tools: RunState['tools']): RunState['tools'] {
  const removed = new Set(dropped.flatMap(({ blocks }) => blocks.flatMap((block) => (block.type === 'toolCall' ? [block.toolCallId] : []))))
  return removed.size === 0 ? tools : withEntries(Object.fromEntries(Object.entries(tools).filter(([id]) => !removed.has(id))))
}

/**
 * Ends a call. Moves the call's nested loops to the call's view, so that later deltas do not copy them. Marks a nested loop without an end
 * event as aborted.
 */
export function settleChild(state: RunState, toolCallId: string): RunState {
  const { [toolCallId]: child, ...children } = state.children
  const tool = state.tools[toolCallId]
  if (child === undefined || tool === undefined) return state
  const isCutOff = child.status === 'running'
  const settled: ToolView = { ...tool, child: isCutOff ? { ...child, status: 'aborted', tools: cancelOpenCalls(child.tools) } : child }
  return { ...state, children: withEntries(children), tools: withEntries(state.tools, { [toolCallId]: settled }) }
}
