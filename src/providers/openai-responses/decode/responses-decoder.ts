import { ProviderError } from '../../../contract/errors.ts'
import type { AssistantMessage, StopReason } from '../../../contract/message/message.ts'
import { createSseDecoder, type SseDecoder } from '../../../stream/sse.ts'
import type { DecoderContext, EncodedCall } from '../../kit/codec.ts'
import { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import { isMarker, type StreamDecoder, StreamRefusal, secondMessage } from '../../kit/decode/decoder.ts'
import { OddValue, objectIn, wordIn } from '../../kit/decode/wire-value.ts'
import { ItemWriter } from './item-writer.ts'
import { objectOf, type ResponsesEvent, usageOf, type WireResponse } from './wire.ts'

/** Reasons of an incomplete response. Source: docs/providers/openai-responses.md */
const incompleteReasons: { readonly [reason: string]: StopReason } = {
  max_output_tokens: 'length',
  max_messages: 'length',
  content_filter: 'guardRail',
}

/**
 * Reads the events of one response, OpenAI's or that of a service that resembles it.
 *
 * **Contract**
 * - `response.completed`, `incomplete` and `failed` end it; nothing behind counts.
 * - Each part of a reasoning summary is a thinking block; the first carries the item. A reasoning item that shows nothing is an empty one.
 * - A refusal is shown as text, is the message's `refusal`, and stops with `guardRail`. A call of the service that waits for a decision stops with `toolUse`.
 * - Content that is not known is kept as it came, with a warning.
 * - What came without deltas is read from the finished item, or from the finished response.
 * - `start` is emitted with the first item, so that a refusal before it leaves the call unseen.
 */
export class ResponsesDecoder implements StreamDecoder {
  readonly terminal = 'response.completed'
  readonly builder: AssistantBuilder
  isDone = false
  readonly #service: string
  readonly #frames: SseDecoder
  readonly #writer: ItemWriter
  #stopReason: StopReason = 'stop'
  #reason = ''
  #id: string | undefined
  readonly #unknown = new Set<string>()

  constructor({ answerTool }: Pick<EncodedCall, 'answerTool'>, { request, service, emit, framing }: DecoderContext) {
    this.#service = service
    this.builder = new AssistantBuilder(request.model, emit, answerTool)
    this.#writer = new ItemWriter(this.builder, request.model, request.messages)
    this.#frames = createSseDecoder((data, event) => this.#frame(data, event), framing)
  }

  get isComplete(): boolean {
    return this.isDone
  }

  get progress(): number {
    return this.#writer.progress
  }

  push(bytes: Uint8Array): void {
    this.#frames.feed(bytes)
  }

  end(): void {
    this.#frames.end()
  }

  finish(): AssistantMessage {
    const { builder } = this
    const hasCalls = builder.message.content.some(({ type }) => type === 'toolCall')
    this.#writer.end(hasCalls && this.#stopReason === 'stop')
    const isGuarded = this.#stopReason === 'stop' && builder.message.refusal !== undefined
    const message = builder.finish(isGuarded ? 'guardRail' : this.#stopReason, builder.message.usage)
    if (message.stopReason === 'error') message.errorMessage = `${this.#service} left the answer incomplete: ${this.#reason}.`
    return message
  }

  #frame(data: string, event: string | undefined): void {
    if (this.isDone || isMarker(data) !== undefined) return
    let parsed: ResponsesEvent | null
    try {
      parsed = JSON.parse(data)
    } catch {
      throw new ProviderError('network', `${this.#service} sent an event that is not JSON: ${data.slice(0, 100)}`)
    }
    const fields = objectIn(parsed, 'an event')
    if (fields !== undefined) this.#read(fields, wordIn(fields.type, 'the type of an event') ?? event)
  }

  #read(event: ResponsesEvent, type: string | undefined): void {
    switch (type) {
      case 'response.output_text.delta':
        this.#writer.text(event)
        return
      case 'response.function_call_arguments.delta':
        this.#writer.argumentsDelta(event)
        return
      case 'response.reasoning_summary_text.delta':
        this.#writer.summary(event)
        return
      case 'response.reasoning_text.delta':
      // In the specification's documents, and sent by servers built after them.
      case 'response.reasoning.delta':
        this.#writer.reasoning(event)
        return
      case 'response.refusal.delta':
        this.#writer.refusal(event)
        return
      case 'response.output_text.annotation.added':
        this.#writer.annotation(event)
        return
      case 'response.created': {
        const id = event.response?.id
        if (this.#id !== undefined && id !== this.#id) throw secondMessage(this.#service)
        this.#id = id
        this.builder.answeredBy(id, event.response?.model)
        return
      }
      case 'response.output_item.added':
        this.#writer.open(event)
        return
      case 'response.output_item.done':
        this.#writer.close(event)
        return
      // As `response.reasoning.delta`.
      case 'response.function_call_arguments.start':
        this.#writer.call(event)
        return
      case 'response.function_call_arguments.done':
        this.#writer.argumentsDone(event)
        return
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.done':
        this.#end(objectIn(event.response, 'a response') ?? {}, type)
        return
      case 'error':
        this.#fail(event.error ?? event, event)
        return
      default:
        if (type === undefined && event.error) this.#fail(event.error, event)
        if (type === undefined && (event.delta ?? event.item ?? event.response)) throw new OddValue('the type of an event', type)
        if (type !== undefined) this.#other(event, type)
    }
  }

  /** What belongs to an item comes whole with the end of it. */
  #other(event: ResponsesEvent, type: string): void {
    if (event.item_id !== undefined || event.output_index !== undefined) this.#writer.goOn(event, type)
    else if (event.delta && !this.#unknown.has(type)) {
      this.#unknown.add(type)
      this.builder.warn(
        `The service sent content in events of the kind "${type.slice(0, 60)}", which this version does not know. It is lost.`,
      )
    }
  }

  #end(response: WireResponse, type: string): void {
    this.builder.answeredBy(response.id, response.model)
    this.builder.message.usage = usageOf(response) ?? this.builder.message.usage
    if (typeof response.service_tier === 'string') this.builder.message.serviceTier = response.service_tier.slice(0, 100)
    const status = wordIn(response.status, 'a status') ?? type.slice('response.'.length)
    if (status === 'failed' || status === 'cancelled') {
      const error = response.error ?? { message: `the response has the status "${status}"` }
      this.#fail(error, { error })
      return
    }
    this.#writer.fillIn(response.output)
    if (status === 'incomplete') {
      const reason = wordIn(response.incomplete_details?.reason, 'a reason to stop') ?? 'max_output_tokens'
      this.#reason = reason
      this.#stopReason = Object.hasOwn(incompleteReasons, reason) ? (incompleteReasons[reason] ?? 'error') : 'error'
    }
    this.isDone = true
  }

  /** A filter is a way to stop, not a failure, wherever the service reports it. */
  #fail(error: unknown, body: object): void {
    if (objectOf<{ code?: unknown }>(error).code !== 'content_filter') throw new StreamRefusal(body)
    this.#stopReason = 'guardRail'
    this.isDone = true
  }
}
