import { createSseDecoder, type SseDecoder } from '../../stream/sse.ts'
import { ProviderError } from '../../types/errors.ts'
import type { JsonObject } from '../../types/json.ts'
import type { AssistantMessage, StopReason } from '../../types/message.ts'
import type { ModelConfig } from '../../types/model.ts'
import type { StreamEvent } from '../../types/provider.ts'
import { AssistantBuilder } from '../shared/assistant-builder.ts'
import type { StreamDecoder } from '../shared/send.ts'
import { StreamRefusal } from '../shared/stream-refusal.ts'
import { kindOf, type OutputItem, OutputItems } from './output-items.ts'
import { isReplayable, type ReplayPayload } from './replay-state.ts'
import { usageOf } from './usage.ts'
import type { ResponsesEvent, WireItem, WirePart, WireResponse } from './wire.ts'

/** Reasons of an incomplete response. Source: reference/providers.md §0 "StopReason mapping". */
const incompleteReasons: { readonly [reason: string]: StopReason } = {
  max_output_tokens: 'length',
  max_messages: 'length',
  content_filter: 'guardRail',
}

/** Keys of raw reasoning begin here, those of its summary at 0. */
const rawReasoning = 512

/**
 * Reads the events of one response, OpenAI's or that of a service that resembles it.
 *
 * **Contract**
 * - `response.completed`, `incomplete` and `failed` end it; nothing behind counts.
 * - Each part of a reasoning summary is a thinking block; the first carries the item. A reasoning item that shows nothing is an empty one.
 * - A refusal is shown as text and stops with `guardRail`.
 * - What came without deltas is read from the finished item, or from the finished response.
 * - `start` is emitted with the first item, so that a refusal before it leaves the call unseen.
 *
 * Source: reference/providers.md §0, §3.
 */
export class ResponsesDecoder implements StreamDecoder {
  readonly terminal = 'response.completed'
  readonly builder: AssistantBuilder
  isDone = false
  progress = 0
  readonly #model: ModelConfig
  readonly #service: string
  readonly #frames: SseDecoder
  readonly #items = new OutputItems()
  #hasOwnTools = false
  #isRefusal = false
  #stopReason: StopReason = 'stop'
  #reason = ''

  constructor(model: ModelConfig, service: string, emit: (event: StreamEvent) => void, answerTool?: string) {
    this.#model = model
    this.#service = service
    this.builder = new AssistantBuilder(model, emit, answerTool)
    this.#frames = createSseDecoder((data, event) => this.#frame(data, event))
  }

  get isComplete(): boolean {
    return this.isDone
  }

  push(bytes: Uint8Array): void {
    this.#frames.feed(bytes)
  }

  end(): void {
    this.#frames.end()
  }

  finish(): AssistantMessage {
    const isGuarded = this.#isRefusal && this.#stopReason === 'stop'
    const message = this.builder.finish(isGuarded ? 'guardRail' : this.#stopReason, this.builder.message.usage)
    if (message.stopReason === 'error') message.errorMessage = `${this.#service} left the answer incomplete: ${this.#reason}.`
    // Reasoning and ids hang together with what the service did by itself, and that is not kept.
    if (this.#hasOwnTools) for (const block of message.content) if (block.type !== 'image') delete block.providerState
    return message
  }

  #frame(data: string, event: string | undefined): void {
    if (this.isDone || data === '[DONE]') return
    let parsed: ResponsesEvent | null
    try {
      parsed = JSON.parse(data)
    } catch {
      throw new ProviderError('network', `${this.#service} sent an event that is not JSON: ${data.slice(0, 100)}`)
    }
    if (parsed !== null) this.#read(parsed, parsed.type ?? event)
  }

  #read(event: ResponsesEvent, type: string | undefined): void {
    switch (type) {
      case 'response.output_text.delta':
        this.#text(this.#items.of(event, 'message'), event.content_index, event.delta)
        return
      case 'response.function_call_arguments.delta':
        this.#arguments(this.#items.of(event, 'call'), event.delta)
        return
      case 'response.reasoning_summary_text.delta':
        this.#thinking(this.#items.of(event, 'reasoning'), partOf(event.summary_index), event.delta)
        return
      case 'response.reasoning_text.delta':
      // In the specification's documents, and sent by servers built after them.
      case 'response.reasoning.delta':
        this.#thinking(this.#items.of(event, 'reasoning'), rawReasoning + partOf(event.content_index), event.delta)
        return
      case 'response.refusal.delta':
        this.#isRefusal = true
        this.#text(this.#items.of(event, 'message'), event.content_index, event.delta)
        return
      case 'response.output_item.added':
        this.#open(event)
        return
      case 'response.output_item.done':
        this.#close(event)
        return
      // As `response.reasoning.delta`.
      case 'response.function_call_arguments.start':
        this.#call(this.#items.of(event, 'call'), { call_id: event.call_id ?? event.item_id ?? '', name: event.name ?? '' })
        return
      case 'response.function_call_arguments.done':
        this.#restOfArguments(this.#items.of(event, 'call'), event.arguments)
        return
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.done':
        this.#end(event.response ?? {}, type)
        return
      case 'error':
        this.#fail(event.error ?? event, event)
        return
      default:
        if (type === undefined && event.error) this.#fail(event.error, event)
    }
  }

  #open(event: ResponsesEvent): void {
    const item = objectOf<WireItem>(event.item)
    const opened = this.#items.open(kindOf(item.type), event.output_index, item.id)
    this.progress++
    if (opened.kind === 'other') this.#hasOwnTools = true
    this.builder.start()
    if (opened.kind === 'call') this.#call(opened, item)
  }

  #close(event: ResponsesEvent): void {
    const item = objectOf<WireItem>(event.item)
    const kind = kindOf(item.type)
    this.progress++
    this.#complete(this.#items.find(event.output_index, item.id) ?? this.#items.open(kind, event.output_index, item.id), item)
  }

  /** Reads a finished item: what the deltas left out, and what is to be sent back. */
  #complete(open: OutputItem, item: WireItem): void {
    open.isDone = true
    open.id = item.id ?? open.id
    if (open.kind === 'other') this.#hasOwnTools = true
    if (open.kind === 'message') this.#completeMessage(open, item)
    if (open.kind === 'reasoning') this.#completeReasoning(open, item)
    if (open.kind !== 'call') return
    this.#call(open, item)
    this.#restOfArguments(open, item.arguments)
    this.#keep(open.key, { ...this.#idOf(open), ...this.#after(open) })
  }

  #completeMessage(open: OutputItem, item: WireItem): void {
    partsOf(item.content).forEach((part, index) => {
      if (part.type === 'refusal') this.#isRefusal = true
      if (!open.keys.includes(open.key + index)) this.#text(open, index, part.text ?? part.refusal)
    })
    const phase = typeof item.phase === 'string' ? { phase: item.phase } : {}
    open.keys.forEach((key, index) => {
      this.#keep(key, { ...this.#idOf(open), ...phase, ...(index === 0 ? this.#after(open) : {}) })
    })
  }

  #completeReasoning(open: OutputItem, item: WireItem): void {
    partsOf(item.summary).forEach((part, index) => {
      if (!open.keys.includes(open.key + index)) this.#thinking(open, index, part.text)
    })
    partsOf(item.content).forEach((part, index) => {
      if (!open.keys.includes(open.key + rawReasoning + index)) this.#thinking(open, rawReasoning + index, part.text)
    })
    this.#keepReasoning(open, item)
  }

  #keepReasoning(open: OutputItem, wire: WireItem): void {
    // It came out of JSON.parse, so it is a JSON object.
    const item = wire as JsonObject
    open.isReplayable = isReplayable(item)
    this.#keep(open.keys[0] ?? open.key, { item, ...this.#after(open) })
  }

  #text(open: OutputItem, part: number | undefined, delta: unknown): void {
    if (typeof delta !== 'string' || delta === '') return
    const key = open.key + partOf(part)
    if (!open.keys.includes(key)) open.keys.push(key)
    this.progress++
    this.builder.text(key, delta)
  }

  #thinking(open: OutputItem, part: number, delta: unknown): void {
    if (typeof delta !== 'string' || delta === '') return
    const key = open.key + part
    if (!open.keys.includes(key)) open.keys.push(key)
    this.progress++
    this.builder.thinking(key, delta)
  }

  #call(open: OutputItem, item: WireItem): void {
    this.progress++
    this.builder.toolCall(open.key, item.call_id || item.id, item.name)
  }

  #arguments(open: OutputItem, delta: unknown): void {
    if (typeof delta !== 'string') return
    this.progress++
    open.raw += delta
    this.builder.toolArguments(open.key, delta)
  }

  /** The whole text of the arguments is repeated at the end; without deltas, or with too few of them, it is what counts. */
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
    this.builder.setProviderState(key, { api: this.#model.api, model: this.#model.id, payload: { ...payload } })
  }

  #end(response: WireResponse, type: string): void {
    if (response.usage) this.builder.message.usage = usageOf(response.usage)
    const status = response.status ?? type.slice('response.'.length)
    if (status === 'failed' || status === 'cancelled') {
      const error = response.error ?? { message: `the response has the status "${status}"` }
      this.#fail(error, { error })
      return
    }
    this.#fillIn(response.output)
    if (status === 'incomplete') {
      const reason = response.incomplete_details?.reason ?? 'max_output_tokens'
      this.#reason = String(reason)
      this.#stopReason = Object.hasOwn(incompleteReasons, reason) ? (incompleteReasons[reason] ?? 'error') : 'error'
    }
    this.isDone = true
  }

  /** Azure may deliver encrypted reasoning only here, gateways the whole answer. */
  #fillIn(output: unknown): void {
    if (!Array.isArray(output)) return
    const hasItems = this.#items.list.length > 0
    output.forEach((value, index) => {
      const item = objectOf<WireItem>(value)
      const open = this.#items.find(undefined, item.id) ?? this.#items.find(index, undefined)
      if (open === undefined && !hasItems) this.#complete(this.#items.open(kindOf(item.type), index, item.id), item)
      else if (open === undefined || open.kind !== kindOf(item.type)) return
      else if (!open.isDone) this.#complete(open, item)
      else if (open.kind === 'reasoning' && !open.isReplayable) this.#keepReasoning(open, item)
    })
  }

  /** A filter is a way to stop, not a failure, wherever the service reports it. */
  #fail(error: unknown, body: object): void {
    if (objectOf<{ code?: unknown }>(error).code !== 'content_filter') throw new StreamRefusal(body)
    this.#stopReason = 'guardRail'
    this.isDone = true
  }
}

function partOf(index: unknown): number {
  return typeof index === 'number' ? index : 0
}

/** Every field of what is returned is checked before use. */
function objectOf<Fields extends object>(value: unknown): Fields {
  return (typeof value === 'object' && value !== null ? value : {}) as Fields
}

function partsOf(value: unknown): WirePart[] {
  return Array.isArray(value) ? value.map((part) => objectOf<WirePart>(part)) : []
}
