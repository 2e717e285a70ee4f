import type { ProviderState } from '../../../contract/message/content.ts'
import type { ModelConfig } from '../../../contract/model/model-config.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import type { UnknownFields } from '../../kit/decode/unknown-fields.ts'
import { indexIn, textIn } from '../../kit/decode/wire-value.ts'
import type { ReplayPayload } from '../replay-state.ts'
import { missingParts, type WholePart } from './missing-parts.ts'
import { type OutputItem, OutputItems } from './output-items.ts'
import type { WireItem } from './wire.ts'

/** How items of one kind become blocks. */
export interface ItemKindWriter {
  /** An item begins; one that began already goes on. */
  begin(open: OutputItem, item: WireItem): void
  /** An item is complete: writes what its deltas left out, and what is to be sent back. */
  complete(open: OutputItem, item: WireItem): void
  /** The finished response repeats an item that was complete. */
  repeat?(open: OutputItem, item: WireItem): void
  /** Whether `item`, which stands at `index` of the finished response, may be `open`. Ids may change from event to event; those of calls do not. */
  isAlike(open: OutputItem, item: WireItem, index: number): boolean
}

/** The fields of messages and calls that are read or passed over. Other items are kept whole. */
const knownOfItems: ReadonlySet<string> = new Set([
  ...['type', 'id', 'status', 'role', 'phase', 'content', 'call_id', 'name', 'namespace', 'arguments', 'caller', 'created_by', 'agent'],
  ...['object', 'model', 'response_id', 'encrypted_content', 'summary'],
])

/** Keys of raw reasoning begin here, those of its summary at 0. */
export const rawReasoning = 512

/** The part of an item that an event is about. */
export function partOf(index: unknown): number {
  const part = indexIn(index) ?? 0
  return part < rawReasoning ? part : 0
}

/** The items of one response and the blocks that they become, for the writers of all kinds. */
export class ItemBlocks {
  /** Counts pieces of content. */
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

  /** Looks for fields of a message or call that nobody reads. */
  look(item: WireItem): void {
    this.unknown.look(item, knownOfItems)
  }

  /** The part of this key has content now. */
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

  /** Hands what no delta brought of the parts of an item to `write`, with the key of its block. */
  fillIn(open: OutputItem, whole: readonly WholePart[], write: (key: number, text: string) => void): void {
    const streamed = open.keys.map((key) => ({ key, text: this.builder.written(key) }))
    for (const { key, part, text } of missingParts(streamed, whole)) {
      let free = part
      // A part of its own takes the next number that no delta has used.
      while (key === undefined && open.keys.includes(open.key + free)) free++
      write(key ?? open.key + free, text)
    }
  }

  /** Whether `open` stands at this index, or its text and that of `parts` begin alike. */
  isAlike(open: OutputItem, index: number, parts: readonly { text?: unknown }[]): boolean {
    if (this.items.isAt(open, index)) return true
    const said = open.keys.map((key) => this.builder.written(key)).join('')
    const whole = parts.map(({ text }) => textIn(text, 'text')).join('')
    return whole.startsWith(said) || said.startsWith(whole)
  }

  /** What an item goes back with: its id, if it has one. */
  idOf({ id }: OutputItem): ReplayPayload {
    return id === '' ? {} : { id }
  }

  /** The reasoning that led to an item. */
  after({ position }: OutputItem): ReplayPayload {
    const before = this.items.list[position - 1]
    return before?.kind === 'reasoning' ? { after: before.id } : {}
  }

  /** What led to `open` does not go back without it. */
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
