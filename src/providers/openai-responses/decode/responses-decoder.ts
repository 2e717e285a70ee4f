import { ownOf } from '../../../contract/json.ts'
import type { AssistantMessage, StopReason } from '../../../contract/message/message.ts'
import { createSseDecoder, type SseDecoder } from '../../../stream/sse.ts'
import type { DecoderContext, EncodedCall } from '../../kit/codec.ts'
import { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import { fellBackTo, isMarker, parsedEvent, type StreamDecoder, StreamRefusal, secondMessage } from '../../kit/decode/decoder.ts'
import { UnknownFields } from '../../kit/decode/unknown-fields.ts'
import { OddValue, objectIn, objectOf, wordIn } from '../../kit/decode/wire-value.ts'
import { ItemWriter } from './item-writer.ts'
import { type ResponsesEvent, usageOf, type WireResponse } from './wire.ts'

/** Stop reasons of an incomplete response. Source: docs/providers/openai-responses.md */
const incompleteReasons: { readonly [reason: string]: StopReason } = {
  max_output_tokens: 'length',
  max_messages: 'length',
  content_filter: 'guardRail',
}

/** Item events and their handlers. */
const itemEvents = new Map<string, (writer: ItemWriter, event: ResponsesEvent) => void>([
  ['response.output_text.delta', ({ message }, event) => message.text(event)],
  ['response.function_call_arguments.delta', ({ call }, event) => call.argumentsDelta(event)],
  ['response.reasoning_summary_text.delta', ({ reasoning }, event) => reasoning.summary(event)],
  ['response.reasoning_text.delta', ({ reasoning }, event) => reasoning.reasoning(event)],
  // The API documents these events, and compatible servers send them.
  ['response.reasoning.delta', ({ reasoning }, event) => reasoning.reasoning(event)],
  ['response.refusal.delta', ({ message }, event) => message.refusal(event)],
  ['response.output_text.annotation.added', ({ message }, event) => message.annotation(event)],
  ['response.output_item.added', (writer, event) => writer.open(event)],
  ['response.output_item.done', (writer, event) => writer.close(event)],
  ['response.function_call_arguments.done', ({ call }, event) => call.argumentsDone(event)],
])

/** Events that report progress or repeat others. */
const repeating: ReadonlySet<string> = new Set(
  [
    ...['in_progress', 'queued', 'output_text.done', 'content_part.added', 'content_part.done', 'refusal.done', 'reasoning.done'],
    ...['reasoning_summary_part.added', 'reasoning_summary_part.done', 'reasoning_summary_text.done', 'reasoning_text.done'],
    ...['reasoning_summary.delta', 'reasoning_summary.done', 'reasoning_part.added', 'reasoning_part.done'],
  ].map((name) => `response.${name}`),
)

/** Known fields: read, or ignored because they only describe the response. */
const known = {
  event: new Set([
    ...['type', 'sequence_number', 'item_id', 'output_index', 'content_index', 'summary_index', 'annotation_index', 'obfuscation', 'delta'],
    ...['logprobs', 'annotation', 'item', 'arguments', 'name', 'call_id', 'response_id', 'event_id'],
  ]),
  /** Fields that identify an event's position. */
  place: new Set([
    ...['type', 'sequence_number', 'item_id', 'output_index', 'content_index', 'summary_index', 'command_index', 'obfuscation'],
    ...['response_id', 'event_id'],
  ]),
  /** Responses echo request fields. */
  response: new Set([
    ...['id', 'object', 'created_at', 'completed_at', 'status', 'background', 'error', 'incomplete_details', 'instructions', 'model'],
    ...['output', 'output_text', 'max_output_tokens', 'max_tool_calls', 'metadata', 'parallel_tool_calls', 'previous_response_id'],
    ...['prompt', 'usage', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'reasoning', 'safety_identifier'],
    ...['service_tier', 'store', 'temperature', 'text', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation', 'user'],
    ...['tool_usage', 'conversation', 'billing', 'frequency_penalty', 'presence_penalty', 'content_filters', 'context_management'],
    ...['include', 'moderation', 'debug_output', 'stream', 'access_policy', 'next_response_ids', 'verbosity', 'stop', 'seed', 'provider'],
    ...['openrouter_metadata', 'cost_token', 'multi_agent'],
  ]),
}

/**
 * Decodes the events of one Responses stream from OpenAI or a compatible provider.
 *
 * **Contract**
 * - `response.completed`, `incomplete` and `failed` end the stream. Ignores later events.
 * - Each part of a reasoning summary becomes a thinking block. The first block stores the item. A reasoning item without a summary becomes
 *   an empty block.
 * - A refusal sets the message's `refusal` and the stop reason `guardRail`. A provider-executed call with a pending approval sets the stop
 *   reason `toolUse`.
 * - Preserves unknown content and logs a warning.
 * - Reads content without deltas from the finished item or the finished response.
 * - Emits `start` with the first item, so that an earlier rejection emits nothing.
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
  readonly #unknown: UnknownFields

  constructor({ answerTool }: Pick<EncodedCall, 'answerTool'>, { request, service, emit, framing }: DecoderContext) {
    this.#service = service
    this.builder = new AssistantBuilder(request.model, emit, answerTool)
    this.builder.keepsTools = true
    this.#unknown = new UnknownFields(this.builder)
    this.#writer = new ItemWriter(this.builder, request.model, request.messages, this.#unknown)
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
    if (message.stopReason === 'error') message.errorMessage = `${this.#service} returned an incomplete response: ${this.#reason}.`
    return message
  }

  #frame(data: string, event: string | undefined): void {
    if (this.isDone || isMarker(data) !== undefined) return
    const parsed = parsedEvent<ResponsesEvent | null>(data, this.#service)
    const fields = objectIn(parsed, 'an event')
    if (fields !== undefined) this.#read(fields, wordIn(fields.type, 'the type of an event') ?? event)
  }

  #read(event: ResponsesEvent, type: string | undefined): void {
    const write = type === undefined ? undefined : itemEvents.get(type)
    if (write !== undefined) {
      this.#unknown.look(event, known.event)
      write(this.#writer, event)
      return
    }
    switch (type) {
      case 'response.created': {
        const id = event.response?.id
        if (this.#id !== undefined && id !== this.#id) throw secondMessage(this.#service)
        this.#id = id
        this.builder.answeredBy(id, event.response?.model)
        return
      }
      // Compatible servers send this event, too.
      case 'response.function_call_arguments.start':
        this.#writer.call.start(event)
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

  /** Ignores progress of a provider-executed item, which is read when it is complete. */
  #other(event: ResponsesEvent, type: string): void {
    const isOfItem = event.item_id !== undefined || event.output_index !== undefined
    if (isOfItem && this.#writer.goOn(event, type)) return
    if (!repeating.has(type)) this.#unknown.event(type, event, known.place)
  }

  #end(response: WireResponse, type: string): void {
    this.#unknown.look(response, known.response)
    this.builder.answeredBy(response.id, response.model)
    fellBackTo(this.builder.message, response.model)
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
      this.#stopReason = ownOf(incompleteReasons, reason) ?? 'error'
    }
    this.isDone = true
  }

  /** Ends the response with an error. Treats an error from the content filter as a stop, not as a failure. */
  #fail(error: unknown, body: object): void {
    if (objectOf<{ code?: unknown }>(error).code !== 'content_filter') throw new StreamRefusal(body)
    this.#stopReason = 'guardRail'
    this.isDone = true
  }
}
