import type { Content } from '../types/content.ts'
import { errorText } from '../types/errors.ts'
import { newId } from '../types/ids.ts'
import { type MessageEnvelope, now, type ToolResultMessage, text } from '../types/message.ts'
import type { ToolResult } from '../types/tool.ts'

/** A tool result with its envelope, as it stands in the history. */
export type ToolResultEntry = ToolResultMessage & MessageEnvelope

/** A result that tells the model what went wrong. */
export function errorResult(message: string): ToolResult {
  return { content: [text(message)], isError: true }
}

/**
 * What a tool returned, as a result that can be stored: a string becomes text, a broken shape or a value that is not JSON becomes an error
 * result that says so.
 */
export function toToolResult(toolName: string, returned: unknown): ToolResult {
  if (typeof returned === 'string') return { content: [text(returned)] }
  if (!isToolResult(returned)) {
    return errorResult(`Tool ${toolName} returned ${describe(returned)} instead of a string or { content: [...] }.`)
  }
  try {
    if (returned.details !== undefined) JSON.stringify(returned.details)
  } catch (error) {
    return errorResult(`Tool ${toolName} returned details that are not JSON: ${errorText(error)}`)
  }
  return returned
}

/** The message that answers a call. Content blocks are copied: a tool that keeps its result cannot change the history. */
export function toolResultEntry(
  call: { id: string; name: string },
  result: ToolResult,
  turnId: { loopId: string; turnIndex: number },
): ToolResultEntry {
  const entry: ToolResultEntry = {
    role: 'toolResult',
    id: newId(),
    turnId,
    toolCallId: call.id,
    toolName: call.name,
    content: result.content.map((block) => ({ ...block })),
    isError: result.isError === true,
    timestamp: now(),
  }
  if (result.childLoopId !== undefined) entry.childLoopId = result.childLoopId
  return entry
}

function isToolResult(value: unknown): value is ToolResult {
  return (
    typeof value === 'object' && value !== null && 'content' in value && Array.isArray(value.content) && value.content.every(isToolContent)
  )
}

function isToolContent(block: unknown): block is Content {
  if (typeof block !== 'object' || block === null || !('type' in block)) return false
  if (block.type === 'text') return 'text' in block && typeof block.text === 'string'
  return (
    block.type === 'image' && 'data' in block && typeof block.data === 'string' && 'mimeType' in block && typeof block.mimeType === 'string'
  )
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`
}
