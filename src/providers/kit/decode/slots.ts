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

/** The name a service gives to a block: an index, an item id, or a word of the codec's own. */
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
  /** Argument text so far. */
  raw: string
  /** Argument text nobody has seen, because the id or the name is still unknown. */
  held: string
  /** What the service said at the end of the call, where the fragments said something else. */
  whole?: string
  /** The end of the call never came. */
  isCut?: boolean
}

/** What comes whole: media, what a service ran, what is not known. */
export type WholeBlock = ImageContent | FileContent | ServiceToolContent | OpaqueContent

export interface WholeSlot {
  kind: 'whole'
  index: number
  block: WholeBlock
}

/** Slots of blocks without content. */
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

/** The key of the tool of a service that has this id. */
export function serviceKey(id: string): BlockKey {
  return `service tool ${id}`
}

/** A second call of the answer tool. */
export interface IgnoredSlot {
  kind: 'ignored'
}

export type Slot = TextSlot | ThinkingSlot | ToolCallSlot | WholeSlot

export const ignored: IgnoredSlot = { kind: 'ignored' }

/** Kinds of block that may begin before their first fragment comes. */
export type BegunKind = 'text' | 'thinking'

/** Blocks that have begun and have no content yet, in the order in which they began. */
export type WaitingBlocks = Map<BlockKey, BegunKind>

/**
 * Takes out the blocks that began before that of `key`, which has its first fragment now. They take their place before it, so that interleaved blocks keep the
 * order in which they began.
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

/** The block of `from` is known as `to` from now on. */
export function renameWaiting(waiting: WaitingBlocks, from: BlockKey, to: BlockKey): void {
  const before = [...waiting]
  waiting.clear()
  for (const [key, kind] of before) waiting.set(key === from ? to : key, kind)
}

/** Returns `content` in which the blocks of `placed` that stayed empty are empty texts: every other block keeps its index, and no request has them. */
export function settled(content: Content[], placed: ReadonlySet<Content>): Content[] {
  return content.map((block) => (placed.has(block) && isEmpty(block) ? { type: 'text', text: '' } : block))
}

function isEmpty(block: Content): boolean {
  return block.type === 'thinking' && block.thinking === '' && block.signature === undefined && block.providerState === undefined
}

/** Returns a response of `model` without content. */
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
