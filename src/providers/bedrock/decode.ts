import { joinBase64 } from '../../base/base64.ts'
import { ProviderError } from '../../contract/errors.ts'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { ProviderState } from '../../contract/message/content.ts'
import { newId } from '../../contract/message/ids.ts'
import { isBase64 } from '../../contract/message/media.ts'
import type { AssistantMessage, StopReason } from '../../contract/message/message.ts'
import { emptyUsage, type Usage } from '../../contract/model/usage.ts'
import { type AwsEventDecoder, createAwsEventDecoder, type EventHeaders } from '../../stream/aws-event-stream.ts'
import { createLineDecoder, type LineDecoder } from '../../stream/lines.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import type { DecoderContext, EncodedCall } from '../kit/codec.ts'
import { AssistantBuilder, textOfArguments } from '../kit/decode/assistant-builder.ts'
import { filledContext, type StreamDecoder, StreamRefusal, secondMessage } from '../kit/decode/decoder.ts'
import { growBlock } from '../kit/decode/grow-block.ts'
import { UnknownFields } from '../kit/decode/unknown-fields.ts'
import { indexIn, nameIn, OddValue, objectIn, textIn, wordIn } from '../kit/decode/wire-value.ts'
import type { BedrockCall } from './encode.ts'
import { documentName } from './media.ts'
import { citationOf, ServiceBlocks, unknownPlaceIn } from './service-blocks.ts'
import { addUsage, knownEvents, knownFields, type WireEvent, type WireResult } from './wire.ts'

/** How the service says why it stopped, in our terms. */
const stopReasons: Record<string, StopReason> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'toolUse',
  guardrail_intervened: 'guardRail',
  content_filtered: 'guardRail',
}

/** A call for us. */
interface OpenCall {
  key: number
  id: string | undefined
  isClosed: boolean
}

/** The block that an index stands for: some models give text, reasoning and a call the same index. */
interface OpenBlock {
  text?: number | undefined
  reasoning?: number | undefined
  call?: OpenCall
  /** A call of a tool that the service runs itself, and what it asks for so far. */
  service?: { id: string; raw: string } | undefined
  /** What came of such a call, so far. */
  result?: { begun: WireResult; content: JsonValue[] } | undefined
  /** What the text rests on, as the service says it. */
  citations?: JsonValue[] | undefined
  /** A picture so far. */
  picture?: { format: string; pieces: string[] } | undefined
  /** What is of no known kind, by its kind. */
  kept?: Map<string, JsonValue> | undefined
}

/** What its reasoning is bound to, the tool whose call is the answer, and what it can cite. */
type Answered = Omit<BedrockCall, Exclude<keyof EncodedCall, 'answerTool'>>

/**
 * Reads the events of one ConverseStream response: the binary event stream of AWS or, where the content type says so, JSON lines.
 *
 * **Contract**
 * - `messageStop` completes the message; `metadata`, which says what it cost, may come before or after it, or not at all. A frame that was
 *   begun and not ended makes the message incomplete again.
 * - Typed calls of tools that nobody offered are the service's own, as those are that say so: nothing of ours runs them.
 */
export class BedrockDecoder implements StreamDecoder {
  readonly builder: AssistantBuilder
  progress = 0
  readonly #request: StreamRequest
  readonly #call: Answered
  readonly #frames: AwsEventDecoder
  readonly #framing: DecoderContext['framing']
  #lines: LineDecoder | undefined
  readonly #utf8 = new TextDecoder()
  readonly #usage: Usage = emptyUsage()
  readonly #blocks = new Map<number, OpenBlock>()
  readonly #calls: OpenCall[] = []
  #nextKey = 0
  /** What an event without an index belongs to; below zero for blocks that were opened without one. */
  #index = 0
  #hasBegun = false
  #endsBlocks = false
  /** Withheld reasoning so far, by key. */
  readonly #redacted = new Map<number, string>()
  #stopReason: string | undefined
  #hasMetadata = false
  readonly #service: ServiceBlocks
  readonly #unknown: UnknownFields

  constructor(call: Answered, { request, emit, framing }: DecoderContext) {
    this.#framing = framing
    this.#request = request
    this.#call = call
    this.builder = new AssistantBuilder(request.model, emit, call.answerTool)
    this.builder.message.usage = this.#usage
    this.#service = new ServiceBlocks(this.builder, (payload) => this.#own(payload))
    this.#unknown = new UnknownFields(this.builder)
    this.#frames = createAwsEventDecoder((headers, payload) => this.#message(headers, payload))
  }

  get terminal(): string {
    return this.#stopReason === undefined ? 'messageStop' : 'the rest of its last event'
  }

  get isComplete(): boolean {
    return this.#stopReason !== undefined && !this.#frames.isInside
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
      const message = `Amazon Bedrock stopped with ${wire}: what the model wrote cannot be used. Try again.`
      throw new ProviderError('api', message, { isRetryable: true })
    }
    if (wire === '') throw new ProviderError('network', 'Amazon Bedrock stopped and did not say why: the answer may be cut off.')
    const reason = Object.hasOwn(stopReasons, wire) ? stopReasons[wire] : undefined
    if (reason === undefined)
      throw new ProviderError('other', `Amazon Bedrock stopped for a reason this package does not know: ${wire.slice(0, 100)}.`)
    // A service that ends no block at all means the end of the message.
    if (this.#endsBlocks) for (const { key, isClosed } of this.#calls) if (!isClosed) this.builder.unendedCall(key)
    for (const block of this.#blocks.values()) this.#close(block)
    if (reason !== 'toolUse') this.#service.close()
    const message = this.builder.finish(reason, this.#usage)
    if (this.#call.prefixHash !== undefined) {
      for (const block of message.content) if (block.type === 'thinking') block.providerState ??= this.#state({})
    }
    return wire === 'model_context_window_exceeded' ? filledContext(message) : message
  }

  #message(headers: EventHeaders, payload: Uint8Array): void {
    // After the end nothing counts.
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
    let value: object | null
    try {
      value = JSON.parse(json)
    } catch {
      throw new ProviderError('network', `Amazon Bedrock sent an event that is not JSON: ${json.slice(0, 100)}`)
    }
    return objectIn(value, 'an event') ?? {}
  }

  #event(type: string, event: WireEvent): void {
    const index = indexIn(event.contentBlockIndex)
    if (this.#stopReason !== undefined && type.startsWith('contentBlock')) throw secondMessage('Amazon Bedrock')
    if (knownEvents.has(type)) this.#unknown.look(event, knownFields.event)
    switch (type) {
      case 'contentBlockDelta':
        this.progress++
        this.#delta(this.#block(index), objectIn(event.delta, 'a delta'))
        return
      case 'contentBlockStart':
        this.progress++
        if (index === undefined) this.#index = -1 - this.#blocks.size
        this.#start(this.#block(index), objectIn(event.start, 'the start of a block') ?? {})
        return
      case 'contentBlockStop':
        this.#endsBlocks = true
        this.#close(this.#block(index))
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
        // Events that did not exist when this was written.
        this.#unknown.event(type, event, knownFields.kind)
        return
    }
  }

  #block(index: number | undefined): OpenBlock {
    if (index !== undefined) this.#index = index
    let block = this.#blocks.get(this.#index)
    if (block === undefined) {
      block = {}
      this.#blocks.set(this.#index, block)
    }
    return block
  }

  #start(block: OpenBlock, start: NonNullable<WireEvent['start']>): void {
    this.#open(block, objectIn(start.toolUse, 'a call'))
    if (start.toolResult) block.result = { begun: start.toolResult, content: [] }
    if (start.image) block.picture = { format: String(start.image.format ?? 'png'), pieces: [] }
    this.#keep(block, start, knownFields.start)
  }

  /** Content of kinds that are not known belongs to the block under whose index it comes. */
  #keep(block: OpenBlock, fields: object, known: ReadonlySet<string>): void {
    for (const kind in fields) {
      const value = Reflect.get(fields, kind) as JsonValue // off the wire, so it is JSON
      if (known.has(kind) || value === null) continue
      block.kept ??= new Map()
      const begun = block.kept.get(kind)
      if (isObject(begun) && isObject(value)) growBlock(begun, value)
      else block.kept.set(kind, value)
    }
  }

  /** An opening is a new call, also under an index that had one; but a gateway may open a call twice. */
  #open(block: OpenBlock, toolUse: NonNullable<WireEvent['start']>['toolUse']): void {
    if (toolUse === undefined) return
    this.#unknown.look(toolUse, knownFields.call)
    const { name, input, type } = toolUse
    const id = nameIn(toolUse.toolUseId, 'the id of a call')
    block.service = undefined
    if (type !== undefined && !this.#isOffered(toolUse)) {
      block.service = { id: id ?? newId(), raw: '' }
      this.#service.begin(block.service.id, nameIn(name, 'the name of a tool') ?? 'tool', type)
      return
    }
    const known = block.call
    if (known === undefined || known.isClosed || id === undefined || known.id !== id) {
      block.call = { key: this.#nextKey++, id, isClosed: false }
      this.#calls.push(block.call)
    }
    const key = block.call?.key ?? 0
    this.builder.toolCall(key, id, name)
    const opening = textOfArguments(input)
    if (opening !== '{}') this.builder.toolArguments(key, opening)
  }

  /** What comes under this index from now on is another block. Fragments of a call still belong to it. */
  #close(block: OpenBlock): void {
    if (block.call !== undefined) block.call.isClosed = true
    const { service, result, citations, picture, text, kept } = block
    if (service !== undefined) this.#service.input(service.id, service.raw)
    if (result !== undefined && !this.#service.result(result.begun, result.content))
      this.builder.warn('Amazon Bedrock sent a result that names no call. It is left out.')
    if (citations !== undefined && text !== undefined) this.builder.setProviderState(text, this.#own({ citations }), 'text')
    if (picture !== undefined) this.#picture(picture)
    for (const [kind, value] of kept ?? []) this.builder.unknown(this.#nextKey++, kind, this.#own({ block: { [kind]: value } }))
    block.kept = undefined
    block.service = undefined
    block.result = undefined
    block.citations = undefined
    block.picture = undefined
    block.text = undefined
    block.reasoning = undefined
  }

  #picture({ format, pieces }: NonNullable<OpenBlock['picture']>): void {
    const data = joinBase64(pieces)
    if (data === '' && pieces.length === 0) return
    if (data) this.builder.whole(this.#nextKey++, { type: 'image', mimeType: `image/${format}`, data })
    else this.builder.warn('Amazon Bedrock sent a picture whose bytes cannot be read. It is left out.')
  }

  #isOffered({ type, name }: { type?: string; name?: string }): boolean {
    return type !== 'server_tool_use' && (name === this.#call.answerTool || this.#request.tools.some((tool) => tool.name === name))
  }

  #delta(block: OpenBlock, delta: WireEvent['delta']): void {
    const text = textIn(delta?.text, 'text')
    if (text !== '') {
      block.text ??= this.#nextKey++
      this.builder.text(block.text, text)
    }
    const call = objectIn(delta?.toolUse, 'arguments')
    if (call !== undefined) {
      this.#unknown.look(call, knownFields.call)
      if (call.input === undefined) throw new OddValue('arguments', call)
      this.#arguments(block, textOfArguments(call.input))
    }
    if (delta) {
      this.#keep(block, delta, knownFields.delta)
      if (delta.citation ?? delta.toolResult ?? delta.image) this.#other(block, delta)
    }
    const reasoning = objectIn(delta?.reasoningContent, 'reasoning')
    if (reasoning !== undefined) {
      this.#unknown.look(reasoning, knownFields.reasoning)
      block.reasoning ??= this.#nextKey++
      this.#reasoning(block.reasoning, reasoning)
    }
  }

  /** What is neither text nor arguments: a citation, what came of a tool of the service, a picture. */
  #other(block: OpenBlock, delta: NonNullable<WireEvent['delta']>): void {
    const { citation, toolResult, image } = delta
    if (citation) {
      block.text ??= this.#nextKey++
      block.citations ??= []
      block.citations.push(citation as JsonObject) // off the wire, so it is JSON
      this.#cite(block.text, { ...citation })
    }
    if (toolResult && block.result !== undefined) block.result.content.push(...(Array.isArray(toolResult) ? toolResult : [toolResult]))
    else if (toolResult) this.builder.warn('Amazon Bedrock sent a result of a call that it did not open. It is left out.')
    if (!image) return
    const bytes = image.source?.bytes
    block.picture ??= { format: 'png', pieces: [] }
    block.picture.pieces.push(typeof bytes === 'string' ? bytes : '')
  }

  #cite(key: number, wire: Record<string, unknown>): void {
    const citation = this.#call.cited.named(citationOf(wire), documentName)
    const place = unknownPlaceIn(wire)
    if (place !== undefined)
      this.builder.warn(
        `Amazon Bedrock cited a place of the kind "${place.slice(0, 60)}", which this version does not know: it is left out.`,
      )
    if (Object.keys(citation).length > 0) this.builder.citation(key, citation)
  }

  #arguments({ call, service }: OpenBlock, fragment: string): void {
    if (service !== undefined) service.raw += fragment
    if (fragment === '' || service !== undefined) return
    if (call === undefined) throw new OddValue('arguments of a call that was never opened', fragment)
    this.builder.toolArguments(call.key, fragment)
  }

  #reasoning(key: number, { text, signature, redactedContent }: NonNullable<NonNullable<WireEvent['delta']>['reasoningContent']>): void {
    this.builder.thinking(key, text ?? '')
    this.builder.setSignature(key, signature ?? '')
    if (!redactedContent) return
    if (typeof redactedContent !== 'string' || !isBase64(redactedContent)) throw new OddValue('withheld reasoning', redactedContent)
    const before = this.#redacted.get(key)
    // Fragments are encoded one by one, so they are joined as bytes.
    const redacted = before === undefined ? redactedContent : btoa(atob(before) + atob(redactedContent))
    this.#redacted.set(key, redacted)
    this.builder.setProviderState(key, this.#state({ redacted }))
  }

  /** State that is bound to nothing but the model. */
  #own(payload: JsonObject): ProviderState {
    const { api, id: model } = this.#request.model
    return { api, model, payload }
  }

  #state(payload: JsonObject): ProviderState {
    const { prefixHash } = this.#call
    const state = this.#own(payload)
    return prefixHash === undefined ? state : { ...state, prefixHash }
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refusal(type: string, { message, originalMessage }: { message?: unknown; originalMessage?: unknown }): StreamRefusal {
  return new StreamRefusal({ error: { type, message: message ?? originalMessage ?? type } })
}
