import type { JsonObject } from '../../contract/json.ts'
import { type Message, toolCallsOf } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { ToolDefinition } from '../../contract/model/request.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import type { ModelProfile } from '../kit/capabilities/capabilities.ts'
import { isSigned } from '../kit/capabilities/claude-thinking.ts'
import type { EncodedCall } from '../kit/codec.ts'
import { CacheMarks, perObject, toJson } from '../kit/encode/json-pieces.ts'
import { TurnWriter } from '../kit/encode/message-encoder.ts'
import type { RefusalHint } from '../kit/errors/classify.ts'
import { legalName } from '../kit/history/hash.ts'
import { HistoryMemory } from '../kit/history/history-memory.ts'
import { type NormaliseTarget, normalise } from '../kit/history/normalise.ts'
import { targetOf } from '../kit/history/target.ts'
import type { CitedDocuments } from '../kit/optional/citations/cited-documents.ts'
import { citesDocuments } from '../kit/optional/response-format/response-format.ts'
import { type ServerTools, serverToolSecrets } from '../kit/optional/server-tools/server-tools.ts'
import { fittedTools } from '../kit/schema/fitted-schema.ts'
import { planRequest, type RequestPlan } from '../kit/settings/plan-request.ts'
import { leaveOut } from '../kit/settings/write-settings.ts'
import { joinUrl, mergeHeaders } from '../kit/transport/endpoint.ts'
import { secretsOf } from './credentials.ts'
import { breakpointOf, messageEncoder, toolsJson } from './encode-message.ts'
import { generationOf } from './generation.ts'
import { isDocument, maxDocuments } from './media.ts'
import { bedrockProfile } from './profile.ts'
import { bedrockAuthHeaders, bedrockRegion } from './sign.ts'

/** Protocol options. Keep one object per provider: it caches model data. */
export interface BedrockWire {
  region?: string
  underlyingModel?: string
  /** Provider-executed tools. */
  serverTools?: ServerTools
}

/** A call with the context needed to decode its response. */
export interface BedrockCall extends EncodedCall {
  prefixHash: string | undefined
  /** Documents that the response may cite. */
  cited: CitedDocuments
}

/** Cached data for a model and its conversations. */
function knownOf(model: ModelConfig, { underlyingModel }: BedrockWire) {
  const profile = bedrockProfile(model, underlyingModel)
  const { resultStatus, thinkingField } = profile.family
  const { mediaInToolResults } = profile.capabilities
  const target = targetOf(model, profile, (block) => thinkingField !== 'claude' || isSigned(block))
  const history = (cites: boolean) => {
    const encoder = messageEncoder({ resultStatus, mediaInToolResults, cites, citesPdf: thinkingField === 'claude' })
    return new HistoryMemory(target, (head) => new TurnWriter(encoder, head))
  }
  return { profile, target, history: history(true), uncited: history(false) }
}

type Known = ReturnType<typeof knownOf>

/**
 * Creates an encoder for ConverseStream requests, signed for AWS credentials.
 *
 * - Rejects with `ProviderError` `schemaMismatch` for a response format that the model does not support, and `other` for a request that
 *   cannot be sent.
 * - The provider owns the cached model data, because a module-level map would retain it until a full garbage collection.
 *
 * Source: docs/providers/bedrock.md
 */
export function requestEncoder(wire: BedrockWire): (request: StreamRequest) => BedrockCall {
  const modelOf = perObject((model: ModelConfig) => knownOf(model, wire))
  return (request) => encodeRequest(request, wire, modelOf(request.model))
}

function encodeRequest(request: StreamRequest, { region, serverTools = [] }: BedrockWire, known: Known): BedrockCall {
  const { model, credential } = request
  const url = joinUrl(model.baseUrl, `/model/${encodeURIComponent(model.id)}/converse-stream`)
  const headers = mergeHeaders({ 'content-type': 'application/json' }, model.headers)
  const call = {
    ...bodyOf(request, known, serverTools),
    url,
    headers,
    hint: refusalHint,
    secrets: [...serverToolSecrets(serverTools), ...(credential === undefined ? [] : secretsOf(credential))],
  }
  if (credential === undefined) return call
  const place = region ?? bedrockRegion(model.id, model.baseUrl)
  return { ...call, sign: async (made) => mergeHeaders(await bedrockAuthHeaders(made, credential, place), made.headers) }
}

/** The API's error for model ids that require an inference profile, with either apostrophe. */
const onlyByProfile = /on-demand throughput isn.t supported/

/** Hints for AWS credential errors, by message or error name. */
const credentialHints: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [
    /signature (?:expired|not yet current)|RequestExpired/i,
    'The signature has expired: the system clock is wrong, or the request was delayed. Set the clock.',
  ],
  [
    /expiredtoken|token\b.{0,40}\bexpired/i,
    'The session token has expired. Get new AWS credentials, or pass credentials as a function that renews them.',
  ],
  [
    /signature\b.{0,60}\bdoes not match|(?:invalid|incomplete) ?signature|signaturedoesnotmatch/i,
    'The signature does not match. Check secretAccessKey and region, and whether a proxy changes the request.',
  ],
]

const refusalHint: RefusalHint = (code, message, names) => {
  if (code === 'auth') return credentialHints.find(([pattern]) => pattern.test(`${message} ${names}`))?.[1]
  return onlyByProfile.test(message)
    ? 'Prefix the model id with the region of an inference profile (us., eu., global.), or pass its ARN.'
    : undefined
}

function bodyOf(
  asked: StreamRequest,
  { profile, target, history, uncited }: Known,
  serverTools: ServerTools,
): Omit<BedrockCall, 'url' | 'headers'> {
  const { family, capabilities } = profile
  const warnings: string[] = []
  const plan = planRequest(asked, profile, toolRules, warnings)
  const { request, format } = plan
  if (plan.isSingle) leaveOut(request, 'parallelToolCalls', undefined, warnings)
  const { systemPrompt } = request
  // Callable tools come last, because the cache breakpoint follows them.
  const tools = [...serverTools.map((tool) => toJson(tool)), toolsOf(request, profile, target, warnings)]
    .filter((part) => part !== '')
    .join(',')
  // The API rejects citations together with a response format.
  const isBound = format.kind === 'schema'
  if (isBound) citesDocuments(format, capabilities, warnings)
  const { messages, writer, leftOut } = (isBound ? uncited : history).write(
    request.messages,
    capabilities.boundReasoning ? [systemPrompt, tools] : [],
  )
  warnings.push(...leftOut)
  if (writer.crowdedOut > 0)
    warnings.push(`Dropped ${writer.crowdedOut} files from a request: the provider accepts at most ${maxDocuments} such files per message.`)
  const { inferenceConfig, additional, topLevel } = generationOf(request, messages, family.thinkingField, capabilities, warnings)
  const marks = new CacheMarks(family.cachePoints === 'none' ? { type: 'disabled' } : request.cache, breakpointOf(request))
  const block = systemPrompt.trim() === '' ? '' : marks.putIn('cacheSystem', toJson({ text: systemPrompt }))
  const declared = family.cachePoints === 'all' ? marks.putIn('cacheTools', tools) : tools
  // Not joined, to avoid copying messages of several megabytes.
  let body = `{"messages":${writer.toJson(marks.isWanted('cacheMessages') ? marks : undefined)}`
  if (block !== '') body += `,"system":[${block}]`
  if (Object.keys(inferenceConfig).length > 0) body += `,"inferenceConfig":${toJson(inferenceConfig)}`
  if (tools !== '') body += `,"toolConfig":{"tools":[${declared}]${toolChoiceOf(plan)}}`
  if (Object.keys(additional).length > 0) body += `,"additionalModelRequestFields":${toJson(additional)}`
  for (const [name, value] of Object.entries(topLevel)) body += `,${JSON.stringify(name)}:${toJson(value)}`
  if (format.kind === 'schema') body += `,"outputConfig":${toJson(outputConfigOf(format.name, format.schema))}`
  const cited: CitedDocuments = { messages: asked.messages, api: 'bedrockConverseStream', media: capabilities, isDocument }
  return { body: `${body}}`, warnings, prefixHash: writer.prefixHash, answerTool: format.answerTool, cited }
}

const toolRules = { none: false, subset: false, forcingStopsThinking: true }

function toolChoiceOf({ choice }: RequestPlan): string {
  if (choice === undefined) return ''
  const wireChoice =
    typeof choice === 'object' && 'tool' in choice
      ? { tool: { name: legalName(choice.tool) } }
      : choice === 'required'
        ? { any: {} }
        : { auto: {} }
  return `,"toolChoice":${toJson(wireChoice)}`
}

function outputConfigOf(name: string, schema: JsonObject): JsonObject {
  const jsonSchema = { schema: JSON.stringify(schema), name }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

/** Returns the tools. The API requires tools for a history with calls, so if there are none, declares the called tools. */
function toolsOf({ tools, messages }: StreamRequest, { toolSchemas }: ModelProfile, target: NormaliseTarget, warnings: string[]): string {
  if (tools.length > 0 || !messages.some(hasCalls)) return toolsJson(fittedTools(tools, toolSchemas, warnings))
  const names = new Set<string>()
  for (const message of normalise(messages, target)) {
    if (message.role === 'assistant') for (const call of toolCallsOf(message.content)) names.add(legalName(call.name))
  }
  const removedTool = (name: string): ToolDefinition => ({
    name,
    description: 'No longer available. Do not call it.',
    parameters: { type: 'object' },
  })
  return toolsJson(Array.from(names, removedTool))
}

function hasCalls(message: Message): boolean {
  return message.role === 'assistant' && message.content.some((block) => block.type === 'toolCall')
}
