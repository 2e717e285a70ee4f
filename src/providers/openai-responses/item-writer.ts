import type { JsonObject } from '../../types/json.ts'
import type { ModelConfig } from '../../types/model-config.ts'
import { type AssistantBuilder, textOfArguments } from '../shared/decode/assistant-builder.ts'
import { missingParts, type WholePart } from './missing-parts.ts'
import { type ItemKind, kindOf, type OutputItem, OutputItems } from './output-items.ts'
import { isReplayable, type ReplayPayload } from './replay-state.ts'
import { objectOf, type ResponsesEvent, type WireItem, type WirePart } from './wire.ts'

/** Keys of raw reasoning begin here, those of its summary at 0. */
const rawReasoning = 512

/** Writes output items into the blocks of a message: their deltas, what these left out, and what is to be sent back. */
export class ItemWriter {
  /** Counts pieces of content. */
  progress = 0
  /** A part of the answer is a refusal. */
  isRefusal = false
  /** The service did something by itself. */
  hasOwnTools = false
  readonly #builder: AssistantBuilder
  readonly #model: ModelConfig
  readonly #items = new OutputItems()

  constructor(builder: AssistantBuilder, model: ModelConfig) {
    this.#builder = builder
    this.#model = model
  }

  /** An item begins; one that began already goes on. */
  open(event: ResponsesEvent): void {
    const item = objectOf<WireItem>(event.item)
    const kind = kindOf(item.type)
    const opened = this.#begun(kind, item) ?? this.#items.open(kind, event.output_index, item.id)
    opened.isImplied = false
    this.progress++
    if (opened.kind === 'other') this.hasOwnTools = true
    this.#builder.start()
    if (opened.kind !== 'call') return
    opened.opening = item.arguments
    this.#call(opened, item)
  }

  /** A delta of a message. */
  text(event: ResponsesEvent): void {
    const open = this.#items.of(event, 'message')
    this.#text(open, open.key + partOf(event.content_index), event.delta)
  }

  /** A delta of a refusal. */
  refusal(event: ResponsesEvent): void {
    this.isRefusal = true
    this.text(event)
  }

  /** A delta of a reasoning summary. */
  summary(event: ResponsesEvent): void {
    const open = this.#items.of(event, 'reasoning')
    this.#thinking(open, open.key + partOf(event.summary_index), event.delta)
  }

  /** A delta of reasoning itself. */
  reasoning(event: ResponsesEvent): void {
    const open = this.#items.of(event, 'reasoning')
    this.#thinking(open, open.key + rawReasoning + partOf(event.content_index), event.delta)
  }

  /** A call begins, in the way of old events. */
  call(event: ResponsesEvent): void {
    this.#call(this.#items.of(event, 'call'), event)
  }

  /** A delta of arguments. */
  argumentsDelta(event: ResponsesEvent): void {
    this.#arguments(this.#items.of(event, 'call'), event.delta)
  }

  /** The whole text of the arguments. */
  argumentsDone(event: ResponsesEvent): void {
    const open = this.#items.of(event, 'call')
    open.isDone = true
    this.#wholeArguments(open, event.arguments)
  }

  /** An item is complete. */
  close(event: ResponsesEvent): void {
    const item = objectOf<WireItem>(event.item)
    const kind = kindOf(item.type)
    this.progress++
    const open = this.#items.find(kind, event.output_index, item.id) ?? this.#items.findUnnamed(kind, callIdOf(item))
    this.#complete(open ?? this.#items.open(kind, event.output_index, item.id), item)
  }

  /**
   * The items as the finished response repeats them: Azure may deliver encrypted reasoning only here, gateways the whole answer or some of
   * its items. What no streamed item can stand for is new.
   */
  fillIn(output: unknown): void {
    if (!Array.isArray(output)) return
    const items = output.map((value) => objectOf<WireItem>(value))
    const free = new Set(this.#items.list)
    const take = (open: OutputItem | undefined) => (open !== undefined && free.delete(open) ? open : undefined)
    const known = items.map((item) => take(this.#sameItem(item)))
    items.forEach((item, index) => {
      const kind = kindOf(item.type)
      const open = known[index] ?? take([...free].find((each) => each.kind === kind && this.#isAlike(each, item, index)))
      if (open === undefined) this.#complete(this.#items.open(kind, undefined, item.id), item)
      else if (!open.isDone) this.#complete(open, item)
      else if (open.kind === 'reasoning' && !open.isReplayable) this.#keepReasoning(open, item)
    })
  }

  /** The response is over: a call that began and never ended is not to be run. */
  cutOpenCalls(): void {
    for (const { kind, isDone, isImplied, opening, raw, key } of this.#items.list) {
      if (kind !== 'call' || isDone || (isImplied && raw !== '')) continue
      const came = raw === '' ? textOfArguments(opening) : ''
      if (came !== '' && came !== '{}') this.#builder.toolArguments(key, came)
      else this.#builder.cutCall(key)
    }
  }

  /** The streamed item with the id or, of a call, the call id of `item`. */
  #sameItem(item: WireItem): OutputItem | undefined {
    const kind = kindOf(item.type)
    const callId = callIdOf(item)
    const byCallId = callId === '' ? undefined : this.#items.list.find((each) => each.kind === kind && each.callId === callId)
    return byCallId ?? this.#items.find(kind, undefined, item.id)
  }

  /** Ids may change from event to event; those of calls do not. */
  #isAlike(open: OutputItem, item: WireItem, index: number): boolean {
    if (open.kind === 'call') {
      const isOther = open.callId !== '' && callIdOf(item) !== '' && open.callId !== callIdOf(item)
      return !isOther && (this.#items.isAt(open, index) || open.raw === textOfArguments(item.arguments))
    }
    if (this.#items.isAt(open, index) || open.kind === 'other') return true
    const said = open.keys.map((key) => this.#builder.written(key)).join('')
    const parts = open.kind === 'message' ? partsOf(item.content) : [...partsOf(item.summary), ...partsOf(item.content)]
    const whole = parts.map(({ text, refusal }) => stringOf(text ?? refusal)).join('')
    return whole.startsWith(said) || said.startsWith(whole)
  }

  #begun(kind: ItemKind, item: WireItem): OutputItem | undefined {
    const callId = callIdOf(item)
    return this.#items.list.find(
      (each) =>
        each.kind === kind && !each.isDone && ((item.id !== undefined && each.id === item.id) || (callId !== '' && each.callId === callId)),
    )
  }

  #complete(open: OutputItem, item: WireItem): void {
    open.isDone = true
    open.id = item.id ?? open.id
    if (open.kind === 'other') this.hasOwnTools = true
    if (open.kind === 'message') this.#completeMessage(open, item)
    if (open.kind === 'reasoning') this.#completeReasoning(open, item)
    if (open.kind !== 'call') return
    this.#call(open, item)
    this.#wholeArguments(open, item.arguments)
    this.#keep(open.key, { ...this.#idOf(open), ...this.#after(open) })
  }

  #completeMessage(open: OutputItem, item: WireItem): void {
    const parts = partsOf(item.content)
    if (parts.some(({ type }) => type === 'refusal')) this.isRefusal = true
    const missing = this.#missing(
      open,
      parts.map(({ text, refusal }, part) => ({ part, text: stringOf(text ?? refusal) })),
    )
    for (const { key, part, text } of missing) this.#text(open, key ?? open.key + this.#freePart(open, part), text)
    const phase = typeof item.phase === 'string' ? { phase: item.phase } : {}
    open.keys.forEach((key, index) => {
      this.#keep(key, { ...this.#idOf(open), ...phase, ...(index === 0 ? this.#after(open) : {}) })
    })
  }

  /** Services say the same in the summary and in the content, and send the deltas of one as those of the other. */
  #completeReasoning(open: OutputItem, item: WireItem): void {
    const summary = partsOf(item.summary).map(({ text }, part) => ({ part, text: stringOf(text) }))
    const content = partsOf(item.content).map(({ text }, part) => ({ part: rawReasoning + part, text: stringOf(text) }))
    const isSame = summary.map(({ text }) => text).join('') === content.map(({ text }) => text).join('')
    for (const { key, part, text } of this.#missing(open, isSame ? summary : [...summary, ...content])) {
      this.#thinking(open, key ?? open.key + this.#freePart(open, part), text)
    }
    this.#keepReasoning(open, item)
  }

  #missing(open: OutputItem, whole: readonly WholePart[]) {
    return missingParts(
      open.keys.map((key) => ({ key, text: this.#builder.written(key) })),
      whole,
    )
  }

  /** `part`, or the next number that no delta has used. */
  #freePart(open: OutputItem, part: number): number {
    let free = part
    while (open.keys.includes(open.key + free)) free++
    return free
  }

  #keepReasoning(open: OutputItem, wire: WireItem): void {
    // It came out of JSON.parse, so it is a JSON object.
    const item = wire as JsonObject
    open.isReplayable = isReplayable(item)
    this.#keep(open.keys[0] ?? open.key, { item, ...this.#after(open) })
  }

  #text(open: OutputItem, key: number, delta: unknown): void {
    if (typeof delta !== 'string' || delta === '') return
    this.#begin(open, key)
    this.#builder.text(key, delta)
  }

  #thinking(open: OutputItem, key: number, delta: unknown): void {
    if (typeof delta !== 'string' || delta === '') return
    this.#begin(open, key)
    this.#builder.thinking(key, delta)
  }

  /** The part of this key has content now. */
  #begin(open: OutputItem, key: number): void {
    if (!open.keys.includes(key)) open.keys.push(key)
    this.progress++
  }

  #call(open: OutputItem, { call_id, id, name }: WireItem): void {
    this.progress++
    if (typeof call_id === 'string' && call_id !== '') open.callId = call_id
    this.#builder.toolCall(open.key, call_id || id, name)
  }

  #arguments(open: OutputItem, delta: unknown): void {
    const text = textOfArguments(delta)
    if (text === '') return
    this.progress++
    open.raw += text
    this.#builder.toolArguments(open.key, text)
  }

  /** The end of a call says what its arguments are. Deltas that say something else were placeholders, or lost pieces. */
  #wholeArguments(open: OutputItem, whole: unknown): void {
    const text = textOfArguments(whole) || (open.raw === '' ? textOfArguments(open.opening) : '')
    if (text.startsWith(open.raw)) this.#arguments(open, text.slice(open.raw.length))
    else if (text !== '') this.#builder.replaceArguments(open.key, text)
  }

  #idOf({ id }: OutputItem): ReplayPayload {
    return id === '' ? {} : { id }
  }

  #after({ position }: OutputItem): ReplayPayload {
    const before = this.#items.list[position - 1]
    return before?.kind === 'reasoning' ? { after: before.id } : {}
  }

  #keep(key: number, payload: ReplayPayload): void {
    if (Object.keys(payload).length === 0) return
    this.#builder.setProviderState(key, { api: this.#model.api, model: this.#model.id, payload: { ...payload } })
  }
}

function callIdOf({ call_id }: WireItem): string {
  return stringOf(call_id)
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function partOf(index: unknown): number {
  return typeof index === 'number' ? index : 0
}

function partsOf(value: unknown): WirePart[] {
  return Array.isArray(value) ? value.map((part) => objectOf<WirePart>(part)) : []
}
