import { mediaName } from '../contract/message/block-words.ts'
import type { Content } from '../contract/message/content.ts'
import type { AgentMessage, AssistantMessage } from '../contract/message/message.ts'
import { blocksOfOurs } from './tables/message.ts'

/** Data that the crate cannot read. */
export interface SpecLoss {
  /** The data's path, such as `messages[3].content[0]`. */
  path: string
  /** A description. */
  what: string
  /** Whether the crate rejects the whole history because of this data. Otherwise the crate ignores it. */
  isRefused: boolean
}

/**
 * Lists the parts of `messages` that the crate cannot represent: blocks of unknown types, media without bytes, and response data other
 * than text.
 *
 * **Contract**
 * - `toSpecJson` and `sessionToSpec` write all of it, and reading it here restores it. Remove refused blocks before the crate reads the
 *   data.
 * - In message order. Excludes `providerState`, which only its provider can use.
 *
 * Source: docs/migrate/rust.md
 */
export function specLosses(messages: readonly AgentMessage[]): SpecLoss[] {
  return messages.flatMap((message, at) => {
    if (message.role === 'extension') return []
    const path = `messages[${at}]`
    const blocks = message.content.flatMap((block, index) => lossesOf(block, `${path}.content[${index}]`))
    return message.role === 'assistant' ? [...blocks, ...nonTextLosses(message, path)] : blocks
  })
}

function lossesOf(block: Content, path: string): SpecLoss[] {
  if (blocksOfOurs.some((type) => type === block.type)) return [{ path, what: nameOf(block), isRefused: true }]
  if (block.type === 'image' && block.data === undefined)
    return [{ path, what: `an image without bytes (${mediaName(block)})`, isRefused: true }]
  if (block.type === 'text' && block.citations !== undefined && block.citations.length > 0)
    return [{ path, what: `${block.citations.length} citations of a text`, isRefused: false }]
  return []
}

function nameOf(block: Content): string {
  switch (block.type) {
    case 'file':
      return `a file, ${mediaName(block)}`
    case 'serviceTool':
      return `a tool that the provider ran, ${block.name}`
    case 'opaque':
      return `unknown content, ${block.kind}`
    default:
      return block.type
  }
}

const messageFields = ['refusal', 'logprobs', 'serviceTier'] as const
const usageFields = ['searches', 'audioInput', 'audioOutput', 'cacheWrite1h', 'beside', 'reportedCost'] as const

function nonTextLosses(message: AssistantMessage, path: string): SpecLoss[] {
  const own = messageFields.filter((name) => message[name] !== undefined).map((name) => `${path}.${name}`)
  const counted = usageFields.filter((name) => message.usage[name] !== undefined).map((name) => `${path}.usage.${name}`)
  return [...own, ...counted].map((place) => ({ path: place, what: `${place.split('.').at(-1)} of an answer`, isRefused: false }))
}
