import { errorText, ProviderError } from '../../types/errors.ts'
import type { Message } from '../../types/message.ts'
import type { ModelConfig } from '../../types/model-config.ts'
import type { CacheStrategy, EncodedRequest, StreamRequest, ToolDefinition } from '../../types/provider.ts'
import { isSigned } from '../shared/claude-thinking.ts'
import { perObject } from '../shared/encoded-cache.ts'
import { headerCredential, joinUrl, mergeHeaders, redactedHeaders } from '../shared/endpoint.ts'
import { emptyHash, extendHash } from '../shared/hash.ts'
import { toJson } from '../shared/json-text.ts'
import { legalId, nineChars } from '../shared/legal-id.ts'
import { legalName } from '../shared/legal-name.ts'
import { type NormaliseTarget, normalise } from '../shared/normalise.ts'
import { joinPieces } from '../shared/pieces.ts'
import { answerFormat } from './answer-format.ts'
import { bedrockCapabilities, type Family } from './capabilities.ts'
import { awsCredentialsOf } from './credentials.ts'
import { generationOf } from './generation.ts'
import { messagePieces, toolJson, withBreakpoint } from './pieces.ts'
import { regionOf } from './region.ts'
import { signatureHeaders } from './sign.ts'

/** What the wire needs beside the request. Keep one object per provider: what is known of models is remembered with it. */
export interface BedrockWire {
  region?: string
  underlyingModel?: string
}

/** A request, what its answer will be bound to, and the tool that takes the answer. */
export interface BedrockRequest {
  encoded: EncodedRequest
  prefixHash?: string
  answerTool?: string
}

const longId = legalId('a-zA-Z0-9_-', 64)

const planOf = perObject(({ underlyingModel }: BedrockWire) =>
  perObject((model: ModelConfig) => {
    const { family, capabilities } = bedrockCapabilities(model, underlyingModel)
    const target: NormaliseTarget = {
      api: model.api,
      provider: model.provider,
      model: model.id,
      images: capabilities.images,
      toolCallId: family.shortIds ? nineChars : longId,
      keepsThinking: (block) => family.thinkingField !== 'claude' || isSigned(block),
    }
    const { imagesInToolResults } = capabilities
    const pieces = messagePieces({ resultStatus: family.resultStatus, imagesInToolResults })
    return { family, capabilities, target, pieces }
  }),
)

/**
 * The request for ConverseStream, signed where the key is AWS credentials. Rejects only with `ProviderError`: `schemaMismatch` for a form of
 * answer that the model cannot be held to, `other` for what cannot be sent. Source: reference/providers.md §6, spec/07.
 */
export async function encodeRequest(request: StreamRequest, wire: BedrockWire): Promise<BedrockRequest> {
  try {
    const { body, warnings, ...rest } = bodyOf(request, wire)
    const { model } = request
    const url = joinUrl(model.baseUrl, `/model/${encodeURIComponent(model.id)}/converse-stream`)
    const headers = await headersOf(request, url, body, wire)
    return { encoded: { url, headers, redactedHeaders: redactedHeaders(headers), body, warnings }, ...rest }
  } catch (error) {
    if (error instanceof ProviderError) throw error
    throw new ProviderError('other', `The request for ${request.model.id} cannot be encoded: ${errorText(error)}`)
  }
}

interface Body extends Omit<BedrockRequest, 'encoded'> {
  body: string
  warnings: string[]
}

function bodyOf(asked: StreamRequest, wire: BedrockWire): Body {
  const { family, capabilities, target, pieces } = planOf(wire)(asked.model)
  const warnings: string[] = []
  const { request, outputConfig, toolChoice, answerTool } = answerFormat(asked, family, capabilities, warnings)
  const { systemPrompt } = request
  const messages = normalise(request.messages, target)
  const { inferenceConfig, additional } = generationOf(request, messages, family.thinkingField, capabilities, warnings)
  const marks = marksOf(request.cache, family)
  const toolsJson = toolsOf(request.tools, messages)
  const head = capabilities.boundReasoning ? extendHash(extendHash(emptyHash, systemPrompt), toolsJson) : undefined
  const { json, prefixHash } = joinPieces(messages, pieces, head, marks.messages)
  // Flat parts, joined once.
  const parts = [`"messages":${json}`]
  if (systemPrompt.trim() !== '') {
    const block = toJson({ text: systemPrompt })
    parts.push(`"system":[${marks.system ? withBreakpoint(block) : block}]`)
  }
  if (Object.keys(inferenceConfig).length > 0) parts.push(`"inferenceConfig":${toJson(inferenceConfig)}`)
  if (toolsJson !== '') {
    const choice = toolChoice === undefined ? '' : `,"toolChoice":${toJson(toolChoice)}`
    parts.push(`"toolConfig":{"tools":[${marks.tools ? withBreakpoint(toolsJson) : toolsJson}]${choice}}`)
  }
  if (Object.keys(additional).length > 0) parts.push(`"additionalModelRequestFields":${toJson(additional)}`)
  if (outputConfig !== undefined) parts.push(`"outputConfig":${toJson(outputConfig)}`)
  const body: Body = { body: `{${parts.join(',')}}`, warnings }
  if (prefixHash !== undefined) body.prefixHash = prefixHash
  if (answerTool !== undefined) body.answerTool = answerTool
  return body
}

/** Where breakpoints are wanted and may stand: three at most, of the four that are allowed. */
function marksOf(cache: CacheStrategy, { cachePoints }: Family): { system: boolean; tools: boolean; messages: boolean } {
  if (cachePoints === 'none' || cache.type === 'disabled') return { system: false, tools: false, messages: false }
  const takesTools = cachePoints === 'all'
  if (cache.type === 'auto') return { system: true, tools: takesTools, messages: true }
  return { system: cache.cacheSystem, tools: cache.cacheTools && takesTools, messages: cache.cacheMessages }
}

/** A history with calls needs tools: where there are none any more, those it names are declared. */
function toolsOf(tools: readonly ToolDefinition[], messages: readonly Message[]): string {
  if (tools.length > 0) return tools.map(toolJson).join(',')
  const names = new Set<string>()
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    for (const block of message.content) if (block.type === 'toolCall') names.add(legalName(block.name))
  }
  return Array.from(names, (name) => toolJson({ name, description: 'No longer available: do not call it.', parameters: {} })).join(',')
}

async function headersOf({ model, credential }: StreamRequest, url: string, body: string, { region }: BedrockWire) {
  const headers = mergeHeaders({ 'content-type': 'application/json' }, model.headers)
  if (credential === undefined) return headers
  const aws = awsCredentialsOf(credential)
  if (aws === undefined) return mergeHeaders({ authorization: `Bearer ${headerCredential('Amazon Bedrock', credential)}` }, headers)
  return mergeHeaders(await signatureHeaders({ url, headers, body }, aws, region ?? regionOf(model.id, model.baseUrl)), headers)
}
