import type { JsonObject } from '../../../contract/json.ts'
import { objectIn, objectsIn, textIn } from '../../kit/decode/wire-value.ts'
import { logprobsIn } from '../../kit/optional/citations/annotations.ts'
import { CitationWriter } from './citation-writer.ts'
import { type ItemBlocks, type ItemKindWriter, partOf } from './item-blocks.ts'
import type { OutputItem } from './output-items.ts'
import type { ResponsesEvent, WireItem, WirePart } from './wire.ts'
import { isRefusal, isUnknownPart, jsonOf, partsOf } from './wire-item.ts'

/** Known fields of message parts. */
const knownOfParts: ReadonlySet<string> = new Set([...['type', 'text', 'refusal', 'annotations', 'logprobs', 'parsed']])

/** Decodes messages: texts, citations and refusals. */
export class MessageItems implements ItemKindWriter {
  readonly #blocks: ItemBlocks
  readonly #citations: CitationWriter

  constructor(blocks: ItemBlocks) {
    this.#blocks = blocks
    this.#citations = new CitationWriter(blocks.builder, blocks.model.api, (payload) => blocks.state(payload))
  }

  begin({ key }: OutputItem): void {
    this.#blocks.builder.begins(key, 'text')
  }

  /** Adds a delta of text. */
  text(event: ResponsesEvent): void {
    const open = this.#blocks.items.of(event, 'message')
    this.#blocks.text(open, open.key + partOf(event.content_index), event.delta)
    // Most deltas have an empty list.
    if (Array.isArray(event.logprobs) && event.logprobs.length > 0) this.#logprobs(event.logprobs)
  }

  /** Adds a delta of a refusal. */
  refusal(event: ResponsesEvent): void {
    this.#refuse(this.#blocks.items.of(event, 'message'), textIn(event.delta, 'a refusal'))
  }

  /** Adds a citation. */
  annotation(event: ResponsesEvent): void {
    const annotation = objectIn(event.annotation as JsonObject | null | undefined, 'an annotation') // Parsed JSON.
    if (annotation === undefined) return
    const open = this.#blocks.items.of(event, 'message')
    const key = keyOf(open, partOf(event.content_index))
    this.#blocks.begin(open, key)
    this.#citations.add(open, key, annotation)
  }

  complete(open: OutputItem, item: WireItem): void {
    const blocks = this.#blocks
    blocks.look(item)
    const parts = partsOf(item.content)
    for (const part of parts) if (!isUnknownPart(part)) blocks.unknown.look(part, knownOfParts)
    const texts = parts.flatMap((each, part) => (isRefusal(each) ? [] : [{ part, text: textIn(each.text, 'text') }]))
    blocks.fillIn(open, texts, (key, text) => blocks.text(open, key, text))
    const refusal = parts.map((each) => (isRefusal(each) ? textIn(each.refusal ?? each.text, 'a refusal') : '')).join('')
    if (refusal.startsWith(open.refusal)) this.#refuse(open, refusal.slice(open.refusal.length))
    parts.forEach((each, part) => {
      const whole = objectsIn(each.annotations as JsonObject[] | null | undefined, 'annotations') // Parsed JSON.
      if (whole.length > 0) blocks.begin(open, keyOf(open, part))
      this.#citations.complete(open, keyOf(open, part), whole)
      if (blocks.builder.message.logprobs === undefined) this.#logprobs(each.logprobs)
    })
    const phase = typeof item.phase === 'string' ? { phase: item.phase } : {}
    open.keys.forEach((key, index) => {
      const annotations = open.annotations?.get(key)?.list
      const first = index === 0 ? blocks.after(open) : {}
      blocks.keep(key, { ...blocks.idOf(open), ...phase, ...(annotations && { annotations }), ...first })
    })
    this.#keepUnknownParts(open, parts)
  }

  isAlike(open: OutputItem, { content }: WireItem, index: number): boolean {
    return this.#blocks.isAlike(open, index, partsOf(content))
  }

  /** Ends the response: emits the remaining citations. */
  end(): void {
    for (const open of this.#blocks.items.list) for (const key of open.annotations?.keys() ?? []) this.#citations.complete(open, key, [])
  }

  /** Stores unknown parts, which are sent back within their message. */
  #keepUnknownParts(open: OutputItem, parts: readonly WirePart[]): void {
    const blocks = this.#blocks
    parts.forEach((part, index) => {
      if (part.type === undefined || !isUnknownPart(part)) return
      const first = open.keys.length === 0 && index === 0 ? blocks.after(open) : {}
      const state = blocks.state({ ...blocks.idOf(open), part: jsonOf(part), ...first })
      blocks.builder.unknown(`part ${open.key + index}`, part.type, state)
    })
  }

  #refuse(open: OutputItem, delta: string): void {
    if (delta === '') return
    const { builder } = this.#blocks
    this.#blocks.progress++
    const key = `refusal ${open.key}`
    if (open.refusal === '' && open.keys.length === 0) builder.beganAs(open.key, key)
    open.refusal += delta
    builder.refusal(key, delta)
  }

  #logprobs(list: unknown): void {
    const more = logprobsIn(list)
    if (more.length === 0) return
    const { message } = this.#blocks.builder
    message.logprobs ??= []
    message.logprobs.push(...more)
  }
}

/** Returns the key of text part `part`, because deltas may have used other numbers. */
function keyOf(open: OutputItem, part: number): number {
  const key = open.key + part
  return open.keys.includes(key) ? key : (open.keys[part] ?? open.keys.at(-1) ?? key)
}
