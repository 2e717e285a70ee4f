import type { AgentMessage } from '../../types/message.ts'
import { cutToolOutputs } from './tool-output.ts'

/**
 * A conversation as text, one paragraph per message: who said what, which tool was called with what, what it returned. Without reasoning,
 * failed answers and messages of the application; long tool outputs are cut, an image is named.
 */
export function transcriptOf(messages: readonly AgentMessage[], toolOutputMaxLines: number): string[] {
  return cutToolOutputs(messages, toolOutputMaxLines).flatMap((message) => {
    if (message.role === 'extension') return []
    if (message.role === 'assistant' && (message.stopReason === 'error' || message.stopReason === 'aborted')) return []
    const said = contentText(message.content)
    return said === '' ? [] : [`${speaker(message)}: ${said}`]
  })
}

/** Joins pieces into chunks of at most `maxLength` UTF-16 units; a piece longer than that is cut up. */
export function chunksOf(pieces: readonly string[], maxLength: number): string[] {
  const chunks: string[] = []
  let chunk = ''
  for (const piece of pieces.flatMap((each) => cutUp(each, maxLength))) {
    if (chunk !== '' && chunk.length + 2 + piece.length > maxLength) {
      chunks.push(chunk)
      chunk = piece
    } else chunk = chunk === '' ? piece : `${chunk}\n\n${piece}`
  }
  return chunk === '' ? chunks : [...chunks, chunk]
}

function speaker(message: Exclude<AgentMessage, { role: 'extension' }>): string {
  if (message.role === 'toolResult') return message.isError ? `Tool [${message.toolName}] failed` : `Tool [${message.toolName}]`
  return message.role === 'user' ? 'User' : 'Assistant'
}

function contentText(content: Extract<AgentMessage, { content: unknown }>['content']): string {
  const lines: string[] = []
  for (const block of content) {
    if (block.type === 'text' && block.text.trim() !== '') lines.push(block.text.trim())
    if (block.type === 'image') lines.push(`[${block.mimeType} image]`)
    if (block.type === 'toolCall') lines.push(`[calls ${block.name} ${block.invalidArguments ?? JSON.stringify(block.arguments)}]`)
  }
  return lines.join('\n')
}

function cutUp(text: string, maxLength: number): string[] {
  const pieces: string[] = []
  let from = 0
  while (from < text.length) {
    let to = Math.min(text.length, from + maxLength)
    // Not through the middle of a character outside the basic plane.
    if (to < text.length && to - from > 1 && (text.charCodeAt(to) & 0xfc00) === 0xdc00) to -= 1
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces
}
