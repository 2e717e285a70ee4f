// #region imports
import { type AssistantMessage, type Message, type Model, ProviderError } from 'phi-core'
import { emptyUsage } from 'phi-core/context'
import {
  AssistantBuilder,
  type Codec,
  createModel,
  createSseDecoder,
  type DecoderContext,
  defineProvider,
  type EncodedCall,
  headerCredential,
  joinUrl,
  legalIds,
  mergeHeaders,
  type NormaliseTarget,
  normalise,
  type ProviderOptions,
  perObject,
  type StreamDecoder,
  type StreamProvider,
  StreamRefusal,
  type StreamRequest,
  type TransportOptions,
  toJson,
} from 'phi-core/providers'

// #endregion imports

// #region encode
/** The history rules of this provider. Create one object per model. */
const targetOf = perObject(
  ({ api, provider, id }: StreamRequest['model']): NormaliseTarget => ({
    api,
    provider,
    model: id,
    media: { media: [], mediaByUrl: [], mediaById: [] },
    toolCallId: legalIds.word64,
    // The API does not accept reasoning.
    keepsThinking: () => false,
  }),
)

/** Encodes each message once, and caches it by identity. */
const encodeMessage = perObject((message: Message): string => {
  const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  if (message.role === 'toolResult') return toJson({ from: 'tool', call: message.toolCallId, text, failed: message.isError })
  if (message.role === 'user') return toJson({ from: 'user', text })
  const calls = message.content.flatMap((block) => (block.type === 'toolCall' ? [block] : []))
  return toJson({ from: 'parrot', text, calls: calls.map(({ id, name, arguments: args }) => ({ id, name, args })) })
})

function encode({ model, credential, messages, systemPrompt, tools, maxTokens }: StreamRequest): EncodedCall {
  const own: Record<string, string> = { 'content-type': 'application/json' }
  if (credential !== undefined) own.authorization = `Bearer ${headerCredential('Parrot', credential)}`
  const history = normalise(messages, targetOf(model)).map(encodeMessage).join(',')
  const fields = toJson({ model: model.id, system: systemPrompt, tools, limit: maxTokens ?? model.maxTokens }).slice(0, -1)
  return {
    url: joinUrl(model.baseUrl, '/v1/talk'),
    headers: mergeHeaders(own, model.headers),
    body: `${fields},"history":[${history}]}`,
    warnings: [],
  }
}
// #endregion encode

// #region decode
/** The events of the API: `say`, `call`, `error`, and finally `end`. */
interface ParrotEvent {
  say?: string
  call?: { id: string; name: string; args: string }
  error?: unknown
  end?: { reason: string; tokensIn: number; tokensOut: number }
}

class ParrotDecoder implements StreamDecoder {
  readonly builder: AssistantBuilder
  readonly terminal = 'end'
  progress = 0
  #end: ParrotEvent['end']
  readonly #frames = createSseDecoder((data) => this.#frame(data))

  constructor({ request, emit }: DecoderContext) {
    this.builder = new AssistantBuilder(request.model, emit)
  }

  get isComplete(): boolean {
    return this.#end !== undefined
  }

  get isDone(): boolean {
    return this.#end !== undefined
  }

  push(bytes: Uint8Array): void {
    this.#frames.feed(bytes)
  }

  end(): void {
    this.#frames.end()
  }

  finish(): AssistantMessage {
    const { reason = '', tokensIn = 0, tokensOut = 0 } = this.#end ?? {}
    const usage = { ...emptyUsage(), input: tokensIn, output: tokensOut, totalTokens: tokensIn + tokensOut }
    // The builder sets the stop reason of a message with calls.
    return this.builder.finish(reason === 'full' ? 'length' : 'stop', usage)
  }

  #frame(data: string): void {
    if (this.isDone) return
    let event: ParrotEvent
    try {
      event = JSON.parse(data)
    } catch {
      throw new ProviderError('network', `Parrot sent an event that is not JSON: ${data.slice(0, 80)}`)
    }
    if (event.error !== undefined) throw new StreamRefusal(event)
    this.progress++
    // Each block needs a key: one for the text, and one per call.
    if (event.say !== undefined) this.builder.text('text', event.say)
    if (event.call !== undefined) {
      this.builder.toolCall(event.call.id, event.call.id, event.call.name)
      this.builder.toolArguments(event.call.id, event.call.args)
    }
    this.#end = event.end
  }
}
// #endregion decode

// #region provider
const codec: Codec = { encode, decoder: (_call, context) => new ParrotDecoder(context) }

export function parrotProvider(transport: TransportOptions = {}): StreamProvider {
  return defineProvider({ api: 'parrotTalk', service: 'Parrot', codec, transport })
}

/** Creates a model of the Parrot API: `parrot('ara-2', { apiKey })`. */
export function parrot(id: string, options: ProviderOptions = {}): Model {
  const defaults = {
    api: 'parrotTalk',
    provider: 'parrot',
    baseUrl: 'https://parrot.example',
    reasoning: false,
    contextWindow: 32_000,
    maxTokens: 2048,
  }
  return createModel(id, defaults, options, parrotProvider(options))
}
// #endregion provider
