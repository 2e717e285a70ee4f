import type { JsonObject } from '../../types/json.ts'
import type { AssistantMessage, Message } from '../../types/message.ts'
import type { EncodedRequest, StreamRequest, ToolDefinition } from '../../types/provider.ts'
import { effortFor } from '../openai/reasoning-request.ts'
import { perObject } from '../shared/encoded-cache.ts'
import { redactedHeaders } from '../shared/endpoint.ts'
import { toJson } from '../shared/json-text.ts'
import { normalise } from '../shared/normalise.ts'
import { rootObject } from '../shared/root-object.ts'
import { safely } from '../shared/safely.ts'
import { answerFormat } from './answer-format.ts'
import { type Dialect, dialectOf } from './dialect.ts'
import { type MessageEncoder, userOfParts } from './encode-message.ts'

/** How much of its reasoning a model is told; `none` asks for nothing. */
export type ReasoningSummary = 'auto' | 'concise' | 'detailed' | 'none'

/** Where a request goes. */
export interface ResponsesRoute {
  url: string
  /** The model as the service calls it. */
  model: string
  headers: Record<string, string>
}

/** How a request is encoded. */
export interface EncodingOptions {
  route: (request: StreamRequest) => ResponsesRoute
  reasoningSummary: ReasoningSummary
}

/** A request, and what its answer is read with. */
export interface ResponsesRequest {
  encoded: EncodedRequest
  /** It carries reasoning of earlier answers, which the service may refuse. */
  hasReasoning: boolean
  answerTool?: string
}

/** The service takes no smaller limit. */
const fewestTokens = 16

/** Without `strict: false` the service makes every property required; an object without `properties` it refuses. */
const encodeTool = perObject(({ name, description, parameters }: ToolDefinition) =>
  toJson({ type: 'function', name, description, parameters: { properties: {}, ...rootObject(parameters) }, strict: false }),
)

/**
 * A Responses request, exactly as it is sent; with `isBare` without reasoning of earlier answers and the ids that hang on it. Messages and
 * tools are encoded once each and found again by identity. Throws only `ProviderError`.
 *
 * Source: reference/providers.md §3.
 */
export function encodeRequest(request: StreamRequest, options: EncodingOptions, isBare = false): ResponsesRequest {
  return safely(() => encode(request, options, isBare), request)
}

function encode(asked: StreamRequest, options: EncodingOptions, isBare: boolean): ResponsesRequest {
  const dialect = dialectOf(asked.model)
  const warnings: string[] = []
  const { request, fields: form, answerTool } = answerFormat(asked, dialect.capabilities, warnings)
  const { url, model, headers } = options.route(asked)
  const input = encodeInput(normalise(request.messages, dialect.target), dialect.encoder, isBare)
  const hasReasoning = !isBare && input.includes('"type":"reasoning"')
  const fields: JsonObject = { model, stream: true, store: false, ...parametersOf(request, dialect, options, warnings), ...form }
  const tools = request.tools.length === 0 ? '' : `,"tools":[${request.tools.map(encodeTool).join(',')}]`
  const body = `${toJson(fields).slice(0, -1)}${tools},"input":[${systemItem(request, dialect)}${input}]}`
  const encoded = { url, headers, redactedHeaders: redactedHeaders(headers), body, warnings }
  return answerTool === undefined ? { encoded, hasReasoning } : { encoded, hasReasoning, answerTool }
}

/**
 * Images that results cannot carry follow in one user message behind the last of them. An answer whose ids were already sent goes without
 * them: the service refuses an id that stands twice.
 */
function encodeInput(messages: readonly Message[], encoder: MessageEncoder, isBare: boolean): string {
  const items: string[] = []
  const used = new Set<string>()
  let images: string[] = []
  for (const message of messages) {
    if (message.role !== 'toolResult' && images.length > 0) {
      items.push(userOfParts(images.join(',')))
      images = []
    }
    if (message.role === 'user') items.push(encoder.user(message))
    else if (message.role === 'assistant') {
      const json = isBare ? encoder.bareAnswer(message) : answerOnce(message, encoder, used)
      if (json !== '') items.push(json)
    } else {
      const { json, imageParts } = encoder.result(message)
      items.push(json)
      if (imageParts !== '') images.push(imageParts)
    }
  }
  if (images.length > 0) items.push(userOfParts(images.join(',')))
  return items.join(',')
}

function answerOnce(message: AssistantMessage, encoder: MessageEncoder, used: Set<string>): string {
  const { json, ids } = encoder.answer(message)
  const before = used.size
  const isRepeated = ids.some((id) => used.has(id))
  for (const id of ids) used.add(id)
  return isRepeated || used.size - before < ids.length ? encoder.bareAnswer(message) : json
}

/** Not `instructions`: xAI refuses them. */
function systemItem({ systemPrompt }: StreamRequest, { isOpenAi }: Dialect): string {
  return systemPrompt.trim() === '' ? '' : `${toJson({ role: isOpenAi ? 'developer' : 'system', content: systemPrompt })},`
}

/** Everything but the input and the tools. */
function parametersOf(request: StreamRequest, dialect: Dialect, { reasoningSummary }: EncodingOptions, warnings: string[]): JsonObject {
  const { model, thinkingLevel: level, temperature } = request
  const { capabilities } = dialect
  const wanted = request.maxTokens ?? model.maxTokens
  const fields: JsonObject = { max_output_tokens: Math.max(fewestTokens, wanted) }
  if (wanted < fewestTokens) warnings.push(`maxTokens raised from ${wanted} to ${fewestTokens}: the service takes no less`)
  let effort: string | undefined
  if (capabilities.thinking !== 'none') {
    effort = effortFor(level, capabilities.efforts, capabilities.thinking === 'alwaysOn')
    const reasoning: JsonObject = effort === undefined ? {} : { effort }
    if (level !== 'off' && reasoningSummary !== 'none') reasoning.summary = reasoningSummary
    if (Object.keys(reasoning).length > 0) fields.reasoning = reasoning
    fields.include = ['reasoning.encrypted_content']
  } else if (level !== 'off') {
    warnings.push(`thinkingLevel "${level}" was left out: ${model.id} is not described as a reasoning model.`)
  }
  if (temperature !== undefined) {
    const isTaken = capabilities.sampling && (capabilities.thinking === 'none' || effort === 'none' || !dialect.isOpenAi)
    if (isTaken) fields.temperature = temperature
    else warnings.push(`temperature ${temperature} was left out: ${model.id} does not take it while it reasons.`)
  }
  return fields
}
