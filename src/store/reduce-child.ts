import { cancelOpenCalls } from './reduce-tool.ts'
import { type MessageView, type RunState, type ToolView, withEntries } from './state.ts'

/** Messages (and turns, and notes) that are kept of a loop a tool runs. */
const childLimit = 50

/** Returns the loop that a call started, as far as its tool reports it; `undefined` for a call without one. */
export function childOf(state: RunState, toolCallId: string): RunState | undefined {
  return state.children[toolCallId] ?? state.tools[toolCallId]?.child
}

/** The newest part of a child, with the calls that belong to it. */
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
 * Ends a call: its nested loops move to its view, so that deltas of other loops never touch it again. A loop whose end was not reported
 * was cut off.
 */
export function settleChild(state: RunState, toolCallId: string): RunState {
  const { [toolCallId]: child, ...children } = state.children
  const tool = state.tools[toolCallId]
  if (child === undefined || tool === undefined) return state
  const isCutOff = child.status === 'running'
  const settled: ToolView = { ...tool, child: isCutOff ? { ...child, status: 'aborted', tools: cancelOpenCalls(child.tools) } : child }
  return { ...state, children: withEntries(children), tools: withEntries(state.tools, { [toolCallId]: settled }) }
}
