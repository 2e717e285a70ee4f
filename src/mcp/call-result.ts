import { answeredMedia, maxAnswerBytes } from '../base/received-media.ts'
import { escapeControls, headOf, shortened } from '../base/text/characters.ts'
import type { JsonValue } from '../contract/json.ts'
import type { Content, FileContent, ImageContent } from '../contract/message/content.ts'
import { isBase64 } from '../contract/message/media.ts'
import { text } from '../contract/message/message.ts'
import { jsonFault } from '../contract/shape/json-fault.ts'
import type { ToolResult } from '../contract/tool/tool-result.ts'

/** Maximum characters of text per result for the model. */
const maxText = 262_144
/** Maximum base64 characters for all media in one result. */
const maxMedia = (maxAnswerBytes / 3) * 4
const maxBlocks = 100

/** A result's remaining space. */
interface Room {
  text: number
  media: number
}

type Block = Partial<Record<'type' | 'text' | 'data' | 'mimeType' | 'resource' | 'uri' | 'name' | 'description' | 'blob', unknown>>

/**
 * Converts a server's result to a tool result for the model.
 *
 * **Contract**
 * - Passes on text, images, PDFs, audio and video. Converts a resource to its URI and text. Replaces other binary data and unknown kinds
 *   with a note. `structuredContent` goes to `details`, and is shown as JSON if there is no other content.
 * - At most 256 Ki characters of text, 8 Mi of media and 100 blocks. A note says what was dropped. Never throws.
 */
export function callResult(answer: unknown): ToolResult {
  const { content, structuredContent, isError, toolResult }: Record<string, unknown> = Object(answer)
  const room: Room = { text: maxText, media: maxMedia }
  const given: unknown[] = Array.isArray(content) ? content : []
  const blocks = given.slice(0, maxBlocks).flatMap((block) => shown(Object(block), room))
  if (given.length > maxBlocks) blocks.push(text(`[${given.length - maxBlocks} more parts are left out]`))
  const details = jsonOf(structuredContent ?? (blocks.length === 0 ? toolResult : undefined))
  if (blocks.length === 0) blocks.push(text(details === undefined ? '(no content)' : cutText(JSON.stringify(details), maxText)))
  const result: ToolResult = { content: blocks, ...(details !== undefined && { details }), ...(isError === true && { isError }) }
  return structuredContent === undefined || details !== undefined ? result : withoutDetails(result, 'is not JSON, or too large')
}

/** Removes the structured content from a result and adds a note with the reason. */
export function withoutDetails({ details: _, content, ...rest }: ToolResult, why: string): ToolResult {
  return { content: [...content, note(`structuredContent ${oneLine(why, 1000)}`)], ...rest }
}

function shown(block: Block, room: Room): Content[] {
  switch (block.type) {
    case 'text':
      return cut(typeof block.text === 'string' ? block.text : '[text without text]', room)
    case 'image':
    case 'audio':
      return [
        mediaOf(block.data, block.mimeType, room) ??
          note(`${block.type} ${oneLine(block.mimeType)}, ${sizeOf(block.data)}, cannot be shown`),
      ]
    case 'resource':
      return resource(Object(block.resource), room)
    case 'resource_link':
      return [
        note(`resource ${oneLine(block.uri, 2000)}${nameOf(block)}${block.mimeType === undefined ? '' : `, ${oneLine(block.mimeType)}`}`),
      ]
    default:
      return [note(`content of the unknown kind ${oneLine(block.type, 60)}`)]
  }
}

function resource({ uri, text: words, blob, mimeType }: Block, room: Room): Content[] {
  const head = note(`resource ${oneLine(uri, 2000)}`)
  if (typeof words === 'string') return [head, ...cut(words, room)]
  const name = typeof uri === 'string' ? oneLine(uri.slice(uri.lastIndexOf('/') + 1)) : ''
  return [
    head,
    mediaOf(blob, mimeType, room, name === '' ? undefined : name) ??
      note(`binary data ${oneLine(mimeType)}, ${sizeOf(blob)}, cannot be shown`),
  ]
}

function nameOf({ name, description }: Block): string {
  return `${typeof name === 'string' ? ` "${oneLine(name)}"` : ''}${typeof description === 'string' ? `: ${oneLine(description, 500)}` : ''}`
}

function cut(words: string, room: Room): Content[] {
  if (room.text <= 0) return []
  const part = cutText(words, room.text)
  room.text -= words.length
  // Mark the truncation even if the text uses the space exactly.
  if (room.text === 0) return [text(part + truncated)]
  return [text(part)]
}

/** Returns a media block, or `undefined` if the data is not media or does not fit. */
function mediaOf(data: unknown, type: unknown, room: Room, name?: string): ImageContent | FileContent | undefined {
  if (typeof data !== 'string' || data.length > room.media || data === '' || !isBase64(data)) return undefined
  const block = answeredMedia(data, typeof type === 'string' ? oneLine(type) : '', name)
  if (block !== undefined) room.media -= data.length
  return block
}

function note(words: string): Content {
  return text(`[${words}]`)
}

function sizeOf(base64: unknown): string {
  return typeof base64 === 'string' ? `${Math.floor((base64.length * 3) / 4)} bytes` : 'no data'
}

/** Returns the part for the application, or `undefined` if it cannot be stored or is too large. */
function jsonOf(value: unknown): JsonValue | undefined {
  if (value === undefined || jsonFault(value, 'structuredContent') !== undefined) return undefined
  const json = JSON.stringify(value)
  return json.length > maxText ? undefined : JSON.parse(json)
}

/** Marks truncated text, as the other tools do. */
const truncated = '\n... (output truncated)'

/** Cuts `text` to `limit` characters, without splitting a surrogate pair, and marks the cut. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${headOf(text, limit)}${truncated}`
}

/** Makes server text safe for one line: no line breaks or control characters, at most `limit` characters. */
export function oneLine(text: unknown, limit = 200): string {
  const words = typeof text === 'object' && text !== null ? '(no text)' : String(text)
  const line = escapeControls(words.slice(0, limit + 1)).replaceAll(/[\t\n]+/g, ' ')
  return shortened(line, limit)
}
