import type { ModelConfig } from '../../types/model-config.ts'
import type { EncodedRequest, StreamRequest } from '../../types/provider.ts'
import { continuesWithoutThinking, generationFields, isSigned } from '../shared/claude-thinking.ts'
import { perObject } from '../shared/encoded-cache.ts'
import { joinUrl, redactedHeaders } from '../shared/endpoint.ts'
import { emptyHash, extendHash } from '../shared/hash.ts'
import { toJson } from '../shared/json-text.ts'
import { legalId } from '../shared/legal-id.ts'
import { type NormaliseTarget, normalise } from '../shared/normalise.ts'
import { joinPieces } from '../shared/pieces.ts'
import { answerFormat } from './answer-format.ts'
import { anthropicCapabilities } from './capabilities.ts'
import { type AnthropicWire, authHint, requestHeaders, systemTexts } from './identity.ts'
import { messagePieces, toolJson, withBreakpoint } from './pieces.ts'

/** A request and what its answer will be bound to. */
export interface AnthropicRequest {
  encoded: EncodedRequest
  prefixHash: string | undefined
  /** The tool whose call is the answer. */
  answerTool: string | undefined
  /** Added to the error when the key is rejected. */
  authHint: string | undefined
}

const toolCallId = legalId('a-zA-Z0-9_-', 64)

const planOf = perObject((model: ModelConfig) => {
  const capabilities = anthropicCapabilities(model)
  const target: NormaliseTarget = {
    api: model.api,
    provider: model.provider,
    model: model.id,
    images: capabilities.images,
    toolCallId,
    keepsThinking: isSigned,
  }
  return { capabilities, target }
})

/**
 * The request for the Messages service. Throws `ProviderError` `other` for a URL or key that cannot be sent.
 * Source: reference/providers.md §1, spec/07.
 */
export function encodeRequest(asked: StreamRequest, wire: AnthropicWire): AnthropicRequest {
  const { capabilities, target } = planOf(asked.model)
  const warnings: string[] = []
  const { request, addTo, answerTool } = answerFormat(asked, capabilities, warnings)
  const { model, cache } = request
  const messages = normalise(request.messages, target)
  const fields = generationFields(request, capabilities, continuesWithoutThinking(messages), warnings)
  addTo(fields)
  const system = systemTexts(request.systemPrompt, wire)
  const toolsJson = request.tools.map(toolJson).join(',')
  const head = capabilities.boundReasoning ? extendHash(extendHash(emptyHash, system.join('\n')), toolsJson) : undefined
  const isAuto = cache.type === 'auto'
  const { json, prefixHash } = joinPieces(messages, messagePieces, head, isAuto || (cache.type === 'manual' && cache.cacheMessages))
  let body = toJson({ model: model.id, stream: true, ...fields }).slice(0, -1)
  if (system.length > 0) {
    const blocks = system.map((text) => toJson({ type: 'text', text })).join(',')
    body += `,"system":[${isAuto || (cache.type === 'manual' && cache.cacheSystem) ? withBreakpoint(blocks) : blocks}]`
  }
  if (toolsJson !== '') {
    body += `,"tools":[${isAuto || (cache.type === 'manual' && cache.cacheTools) ? withBreakpoint(toolsJson) : toolsJson}]`
  }
  body += `,"messages":${json}}`
  const headers = requestHeaders(request, wire)
  const encoded = { url: joinUrl(model.baseUrl, '/v1/messages'), headers, redactedHeaders: redactedHeaders(headers), body, warnings }
  return { encoded, prefixHash, answerTool, authHint: authHint(request, wire) }
}
