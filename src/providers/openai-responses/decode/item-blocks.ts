import type { ProviderState } from '../../../contract/message/content.ts'
import type { ModelConfig } from '../../../contract/model/model-config.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import type { UnknownFields } from '../../kit/decode/unknown-fields.ts'
import { indexIn, textIn } from '../../kit/decode/wire-value.ts'
import type { ReplayPayload } from '../replay-state.ts'
import { missingParts, type WholePart } from './missing-parts.ts'
import { type OutputItem, OutputItems } from './output-items.ts'
import type { WireItem } from './wire.ts'

/** Decodes items of one kind. */
export interface ItemKindWriter {
  /** Starts or continues an item. */
  begin(open: OutputItem, item: WireItem): void
  /** Completes an item. Emits content that the deltas lacked, and stores the state to send back. */
  complete(open: OutputItem, item: WireItem): void
  /** Handles a complete item that the finished response repeats. */
  repeat?(open: OutputItem, item: WireItem): void
  /** Returns whether `item` at `index` of the finished response may be `open`. Ids may change between events, except for call ids. */
  isAlike(open: OutputItem, item: WireItem, index: number): boolean
}

/** Known fields of messages and calls. Other items are preserved as a whole. */
const knownOfItems: ReadonlySet<string> = new Set([
  ...['type', 'id', 'status', 'role', 'phase', 'content', 'call_id', 'name', 'namespace', 'arguments', 'caller', 'created_by', 'agent'],
  ...['object', 'model', 'response_id', 'encrypted_content', 'summary'],
])

/** First key for raw reasoning. Keys of summaries start at 0. */
export const rawReasoning = 512

/** Returns an event's part index. */
export function partOf(index: unknown): number {
  const part = indexIn(index) ?? 0
  return part < rawReasoning ? part : 0
}

/** Maps the items of one response to blocks. */
export class ItemBlocks {
  /** Number of content chunks. */
  progress = 0
  readonly items = new OutputItems()
  readonly builder: AssistantBuilder
  readonly model: ModelConfig
  readonly unknown: UnknownFields

  constructor(builder: AssistantBuilder, model: ModelConfig, unknown: UnknownFields) {
    this.builder = builder
    this.model = model
    this.unknown = unknown
  }

  /** Warns about unknown fields of a message or call. */
  look(item: WireItem): void {
    this.unknown.look(item, knownOfItems)
  }

  /** Starts the part of this key. */
  begin(open: OutputItem, key: number): void {
    if (open.keys.length === 0 && key !== open.key) this.builder.beganAs(open.key, key)
    if (!open.keys.includes(key)) open.keys.push(key)
    this.progress++
  }

  text(open: OutputItem, key: number, delta: unknown): void {
    const text = textIn(delta, 'text')
    if (text === '') return
    this.begin(open, key)
    this.builder.text(key, text)
  }

  thinking(open: OutputItem, key: number, delta: unknown): void {
    const text = textIn(delta, 'reasoning')
    if (text === '') return
    this.begin(open, key)
    this.builder.thinking(key, text)
  }

  /** Calls `write` with the block key and text of all content that no delta delivered. */
  fillIn(open: OutputItem, whole: readonly WholePart[], write: (key: number, text: string) => void): void {
    const streamed = open.keys.map((key) => ({ key, text: this.builder.written(key) }))
    for (const { key, part, text } of missingParts(streamed, whole)) {
      let free = part
      // A new part gets the next number not used by a delta.
      while (key === undefined && open.keys.includes(open.key + free)) free++
      write(key ?? open.key + free, text)
    }
  }

  /** Returns whether `open` has this index, or its text starts like that of `parts`. */
  isAlike(open: OutputItem, index: number, parts: readonly { text?: unknown }[]): boolean {
    if (this.items.isAt(open, index)) return true
    const writtenText = open.keys.map((key) => this.builder.written(key)).join('')
    const whole = parts.map(({ text }) => textIn(text, 'text')).join('')
    return whole.startsWith(writtenText) || writtenText.startsWith(whole)
  }

  /** Returns the id of an item for sending it back, if any. */
  idOf({ id }: OutputItem): ReplayPayload {
    return id === '' ? {} : { id }
  }

  /** Returns the reference to the reasoning before an item. */
  after({ position }: OutputItem): ReplayPayload {
    const before = this.items.list[position - 1]
    return before?.kind === 'reasoning' ? { after: before.id } : {}
  }

  /** Drops the reasoning before `open`, which is not sent back without the item. */
  forgetReasoning({ position }: OutputItem): void {
    const before = this.items.list[position - 1]
    if (before?.kind === 'reasoning') this.builder.setProviderState(before.keys[0] ?? before.key, this.state({}))
  }

  keep(key: number, payload: ReplayPayload): void {
    if (Object.keys(payload).length > 0) this.builder.setProviderState(key, this.state(payload))
  }

  state(payload: ReplayPayload): ProviderState {
    return { api: this.model.api, model: this.model.id, payload: { ...payload } }
  }
}
