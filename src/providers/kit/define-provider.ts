import { secretsIn } from '../../base/text/secrets.ts'
import { errorText, LoadError, ProviderError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ApiProtocol, ModelConfig } from '../../contract/model/model-config.ts'
import type { RateLimits } from '../../contract/model/usage.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, aText, either, options, required, withMethods } from '../../contract/shape/shape.ts'
import type { EncodedRequest, StreamEvent, StreamProvider, StreamRequest } from '../../types/model/provider.ts'
import type { Codec, DecoderContext, EncodedCall, Exchange, Recovery } from './codec.ts'
import { loadedMedia, loadMedia, withReadyMedia } from './optional/media/late-media.ts'
import { mediaBeside, wholeText } from './optional/media/media-json.ts'
import type { Refusal } from './optional/media/media-part.ts'
import { placesOfMedia, unsaidOf } from './optional/media/media-rules.ts'
import { withoutKnown, withoutRefusedSettings } from './optional/settings/refused-settings.ts'
import { type TransportOptions, transportTable } from './provider-options.ts'
import { schemasReady } from './schema/fitted-schema.ts'
import { withExtraFields, withModelSettings } from './settings/write-settings.ts'
import { mergeHeaders, redactedHeaders } from './transport/endpoint.ts'
import { sendStreaming } from './transport/send.ts'

/** What `defineProvider` takes: a protocol's name, its service, its codec, and how it is sent. */
export interface ProviderDefinition<Call extends EncodedCall = EncodedCall> {
  api: ApiProtocol
  /** The service in messages for people: `Anthropic`. */
  service: string | ((model: ModelConfig) => string)
  codec: Codec<Call>
  transport?: TransportOptions
  /** What a browser user can do besides a proxy when the service refuses calls of other origins. */
  browserHint?: string | undefined
}

const aDefinition = options<ProviderDefinition>({
  api: required(aText),
  service: required(either(aText, aFunction)),
  codec: required(withMethods('a codec', 'encode', 'decoder')),
  // Factories hand on their own options.
  transport: options(transportTable, true),
  browserHint: aText,
})

/**
 * A provider for one wire protocol: `codec` says what is sent and how the answer is read, the rest is the same for all.
 *
 * **Contract**
 * - The provider keeps every promise of `StreamProvider`; `streamProviderSuite` of `phi-core/testing` proves it.
 * - It holds no state of a call, so one may serve any number of models and runs at once.
 *
 * Source: docs/providers/custom.md
 */
export function defineProvider<Call extends EncodedCall>(definition: ProviderDefinition<Call>): StreamProvider {
  checkOptions(definition, aDefinition)
  const { api, codec, transport } = definition
  return {
    api,
    ...(transport?.fetch !== undefined && { fetch: transport.fetch }),
    checkMedia: async (media, model) => (await loadMedia()).checkNewMedia(media, model),
    encode: async (asked) => {
      const warnings: string[] = []
      const request = withoutKnown(withModelSettings(asked), warnings)
      return publicForm(warned(await encoded(definition, request), warnings))
    },
    stream: async (asked, emit, signal) => {
      const request = withModelSettings(asked)
      let refusal: Refusal | undefined
      const ask = (sent: StreamRequest): Promise<AssistantMessage> =>
        withoutRefusedSettings(sent, signal, (taken, warnings, told) => {
          const send = (call: Call) => {
            const onRefusal = (body: unknown): void => {
              refusal = { body, sent: () => wholeText(call.body, call.media) }
              told(body)
            }
            return callService(definition, warned(call, warnings), { ...contextOf(definition, taken, emit), onRefusal }, signal)
          }
          return encoded(definition, taken).then(send)
        })
      try {
        return await ask(request).catch((error) => {
          const part = refusal && loadedMedia()
          if (part === undefined) throw error
          return part.withoutRefusedMedia({ request, target: definition, ask, refusal: () => refusal, signal }, error)
        })
      } catch (error) {
        throw codec.explain !== undefined && ProviderError.isInstance(error) ? codec.explain(error, request) : error
      }
    },
  }
}

/** What a decoder is made for, and who is told what the service refused. */
interface CallContext extends DecoderContext {
  onRefusal: (body: unknown) => void
}

/** The call with what was left out before it was encoded. */
function warned<Call extends EncodedCall>(call: Call, warnings: readonly string[]): Call {
  return warnings.length === 0 ? call : { ...call, warnings: [...call.warnings, ...warnings] }
}

function contextOf<Call extends EncodedCall>(
  { service, transport }: ProviderDefinition<Call>,
  request: StreamRequest,
  emit: (event: StreamEvent) => void,
): DecoderContext {
  const framing = transport?.maxEventChars === undefined ? undefined : { maxBufferChars: transport.maxEventChars }
  return { request, service: typeof service === 'string' ? service : service(request.model), emit, framing }
}

function callService<Call extends EncodedCall>(
  definition: ProviderDefinition<Call>,
  call: Call,
  context: CallContext,
  signal: AbortSignal,
): Promise<AssistantMessage> {
  const exchange = exchangeOf(definition, call, context, signal)
  const { recover } = definition.codec
  return recover === undefined ? sendStreaming(exchange) : sendRecoverably(definition, exchange, call, context)
}

/** Asks the codec what to do instead, where the service has refused the call before anything was emitted. */
async function sendRecoverably<Call extends EncodedCall>(
  definition: ProviderDefinition<Call>,
  exchange: Exchange,
  call: Call,
  context: CallContext,
): Promise<AssistantMessage> {
  const { signal } = exchange
  let refused: { body: unknown } | undefined
  const onRefusal = (body: unknown): void => {
    refused = { body }
    context.onRefusal(body)
  }
  let recovery: Recovery<Call> | undefined
  try {
    return await sendStreaming({ ...exchange, onRefusal })
  } catch (error) {
    if (refused !== undefined && !exchange.decoder.builder.isStarted && !signal.aborted)
      recovery = definition.codec.recover?.(refused.body, call, { ...context, secrets: exchange.secrets() })
    if (recovery === undefined) throw error
  }
  if (recovery.kind === 'answer') return recovery.message
  const repeated = await completed({ ...recovery.call, media: call.media }, context.request, definition.codec.guards)
  return await sendStreaming(exchangeOf(definition, repeated, context, signal))
}

/** One call on the wire. */
function exchangeOf<Call extends EncodedCall>(
  { codec, transport = {}, browserHint }: ProviderDefinition<Call>,
  call: Call,
  context: CallContext,
  signal: AbortSignal,
): Exchange {
  const { credential } = context.request
  const known = call.secrets ?? (credential === undefined ? [] : [credential])
  const secrets = () => [...known, ...secretsIn(call.url, call.headers)]
  const { provider, id: model } = context.request.model
  const onRateLimits = (limits: RateLimits) => context.emit({ type: 'rateLimits', of: { provider, model }, limits })
  const told = { onRateLimits, onRefusal: context.onRefusal }
  return { service: context.service, call, secrets, decoder: codec.decoder(call, context), signal, transport, browserHint, ...told }
}

/** What goes wrong while encoding, such as arguments that are no JSON, is an error of the call like any other. */
async function encoded<Call extends EncodedCall>(definition: ProviderDefinition<Call>, request: StreamRequest): Promise<Call> {
  const { codec } = definition
  try {
    const places = placesOfMedia(request.messages)
    const asked = places.length === 0 ? request : await withReadyMedia(request, definition, places)
    await schemasReady(request)
    const media = mediaBeside(asked.messages, places)
    const call = warned(await codec.encode(asked), unsaidIn(codec, asked, places))
    return await completed(media === undefined ? call : { ...call, media }, request, codec.guards)
  } catch (error) {
    return notEncoded(error, request)
  }
}

/** What the files of a request say that its service has no place for. */
function unsaidIn<Call extends EncodedCall>(
  { media, says }: Codec<Call>,
  { messages, model }: StreamRequest,
  places: readonly number[],
): readonly string[] {
  if (places.length === 0 || media === undefined || says === undefined) return []
  const asked = places.flatMap((at) => messages[at] ?? [])
  return unsaidOf(asked, says, { rules: media(model), api: model.api })
}

/** The call with what the request adds to it, and signed. */
async function completed<Call extends EncodedCall>(
  call: Call,
  { body: extra, headers }: StreamRequest,
  guards?: readonly string[],
): Promise<Call> {
  if (extra === undefined && headers === undefined && call.sign === undefined) return call
  const body = extra === undefined ? call.body : withExtraFields(call.body, extra, guards)
  const whole = { ...call, body, headers: headers === undefined ? call.headers : mergeHeaders(call.headers, headers) }
  if (whole.sign === undefined) return whole
  return { ...whole, headers: await whole.sign({ ...whole, body: wholeText(body, call.media) }) }
}

function notEncoded(error: unknown, { model }: StreamRequest): never {
  if (error instanceof ProviderError || LoadError.isInstance(error)) throw error
  throw new ProviderError('other', `The request for ${model.id} cannot be encoded: ${errorText(error)}`)
}

/** What `encode` shows. The headers are copies: they may be remembered for the next call. */
function publicForm({ url, headers, body, media, warnings }: EncodedCall): EncodedRequest {
  return { url, headers: { ...headers }, redactedHeaders: redactedHeaders(headers), body: wholeText(body, media), warnings }
}
