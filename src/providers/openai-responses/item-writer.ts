import type { JsonObject } from '../../types/json.ts'
import type { ModelConfig } from '../../types/model-config.ts'
import type { AssistantBuilder } from '../shared/decode/assistant-builder.ts'
import { kindOf, type OutputItem, OutputItems } from './output-items.ts'
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

  /** An item begins. */
  open(event: ResponsesEvent): void {
    const item = objectOf<WireItem>(event.item)
    const opened = this.#items.open(kindOf(item.type), event.output_index, item.id)
    this.progress++
    if (opened.kind === 'other') this.hasOwnTools = true
    this.#builder.start()
    if (opened.kind === 'call') this.#call(opened, item)
  }

  /** A delta of a message. */
  text(event: ResponsesEvent): void {
    this.#text(this.#items.of(event, 'message'), partOf(event.content_index), event.delta)
  }

  /** A delta of a refusal. */
  refusal(event: ResponsesEvent): void {
    this.isRefusal = true
    this.text(event)
  }

  /** A delta of a reasoning summary. */
  summary(event: ResponsesEvent): void {
    this.#thinking(this.#items.of(event, 'reasoning'), partOf(event.summary_index), event.delta)
  }

  /** A delta of reasoning itself. */
  reasoning(event: ResponsesEvent): void {
    this.#thinking(this.#items.of(event, 'reasoning'), rawReasoning + partOf(event.content_index), event.delta)
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
    this.#restOfArguments(this.#items.of(event, 'call'), event.arguments)
  }

  /** An item is complete. */
  close(event: ResponsesEvent): void {
    const item = objectOf<WireItem>(event.item)
    this.progress++
    const open = this.#items.find(event.output_index, item.id)
    this.#complete(open ?? this.#items.open(kindOf(item.type), event.output_index, item.id), item)
  }

  /** The items as the finished response repeats them: Azure may deliver encrypted reasoning only here, gateways the whole answer. */
  fillIn(output: unknown): void {
    if (!Array.isArray(output)) return
    const hasItems = this.#items.list.length > 0
    output.forEach((value, index) => {
      const item = objectOf<WireItem>(value)
      const kind = kindOf(item.type)
      const open = this.#items.find(undefined, item.id) ?? this.#items.find(index, undefined)
      if (open === undefined && !hasItems) this.#complete(this.#items.open(kind, index, item.id), item)
      if (open === undefined || open.kind !== kind) return
      if (!open.isDone) this.#complete(open, item)
      else if (open.kind === 'reasoning' && !open.isReplayable) this.#keepReasoning(open, item)
    })
  }

  #complete(open: OutputItem, item: WireItem): void {
    open.isDone = true
    open.id = item.id ?? open.id
    if (open.kind === 'other') this.hasOwnTools = true
    if (open.kind === 'message') this.#completeMessage(open, item)
    if (open.kind === 'reasoning') this.#completeReasoning(open, item)
    if (open.kind !== 'call') return
    this.#call(open, item)
    this.#restOfArguments(open, item.arguments)
    this.#keep(open.key, { ...this.#idOf(open), ...this.#after(open) })
  }

  #completeMessage(open: OutputItem, item: WireItem): void {
    partsOf(item.content).forEach((part, index) => {
      if (part.type === 'refusal') this.isRefusal = true
      if (!open.keys.includes(open.key + index)) this.#text(open, index, part.text ?? part.refusal)
    })
    const phase = typeof item.phase === 'string' ? { phase: item.phase } : {}
    open.keys.forEach((key, index) => {
      this.#keep(key, { ...this.#idOf(open), ...phase, ...(index === 0 ? this.#after(open) : {}) })
    })
  }

  #completeReasoning(open: OutputItem, item: WireItem): void {
    const fill = (parts: unknown, from: number) => {
      partsOf(parts).forEach((part, index) => {
        if (!open.keys.includes(open.key + from + index)) this.#thinking(open, from + index, part.text)
      })
    }
    fill(item.summary, 0)
    fill(item.content, rawReasoning)
    this.#keepReasoning(open, item)
  }

  #keepReasoning(open: OutputItem, wire: WireItem): void {
    // It came out of JSON.parse, so it is a JSON object.
    const item = wire as JsonObject
    open.isReplayable = isReplayable(item)
    this.#keep(open.keys[0] ?? open.key, { item, ...this.#after(open) })
  }

  #text(open: OutputItem, part: number, delta: unknown): void {
    if (typeof delta !== 'string' || delta === '') return
    this.#builder.text(this.#begin(open, part), delta)
  }

  #thinking(open: OutputItem, part: number, delta: unknown): void {
    if (typeof delta !== 'string' || delta === '') return
    this.#builder.thinking(this.#begin(open, part), delta)
  }

  /** The key of a part that has content now. */
  #begin(open: OutputItem, part: number): number {
    const key = open.key + part
    if (!open.keys.includes(key)) open.keys.push(key)
    this.progress++
    return key
  }

  #call(open: OutputItem, { call_id, id, name }: WireItem): void {
    this.progress++
    this.#builder.toolCall(open.key, call_id || id, name)
  }

  #arguments(open: OutputItem, delta: unknown): void {
    if (typeof delta !== 'string') return
    this.progress++
    open.raw += delta
    this.#builder.toolArguments(open.key, delta)
  }

  /** What the deltas left out. Where they say something else, they count: they were seen. */
  #restOfArguments(open: OutputItem, whole: unknown): void {
    const text = typeof whole === 'object' && whole !== null ? JSON.stringify(whole) : whole
    if (typeof text === 'string' && text.length > open.raw.length && text.startsWith(open.raw)) {
      this.#arguments(open, text.slice(open.raw.length))
    }
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

function partOf(index: unknown): number {
  return typeof index === 'number' ? index : 0
}

function partsOf(value: unknown): WirePart[] {
  return Array.isArray(value) ? value.map((part) => objectOf<WirePart>(part)) : []
}
