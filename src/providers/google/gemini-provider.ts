import type { JsonObject } from '../../contract/json.ts'
import { isMediaOf } from '../../contract/message/media.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { StreamProvider, StreamRequest } from '../../types/model/provider.ts'
import type { EncodedCall } from '../kit/codec.ts'
import { defineProvider } from '../kit/define-provider.ts'
import { perObject, toJson, toolsEncoder } from '../kit/encode/json-pieces.ts'
import { HistoryMemory } from '../kit/history/history-memory.ts'
import { mediaRules, type NormaliseTarget, targetOf } from '../kit/history/target.ts'
import type { FormatPlan } from '../kit/optional/response-format/response-format.ts'
import { hiddenBy, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'
import type { TransportOptions } from '../kit/provider-options.ts'
import { fittedTools } from '../kit/schema/fitted-schema.ts'
import { planRequest, type RequestPlan } from '../kit/settings/plan-request.ts'
import { leaveOut } from '../kit/settings/write-settings.ts'
import { headerCredential, joinUrl, mergeHeaders } from '../kit/transport/endpoint.ts'
import { ContentsWriter } from './contents-writer.ts'
import { GeminiDecoder } from './decode/gemini-decoder.ts'
import { messageEncoder, signatureOf } from './encode-message.ts'
import { type GeminiOutputOptions, generationConfig } from './generation-config.ts'
import { geminiProfile } from './profile.ts'
import { declared } from './server-tools.ts'

/** Creates the provider for `service`. The provider is stateless and serves any number of models and runs. */
export function geminiProvider(service: GeminiService, transport: TransportOptions): StreamProvider {
  return defineProvider({
    api: service.api,
    service: service.name,
    transport,
    browserHint: service.browserHint,
    codec: {
      encode: requestEncoder(service),
      decoder: (call, context) => new GeminiDecoder(call, context),
      media: (model) => mediaRules(geminiProfile(model)),
      says: [],
      guards: ['systemInstruction', 'tools', 'toolConfig.functionCallingConfig'],
    },
  })
}

/** Returns a model's default context window. The open Gemma models have a smaller context window. */
export function contextWindowOf(id: string): number {
  return id.includes('gemma') ? 131_072 : 1_000_000
}

/** An API that supports `streamGenerateContent`. */
interface GeminiService {
  api: 'googleGenerativeAi' | 'googleVertex'
  /** Display name. */
  name: string
  /** Appended to a `baseUrl` that does not end with `/models`. */
  path: string
  /** Where to send the key: `x-goog-api-key`, `authorization`, or the query. */
  keyPlace: (model: ModelConfig) => 'header' | 'bearer' | 'query'
  /** Hint for browser clients about an alternative to a proxy. */
  browserHint?: string
  /** Provider-executed tools. */
  serverTools?: ServerTools | undefined
  /** Response modalities, and image settings. */
  output?: GeminiOutputOptions | undefined
}

/** Cached data for a model and its conversations. */
function knownOf(model: ModelConfig) {
  const profile = geminiProfile(model)
  const { media } = profile.capabilities
  const target: NormaliseTarget = {
    ...targetOf(model, profile, (block) => block.thinking.trim() !== '' || signatureOf(block) !== undefined),
    takesBack: ({ mimeType }) => !mimeType.startsWith('audio/') || isMediaOf(mimeType, media),
  }
  const encoder = messageEncoder(profile)
  return { profile, history: new HistoryMemory(target, ([preamble]) => new ContentsWriter(encoder, preamble)) }
}

const toolsJson = toolsEncoder(({ name, description, parameters }) => toJson({ name, description, parametersJsonSchema: parameters }))

/**
 * Creates an encoder for `streamGenerateContent` requests. The encoder throws `ProviderError` `other` for a URL or key that cannot be
 * sent. The provider owns the cached model data, because a module-level map would retain it until a full garbage collection.
 *
 * Source: docs/providers/google.md
 */
function requestEncoder(service: GeminiService): (asked: StreamRequest) => EncodedCall {
  const modelOf = perObject(knownOf)
  return (asked) => encodeRequest(asked, service, modelOf(asked.model))
}

function encodeRequest(asked: StreamRequest, service: GeminiService, { profile, history }: ReturnType<typeof knownOf>): EncodedCall {
  const warnings: string[] = []
  const { request, format, choice, isSingle } = planRequest(asked, profile, toolRules, warnings)
  if (isSingle) leaveOut(request, 'parallelToolCalls', undefined, warnings)
  const { systemPrompt } = request
  const hasSystem = systemPrompt.trim() !== ''
  const takesSystem = profile.family.systemInstruction
  let body = `{"generationConfig":${toJson({ ...generationConfig(request, profile, warnings), ...service.output, ...formatFields(format) })}`
  if (hasSystem && takesSystem) body += `,"systemInstruction":${toJson({ parts: [{ text: systemPrompt }] })}`
  const isVertex = service.api === 'googleVertex'
  const { tools, config } = declared(
    toolsJson(fittedTools(request.tools, profile.toolSchemas, warnings)),
    service.serverTools ?? [],
    { ...profile, isVertex },
    warnings,
  )
  body += tools
  const toolConfig = choice === undefined ? config : { ...config, ...calling(choice) }
  if (Object.keys(toolConfig).length > 0) body += `,"toolConfig":${toJson(toolConfig)}`
  const continuation = continuationOf(request)
  const messages = continuation === undefined ? request.messages : request.messages.slice(0, -1)
  const { writer, leftOut } = history.write(messages, hasSystem && !takesSystem ? [systemPrompt] : [])
  warnings.push(...leftOut)
  const { serviceTier: tier } = request
  const isTierSent = tier !== undefined && tier !== 'fast'
  if (isTierSent && !isVertex) body += `,"serviceTier":"${tier}"`
  if (continuation !== undefined) body += `,"continuationToken":${JSON.stringify(continuation)}`
  body += `,"contents":${writer.toJson()}}`
  const { url, headers } = addressed(request, service)
  // Vertex AI reads the service tier from a header.
  const allHeaders = isTierSent && isVertex ? { ...headers, 'x-vertex-ai-llm-shared-request-type': tier } : headers
  const hidden = hiddenBy(service.serverTools ?? [], asked.credential)
  return { url, headers: allHeaders, body, warnings, answerTool: format.answerTool, ...hidden }
}

/** Returns the token that continues a paused response. A continuation sends the same request, without the response received so far. */
function continuationOf({ continues, model }: StreamRequest): string | undefined {
  const { api, model: id, payload } = continues?.providerState ?? {}
  const token = payload?.continuationToken
  return api === model.api && id === model.id && typeof token === 'string' ? token : undefined
}

function formatFields(plan: FormatPlan): JsonObject {
  if (plan.kind !== 'object' && plan.kind !== 'schema') return {}
  const json = { responseMimeType: 'application/json' }
  return plan.kind === 'schema' ? { ...json, responseJsonSchema: plan.schema } : json
}

const toolRules = { none: true, subset: false, forcingStopsThinking: false }

function calling(choice: NonNullable<RequestPlan['choice']>): JsonObject {
  if (typeof choice === 'string') {
    const mode = choice === 'required' ? 'ANY' : choice === 'none' ? 'NONE' : 'AUTO'
    return { functionCallingConfig: { mode } }
  }
  const names = 'tool' in choice ? [choice.tool] : choice.allowed
  return { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [...names] } }
}

/** Returns the URL and headers of a request. */
function addressed({ model, credential }: StreamRequest, service: GeminiService): Pick<EncodedCall, 'url' | 'headers'> {
  const id = model.id.replace(/^(publishers\/google\/)?models\//, '')
  const path = `/${id.split('/').map(encodeURIComponent).join('/')}:streamGenerateContent`
  const url = new URL(joinUrl(modelsUrl(model.baseUrl, service.path), path))
  url.searchParams.set('alt', 'sse')
  const own: Record<string, string> = { 'content-type': 'application/json' }
  if (credential !== undefined) {
    const key = headerCredential(service.name, credential)
    const place = service.keyPlace(model)
    if (place === 'bearer') own.authorization = `Bearer ${key}`
    else if (place === 'query') url.searchParams.set('key', key)
    else own['x-goog-api-key'] = key
  }
  return { url: url.href, headers: mergeHeaders(own, model.headers) }
}

/**
 * Returns the URL to which model ids are appended.
 *
 * - Uses `baseUrl` unchanged if it ends with `/models` (or `/endpoints`, for tuned models). Otherwise appends `path`. - Omits the version
 *   in `path` if `baseUrl` ends with a version. Keeps the query.
 * - Throws `ProviderError` `other` for an invalid URL.
 */
export function modelsUrl(baseUrl: string, path: string): string {
  const bare = baseUrl.replace(/\/*(\?.*)?$/, '')
  if (/\/(models|endpoints)$/.test(bare)) return joinUrl(baseUrl, '')
  return joinUrl(baseUrl, /\/v\d\w*$/.test(bare) ? path.replace(/^\/v\d\w*/, '') : path)
}
