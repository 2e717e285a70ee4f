import type { ThinkingContent } from '../../types/content.ts'
import type { Message } from '../../types/message.ts'
import type { ModelConfig } from '../../types/model.ts'
import type { EncodedRequest, StreamRequest } from '../../types/provider.ts'
import { generationFields } from '../shared/claude-thinking.ts'
import { perObject } from '../shared/encoded-cache.ts'
import { headerCredential, joinUrl, mergeHeaders, redactedHeaders } from '../shared/endpoint.ts'
import { emptyHash, extendHash } from '../shared/hash.ts'
import { toJson } from '../shared/json-text.ts'
import { legalId } from '../shared/legal-id.ts'
import { type NormaliseTarget, normalise } from '../shared/normalise.ts'
import { joinPieces } from '../shared/pieces.ts'
import { anthropicCapabilities } from './capabilities.ts'
import { messagePieces, toolJson, withBreakpoint } from './pieces.ts'

/** What the wire needs beside the request. */
export interface AnthropicWire {
  anthropicVersion: string
  dangerouslyAllowBrowser: boolean
}

/** A request and what its answer will be bound to. */
export interface AnthropicRequest {
  encoded: EncodedRequest
  prefixHash?: string
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
    keepsThinking,
  }
  return { capabilities, target }
})

/**
 * The request for the Messages service. Throws `ProviderError` `other` for a URL or key that cannot be sent.
 * Source: reference/providers.md §1, spec/07.
 */
export function encodeRequest(request: StreamRequest, wire: AnthropicWire): AnthropicRequest {
  const { model, systemPrompt, tools, cache } = request
  const { capabilities, target } = planOf(model)
  const warnings: string[] = []
  const messages = normalise(request.messages, target)
  const fields = generationFields(request, capabilities, continuesWithoutThinking(messages), warnings)
  const toolsJson = tools.map(toolJson).join(',')
  const head = capabilities.boundReasoning ? extendHash(extendHash(emptyHash, systemPrompt), toolsJson) : undefined
  const isAuto = cache.type === 'auto'
  const { json, prefixHash } = joinPieces(messages, messagePieces, head, isAuto || (cache.type === 'manual' && cache.cacheMessages))
  let body = toJson({ model: model.id, stream: true, ...fields }).slice(0, -1)
  if (systemPrompt.trim() !== '') {
    const block = toJson({ type: 'text', text: systemPrompt })
    body += `,"system":[${isAuto || (cache.type === 'manual' && cache.cacheSystem) ? withBreakpoint(block) : block}]`
  }
  if (toolsJson !== '') {
    body += `,"tools":[${isAuto || (cache.type === 'manual' && cache.cacheTools) ? withBreakpoint(toolsJson) : toolsJson}]`
  }
  body += `,"messages":${json}}`
  const headers = headersOf(request, wire)
  const encoded = { url: joinUrl(model.baseUrl, '/v1/messages'), headers, redactedHeaders: redactedHeaders(headers), body, warnings }
  return prefixHash === undefined ? { encoded } : { encoded, prefixHash }
}

function headersOf({ model, credential }: StreamRequest, wire: AnthropicWire): Record<string, string> {
  const own: Record<string, string> = { 'content-type': 'application/json', 'anthropic-version': wire.anthropicVersion }
  if (credential !== undefined) own['x-api-key'] = headerCredential('Anthropic', credential)
  if (wire.dangerouslyAllowBrowser) own['anthropic-dangerous-direct-browser-access'] = 'true'
  return mergeHeaders(own, model.headers)
}

/** Reasoning without its signature is refused. */
function keepsThinking(block: ThinkingContent): boolean {
  return block.signature !== undefined || typeof block.providerState?.payload.redacted === 'string'
}

function continuesWithoutThinking(messages: readonly Message[]): boolean {
  if (messages.at(-1)?.role !== 'toolResult') return false
  const answer = messages.findLast((message) => message.role === 'assistant')
  return answer?.content[0]?.type !== 'thinking'
}
