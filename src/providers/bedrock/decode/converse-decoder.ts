import { ProviderError } from '../../../contract/errors.ts'
import { ownOf } from '../../../contract/json.ts'
import type { AssistantMessage, StopReason } from '../../../contract/message/message.ts'
import { emptyUsage, type Usage } from '../../../contract/model/usage.ts'
import { type AwsEventDecoder, createAwsEventDecoder, type EventHeaders } from '../../../stream/aws-event-stream.ts'
import { createLineDecoder, type LineDecoder } from '../../../stream/lines.ts'
import type { DecoderContext } from '../../kit/codec.ts'
import { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import { filledContext, parsedEvent, type StreamDecoder, StreamRefusal, secondMessage } from '../../kit/decode/decoder.ts'
import { UnknownFields } from '../../kit/decode/unknown-fields.ts'
import { indexIn, objectIn, wordIn } from '../../kit/decode/wire-value.ts'
import { type Answered, ConverseBlocks } from './converse-blocks.ts'
import { addUsage, knownEvents, knownFields, type WireEvent } from './wire.ts'

/** Maps the API's stop reasons. */
const stopReasons: Record<string, StopReason> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'toolUse',
  guardrail_intervened: 'guardRail',
  content_filtered: 'guardRail',
}

/**
 * Decodes a ConverseStream response: the AWS binary event stream or, by content type, JSON lines.
 *
 * **Contract**
 * - `messageStop` completes the message. `metadata` with the usage may arrive before, after, or not at all. An incomplete frame fails the
 *   message unless `metadata` has arrived. Events after both are ignored.
 * - Calls with a type to tools that were not offered are provider-executed, as are marked calls. They do not run here.
 */
export class BedrockDecoder implements StreamDecoder {
  readonly builder: AssistantBuilder
  progress = 0
  readonly #frames: AwsEventDecoder
  readonly #framing: DecoderContext['framing']
  #lines: LineDecoder | undefined
  readonly #utf8 = new TextDecoder()
  readonly #usage: Usage = emptyUsage()
  readonly #blocks: ConverseBlocks
  #hasBegun = false
  #stopReason: string | undefined
  #hasMetadata = false
  readonly #unknown: UnknownFields

  constructor(call: Answered, { request, emit, framing }: DecoderContext) {
    this.#framing = framing
    this.builder = new AssistantBuilder(request.model, emit, call.answerTool)
    this.builder.keepsTools = true
    this.builder.message.usage = this.#usage
    this.#unknown = new UnknownFields(this.builder)
    this.#blocks = new ConverseBlocks(call, { request, builder: this.builder, unknown: this.#unknown })
    this.#frames = createAwsEventDecoder((headers, payload) => this.#message(headers, payload))
  }

  get terminal(): string {
    return this.#stopReason === undefined ? 'messageStop' : 'the rest of its last event'
  }

  get isComplete(): boolean {
    return this.isDone || (this.#stopReason !== undefined && !this.#frames.isInside)
  }

  get owed(): 'usage' | undefined {
    return this.#hasMetadata ? undefined : 'usage'
  }

  get isDone(): boolean {
    return this.#stopReason !== undefined && this.#hasMetadata
  }

  begin(contentType: string): void {
    if (contentType.includes('ndjson')) this.#lines = createLineDecoder((line) => this.#line(line), this.#framing)
  }

  push(bytes: Uint8Array): void {
    if (this.#lines === undefined) this.#frames.feed(bytes)
    else this.#lines.feed(bytes)
  }

  end(): void {
    this.#lines?.end()
  }

  finish(): AssistantMessage {
    const wire = this.#stopReason ?? ''
    if (wire.startsWith('malformed_')) {
      const message = `Amazon Bedrock stopped with ${wire}: the model output is unusable. Retry.`
      throw new ProviderError('api', message, { isRetryable: true })
    }
    if (wire === '') throw new ProviderError('network', 'Amazon Bedrock stopped without a reason. The response may be truncated.')
    const reason = ownOf(stopReasons, wire)
    if (reason === undefined) throw new ProviderError('other', `Amazon Bedrock returned an unknown stop reason: ${wire.slice(0, 100)}.`)
    this.#blocks.end()
    const message = this.builder.finish(reason, this.#usage)
    this.#blocks.bind(message)
    return wire === 'model_context_window_exceeded' ? filledContext(message) : message
  }

  #message(headers: EventHeaders, payload: Uint8Array): void {
    // Ignore everything after the end.
    if (this.isDone) return
    const exception = headers.get(':exception-type')
    if (exception !== undefined) throw refusal(exception, this.#parse(this.#utf8.decode(payload)))
    if (headers.get(':message-type') === 'error') {
      throw new StreamRefusal({ error: { type: headers.get(':error-code'), message: headers.get(':error-message') } })
    }
    const type = headers.get(':event-type')
    if (type !== undefined) this.#event(type, this.#parse(this.#utf8.decode(payload)))
  }

  #line(line: string): void {
    if (this.isDone) return
    for (const [type, event] of Object.entries(this.#parse(line))) {
      const fields = objectIn<object>(event, 'an event') ?? {}
      if (type.endsWith('Exception')) throw refusal(type, fields)
      if (type === 'error') throw new StreamRefusal({ error: event })
      this.#event(type, fields)
    }
  }

  #parse(json: string): object {
    const value = parsedEvent<object | null>(json, 'Amazon Bedrock')
    return objectIn(value, 'an event') ?? {}
  }

  #event(type: string, event: WireEvent): void {
    const index = indexIn(event.contentBlockIndex)
    if (this.#stopReason !== undefined && type.startsWith('contentBlock')) throw secondMessage('Amazon Bedrock')
    if (knownEvents.has(type)) this.#unknown.look(event, knownFields.event)
    switch (type) {
      case 'contentBlockDelta':
        this.progress++
        this.#blocks.delta(index, objectIn(event.delta, 'a delta'))
        return
      case 'contentBlockStart':
        this.progress++
        this.#blocks.start(index, objectIn(event.start, 'the start of a block') ?? {})
        return
      case 'contentBlockStop':
        this.#blocks.stop(index)
        return
      case 'messageStart':
        if (this.#hasBegun) throw secondMessage('Amazon Bedrock')
        this.#hasBegun = true
        this.builder.start()
        return
      case 'messageStop':
        this.progress++
        this.#stopReason = wordIn(event.stopReason, 'a reason to stop') ?? ''
        return
      case 'metadata':
        this.progress++
        this.#hasMetadata = true
        addUsage(this.#usage, event.usage)
        if (typeof event.serviceTier?.type === 'string') this.builder.message.serviceTier = event.serviceTier.type.slice(0, 100)
        return
      default:
        // Events of newer API versions.
        this.#unknown.event(type, event, knownFields.kind)
        return
    }
  }
}

function refusal(type: string, { message, originalMessage }: { message?: unknown; originalMessage?: unknown }): StreamRefusal {
  return new StreamRefusal({ error: { type, message: message ?? originalMessage ?? type } })
}
