import { createSseDecoder, type SseDecoder } from '../../stream/sse.ts'
import { ProviderError } from '../../types/errors.ts'
import type { JsonObject } from '../../types/json.ts'
import type { AssistantMessage, StopReason } from '../../types/message.ts'
import type { ModelConfig } from '../../types/model-config.ts'
import { emptyUsage, type Usage } from '../../types/usage.ts'
import { AssistantBuilder } from '../shared/decode/assistant-builder.ts'
import { type StreamDecoder, StreamRefusal, tokenCount } from '../shared/decode/decoder.ts'
import type { DecoderContext } from '../shared/define-provider.ts'
import type { AnthropicCall } from './encode.ts'

/** The fields that are read, of all event types. Services add others; each is looked at before use. */
interface WireEvent {
  type?: string
  index?: number
  message?: { usage?: WireUsage; content?: WireBlock[]; stop_reason?: string | null }
  content_block?: WireBlock
  delta?: { type?: string; text?: string; thinking?: string; signature?: string; partial_json?: string; stop_reason?: string | null }
  usage?: WireUsage
}

interface WireBlock {
  type?: string
  text?: string
  thinking?: string
  signature?: string
  data?: string
  id?: string
  name?: string
  input?: unknown
}

interface WireUsage {
  input_tokens?: number | null
  output_tokens?: number | null
  cache_read_input_tokens?: number | null
  cache_creation_input_tokens?: number | null
  output_tokens_details?: { thinking_tokens?: number | null } | null
}

/** How the service says why it stopped, in our terms. */
const stopReasons: Record<string, StopReason> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'toolUse',
  pause_turn: 'paused',
  refusal: 'guardRail',
}

/** Reads the events of one Messages response. `prefixHash` of the call is what its reasoning is bound to. */
export class AnthropicDecoder implements StreamDecoder {
  readonly terminal = 'message_stop'
  readonly builder: AssistantBuilder
  isDone = false
  progress = 0
  readonly #model: ModelConfig
  readonly #prefixHash: string | undefined
  readonly #frames: SseDecoder
  readonly #usage: Usage = emptyUsage()
  /** Calls for us by index; `input` is what came with the opening, used when no fragments follow. */
  readonly #calls = new Map<number, { input: unknown; hasFragments: boolean }>()
  #index = 0
  #stopReason: string | undefined

  constructor({ prefixHash, answerTool }: Pick<AnthropicCall, 'prefixHash' | 'answerTool'>, { request, emit }: DecoderContext) {
    this.#model = request.model
    this.#prefixHash = prefixHash
    this.builder = new AssistantBuilder(request.model, emit, answerTool)
    this.builder.message.usage = this.#usage
    this.#frames = createSseDecoder((data) => this.#frame(data))
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
    const reason = Object.hasOwn(stopReasons, wire) ? stopReasons[wire] : undefined
    if (reason === undefined) throw new ProviderError('other', `Anthropic stopped for a reason this package does not know: ${wire}.`)
    const message = this.builder.finish(reason, this.#usage)
    if (this.#prefixHash !== undefined) {
      for (const block of message.content) if (block.type === 'thinking') block.providerState ??= this.#state({})
    }
    return message
  }

  #frame(data: string): void {
    // Gateways may end with the marker of another protocol; after the terminal event nothing counts.
    if (this.isDone || data === '[DONE]') return
    let event: WireEvent
    try {
      event = JSON.parse(data)
    } catch {
      throw new ProviderError('network', `Anthropic sent an event that is not JSON: ${data.slice(0, 100)}`)
    }
    this.#read(event ?? {})
  }

  #read(event: WireEvent): void {
    const index = event.index ?? this.#index
    switch (event.type) {
      case 'content_block_delta':
        this.progress++
        this.#delta(index, event.delta)
        return
      case 'content_block_start':
        this.progress++
        this.#index = index
        this.#open(index, event.content_block)
        return
      case 'content_block_stop':
        this.#close(index)
        return
      case 'message_start':
        this.#begin(event.message)
        return
      case 'message_delta':
        this.progress++
        this.#stopReason = event.delta?.stop_reason ?? this.#stopReason
        this.#count(event.usage)
        return
      case 'message_stop':
        this.isDone = true
        return
      case 'error':
        throw new StreamRefusal(event)
      default:
        // Pings, and events that did not exist when this was written.
        return
    }
  }

  /** A gateway may put a whole answer into the first event. */
  #begin(message: WireEvent['message']): void {
    this.#count(message?.usage)
    this.#stopReason = message?.stop_reason ?? undefined
    this.builder.start()
    const blocks = message?.content
    if (!Array.isArray(blocks)) return
    blocks.forEach((block, index) => {
      this.#open(index, block)
      this.#close(index)
    })
  }

  #delta(index: number, delta: WireEvent['delta']): void {
    switch (delta?.type) {
      case 'text_delta':
        this.builder.text(index, delta.text ?? '')
        return
      case 'thinking_delta':
        this.builder.thinking(index, delta.thinking ?? '')
        return
      case 'input_json_delta': {
        const call = this.#calls.get(index)
        if (call === undefined || delta.partial_json === undefined) return
        if (typeof delta.partial_json === 'string' && delta.partial_json !== '') call.hasFragments = true
        this.builder.toolArguments(index, delta.partial_json)
        return
      }
      case 'signature_delta':
        this.builder.setSignature(index, delta.signature ?? '')
        return
      default:
        return
    }
  }

  /** Blocks of tools that the service itself runs are not for us, and neither are their fragments. */
  #open(index: number, block: WireBlock | undefined): void {
    switch (block?.type) {
      case 'text':
        this.builder.text(index, block.text ?? '')
        return
      case 'thinking':
        this.builder.thinking(index, block.thinking ?? '')
        this.builder.setSignature(index, block.signature ?? '')
        return
      case 'redacted_thinking':
        this.builder.setProviderState(index, this.#state({ redacted: block.data ?? '' }))
        return
      case 'tool_use':
        this.#calls.set(index, { input: block.input, hasFragments: false })
        this.builder.toolCall(index, block.id, block.name)
        return
      default:
        return
    }
  }

  #close(index: number): void {
    const call = this.#calls.get(index)
    if (call === undefined || call.hasFragments || call.input === undefined) return
    const json = JSON.stringify(call.input)
    if (json !== '{}') this.builder.toolArguments(index, json)
  }

  /** The counts are totals, so the latest wins; gateways may report some of them only at the end. */
  #count(wire: WireUsage | undefined): void {
    const usage = this.#usage
    usage.input = tokenCount(wire?.input_tokens, usage.input)
    usage.output = tokenCount(wire?.output_tokens, usage.output)
    usage.cacheRead = tokenCount(wire?.cache_read_input_tokens, usage.cacheRead)
    usage.cacheWrite = tokenCount(wire?.cache_creation_input_tokens, usage.cacheWrite)
    usage.reasoning = tokenCount(wire?.output_tokens_details?.thinking_tokens, usage.reasoning)
    usage.totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite
  }

  #state(payload: JsonObject) {
    const state = { api: this.#model.api, model: this.#model.id, payload }
    return this.#prefixHash === undefined ? state : { ...state, prefixHash: this.#prefixHash }
  }
}
