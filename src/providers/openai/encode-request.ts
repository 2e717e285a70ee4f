import type { JsonObject } from '../../types/json.ts'
import type { EncodedRequest, StreamRequest, ToolDefinition } from '../../types/provider.ts'
import { perObject } from '../shared/encoded-cache.ts'
import { headerCredential, isBareHost, joinUrl, mergeHeaders, redactedHeaders } from '../shared/endpoint.ts'
import { toJson } from '../shared/json-text.ts'
import { answerFormat } from './answer-format.ts'
import { isResponsesOnly } from './capabilities.ts'
import { type Dialect, dialectOf } from './dialect.ts'
import { encodeMessages } from './encode-messages.ts'
import { reasoningRequest } from './reasoning-request.ts'

const encodeTool = perObject((tool: ToolDefinition) => {
  const { name, description, parameters } = tool
  return toJson({ type: 'function', function: { name, description, parameters } })
})

/** A request, and what its backend's answer must be read with. */
export interface ChatRequest {
  encoded: EncodedRequest
  emptyBodyIsOverflow: boolean
  /** Reasoning tokens are counted beside `completion_tokens`. */
  isReasoningOutside: boolean
  /** The tool whose call is the answer. */
  answerTool: string | undefined
}

/**
 * A Chat Completions request, exactly as it is sent. Messages and tools are encoded once each and found again by identity.
 * Source: reference/providers.md §2.
 */
export function encodeRequest(asked: StreamRequest, service: string): ChatRequest {
  const dialect = dialectOf(asked.model)
  const warnings: string[] = []
  const { request, fields, answerTool } = answerFormat(asked, dialect, warnings)
  const parameters = toJson({ ...parametersOf(request, dialect, warnings), ...fields })
  const messages = encodeMessages(request, dialect)
  const tools = request.tools.length === 0 ? '' : `,"tools":[${request.tools.map(encodeTool).join(',')}]`
  const headers = headersOf(request, service, dialect)
  const encoded: EncodedRequest = {
    url: chatUrl(request.model.baseUrl, dialect),
    headers,
    redactedHeaders: redactedHeaders(headers),
    body: `${parameters.slice(0, -1)}${tools},"messages":${messages}}`,
    warnings,
  }
  const { emptyBodyIsOverflow, compat } = dialect
  return { encoded, emptyBodyIsOverflow, isReasoningOutside: compat.thinkingFormat === 'xai', answerTool }
}

/** Everything but the messages and the tools. */
function parametersOf(request: StreamRequest, dialect: Dialect, warnings: string[]): JsonObject {
  const { model, temperature } = request
  const { compat } = dialect
  const maxTokens = request.maxTokens ?? model.maxTokens
  const reasoning = reasoningRequest(request, dialect)
  warnings.push(...reasoning.warnings)
  const body: JsonObject = { model: model.id, stream: true }
  if (compat.supportsUsageInStreaming) body.stream_options = { include_usage: true }
  if (compat.supportsStore) body.store = false
  body[compat.maxTokensField === 'maxCompletionTokens' ? 'max_completion_tokens' : 'max_tokens'] = maxTokens
  Object.assign(body, reasoning.fields)
  if (temperature !== undefined) {
    if (reasoning.allowsSampling) body.temperature = temperature
    else warnings.push(`temperature ${temperature} was left out: ${model.id} does not take it while it reasons.`)
  }
  if (isResponsesOnly(model)) warnings.push(`${model.id} is served by OpenAI's Responses API only; this call will probably be refused.`)
  return body
}

function headersOf({ model, credential, messages }: StreamRequest, service: string, { isCopilot }: Dialect): Record<string, string> {
  const own: Record<string, string> = { 'content-type': 'application/json' }
  if (credential !== undefined && credential !== '') own.authorization = `Bearer ${headerCredential(service, credential)}`
  if (isCopilot) {
    own['x-initiator'] = messages.at(-1)?.role === 'user' ? 'user' : 'agent'
    const hasImages = messages.some((message) => message.content.some((block) => block.type === 'image'))
    if (hasImages) own['copilot-vision-request'] = 'true'
  }
  return mergeHeaders(own, model.headers)
}

/** `baseUrl` with the path of the endpoint; a bare host gets the version that every other service has. */
function chatUrl(baseUrl: string, { isCopilot }: Dialect): string {
  return joinUrl(baseUrl, !isCopilot && isBareHost(baseUrl) ? '/v1/chat/completions' : '/chat/completions')
}
