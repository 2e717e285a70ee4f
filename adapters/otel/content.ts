// Message content in the JSON format of the conventions. Its size is limited, because trace backends reject large attributes.

import { headOf } from '../../src/base/text/characters.ts'
import { wordsOf } from '../../src/contract/message/block-words.ts'
import type { AgentMessage, Content, Message, StopReason } from '../../src/index.ts'
import { finishReason, nameOf } from './conventions.ts'

/** Maximum UTF-16 units per attribute. */
const maxUnits = 65_536

/** Overhead per part. */
const partUnits = 32

/** Remaining room in an attribute. */
interface Room {
  units: number
}

/** Returns a text as an attribute. */
export function captured(text: string): string {
  return taken(text, { units: maxUnits })
}

/** Returns any JSON as an attribute, truncated if too large. */
export function capturedJson(value: unknown): string {
  return captured(typeof value === 'string' ? value : jsonOf(value))
}

/** `gen_ai.system_instructions`. */
export function capturedInstructions(text: string): string {
  return JSON.stringify([{ type: 'text', content: captured(text) }])
}

/** `gen_ai.input.messages`: the newest messages that fit, in order. */
export function capturedInput(messages: readonly (Message | AgentMessage)[]): string {
  const room = { units: maxUnits }
  const shown: object[] = []
  for (let at = messages.length - 1; at >= 0 && room.units > 0; at -= 1) {
    room.units = Math.max(0, room.units - partUnits)
    const message = messages[at]
    if (message === undefined || message.role === 'extension') continue
    shown.unshift({ role: message.role === 'toolResult' ? 'tool' : message.role, parts: partsOf(message, room) })
  }
  return JSON.stringify(shown)
}

/** `gen_ai.output.messages`. */
export function capturedOutput(message: Message & { stopReason: StopReason }): string {
  const parts = partsOf(message, { units: maxUnits })
  return JSON.stringify([{ role: 'assistant', parts, finish_reason: finishReason(message.stopReason) }])
}

/** Returns a tool result's text. */
export function capturedResult(content: readonly Content[]): string {
  const room = { units: maxUnits }
  return content.map((block) => taken(textOfBlock(block), room)).join('')
}

function partsOf(message: Message, room: Room): object[] {
  if (message.role === 'toolResult') {
    const response = message.content.map((block) => taken(textOfBlock(block), room)).join('')
    return [{ type: 'tool_call_response', id: nameOf(message.toolCallId), response }]
  }
  return message.content.flatMap((block) => (room.units > 0 ? [partOf(block, room)] : []))
}

function partOf(block: Content, room: Room): object {
  room.units = Math.max(0, room.units - partUnits)
  if (block.type === 'thinking') return { type: 'reasoning', content: taken(block.thinking, room) }
  if (block.type !== 'toolCall') return { type: 'text', content: taken(textOfBlock(block), room) }
  const { id, name } = block
  const json = block.invalidArguments ?? jsonOf(block.arguments)
  const fits = json.length <= room.units && block.invalidArguments === undefined
  const text = taken(json, room)
  return { type: 'tool_call', id: nameOf(id), name: nameOf(name), arguments: fits ? block.arguments : text }
}

/** Images are mentioned, but not included. */
function textOfBlock(block: Content): string {
  if (block.type === 'text') return block.text
  return wordsOf(block) ?? ''
}

/** Returns as much of `text` as fits, with the omitted length. */
function taken(text: string, room: Room): string {
  if (text.length <= room.units) {
    room.units -= text.length
    return text
  }
  const kept = headOf(text, room.units)
  room.units = 0
  return `${kept}… (${text.length - kept.length} more)`
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return '(not JSON)'
  }
}
