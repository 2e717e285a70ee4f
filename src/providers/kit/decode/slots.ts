import type {
  Content,
  FileContent,
  ImageContent,
  OpaqueContent,
  ProviderState,
  ServiceToolContent,
  TextContent,
  ToolCallContent,
} from '../../../contract/message/content.ts'
import { type AssistantMessage, now } from '../../../contract/message/message.ts'
import type { ModelConfig } from '../../../contract/model/model-config.ts'
import { emptyUsage } from '../../../contract/model/usage.ts'

/** A block's key: the provider's index or item id, or a key chosen by the codec. */
export type BlockKey = number | string

export interface TextSlot {
  kind: 'text'
  index: number
  block: TextContent
}

export interface ThinkingSlot {
  kind: 'thinking'
  index: number
  block: { type: 'thinking'; thinking: string; signature?: string; providerState?: ProviderState }
}

export interface ToolCallSlot {
  kind: 'toolCall'
  index: number
  block: ToolCallContent
  /** Arguments text so far. */
  raw: string
  /** Arguments text not yet emitted because the id or name is unknown. */
  held: string
  /** The final arguments text, if it differs from the fragments. */
  whole?: string
  /** Whether the end of the call is missing. */
  isCut?: boolean
}

/** Content that does not arrive in fragments: media, provider-executed tools, unknown blocks. */
export type WholeBlock = ImageContent | FileContent | ServiceToolContent | OpaqueContent

export interface WholeSlot {
  kind: 'whole'
  index: number
  block: WholeBlock
}

/** Slot kinds without content. */
export const emptySlots = {
  text: (): TextSlot => ({ kind: 'text', index: 0, block: { type: 'text', text: '' } }),
  thinking: (): ThinkingSlot => ({ kind: 'thinking', index: 0, block: { type: 'thinking', thinking: '' } }),
  toolCall: (): ToolCallSlot => ({
    kind: 'toolCall',
    index: 0,
    block: { type: 'toolCall', id: '', name: '', arguments: {} },
    raw: '',
    held: '',
  }),
}

/** Returns the key of the provider-executed tool with this id. */
export function serviceKey(id: string): BlockKey {
  return `service tool ${id}`
}

/** A second call to the answer tool. The builder drops it. */
export interface IgnoredSlot {
  kind: 'ignored'
}

export type Slot = TextSlot | ThinkingSlot | ToolCallSlot | WholeSlot

export const ignored: IgnoredSlot = { kind: 'ignored' }

/** Block kinds that may begin before their first fragment. */
export type BegunKind = 'text' | 'thinking'

/** Keys of blocks that have begun but have no content yet, in order. */
export type WaitingBlocks = Map<BlockKey, BegunKind>

/**
 * Removes and returns the blocks that began before the block with this key, which now receives its first fragment. The caller inserts them
 * before it, so that interleaved blocks keep their order.
 */
export function waitingBefore(waiting: WaitingBlocks, key: BlockKey): [BlockKey, BegunKind][] {
  const earlier: [BlockKey, BegunKind][] = []
  for (const entry of waiting) {
    if (entry[0] === key) break
    earlier.push(entry)
  }
  for (const [taken] of earlier) waiting.delete(taken)
  waiting.delete(key)
  return earlier
}

/** Renames a block's key. */
export function renameWaiting(waiting: WaitingBlocks, from: BlockKey, to: BlockKey): void {
  const before = [...waiting]
  waiting.clear()
  for (const [key, kind] of before) waiting.set(key === from ? to : key, kind)
}

/**
 * Returns `content`, in which empty texts replace the blocks of `placed` that have no content. Other blocks keep their index, and requests
 * omit the empty texts.
 */
export function settled(content: Content[], placed: ReadonlySet<Content>): Content[] {
  return content.map((block) => (placed.has(block) && isEmpty(block) ? { type: 'text', text: '' } : block))
}

function isEmpty(block: Content): boolean {
  return block.type === 'thinking' && block.thinking === '' && block.signature === undefined && block.providerState === undefined
}

/** Creates an empty response from `model`. */
export function emptyAnswer(model: ModelConfig): AssistantMessage {
  return {
    role: 'assistant',
    content: [],
    stopReason: 'stop',
    model: model.id,
    provider: model.provider,
    usage: emptyUsage(),
    timestamp: now(),
  }
}
