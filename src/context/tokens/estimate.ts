import { isHighSurrogate, isLowSurrogate } from '../../base/text/characters.ts'
import { type Content, type FileContent, type ImageContent, isMedia } from '../../contract/message/content.ts'
import { isMediaOf, isTextType, mediaBytes } from '../../contract/message/media.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { TokenCounter } from '../../types/context/compaction.ts'

/** Estimates the tokens of `text`: UTF-8 bytes divided by 4, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(utf8Bytes(text) / 4)
}

/** The default counter: no tokenizer, fast, within about 20 % for English text. */
export const heuristicTokenCounter: TokenCounter = counterBy(() => undefined)

/** Creates a counter that uses `media` for images and files, and bytes for those it does not know. */
export function counterBy(media: (block: ImageContent | FileContent) => number | undefined): TokenCounter {
  return {
    text: estimateTokens,
    message: (message) => {
      if (message.role === 'extension') return estimateTokens(JSON.stringify(message.data)) + 4
      const tokens = message.content.reduce((sum, block) => sum + (mediaOf(block, media) ?? blockTokens(block)), 0)
      return message.role === 'toolResult' ? tokens + estimateTokens(message.toolName) + 8 : tokens + 4
    },
  }
}

const estimates = new WeakMap<TokenCounter, WeakMap<AgentMessage, number>>()

/** Counts the tokens of one message, once per message object and counter. */
export function messageTokens(message: AgentMessage, counter: TokenCounter = heuristicTokenCounter): number {
  let known = estimates.get(counter)
  if (known === undefined) {
    known = new WeakMap()
    estimates.set(counter, known)
  }
  let tokens = known.get(message)
  if (tokens === undefined) {
    tokens = counter.message(message)
    known.set(message, tokens)
  }
  return tokens
}

/** Counts the tokens of `messages` from index `from`. */
export function totalTokens(messages: readonly AgentMessage[], counter: TokenCounter = heuristicTokenCounter, from = 0): number {
  let total = 0
  for (let at = from; at < messages.length; at += 1) {
    const message = messages[at]
    if (message !== undefined) total += messageTokens(message, counter)
  }
  return total
}

function mediaOf(block: Content, media: Parameters<typeof counterBy>[0]): number | undefined {
  return isMedia(block) ? media(block) : undefined
}

function blockTokens(block: Content): number {
  if (block.type === 'text') return estimateTokens(block.text)
  if (block.type === 'thinking') return estimateTokens(block.thinking)
  if (block.type === 'image') return Math.min(Math.max(Math.floor(mediaBytes(block) / 750), 85), 16_000)
  if (block.type === 'file') return fileTokens(block)
  if (block.type === 'serviceTool') return estimateTokens(JSON.stringify(block.providerState?.payload ?? block.output ?? '')) + 8
  if (block.type === 'opaque') return estimateTokens(JSON.stringify(block.providerState?.payload ?? ''))
  return estimateTokens(block.name) + estimateTokens(JSON.stringify(block.arguments)) + 8
}

/** Text files count as text. 50 kB of a PDF count as a page of 2,500 tokens, and 16 kB of audio or video as a second of 32 tokens. */
function fileTokens(file: FileContent): number {
  const { mimeType } = file
  const bytes = mediaBytes(file)
  if (isTextType(mimeType)) return Math.ceil(bytes / 4)
  if (isMediaOf(mimeType, ['audio/*', 'video/*'])) return Math.max(32, Math.ceil(bytes / 500))
  return Math.max(2500, Math.ceil(bytes / 20))
}

/** Counts UTF-8 bytes without encoding, because a history can be megabytes. A lone surrogate counts as its replacement of three bytes. */
function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x80) continue
    // Two bytes below U+0800, otherwise three. Each half of a surrogate pair counts as two.
    if (code < 0x800 || isPairHalf(text, at, code)) bytes += 1
    else bytes += 2
  }
  return bytes
}

function isPairHalf(text: string, at: number, code: number): boolean {
  if (isHighSurrogate(code)) return isLowSurrogate(text.charCodeAt(at + 1))
  return isLowSurrogate(code) && isHighSurrogate(text.charCodeAt(at - 1))
}
