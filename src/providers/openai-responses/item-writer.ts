import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { ProviderState } from '../../contract/message/content.ts'
import type { TokenLogprob } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import { type AssistantBuilder, textOfArguments } from '../kit/decode/assistant-builder.ts'
import { indexIn, nameIn, OddValue, objectIn, objectsIn, textIn, wordIn } from '../kit/decode/wire-value.ts'
import { annotationOf, logprobsOf } from './annotations.ts'
import { missingParts, type WholePart } from './missing-parts.ts'
import { type ItemKind, kindOf, type OutputItem, OutputItems } from './output-items.ts'
import { isReplayable, type ReplayPayload } from './replay-state.ts'
import { ServiceItems } from './service-items.ts'
import type { ResponsesEvent, WireItem, WirePart, WireResponse } from './wire.ts'

/** Keys of raw reasoning begin here, those of its summary at 0. */
const rawReasoning = 512

/** Writes output items into the blocks of a message: their deltas, what these left out, and what is to be sent back. */
export class ItemWriter {
  /** Counts pieces of content. */
  progress = 0
  /** A part of the answer is a refusal. */
  isRefusal = false
  /** What it says in place of an answer. */
  refused = ''
  readonly logprobs: TokenLogprob[] = []
  readonly #service: ServiceItems
  /** What came as annotations of a part, by its key: used where the end of the item has none. */
  readonly #annotations = new Map<number, object[]>()
  readonly #builder: AssistantBuilder
  readonly #model: ModelConfig
  readonly #items = new OutputItems()

  constructor(builder: AssistantBuilder, model: ModelConfig) {
    this.#builder = builder
    this.#model = model
    this.#service = new ServiceItems(builder, (payload) => this.#stateOf(payload))
  }

  /** An item begins; one that began already goes on. */
  open(event: ResponsesEvent): void {
    const item = itemOf(event.item)
    if (item === undefined) return
    const kind = kindOf(item.type)
    const opened = this.#begun(kind, item) ?? this.#items.open(kind, indexIn(event.output_index), item.id)
    opened.isImplied = false
    this.progress++
    this.#builder.start()
    if (opened.kind === 'other' && !opened.isDone) this.#service.begin({ ...item })
    if (opened.kind !== 'call') return
    opened.opening = item.arguments
    this.#call(opened, item)
  }

  /** A delta of a message. */
  text(event: ResponsesEvent): void {
    const open = this.#items.of(event, 'message')
    this.#text(open, open.key + partOf(event.content_index), event.delta)
  }

  /** What a text rests on. */
  annotation(event: ResponsesEvent): void {
    const annotation = objectIn(event.annotation, 'an annotation')
    if (annotation === undefined) return
    const open = this.#items.of(event, 'message')
    const key = open.key + partOf(event.content_index)
    this.#annotations.set(key, [...(this.#annotations.get(key) ?? []), annotation])
  }

  /** A picture as far as it is drawn. */
  partialImage(event: ResponsesEvent): void {
    this.progress++
    this.#service.partial(event.item_id, event.partial_image_b64)
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
    const item = itemOf(event.item)
    if (item === undefined) return
    const kind = kindOf(item.type)
    const index = indexIn(event.output_index)
    this.progress++
    const open = this.#items.find(kind, index, item.id) ?? this.#items.findUnnamed(kind, callIdOf(item))
    this.#complete(open ?? this.#items.open(kind, index, item.id), item)
  }

  /**
   * The items as the finished response repeats them: Azure may deliver encrypted reasoning only here, gateways the whole answer or some of
   * its items. What no streamed item can stand for is new.
   */
  fillIn(output: WireResponse['output']): void {
    const items = objectsIn(output, 'items').flatMap((item) => itemOf(item) ?? [])
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
    const whole = parts.map(({ text, refusal }) => textIn(text ?? refusal, 'text')).join('')
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
    if (open.kind === 'other') this.#service.end(open.key, { ...item }, this.#after(open))
    if (open.kind === 'message') this.#completeMessage(open, item)
    if (open.kind === 'reasoning') this.#completeReasoning(open, item)
    if (open.kind !== 'call') return
    this.#call(open, item)
    this.#wholeArguments(open, item.arguments)
    const { namespace, caller } = item as JsonObject // off the wire, so it is JSON
    const found = { ...(namespace != null && { namespace }), ...(caller != null && { caller }) }
    this.#keep(open.key, { ...this.#idOf(open), ...this.#after(open), ...found })
  }

  #completeMessage(open: OutputItem, item: WireItem): void {
    const parts = partsOf(item.content)
    if (parts.some(({ type }) => type === 'refusal')) this.isRefusal = true
    const missing = this.#missing(
      open,
      parts.map(({ text, refusal }, part) => ({ part, text: textIn(text ?? refusal, 'text') })),
    )
    for (const { key, part, text } of missing) this.#text(open, key ?? open.key + this.#freePart(open, part), text)
    const phase = typeof item.phase === 'string' ? { phase: item.phase } : {}
    open.keys.forEach((key, index) => {
      const annotations = this.#cite(key, parts[key - open.key])
      this.#keep(key, { ...this.#idOf(open), ...phase, ...(index === 0 ? this.#after(open) : {}), ...annotations })
    })
    for (const { refusal, logprobs } of parts) {
      if (typeof refusal === 'string') this.refused += refusal
      this.logprobs.push(...logprobsOf(logprobs))
    }
  }

  /** What a part rests on, once its text is whole. */
  #cite(key: number, part: WirePart | undefined): Pick<ReplayPayload, 'annotations'> {
    const whole = objectsIn(part?.annotations, 'annotations')
    const annotations = whole.length > 0 ? whole : (this.#annotations.get(key) ?? [])
    const text = this.#builder.written(key)
    for (const annotation of annotations) {
      const { citation, file } = annotationOf(annotation, text)
      if (citation === undefined)
        this.#builder.warn('The service sent an annotation of a kind that this version does not know. It is kept, and goes back.')
      else this.#builder.citation(key, citation)
      if (file !== undefined)
        this.#builder.whole(`file ${file.fileId}`, { ...file, api: this.#model.api, providerState: this.#stateOf({}) })
    }
    return annotations.length === 0 ? {} : { annotations: annotations as JsonValue[] } // off the wire, so it is JSON
  }

  /** Services say the same in the summary and in the content, and send the deltas of one as those of the other. */
  #completeReasoning(open: OutputItem, item: WireItem): void {
    const summary = partsOf(item.summary).map(({ text }, part) => ({ part, text: textIn(text, 'text') }))
    const content = partsOf(item.content).map(({ text }, part) => ({ part: rawReasoning + part, text: textIn(text, 'text') }))
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
    const text = textIn(delta, 'text')
    if (text === '') return
    this.#begin(open, key)
    this.#builder.text(key, text)
  }

  #thinking(open: OutputItem, key: number, delta: unknown): void {
    const text = textIn(delta, 'reasoning')
    if (text === '') return
    this.#begin(open, key)
    this.#builder.thinking(key, text)
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
    this.#builder.setProviderState(key, this.#stateOf(payload))
  }

  #stateOf(payload: ReplayPayload): ProviderState {
    return { api: this.#model.api, model: this.#model.id, payload: { ...payload } }
  }
}

/** An item whose names are texts; `undefined` for nothing. */
function itemOf(value: WireItem | null | undefined): WireItem | undefined {
  const item = objectIn(value, 'an item')
  if (item === undefined) return undefined
  const type = wordIn(item.type, 'the type of an item')
  if (type === undefined) throw new OddValue('the type of an item', type)
  for (const name of ['id', 'call_id', 'name'] as const) {
    const text = nameIn(item[name], `the ${name} of an item`)
    // What is not ours to read goes back as it came.
    if (text === undefined && kindOf(type) !== 'other') delete item[name]
    else if (text !== undefined) item[name] = text
  }
  return item
}

function callIdOf({ call_id }: WireItem): string {
  return stringOf(call_id)
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function partOf(index: unknown): number {
  const part = indexIn(index) ?? 0
  return part < rawReasoning ? part : 0
}

function partsOf(value: WireItem['content']): readonly WirePart[] {
  return typeof value === 'string' ? [{ text: value }] : objectsIn(value, 'parts')
}
