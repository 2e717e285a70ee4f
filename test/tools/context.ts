import { toToolResult } from '../../src/loop/calls/tool-result.ts'
import type { ToolContext, ToolOutput } from '../../src/types/tool/tool.ts'

/** The context of a call outside any loop. */
export function context(signal: AbortSignal = new AbortController().signal): ToolContext {
  const ids = { toolCallId: 'call', toolName: 'tool', sessionId: 'session', loopId: 'loop' }
  const nothing = () => undefined
  const budget = { charge: nothing, exceeded: nothing }
  return {
    context: undefined,
    data: nothing,
    ...ids,
    signal,
    budget,
    update: nothing,
    progress: nothing,
    childEvent: nothing,
    changeContext: nothing,
  }
}

/** The text of a tool's answer. */
export function textOf(result: ToolOutput): string {
  return toToolResult('tool', result)
    .content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`))
    .join('')
}
