import { secretsIn } from '../../base/text/secrets.ts'
import { errorText, LoadError, ProviderError } from '../../contract/errors.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ApiProtocol, ModelConfig } from '../../contract/model/model-config.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, aText, either, options, required, withMethods } from '../../contract/shape/shape.ts'
import type { EncodedRequest, StreamEvent, StreamProvider, StreamRequest } from '../../types/model/provider.ts'
import type { Codec, DecoderContext, EncodedCall, Exchange } from './codec.ts'
import { placesOfMedia } from './history/beginnings.ts'
import { loadedMedia, loadMedia, withReadyMedia } from './optional/media/late-media.ts'
import { detachedMedia, wholeText } from './optional/media/media-json.ts'
import type { Refusal } from './optional/media/media-part.ts'
import { omissionWarnings } from './optional/media/media-rules.ts'
import { refusedSettings, withoutKnown, withoutRefusedSettings } from './optional/settings/refused-settings.ts'
import { type TransportOptions, transportTable } from './provider-options.ts'
import { schemasReady } from './schema/fitted-schema.ts'
import { withExtraFields, withModelSettings } from './settings/write-settings.ts'
import { mergeHeaders, redactedHeaders } from './transport/endpoint.ts'
import { sendStreaming } from './transport/send.ts'

/** Arguments of `defineProvider`: the protocol's name, its provider, its codec, and how requests are sent. */
export interface ProviderDefinition<Call extends EncodedCall = EncodedCall> {
  api: ApiProtocol
  /** The provider's display name, such as `Anthropic`. */
  service: string | ((model: ModelConfig) => string)
  codec: Codec<Call>
  transport?: TransportOptions
  /** Hint for browser clients about an alternative to a proxy, if the provider rejects cross-origin requests. */
  browserHint?: string | undefined
}

const aDefinition = options<ProviderDefinition>({
  api: required(aText),
  service: required(either(aText, aFunction)),
  codec: required(withMethods('a codec', 'encode', 'decoder')),
  // Ignore other options, because factories pass all of theirs.
  transport: options(transportTable, true),
  browserHint: aText,
})

/**
 * Creates a provider for one wire protocol. `codec` encodes requests and decodes responses. All providers share everything else.
 *
 * **Contract**
 * - The provider implements the `StreamProvider` contract. Verify it with `streamProviderSuite` from `phi-core/testing`.
 * - The provider is stateless and serves any number of models and runs.
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
      return publicForm(await encoded(definition, withoutKnown(withModelSettings(asked), warnings), warnings))
    },
    stream: async (asked, emit, signal) => {
      const request = withModelSettings(asked)
      const attempts: Attempts<Call> = { definition, emit, signal, refusal: undefined }
      try {
        return await ask(attempts, request).catch((error) => {
          const part = attempts.refusal && loadedMedia()
          if (part === undefined) throw error
          const call = { request, target: definition, signal, refusal: () => attempts.refusal }
          return part.withoutRefusedMedia({ ...call, ask: (sent) => ask(attempts, sent) }, error)
        })
      } catch (error) {
        throw codec.explain !== undefined && ProviderError.isInstance(error) ? codec.explain(error, request) : error
      }
    },
  }
}

/** The requests of one `stream` call. After a rejection, the call sends a changed request. */
interface Attempts<Call extends EncodedCall> {
  definition: ProviderDefinition<Call>
  emit: (event: StreamEvent) => void
  signal: AbortSignal
  /** Rejection body of the last request. Absent if the provider accepted the request. */
  refusal: Refusal | undefined
}

/**
 * Sends a request without the settings that the model rejects. If the provider rejects another setting, sends the request again without it.
 */
async function ask<Call extends EncodedCall>(attempts: Attempts<Call>, request: StreamRequest): Promise<AssistantMessage> {
  const warnings: string[] = []
  const taken = refusedSettings.size === 0 ? request : withoutKnown(request, warnings)
  try {
    return await send(attempts, taken, warnings)
  } catch (error) {
    return withoutRefusedSettings({ request: taken, warnings, attempts, send: (sent) => send(attempts, sent, warnings) }, error)
  }
}

/** Sends a request unchanged. `warnings` lists the data that was already dropped from it. */
async function send<Call extends EncodedCall>(
  attempts: Attempts<Call>,
  request: StreamRequest,
  warnings: readonly string[],
): Promise<AssistantMessage> {
  const { definition, emit, signal } = attempts
  const call = await encoded(definition, request, warnings)
  const { service, transport } = definition
  const framing = transport?.maxEventChars === undefined ? undefined : { maxBufferChars: transport.maxEventChars }
  const context = { request, service: typeof service === 'string' ? service : service(request.model), emit, framing }
  const exchange = exchangeOf(attempts, call, context)
  try {
    return await sendStreaming(exchange)
  } catch (error) {
    const { recover, guards } = definition.codec
    const { refusal } = attempts
    if (recover === undefined || refusal === undefined || exchange.decoder.builder.isStarted || signal.aborted) throw error
    const recovery = recover(refusal.body, call, { ...context, secrets: exchange.secrets() })
    if (recovery === undefined) throw error
    if (recovery.kind === 'answer') return recovery.message
    const repeated = await completed({ ...recovery.call, media: call.media }, request, guards)
    return await sendStreaming(exchangeOf(attempts, repeated, context))
  }
}

function exchangeOf<Call extends EncodedCall>(attempts: Attempts<Call>, call: Call, context: DecoderContext): Exchange {
  const { definition, emit, signal } = attempts
  const { codec, transport = {}, browserHint } = definition
  attempts.refusal = undefined
  const { credential, model } = context.request
  const known = call.secrets ?? (credential === undefined ? [] : [credential])
  return {
    ...{ service: context.service, call, decoder: codec.decoder(call, context), signal, transport, browserHint },
    secrets: () => [...known, ...secretsIn(call.url, call.headers)],
    onRateLimits: (limits) => emit({ type: 'rateLimits', of: { provider: model.provider, model: model.id }, limits }),
    onRefusal: (body) => {
      attempts.refusal = { body, sent: () => wholeText(call.body, call.media) }
    },
  }
}

/**
 * Encodes a call. An encoding error, such as invalid JSON arguments, fails the call like any other error. `warnings` lists the data that
 * was already dropped.
 */
async function encoded<Call extends EncodedCall>(
  definition: ProviderDefinition<Call>,
  request: StreamRequest,
  warnings: readonly string[],
): Promise<Call> {
  const { codec } = definition
  try {
    const places = placesOfMedia(request.messages)
    const hasMedia = places.length > 0
    const asked = hasMedia ? await withReadyMedia(request, definition, places) : request
    await schemasReady(request)
    const media = hasMedia ? detachedMedia(asked.messages, places) : undefined
    const made = await codec.encode(asked)
    const allWarnings = hasMedia ? [...omissionsIn(codec, asked, places), ...warnings] : warnings
    const call = allWarnings.length === 0 ? made : { ...made, warnings: [...made.warnings, ...allWarnings] }
    const isComplete = request.body === undefined && request.headers === undefined && call.sign === undefined
    return isComplete && media === undefined ? call : await completed({ ...call, media }, request, codec.guards)
  } catch (error) {
    if (error instanceof ProviderError || LoadError.isInstance(error)) throw error
    throw new ProviderError('other', `Cannot encode the request for ${request.model.id}: ${errorText(error)}`)
  }
}

/** Returns warnings about file metadata that the provider cannot receive. */
function omissionsIn<Call extends EncodedCall>(
  { media, says }: Codec<Call>,
  { messages, model }: StreamRequest,
  places: readonly number[],
): readonly string[] {
  if (media === undefined || says === undefined) return []
  const asked = places.flatMap((at) => messages[at] ?? [])
  return omissionWarnings(asked, says, { rules: media(model), api: model.api })
}

/** Returns the signed call with the request's extra body fields. */
async function completed<Call extends EncodedCall>(
  call: Call,
  { body: extra, headers }: StreamRequest,
  guards?: readonly string[],
): Promise<Call> {
  const whole = { ...call }
  if (extra !== undefined) whole.body = withExtraFields(call.body, extra, guards)
  if (headers !== undefined) whole.headers = mergeHeaders(call.headers, headers)
  if (call.sign !== undefined) whole.headers = await call.sign({ ...whole, body: wholeText(whole.body, call.media) })
  return whole
}

/** Returns the public result of `encode`. Copies the headers, because the originals may be cached. */
function publicForm({ url, headers, body, media, warnings }: EncodedCall): EncodedRequest {
  return { url, headers: { ...headers }, redactedHeaders: redactedHeaders(headers), body: wholeText(body, media), warnings }
}
