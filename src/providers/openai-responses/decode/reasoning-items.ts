import { textIn } from '../../kit/decode/wire-value.ts'
import { isReplayable } from '../replay-state.ts'
import { type ItemBlocks, type ItemKindWriter, partOf, rawReasoning } from './item-blocks.ts'
import type { OutputItem } from './output-items.ts'
import type { ResponsesEvent, WireItem } from './wire.ts'
import { jsonOf, partsOf } from './wire-item.ts'

/** Decodes reasoning: the summary, and raw reasoning if the provider sends it. */
export class ReasoningItems implements ItemKindWriter {
  readonly #blocks: ItemBlocks

  constructor(blocks: ItemBlocks) {
    this.#blocks = blocks
  }

  begin({ key }: OutputItem): void {
    this.#blocks.builder.begins(key, 'thinking')
  }

  /** Adds a delta of a summary. */
  summary(event: ResponsesEvent): void {
    const open = this.#blocks.items.of(event, 'reasoning')
    this.#blocks.thinking(open, open.key + partOf(event.summary_index), event.delta)
  }

  /** Adds a delta of raw reasoning. */
  reasoning(event: ResponsesEvent): void {
    const open = this.#blocks.items.of(event, 'reasoning')
    this.#blocks.thinking(open, open.key + rawReasoning + partOf(event.content_index), event.delta)
  }

  /** Completes the item. Some providers repeat the summary as content, or mix up the delta types. */
  complete(open: OutputItem, item: WireItem): void {
    const summary = partsOf(item.summary).map(({ text }, part) => ({ part, text: textIn(text, 'text') }))
    const content = partsOf(item.content).map(({ text }, part) => ({ part: rawReasoning + part, text: textIn(text, 'text') }))
    const isSame = summary.map(({ text }) => text).join('') === content.map(({ text }) => text).join('')
    const whole = isSame ? summary : [...summary, ...content]
    this.#blocks.fillIn(open, whole, (key, text) => this.#blocks.thinking(open, key, text))
    this.#keep(open, item)
  }

  /** Reads encrypted reasoning from the finished response. Azure may send it only there. */
  repeat(open: OutputItem, item: WireItem): void {
    if (!open.isReplayable) this.#keep(open, item)
  }

  isAlike(open: OutputItem, { summary, content }: WireItem, index: number): boolean {
    return this.#blocks.isAlike(open, index, [...partsOf(summary), ...partsOf(content)])
  }

  #keep(open: OutputItem, wire: WireItem): void {
    const item = jsonOf(wire)
    open.isReplayable = isReplayable(item)
    this.#blocks.keep(open.keys[0] ?? open.key, { item, ...this.#blocks.after(open) })
  }
}
