import type { Message } from '../../../contract/message/message.ts'
import type { ModelConfig } from '../../../contract/model/model-config.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import { textOfArguments } from '../../kit/decode/parse-call.ts'
import type { UnknownFields } from '../../kit/decode/unknown-fields.ts'
import { indexIn, nameIn, objectsIn } from '../../kit/decode/wire-value.ts'
import { CallItems } from './call-items.ts'
import { ItemBlocks, type ItemKindWriter } from './item-blocks.ts'
import { MessageItems } from './message-items.ts'
import { type ItemKind, kindOf, type OutputItem } from './output-items.ts'
import { ReasoningItems } from './reasoning-items.ts'
import { ServiceWriter } from './service-writer.ts'
import type { ResponsesEvent, WireItem, WireResponse } from './wire.ts'
import { callIdOf, itemOf } from './wire-item.ts'

/** Finds the item of each event and passes it to the decoder of its kind. */
export class ItemWriter {
  readonly message: MessageItems
  readonly reasoning: ReasoningItems
  readonly call: CallItems
  readonly other: ServiceWriter
  readonly #kinds: Readonly<Record<ItemKind, ItemKindWriter>>
  readonly #blocks: ItemBlocks

  constructor(builder: AssistantBuilder, model: ModelConfig, history: readonly Message[], unknown: UnknownFields) {
    const blocks = new ItemBlocks(builder, model, unknown)
    this.#blocks = blocks
    this.message = new MessageItems(blocks)
    this.reasoning = new ReasoningItems(blocks)
    this.call = new CallItems(blocks)
    this.other = new ServiceWriter(blocks, history)
    this.#kinds = { message: this.message, reasoning: this.reasoning, call: this.call, other: this.other }
  }

  /** Number of content chunks. */
  get progress(): number {
    return this.#blocks.progress
  }

  /** Starts or continues an item. */
  open(event: ResponsesEvent): void {
    const item = itemOf(event.item)
    if (item === undefined) return
    const { builder, items } = this.#blocks
    const kind = kindOf(item.type)
    const opened = this.#begun(kind, item) ?? items.open(kind, indexIn(event.output_index), item.id)
    opened.isImplied = false
    this.#blocks.progress++
    opened.type = item.type ?? ''
    builder.start()
    this.#kinds[opened.kind].begin(opened, item)
  }

  /** Handles a progress event of a provider-executed item. Returns false for other items. */
  goOn(event: ResponsesEvent, type: string): boolean {
    this.#blocks.progress++
    const open = this.#blocks.items.find('other', indexIn(event.output_index), nameIn(event.item_id, 'the id of an item'))
    if (open?.kind !== 'other') return false
    this.other.goOn(open, event, type)
    return true
  }

  /** Completes an item. */
  close(event: ResponsesEvent): void {
    const item = itemOf(event.item)
    if (item === undefined) return
    const { items } = this.#blocks
    const kind = kindOf(item.type)
    const index = indexIn(event.output_index)
    this.#blocks.progress++
    const found = items.find(kind, index, item.id) ?? items.findUnnamed(kind, callIdOf(item), textOfArguments(item.arguments))
    const isIt = found?.kind === kind && (kind !== 'other' || (found.type === item.type && !found.isDone))
    this.#complete(isIt ? found : items.open(kind, index, item.id), item)
  }

  /**
   * Reads the items of the finished response, which may contain items that were not streamed.
   */
  fillIn(output: WireResponse['output']): void {
    const items = objectsIn(output, 'items').flatMap((item) => itemOf(item) ?? [])
    const free = new Set(this.#blocks.items.list)
    const take = (open: OutputItem | undefined) => (open !== undefined && free.delete(open) ? open : undefined)
    const known = items.map((item) => take(this.#sameItem(item)))
    items.forEach((item, index) => {
      const kind = kindOf(item.type)
      const isAlike = (each: OutputItem) => each.kind === kind && this.#kinds[kind].isAlike(each, item, index)
      const open = known[index] ?? take([...free].find(isAlike))
      if (open === undefined) this.#complete(this.#blocks.items.open(kind, undefined, item.id), item)
      else if (!open.isDone) this.#complete(open, item)
      else this.#kinds[open.kind].repeat?.(open, item)
    })
  }

  /** Ends the response. `isWaiting`: the provider continues once the function calls have results. */
  end(isWaiting: boolean): void {
    this.other.end(isWaiting)
    this.message.end()
    this.call.end()
  }

  /** Returns the streamed item with the same id or call id. */
  #sameItem(item: WireItem): OutputItem | undefined {
    const { items } = this.#blocks
    const kind = kindOf(item.type)
    const callId = callIdOf(item)
    const byCallId = callId === '' ? undefined : items.list.find((each) => each.kind === kind && each.callId === callId)
    const found = byCallId ?? items.find(kind, undefined, item.id)
    return found?.kind === kind ? found : undefined
  }

  #begun(kind: ItemKind, item: WireItem): OutputItem | undefined {
    const callId = callIdOf(item)
    return this.#blocks.items.list.find(
      (each) =>
        each.kind === kind &&
        !each.isDone &&
        ((typeof item.id === 'string' && each.id === item.id) || (callId !== '' && each.callId === callId)),
    )
  }

  #complete(open: OutputItem, item: WireItem): void {
    open.isDone = true
    open.id = item.id || open.id
    open.type = item.type ?? ''
    this.#kinds[open.kind].complete(open, item)
    this.#blocks.builder.ends(open.key)
  }
}
