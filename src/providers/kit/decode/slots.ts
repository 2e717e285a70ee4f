import { ProviderError } from '../../../contract/errors.ts'
import type {
  FileContent,
  ImageContent,
  OpaqueContent,
  ProviderState,
  ServiceToolContent,
  TextContent,
  ToolCallContent,
} from '../../../contract/message/content.ts'

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

/** Blocks of one answer: what is done for a block may look at the others. */
const maxBlocks = 10_000

/** Throws `ProviderError` for a block too many. Not retryable: the response would be as long again. */
export function checkCount({ index }: Slot): void {
  if (index >= maxBlocks) throw new ProviderError('api', `The answer has more than ${maxBlocks} blocks, which no model writes.`)
}
