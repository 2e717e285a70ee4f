import type { JsonObject } from '../../../contract/json.ts'
import type { ProviderState } from '../../../contract/message/content.ts'
import type { Message } from '../../../contract/message/message.ts'
import type { ModelConfig } from '../../../contract/model/model-config.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import { textOfArguments } from '../../kit/decode/parse-call.ts'
import type { UnknownFields } from '../../kit/decode/unknown-fields.ts'
import { indexIn, nameIn, objectIn, objectsIn, textIn } from '../../kit/decode/wire-value.ts'
import { logprobsIn } from '../../kit/optional/citations/annotations.ts'
import { runsCustomTools } from '../profile.ts'
import { isReplayable, type ReplayPayload } from '../replay-state.ts'
import { CitationWriter } from './citation-writer.ts'
import { missingParts, type WholePart } from './missing-parts.ts'
import { type ItemKind, kindOf, type OutputItem, OutputItems } from './output-items.ts'
import { ServiceWriter } from './service-writer.ts'
import type { ResponsesEvent, WireItem, WirePart, WireResponse } from './wire.ts'
import { callIdOf, isRefusal, isUnknownPart, itemOf, jsonOf, partsOf } from './wire-item.ts'

/** The fields of messages and calls, and of their parts, that are read or passed over. Other items are kept whole. */
const knownOfItems: ReadonlySet<string> = new Set([
  ...['type', 'id', 'status', 'role', 'phase', 'content', 'call_id', 'name', 'namespace', 'arguments', 'caller', 'created_by', 'agent'],
  ...['object', 'model', 'response_id', 'encrypted_content', 'summary'],
])
const knownOfParts: ReadonlySet<string> = new Set([...['type', 'text', 'refusal', 'annotations', 'logprobs', 'parsed']])

/** Keys of raw reasoning begin here, those of its summary at 0. */
const rawReasoning = 512

/** Writes output items into the blocks of a message: their deltas, what these left out, and what is to be sent back. */
export class ItemWriter {
  /** Counts pieces of content. */
  progress = 0
  readonly #builder: AssistantBuilder
  readonly #model: ModelConfig
  readonly #unknown: UnknownFields
  readonly #items = new OutputItems()
  readonly #services: ServiceWriter
  readonly #citations: CitationWriter

  constructor(builder: AssistantBuilder, model: ModelConfig, history: readonly Message[], unknown: UnknownFields) {
    this.#builder = builder
    this.#unknown = unknown
    this.#model = model
    const state = (payload: ReplayPayload) => this.#stateOf(payload)
    this.#services = new ServiceWriter(builder, state, history, runsCustomTools(model))
    this.#citations = new CitationWriter(builder, model.api, state)
  }

  /** An item begins; one that began already goes on. */
  open(event: ResponsesEvent): void {
    const item = itemOf(event.item)
    if (item === undefined) return
    const kind = kindOf(item.type)
    const opened = this.#begun(kind, item) ?? this.#items.open(kind, indexIn(event.output_index), item.id)
    opened.isImplied = false
    this.progress++
    opened.type = item.type ?? ''
    this.#builder.start()
    if (opened.kind === 'message') this.#builder.begins(opened.key, 'text')
    if (opened.kind === 'reasoning') this.#builder.begins(opened.key, 'thinking')
    if (opened.kind === 'other') this.#services.open(opened, jsonOf(item), this.#after(opened))
    if (opened.kind !== 'call') return
    opened.opening = item.arguments
    this.#call(opened, item)
  }

  /** A delta of a message. */
  text(event: ResponsesEvent): void {
    const open = this.#items.of(event, 'message')
    const key = open.key + partOf(event.content_index)
    this.#text(open, key, event.delta)
    // Most deltas carry an empty list.
    if (Array.isArray(event.logprobs) && event.logprobs.length > 0) this.#logprobs(event.logprobs)
  }

  /** A delta of a refusal. */
  refusal(event: ResponsesEvent): void {
    this.#refuse(this.#items.of(event, 'message'), textIn(event.delta, 'a refusal'))
  }

  /** What a text rests on. */
  annotation(event: ResponsesEvent): void {
    const annotation = objectIn(event.annotation as JsonObject | null | undefined, 'an annotation') // off the wire, so it is JSON
    if (annotation === undefined) return
    const open = this.#items.of(event, 'message')
    const key = this.#keyOf(open, partOf(event.content_index))
    this.#begin(open, key)
    this.#citations.add(open, key, annotation)
  }

  /** An event of an item that the service works on; false where it is of no such item. */
  goOn(event: ResponsesEvent, type: string): boolean {
    this.progress++
    const open = this.#items.find('other', indexIn(event.output_index), nameIn(event.item_id, 'the id of an item'))
    if (open?.kind !== 'other') return false
    this.#services.goOn(open, event, type)
    return true
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
    const found = this.#items.find(kind, index, item.id) ?? this.#items.findUnnamed(kind, callIdOf(item), textOfArguments(item.arguments))
    const isIt = found?.kind === kind && (kind !== 'other' || (found.type === item.type && !found.isDone))
    this.#complete(isIt ? found : this.#items.open(kind, index, item.id), item)
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

  /**
   * The response is over: a call that never ended is whole where its arguments are, and not to be run where none came. `isWaiting`: the service goes on once
   * our calls are answered.
   */
  end(isWaiting: boolean): void {
    for (const open of this.#services.end(isWaiting)) this.#forgetReasoning(open)
    for (const open of this.#items.list) for (const key of open.annotations?.keys() ?? []) this.#citations.complete(open, key, [])
    for (const { kind, isDone, opening, raw, key } of this.#items.list) {
      if (kind !== 'call' || isDone || raw !== '') continue
      const came = textOfArguments(opening)
      if (came !== '' && came !== '{}') this.#builder.toolArguments(key, came)
      else this.#builder.cutCall(key)
    }
  }

  /** The streamed item with the id or, of a call, the call id of `item`. */
  #sameItem(item: WireItem): OutputItem | undefined {
    const kind = kindOf(item.type)
    const callId = callIdOf(item)
    const byCallId = callId === '' ? undefined : this.#items.list.find((each) => each.kind === kind && each.callId === callId)
    const found = byCallId ?? this.#items.find(kind, undefined, item.id)
    return found?.kind === kind ? found : undefined
  }

  /** Ids may change from event to event; those of calls do not. */
  #isAlike(open: OutputItem, item: WireItem, index: number): boolean {
    if (open.kind === 'call') {
      const isOther = open.callId !== '' && callIdOf(item) !== '' && open.callId !== callIdOf(item)
      return !isOther && (this.#items.isAt(open, index) || open.raw === textOfArguments(item.arguments))
    }
    if (open.kind === 'other') return open.type === item.type
    if (this.#items.isAt(open, index)) return true
    const said = open.keys.map((key) => this.#builder.written(key)).join('')
    const parts = open.kind === 'message' ? partsOf(item.content) : [...partsOf(item.summary), ...partsOf(item.content)]
    const whole = parts.map((part) => textIn(part.text, 'text')).join('')
    return whole.startsWith(said) || said.startsWith(whole)
  }

  #begun(kind: ItemKind, item: WireItem): OutputItem | undefined {
    const callId = callIdOf(item)
    return this.#items.list.find(
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
    if (open.kind === 'other') this.#completeOther(open, item)
    else if (open.kind !== 'reasoning') this.#unknown.look(item, knownOfItems)
    if (open.kind === 'message') this.#completeMessage(open, item)
    if (open.kind === 'reasoning') this.#completeReasoning(open, item)
    this.#builder.ends(open.key)
    if (open.kind !== 'call') return
    this.#call(open, item)
    this.#wholeArguments(open, item.arguments)
    const namespace = typeof item.namespace === 'string' ? { namespace: item.namespace } : {}
    const caller = typeof item.caller === 'object' && item.caller !== null ? { caller: item.caller as JsonObject } : {} // off the wire, so it is JSON
    this.#keep(open.key, { ...this.#idOf(open), ...namespace, ...caller, ...this.#after(open) })
  }

  /** Text that was streamed under such an item goes back with it. */
  #completeOther(open: OutputItem, item: WireItem): void {
    this.#builder.start()
    this.#services.close(open, jsonOf(item), this.#after(open))
    for (const key of open.keys) this.#keep(key, { shownBy: open.id })
  }

  #completeMessage(open: OutputItem, item: WireItem): void {
    const parts = partsOf(item.content)
    for (const part of parts) if (!isUnknownPart(part)) this.#unknown.look(part, knownOfParts)
    const texts = parts.flatMap((each, part) => (isRefusal(each) ? [] : [{ part, text: textIn(each.text, 'text') }]))
    for (const { key, part, text } of this.#missing(open, texts)) this.#text(open, key ?? open.key + this.#freePart(open, part), text)
    const refusal = parts.map((each) => (isRefusal(each) ? textIn(each.refusal ?? each.text, 'a refusal') : '')).join('')
    if (refusal.startsWith(open.refusal)) this.#refuse(open, refusal.slice(open.refusal.length))
    parts.forEach((each, part) => {
      const whole = objectsIn(each.annotations as JsonObject[] | null | undefined, 'annotations') // off the wire, so it is JSON
      if (whole.length > 0) this.#begin(open, this.#keyOf(open, part))
      this.#citations.complete(open, this.#keyOf(open, part), whole)
      if (this.#builder.message.logprobs === undefined) this.#logprobs(each.logprobs)
    })
    const phase = typeof item.phase === 'string' ? { phase: item.phase } : {}
    open.keys.forEach((key, index) => {
      const annotations = open.annotations?.get(key)?.list
      const first = index === 0 ? this.#after(open) : {}
      this.#keep(key, { ...this.#idOf(open), ...phase, ...(annotations && { annotations }), ...first })
    })
    this.#keepUnknownParts(open, parts)
  }

  /** They go back within their message. */
  #keepUnknownParts(open: OutputItem, parts: readonly WirePart[]): void {
    parts.forEach((part, index) => {
      if (part.type === undefined || !isUnknownPart(part)) return
      const first = open.keys.length === 0 && index === 0 ? this.#after(open) : {}
      const state = this.#stateOf({ ...this.#idOf(open), part: jsonOf(part), ...first })
      this.#builder.unknown(`part ${open.key + index}`, part.type, state)
    })
  }

  #refuse(open: OutputItem, delta: string): void {
    if (delta === '') return
    this.progress++
    const key = `refusal ${open.key}`
    if (open.refusal === '' && open.keys.length === 0) this.#builder.beganAs(open.key, key)
    open.refusal += delta
    this.#builder.refusal(key, delta)
  }

  #logprobs(list: unknown): void {
    const more = logprobsIn(list)
    if (more.length === 0) return
    this.#builder.message.logprobs ??= []
    this.#builder.message.logprobs.push(...more)
  }

  /** The key of the text that is part `part` of the item: deltas may have been numbered otherwise. */
  #keyOf(open: OutputItem, part: number): number {
    const key = open.key + part
    return open.keys.includes(key) ? key : (open.keys[part] ?? open.keys.at(-1) ?? key)
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
    const item = jsonOf(wire)
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
    if (open.keys.length === 0 && key !== open.key) this.#builder.beganAs(open.key, key)
    if (!open.keys.includes(key)) open.keys.push(key)
    this.progress++
  }

  #call(open: OutputItem, { call_id, id, name }: WireItem): void {
    this.progress++
    if (typeof call_id === 'string' && call_id !== '') open.callId = call_id
    this.#builder.toolCall(open.key, call_id || id || undefined, name ?? undefined)
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
    else if (text !== '') {
      open.raw = text
      this.#builder.replaceArguments(open.key, text)
    }
  }

  #idOf({ id }: OutputItem): ReplayPayload {
    return id === '' ? {} : { id }
  }

  #after({ position }: OutputItem): ReplayPayload {
    const before = this.#items.list[position - 1]
    return before?.kind === 'reasoning' ? { after: before.id } : {}
  }

  /** What led to `open` does not go back without it. */
  #forgetReasoning({ position }: OutputItem): void {
    const before = this.#items.list[position - 1]
    if (before?.kind === 'reasoning') this.#builder.setProviderState(before.keys[0] ?? before.key, this.#stateOf({}))
  }

  #keep(key: number, payload: ReplayPayload): void {
    if (Object.keys(payload).length > 0) this.#builder.setProviderState(key, this.#stateOf(payload))
  }

  #stateOf(payload: ReplayPayload): ProviderState {
    return { api: this.#model.api, model: this.#model.id, payload: { ...payload } }
  }
}

function partOf(index: unknown): number {
  const part = indexIn(index) ?? 0
  return part < rawReasoning ? part : 0
}
