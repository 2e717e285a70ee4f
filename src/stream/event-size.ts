import { type Content, isMedia } from '../contract/message/content.ts'
import { inlineMediaChars } from '../contract/message/media.ts'
import type { StreamDelta } from '../contract/model/request.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import type { ToolResult } from '../contract/tool/tool-result.ts'

/** An event without its text: two objects, their strings and a place in the queue, as measured in V8. */
const eventBytes = 200
const charBytes = 2
/** A number, a key or a bracket, about. */
const scalarChars = 8

/**
 * Roughly how many bytes an event keeps alive.
 *
 * **Contract**: O(1) for deltas. Text that several events share (a message in `messageStart`, `messageEnd`, `turnEnd`, `agentEnd`) is
 * counted once, where it is complete: in `messageEnd`. The data of media in whole messages and results are those of the history, which keeps them as long: they
 * count as names.
 */
export function eventSize(event: AgentEvent): number {
  return eventBytes + charBytes * chars(event)
}

/** `isOwn`: the history of this run has its messages. */
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
    case 'progressMessage':
      return event.text.length
    case 'childEvent':
      return chars(event.event, false)
    case 'inputRequested':
      return event.message.length + (event.schema === undefined ? 0 : jsonChars(event.schema))
    case 'turnRequest':
      // Its messages are those of the history.
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

/** Base64 takes a byte for each character. */
function dataChars({ length }: string, isKept: boolean): number {
  return isKept ? Math.min(length, inlineMediaChars) / charBytes : length / charBytes
}

/** Characters of JSON, without making its text. What is nested deeper than the stack, or in circles, counts as nothing rather than break the run. */
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
