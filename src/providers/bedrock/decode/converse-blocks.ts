import { joinBase64 } from '../../../base/base64.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts'
import type { ProviderState } from '../../../contract/message/content.ts'
import { newId } from '../../../contract/message/identity.ts'
import { isBase64 } from '../../../contract/message/media.ts'
import type { AssistantMessage } from '../../../contract/message/message.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import type { EncodedCall } from '../../kit/codec.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import { textOfArguments } from '../../kit/decode/parse-call.ts'
import { growBlock, type UnknownFields } from '../../kit/decode/unknown-fields.ts'
import { nameIn, OddValue, objectIn, textIn } from '../../kit/decode/wire-value.ts'
import { namedCitation } from '../../kit/optional/citations/cited-documents.ts'
import type { BedrockCall } from '../encode.ts'
import { documentName } from '../media.ts'
import { citationOf, ServiceBlocks, unknownPlaceIn } from './service-blocks.ts'
import { knownFields, type WireEvent, type WireResult } from './wire.ts'

/** A call in progress. */
interface OpenCall {
  key: number
  id: string | undefined
  isClosed: boolean
}

/** The blocks of one index. Some models use the same index for text, reasoning and a call. */
interface OpenBlock {
  text?: number | undefined
  reasoning?: number | undefined
  call?: OpenCall
  /** A provider-executed call with the input so far. */
  service?: { id: string; raw: string } | undefined
  /** The result of a provider-executed call so far. */
  result?: { begun: WireResult; content: JsonValue[] } | undefined
  /** The text's citations, as received. */
  citations?: JsonValue[] | undefined
  /** Image data so far. */
  picture?: { format: string; pieces: string[] } | undefined
  /** Unknown content by kind. */
  kept?: Map<string, JsonValue> | undefined
}

/**
 * What decoding a response requires: the hash that reasoning is bound to, the tool whose call is the final output, and the citable
 * documents.
 */
export type Answered = Omit<BedrockCall, Exclude<keyof EncodedCall, 'answerTool'>>

/** Dependencies of the block decoder. */
interface BlockParts {
  request: StreamRequest
  builder: AssistantBuilder
  unknown: UnknownFields
}

/**
 * Assembles the blocks of a ConverseStream response from starts, deltas and stops.
 *
 * **Contract**
 * - Events without an index belong to the last block.
 * - After a call's stop, further fragments still belong to the call. Any other content with the same index starts a new block.
 */
export class ConverseBlocks {
  readonly #call: Answered
  readonly #request: StreamRequest
  readonly #builder: AssistantBuilder
  readonly #unknown: UnknownFields
  readonly #service: ServiceBlocks
  readonly #blocks = new Map<number, OpenBlock>()
  readonly #calls: OpenCall[] = []
  #nextKey = 0
  /** Index for events without one; negative for blocks opened without one. */
  #index = 0
  #endsBlocks = false
  /** Redacted reasoning so far, by key. */
  readonly #redacted = new Map<number, string>()

  constructor(call: Answered, { request, builder, unknown }: BlockParts) {
    this.#call = call
    this.#request = request
    this.#builder = builder
    this.#unknown = unknown
    this.#service = new ServiceBlocks(builder, (payload) => this.#own(payload))
  }

  start(index: number | undefined, start: NonNullable<WireEvent['start']>): void {
    if (index === undefined) this.#index = -1 - this.#blocks.size
    const block = this.#block(index)
    this.#open(block, objectIn(start.toolUse, 'a call'))
    if (start.toolResult) block.result = { begun: start.toolResult, content: [] }
    if (start.image) block.picture = { format: String(start.image.format ?? 'png'), pieces: [] }
    this.#keep(block, start, knownFields.start)
  }

  delta(index: number | undefined, delta: WireEvent['delta']): void {
    this.#delta(this.#block(index), delta)
  }

  stop(index: number | undefined): void {
    this.#endsBlocks = true
    this.#close(this.#block(index))
  }

  /** Ends the message and all open blocks. */
  end(): void {
    // If the server does not end blocks, the end of the message ends all blocks.
    if (this.#endsBlocks) for (const { key, isClosed } of this.#calls) if (!isClosed) this.#builder.unendedCall(key)
    for (const block of this.#blocks.values()) this.#close(block)
  }

  /** Binds reasoning to the request, so that it is sent back only with the same prefix. */
  bind({ content }: AssistantMessage): void {
    if (this.#call.prefixHash === undefined) return
    for (const block of content) if (block.type === 'thinking') block.providerState ??= this.#state({})
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

  /** Stores unknown content in the block of its index. */
  #keep(block: OpenBlock, fields: object, known: ReadonlySet<string>): void {
    for (const kind in fields) {
      const value = Reflect.get(fields, kind) as JsonValue // Parsed JSON.
      if (known.has(kind) || value === null) continue
      block.kept ??= new Map()
      const begun = block.kept.get(kind)
      if (isJsonObject(begun) && isJsonObject(value)) growBlock(begun, value)
      else block.kept.set(kind, value)
    }
  }

  /** Starts a call, even if its index is in use. A gateway may start a call twice. */
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
    this.#builder.toolCall(key, id, name)
    const opening = textOfArguments(input)
    if (opening !== '{}') this.#builder.toolArguments(key, opening)
  }

  /** Closes a block. Other content with this index then starts a new block, but call fragments still belong to the call. */
  #close(block: OpenBlock): void {
    if (block.call !== undefined) block.call.isClosed = true
    const { service, result, citations, picture, text, reasoning, kept } = block
    if (service !== undefined) this.#service.input(service.id, service.raw)
    if (result !== undefined && !this.#service.result(result.begun, result.content))
      this.#builder.warn('Amazon Bedrock sent a result without a call id. The result was dropped.')
    if (citations !== undefined && text !== undefined) this.#builder.setProviderState(text, this.#own({ citations }), 'text')
    if (picture !== undefined) this.#picture(picture)
    for (const [kind, value] of kept ?? []) this.#builder.unknown(this.#nextKey++, kind, this.#own({ block: { [kind]: value } }))
    block.kept = undefined
    block.service = undefined
    block.result = undefined
    block.citations = undefined
    block.picture = undefined
    if (text !== undefined) this.#builder.ends(text)
    if (reasoning !== undefined) this.#builder.ends(reasoning)
    block.text = undefined
    block.reasoning = undefined
  }

  #picture({ format, pieces }: NonNullable<OpenBlock['picture']>): void {
    const data = joinBase64(pieces)
    if (data === '' && pieces.length === 0) return
    if (data) this.#builder.whole(this.#nextKey++, { type: 'image', mimeType: `image/${format}`, data })
    else this.#builder.warn('Amazon Bedrock sent an image with invalid bytes. The image was dropped.')
  }

  #isOffered({ type, name }: { type?: string; name?: string }): boolean {
    return type !== 'server_tool_use' && (name === this.#call.answerTool || this.#request.tools.some((tool) => tool.name === name))
  }

  #delta(block: OpenBlock, delta: WireEvent['delta']): void {
    const text = textIn(delta?.text, 'text')
    if (text !== '' || delta?.text === '') {
      block.text ??= this.#begin('text')
      this.#builder.text(block.text, text)
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
      block.reasoning ??= this.#begin('thinking')
      this.#reasoning(block.reasoning, reasoning)
    }
  }

  #begin(kind: 'text' | 'thinking'): number {
    const key = this.#nextKey++
    this.#builder.begins(key, kind)
    return key
  }

  /** Adds other deltas: citations, provider-executed results, images. */
  #other(block: OpenBlock, delta: NonNullable<WireEvent['delta']>): void {
    const { citation, toolResult, image } = delta
    if (citation) {
      block.text ??= this.#nextKey++
      block.citations ??= []
      block.citations.push(citation as JsonObject) // Parsed JSON.
      this.#cite(block.text, { ...citation })
    }
    if (toolResult && block.result !== undefined) block.result.content.push(...(Array.isArray(toolResult) ? toolResult : [toolResult]))
    else if (toolResult) this.#builder.warn('Amazon Bedrock sent a result for an unknown call. The result was dropped.')
    if (!image) return
    const bytes = image.source?.bytes
    block.picture ??= { format: 'png', pieces: [] }
    block.picture.pieces.push(typeof bytes === 'string' ? bytes : '')
  }

  #cite(key: number, wire: Record<string, unknown>): void {
    const citation = namedCitation(citationOf(wire), this.#call.cited, documentName)
    const place = unknownPlaceIn(wire)
    if (place !== undefined)
      this.#builder.warn(`Amazon Bedrock sent a citation location of the unknown type "${place.slice(0, 60)}". The location was dropped.`)
    if (Object.keys(citation).length > 0) this.#builder.citation(key, citation)
  }

  #arguments({ call, service }: OpenBlock, fragment: string): void {
    if (service !== undefined) service.raw += fragment
    if (fragment === '' || service !== undefined) return
    if (call === undefined) throw new OddValue('arguments of a call that was never opened', fragment)
    this.#builder.toolArguments(call.key, fragment)
  }

  #reasoning(key: number, { text, signature, redactedContent }: NonNullable<NonNullable<WireEvent['delta']>['reasoningContent']>): void {
    this.#builder.thinking(key, text ?? '')
    this.#builder.setSignature(key, signature ?? '')
    if (!redactedContent) return
    if (typeof redactedContent !== 'string' || !isBase64(redactedContent)) throw new OddValue('withheld reasoning', redactedContent)
    const before = this.#redacted.get(key)
    // Fragments are encoded one by one, so their bytes are joined.
    const redacted = before === undefined ? redactedContent : btoa(atob(before) + atob(redactedContent))
    this.#redacted.set(key, redacted)
    this.#builder.setProviderState(key, this.#state({ redacted }))
  }

  /** Wraps state that is bound to the model only. */
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
