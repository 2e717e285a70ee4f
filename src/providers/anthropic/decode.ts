import { ProviderError } from '../../contract/errors.ts'
import { isJsonObject, isObject, type JsonObject, type JsonValue } from '../../contract/json.ts'
import type { ProviderState } from '../../contract/message/content.ts'
import type { AssistantMessage, StopReason } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import { emptyUsage, type Usage } from '../../contract/model/usage.ts'
import { createSseDecoder, type SseDecoder } from '../../stream/sse.ts'
import type { DecoderContext } from '../kit/codec.ts'
import { AssistantBuilder } from '../kit/decode/assistant-builder.ts'
import {
  fellBackTo,
  filledContext,
  isMarker,
  parsedEvent,
  type StreamDecoder,
  StreamRefusal,
  secondMessage,
} from '../kit/decode/decoder.ts'
import { textOfArguments } from '../kit/decode/parse-call.ts'
import { growBlock, UnknownFields } from '../kit/decode/unknown-fields.ts'
import { fieldsIn, indexIn, OddValue, objectIn, objectsIn, textIn, wordIn } from '../kit/decode/wire-value.ts'
import { type CitedDocuments, namedCitation } from '../kit/optional/citations/cited-documents.ts'
import { citationOf, isKnownCitation } from './citations.ts'
import type { AnthropicCall } from './encode.ts'
import { expectedKinds, fallbackModel, isServiceCall, isServiceResult, keptBlock, ServiceBlocks, shownDeltas } from './service-blocks.ts'
import { addUsage, knownFields, type WireBlock, type WireEvent, type WireMessage, type WireUsage } from './wire.ts'

/** A block in progress. */
interface OpenBlock {
  key: number
  kind: 'text' | 'thinking' | 'call' | 'service' | 'other'
  /** Fragments of a provider-executed call or an unknown block. */
  raw?: string
  /** An unknown block as received. */
  wire?: WireBlock
  /** Citations of a text block, as received. */
  citations?: JsonValue[]
  /** Id and initial input of a call. The initial input applies if no fragments follow. */
  id?: string | undefined
  input?: unknown
  hasFragments: boolean
  isClosed: boolean
}

/** Maps the API's stop reasons. */
const stopReasons = new Map<string, StopReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'toolUse'],
  ['pause_turn', 'paused'],
  ['compaction', 'paused'],
  ['refusal', 'guardRail'],
])

/** Decodes the events of one Messages response. Binds reasoning to the call's `prefixHash`. */
export class AnthropicDecoder implements StreamDecoder {
  readonly terminal = 'message_stop'
  readonly builder: AssistantBuilder
  isDone = false
  progress = 0
  readonly #model: ModelConfig
  readonly #prefixHash: string | undefined
  readonly #frames: SseDecoder
  readonly #usage: Usage = emptyUsage()
  readonly #blocks: OpenBlock[] = []
  readonly #byIndex = new Map<number, OpenBlock>()
  #last: OpenBlock | undefined
  #hasBegun = false
  #endsBlocks = false
  #messageId: string | undefined
  #stopReason: string | undefined
  /** Refusal details. */
  #stopDetails: unknown
  /** Container for code execution. The last reported container is used. */
  #container: unknown
  readonly #service: ServiceBlocks
  readonly #cited: CitedDocuments
  readonly #unknown: UnknownFields

  constructor({ prefixHash, answerTool, cited }: Pick<AnthropicCall, 'prefixHash' | 'answerTool' | 'cited'>, context: DecoderContext) {
    const { request, emit, framing } = context
    this.#model = request.model
    this.#prefixHash = prefixHash
    this.builder = new AssistantBuilder(request.model, emit, answerTool, request.continues)
    this.builder.keepsTools = true
    this.builder.counts(this.#usage)
    this.#service = new ServiceBlocks(this.builder, (payload) => this.#own(payload), request.messages)
    this.#cited = cited
    this.#unknown = new UnknownFields(this.builder)
    this.#frames = createSseDecoder((data, name) => this.#frame(data, name), framing)
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
    const wire = this.#stopReason ?? 'end_turn'
    const reason = stopReasons.get(wire)
    if (reason === undefined) throw new ProviderError('other', `Anthropic returned an unknown stop reason: ${wire}.`)
    // If the server does not end blocks, the end of the message ends all blocks.
    for (const block of this.#blocks) {
      if (block.isClosed) continue
      this.#close(block)
      if (block.kind === 'call' && this.#endsBlocks) this.builder.unendedCall(block.key)
    }
    const message = this.builder.finish(reason, this.#usage)
    if (this.#prefixHash !== undefined) {
      for (const block of message.content) if (block.type === 'thinking') block.providerState ??= this.#state({})
    }
    if (isJsonObject(this.#container)) message.providerState = this.#own({ container: this.#container })
    if (reason === 'guardRail') {
      message.errorMessage = `Anthropic refused to respond${detailsOf(this.#stopDetails)}.`
      const { explanation }: { explanation?: unknown } = Object(this.#stopDetails)
      if (typeof explanation === 'string' && explanation !== '') message.refusal = explanation
    }
    return wire === 'model_context_window_exceeded' ? filledContext(message) : message
  }

  #frame(data: string, name: string | undefined): void {
    // Ignore everything after the terminal event.
    if (this.isDone) return
    // For a response with a stop reason, the event name suffices to end it. Before that, an empty event is ignored.
    if (name === 'message_stop' && this.#stopReason !== undefined) this.isDone = true
    if (this.isDone || isMarker(data) !== undefined) return
    const parsed = parsedEvent<WireEvent | null>(data, 'Anthropic')
    if (name === 'error') throw new StreamRefusal(parsed)
    const event = fieldsIn(parsed, 'an event')
    if (event === undefined) return
    if (event.error) throw new StreamRefusal(event)
    const type = wordIn(event.type, 'the type of an event')
    // Ignore an event without fields, regardless of its name.
    if (type === undefined && objectIn(event, 'an event') === undefined) return
    this.#read(event, type ?? name)
  }

  #read(event: WireEvent, type: string | undefined): void {
    switch (type) {
      case 'content_block_delta':
        this.progress++
        this.#unknown.look(event, knownFields.event)
        this.#delta(indexIn(event.index), fieldsIn(event.delta, 'a delta'))
        return
      case 'content_block_start':
        this.progress++
        this.#unknown.look(event, knownFields.event)
        this.#open(indexIn(event.index), objectIn(event.content_block, 'a content block'))
        return
      case 'content_block_stop': {
        const index = indexIn(event.index)
        const block = index === undefined ? this.#last : this.#byIndex.get(index)
        this.#endsBlocks = true
        if (block !== undefined) this.#close(block)
        return
      }
      case 'message_start':
        this.#begin(objectIn(event.message, 'a message'))
        return
      case 'message_delta':
        this.progress++
        this.#unknown.look(event, knownFields.event)
        if (event.delta) this.#unknown.look(event.delta, knownFields.delta)
        this.#stopDetails = event.delta?.stop_details ?? this.#stopDetails
        this.#container = event.delta?.container ?? this.#container
        this.#stopReason = wordIn(objectIn(event.delta, 'a delta')?.stop_reason, 'a reason to stop') ?? this.#stopReason
        this.#count(event.usage)
        return
      case 'message':
        // A complete message, because the server did not stream.
        this.#begin(event)
        this.isDone = true
        return
      case 'message_stop':
        this.isDone = true
        return
      case 'error':
        throw new StreamRefusal(event)
      case undefined:
        if (event.delta ?? event.content_block ?? event.message) throw new OddValue('the type of an event', type)
        return
      default:
        // Pings, and events of newer API versions.
        this.#unknown.event(type, event, knownFields.kind)
        return
    }
  }

  /** A gateway may send the complete response in the first event, or send this event twice. */
  #begin(message: WireMessage | undefined): void {
    if (this.#hasBegun && (message?.id !== this.#messageId || this.#blocks.length > 0)) throw secondMessage('Anthropic')
    this.#hasBegun = true
    this.#messageId = message?.id
    if (message !== undefined) this.#unknown.look(message, knownFields.event)
    this.builder.answeredBy(message?.id, message?.model)
    this.#count(message?.usage)
    this.#stopReason = wordIn(message?.stop_reason, 'a reason to stop')
    this.#container = message?.container ?? this.#container
    this.builder.start()
    for (const [index, block] of objectsIn(message?.content, 'content blocks').entries()) this.#close(this.#open(index, block))
  }

  #delta(index: number | undefined, delta: WireEvent['delta']): void {
    if (delta === undefined) return
    const type = wordIn(delta.type, 'the type of a delta')
    if (type !== undefined && !shownDeltas.has(type) && this.#grow(this.#find(index), delta)) return
    this.#unknown.look(delta, knownFields.delta)
    switch (type) {
      case 'text_delta':
        this.builder.text(this.#block(index, 'text').key, delta.text ?? '')
        return
      case 'thinking_delta':
        this.builder.thinking(this.#block(index, 'thinking').key, delta.thinking ?? '')
        return
      case 'input_json_delta': {
        const block = this.#find(index)
        const fragment = textOfArguments(delta.partial_json)
        if (block?.kind === 'other' || block?.kind === 'service') block.raw = (block.raw ?? '') + fragment
        if (fragment === '' || block?.kind === 'other' || block?.kind === 'service') return
        if (block?.kind !== 'call') throw new OddValue('a call that was never opened', delta.partial_json)
        block.hasFragments = true
        this.builder.toolArguments(block.key, fragment)
        return
      }
      case 'signature_delta':
        this.builder.setSignature(this.#block(index, 'thinking').key, delta.signature ?? '')
        return
      case 'citations_delta':
        this.#cite(this.#block(index, 'text'), objectIn(delta.citation, 'a citation'))
        return
      case undefined:
        if (objectIn(delta, 'a delta') !== undefined) throw new OddValue('the type of a delta', type)
        return
      default:
        this.#unknown.event(type, delta, knownFields.kind)
        return
    }
  }

  /** Merges a delta into an unknown block, whose fields it continues by name. Returns false if there is no such block. */
  #grow(block: OpenBlock | undefined, delta: object): boolean {
    if (block?.kind !== 'other' || block.wire === undefined || block.isClosed) return false
    growBlock(block.wire, delta)
    return true
  }

  /** Adds a citation that covers the whole block. The block's text may follow later. */
  #cite(block: OpenBlock, wire: object | undefined): void {
    if (wire === undefined) return
    if (!isKnownCitation(wire)) this.builder.warn('Anthropic sent a citation of an unknown type. The citation source was dropped.')
    block.citations ??= []
    block.citations.push(wire as JsonObject) // Parsed JSON.
    const citation = namedCitation(citationOf(wire), this.#cited)
    if (Object.keys(citation).length > 0) this.builder.citation(block.key, citation)
  }

  /** Opens a new block for each start event, regardless of its index. A gateway may start a call twice. */
  #open(index: number | undefined, wire: WireBlock | undefined): OpenBlock {
    const known = this.#find(index)
    const type = wordIn(wire?.type, 'the type of a content block')
    if (type === undefined) throw new OddValue('the type of a content block', type)
    if (wire?.type === 'tool_use' && known?.kind === 'call' && !known.isClosed && wire.id !== undefined && known.id === wire.id) {
      if (!isEmptyInput(wire.input)) known.input = wire.input
      return known
    }
    const block = this.#add(index, type === 'tool_use' ? 'call' : kindOf(type))
    if (block.kind !== 'other' || type === 'redacted_thinking') this.#unknown.look(wire ?? {}, knownFields.block)
    const { key } = block
    // Another block with the same index replaces a block without content.
    if (known !== undefined) this.builder.ends(known.key)
    if ((type === 'text' || type === 'thinking') && typeof (wire?.[type] ?? '') === 'string') this.builder.begins(key, type)
    switch (wire?.type) {
      case 'text':
        this.builder.text(key, wire.text ?? '')
        for (const each of objectsIn(wire.citations, 'citations')) this.#cite(block, each)
        break
      case 'thinking':
        this.builder.thinking(key, wire.thinking ?? '')
        this.builder.setSignature(key, wire.signature ?? '')
        break
      case 'redacted_thinking':
        this.builder.setProviderState(key, this.#state({ redacted: textIn(wire?.data, 'withheld reasoning') }))
        break
      case 'tool_use':
        block.id = wire.id
        block.input = wire.input
        this.builder.toolCall(key, wire.id, wire.name)
        this.#keepFields(key, wire)
        break
      default:
        this.#openOther(block, type, wire ?? {})
    }
    return block
  }

  /** Stores the caller and toolset of a call, which must be sent back. */
  #keepFields(key: number, { caller, toolset_name }: WireBlock): void {
    if (!isJsonObject(caller) && typeof toolset_name !== 'string') return
    this.builder.setProviderState(
      key,
      this.#own({ ...(isJsonObject(caller) && { caller }), ...(typeof toolset_name === 'string' && { toolset_name }) }),
    )
  }

  /** Opens a provider-executed call, its result, or an unknown block. */
  #openOther(block: OpenBlock, type: string, wire: WireBlock): void {
    if (isServiceResult(type) && this.#service.result(wire)) return
    const id = isServiceCall(type) ? this.#service.open(wire) : undefined
    if (id === undefined) block.wire = wire
    else Object.assign(block, { kind: 'service', id })
  }

  #closeOther({ key, wire = {}, raw }: OpenBlock): void {
    const kind = String(wire.type)
    const state = this.#own({ block: keptBlock(wire, raw) })
    // Deltas with known content were already emitted under `key`, so the block needs a separate key.
    const own = `kept ${key}`
    if (kind === 'fallback') fellBackTo(this.builder.message, fallbackModel(wire))
    if (expectedKinds.has(kind)) this.builder.whole(own, { type: 'opaque', kind, providerState: state })
    else this.builder.unknown(own, kind, state)
  }

  #close(block: OpenBlock): void {
    const { kind, isClosed, hasFragments, input, key, id, citations } = block
    block.isClosed = true
    if (isClosed) return
    this.builder.ends(key)
    if (kind === 'call' && !hasFragments && !isEmptyInput(input)) this.builder.toolArguments(key, textOfArguments(input))
    if (kind === 'service' && id !== undefined) this.#service.input(id, block.raw ?? '')
    if (kind === 'text' && citations !== undefined) this.builder.setProviderState(key, this.#own({ citations }), 'text')
    if (kind === 'other' && block.wire !== undefined) this.#closeOther(block)
  }

  /** Returns the block that a delta extends. Creates the block if its start event is missing or has a different kind. */
  #block(index: number | undefined, kind: 'text' | 'thinking'): OpenBlock {
    const block = this.#find(index)
    return block === undefined || (block.kind !== kind && block.kind !== 'other') ? this.#add(index, kind) : block
  }

  /** Finds a block by index. If a server omits the index, returns the last block. */
  #find(index: number | undefined): OpenBlock | undefined {
    return index === undefined || this.#byIndex.size === 0 ? this.#last : this.#byIndex.get(index)
  }

  #add(index: number | undefined, kind: OpenBlock['kind']): OpenBlock {
    const block: OpenBlock = { key: this.#blocks.length, kind, hasFragments: false, isClosed: false }
    this.#blocks.push(block)
    if (index !== undefined) this.#byIndex.set(index, block)
    this.#last = block
    return block
  }

  #count(wire: WireUsage | undefined): void {
    addUsage(this.#usage, wire)
    if (typeof wire?.service_tier === 'string') this.builder.message.serviceTier = wire.service_tier
  }

  /** Wraps state that is bound to the model only. */
  #own(payload: JsonObject): ProviderState {
    return { api: this.#model.api, model: this.#model.id, payload }
  }

  #state(payload: JsonObject): ProviderState {
    const state = this.#own(payload)
    return this.#prefixHash === undefined ? state : { ...state, prefixHash: this.#prefixHash }
  }
}

function kindOf(type: string | undefined): 'text' | 'thinking' | 'other' {
  return type === 'text' || type === 'thinking' ? type : 'other'
}

/** Formats a refusal's `{ category, explanation }`. */
function detailsOf(value: unknown): string {
  const { category, explanation }: { category?: unknown; explanation?: unknown } = Object(value)
  const kind = typeof category === 'string' ? ` (${category})` : ''
  return typeof explanation === 'string' ? `${kind}: ${explanation.replace(/\.$/, '')}` : kind
}

/** Calls start with `{}` if fragments follow. */
function isEmptyInput(input: unknown): boolean {
  if (input === undefined || input === null) return true
  return isObject(input) && Object.keys(input).length === 0
}
