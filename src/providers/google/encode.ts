import type { JsonObject } from '../../types/json.ts'
import type { ModelConfig } from '../../types/model-config.ts'
import type { EncodedRequest, StreamRequest, ToolDefinition } from '../../types/provider.ts'
import { type AnswerByTool, answerByTool, answerToolName } from '../shared/answer-tool.ts'
import { perObject } from '../shared/encoded-cache.ts'
import { headerCredential, joinUrl, mergeHeaders, redactedHeaders } from '../shared/endpoint.ts'
import { toJson } from '../shared/json-text.ts'
import { legalId } from '../shared/legal-id.ts'
import { type NormaliseTarget, normalise } from '../shared/normalise.ts'
import { encodeContents } from './encode-contents.ts'
import { messageEncoder, signatureOf } from './encode-message.ts'
import { modelsUrl } from './endpoint.ts'
import { familyOf, type GeminiFamily } from './families.ts'
import type { GeminiService } from './gemini-service.ts'
import { generationConfig } from './generation-config.ts'

/** A request, and the tool whose call its answer will be. */
export interface GeminiRequest {
  encoded: EncodedRequest
  answerTool: string | undefined
}

/** Ids that the service gave come back as they were; `guestId` is for models of others. */
const ownId = legalId('!-~', 256)
const guestId = legalId('a-zA-Z0-9_-', 64)

const planOf = perObject((model: ModelConfig) => {
  const family = familyOf(model)
  const target: NormaliseTarget = {
    api: model.api,
    provider: model.provider,
    model: model.id,
    images: family.capabilities.images,
    toolCallId: family.echoesCallIds && !family.needsSignatures ? guestId : ownId,
    keepsThinking: (block) => block.thinking.trim() !== '' || signatureOf(block) !== undefined,
  }
  return { family, target, encoder: messageEncoder(family) }
})

const toolJson = perObject(({ name, description, parameters }: ToolDefinition) =>
  toJson({ name, description, parametersJsonSchema: parameters }),
)

/**
 * The request for `streamGenerateContent`, exactly as it is sent. Messages and tools are encoded once each and found again by identity.
 * Throws `ProviderError` `other` for a URL or key that cannot be sent.
 * Source: reference/providers.md §5.
 */
export function encodeRequest(asked: StreamRequest, service: GeminiService): GeminiRequest {
  const { family, target, encoder } = planOf(asked.model)
  const warnings: string[] = []
  const byTool = answerByTool(asked, family.capabilities, nativeFormats(asked, family), warnings)
  const request = byTool?.request ?? asked
  const { systemPrompt } = request
  const hasSystem = systemPrompt.trim() !== ''
  let body = `{"generationConfig":${toJson({ ...generationConfig(request, family, warnings), ...formatFields(request) })}`
  if (hasSystem && family.systemInstruction) body += `,"systemInstruction":${toJson({ parts: [{ text: systemPrompt }] })}`
  if (request.tools.length > 0) body += `,"tools":[{"functionDeclarations":[${request.tools.map(toolJson).join(',')}]}]`
  if (byTool !== undefined && byTool.force !== 'none') body += `,"toolConfig":${toJson(forced(byTool.force))}`
  const preamble = hasSystem && !family.systemInstruction ? systemPrompt : ''
  body += `,"contents":${encodeContents(normalise(request.messages, target), encoder, preamble)}}`
  return { encoded: { ...addressed(request, service), body, warnings }, answerTool: byTool?.answerTool }
}

function nativeFormats({ tools }: StreamRequest, { capabilities, toolsWithFormat }: GeminiFamily) {
  const native = capabilities.jsonSchema && (toolsWithFormat || tools.length === 0)
  return { jsonObject: native, jsonSchema: native, forcingStopsThinking: false }
}

function formatFields({ responseFormat: format }: StreamRequest): JsonObject | { responseJsonSchema?: unknown } {
  if (format === undefined || format.type === 'text') return {}
  const json = { responseMimeType: 'application/json' }
  return format.type === 'jsonSchema' ? { ...json, responseJsonSchema: format.schema } : json
}

function forced(force: Exclude<AnswerByTool['force'], 'none'>): JsonObject {
  const only = force === 'answer' ? { allowedFunctionNames: [answerToolName] } : {}
  return { functionCallingConfig: { mode: 'ANY', ...only } }
}

/** Where the request goes, and with which key. */
function addressed({ model, credential }: StreamRequest, service: GeminiService): Omit<EncodedRequest, 'body' | 'warnings'> {
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
  const headers = mergeHeaders(own, model.headers)
  return { url: url.href, headers, redactedHeaders: redactedHeaders(headers) }
}
