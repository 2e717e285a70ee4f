import { type Content, isMedia } from '../contract/message/content.ts'
import { inlineMediaChars } from '../contract/message/media.ts'
import type { StreamDelta } from '../contract/model/request.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { ToolResult } from '../contract/tool/tool-result.ts'

/** Bytes of an event without its text: two objects, their strings and a queue slot, as measured in V8. */
const eventBytes = 200
const charBytes = 2
/** Approximate characters of a number, key or bracket. */
const scalarChars = 8

/**
 * Estimates the bytes that an event keeps alive.
 *
 * **Contract**: O(1) for deltas. Text shared by several events (a message in `messageStart`, `messageEnd`, `turnEnd`, `agentEnd`) counts
 * once, in `messageEnd`. Media data belong to the history and count as names only.
 */
export function eventSize(event: AgentEvent): number {
  return eventBytes + charBytes * chars(event)
}

/** `isOwn`: the messages belong to this run's history. */
function chars(event: AgentEvent, isOwn = true): number {
  switch (event.type) {
    case 'messageUpdate':
      return deltaChars(event.delta)
    case 'messageEnd':
      return event.message.role === 'extension' ? jsonChars(event.message.data) : contentChars(event.message.content, isOwn)
    case 'toolExecutionUpdate':
      return resultChars(event.partialResult)
    case 'toolExecutionEnd':
    case 'backgroundEnd':
      return resultChars(event.result, isOwn)
    case 'data':
      return jsonChars(event.value)
    case 'progressMessage':
      return event.text.length
    case 'childEvent':
      return chars(event.event, false)
    case 'inputRequested':
      return event.message.length + (event.schema === undefined ? 0 : jsonChars(event.schema))
    case 'turnRequest':
      // The event's messages belong to the history.
      return event.request.http?.body.length ?? 0
    default:
      return 0
  }
}

function deltaChars(delta: StreamDelta): number {
  if (delta.type === 'block') return contentChars([delta.block])
  return delta.type === 'citation' ? jsonChars(delta.citation) : delta.delta.length
}

function resultChars({ content, details }: ToolResult, isKept = false): number {
  return contentChars(content, isKept) + (details === undefined ? 0 : jsonChars(details))
}

function contentChars(content: readonly Content[], isKept = false): number {
  let sum = 0
  for (const block of content) {
    if (block.type === 'text') sum += block.text.length
    else if (block.type === 'thinking') sum += block.thinking.length
    else if (isMedia(block)) sum += dataChars(block.data ?? '', isKept)
    else if (block.type === 'toolCall') sum += jsonChars(block.arguments)
    else sum += jsonChars(block)
  }
  return sum
}

/** Base64 takes one byte per character. */
function dataChars({ length }: string, isKept: boolean): number {
  return isKept ? Math.min(length, inlineMediaChars) / charBytes : length / charBytes
}

/**
 * Estimates the length of a value's JSON without serializing it. Counts 0 for cyclic or too deeply nested values, because it must not break
 * the run.
 */
function jsonChars(value: unknown): number {
  try {
    return countChars(value)
  } catch {
    return 0
  }
}

function countChars(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return scalarChars
  let sum = scalarChars
  for (const part of Object.values(value)) sum += scalarChars + countChars(part)
  return sum
}
