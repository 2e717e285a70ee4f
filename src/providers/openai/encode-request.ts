import type { JsonObject } from '../../contract/json.ts'
import type { ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'
import type { ToolDefinition } from '../../contract/model/request.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import { statedLimit } from '../kit/capabilities/capabilities.ts'
import type { EncodedCall } from '../kit/codec.ts'
import { CacheMarks, perObject, toJson, toolsEncoder } from '../kit/encode/json-pieces.ts'
import { HistoryMemory } from '../kit/history/history-memory.ts'
import { targetOf } from '../kit/history/target.ts'
import type { FormatPlan } from '../kit/optional/response-format/response-format.ts'
import { hiddenBy, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'
import { fittedTools } from '../kit/schema/fitted-schema.ts'
import { planRequest, type RequestPlan } from '../kit/settings/plan-request.ts'
import { settingFieldsOf } from '../kit/settings/write-settings.ts'
import { headerCredential, isBareHost, joinUrl, mergeHeaders } from '../kit/transport/endpoint.ts'
import { isOpenAiReasoner, isResponsesOnly } from './capabilities.ts'
import { ChatWriter, withCacheMark } from './chat-writer.ts'
import { messageEncoder } from './encode-message.ts'
import { type ChatProfile, chatProfile } from './profile.ts'
import { reasoningRequest } from './reasoning-request.ts'
import { searchJson, serverToolParts } from './server-tools.ts'
import { goesBack } from './thinking-fields.ts'

const toolsJson = toolsEncoder((tool) => toJson(toolJson(tool)))
/** Definitions of deferred tools, which OpenRouter searches. */
const deferredJson = toolsEncoder((tool) => toJson({ ...toolJson(tool), defer_loading: true }))

function toolJson({ name, description, parameters }: ToolDefinition): object {
  return { type: 'function', function: { name, description, parameters } }
}

/** Cached data for a model and its conversations. */
function knownOf(model: ModelConfig) {
  const profile = chatProfile(model)
  const target = targetOf({ ...model, api: 'openAiCompletions' }, profile, (block) => goesBack(block, profile.messages.thinking))
  const encoder = messageEncoder(profile.messages)
  return { profile, url: chatUrl(model.baseUrl, profile), history: new HistoryMemory(target, () => new ChatWriter(encoder)) }
}

/** A call with the context needed to decode its response. */
export interface ChatCall extends EncodedCall {
  /** Whether `completion_tokens` excludes reasoning tokens. */
  isReasoningOutside: boolean
  /** Whether a leading `<think>` in the text is reasoning. */
  hasThinkTags: boolean
}

/**
 * Creates an encoder for Chat Completions requests. `serviceOf` returns a provider's display name. The provider owns the cached model data,
 * because a module-level map would retain it until a full garbage collection.
 *
 * Source: docs/providers/openai.md
 */
export function requestEncoder(serviceOf: (provider: string) => string, serverTools: ServerTools): (asked: StreamRequest) => ChatCall {
  const modelOf = perObject(knownOf)
  return (asked) => encodeRequest(asked, { service: serviceOf(asked.model.provider), serverTools }, modelOf(asked.model))
}

/** The provider's name, and its own tools. */
interface ChatService {
  service: string
  serverTools: ServerTools
}

function encodeRequest(
  asked: StreamRequest,
  { service, serverTools }: ChatService,
  { profile, url, history }: ReturnType<typeof knownOf>,
): ChatCall {
  const { compat, systemRole } = profile
  const warnings: string[] = []
  const plan = planRequest(asked, profile, profile.toolRules, warnings)
  const { request, format, deferred } = plan
  const { declared, topLevel } = serverToolParts(serverTools)
  const fields = { ...parametersOf(request, profile, 'web_search_options' in topLevel, warnings), ...formatFields(format) }
  const parameters = toJson({ ...fields, ...toolChoiceFields(plan), ...topLevel })
  const { writer, leftOut } = history.write(request.messages)
  warnings.push(...leftOut)
  const prompt = request.systemPrompt === '' ? '' : toJson({ role: systemRole, content: request.systemPrompt })
  const marks = new CacheMarks(marksCache(request, profile) ? request.cache : { type: 'disabled' }, (json) => withCacheMark(json, request))
  const system = marks.putIn('cacheSystem', prompt)
  const messages = writer.toJson(system, marks.isWanted('cacheMessages') ? marks : undefined)
  const search = deferred.length === 0 ? '' : searchJson(serverTools)
  const fitted = (tools: readonly ToolDefinition[]) => fittedTools(tools, profile.toolSchemas, warnings)
  const allTools = [declared, search, toolsJson(fitted(request.tools)), deferredJson(fitted(deferred))]
    .filter((part) => part !== '')
    .join(',')
  const tools = allTools === '' ? '' : `,"tools":[${allTools}]`
  return {
    url,
    headers: headersOf(request, service, profile),
    body: `${parameters.slice(0, -1)}${tools},"messages":${messages}}`,
    warnings,
    ...hiddenBy(serverTools, asked.credential),
    answerTool: format.answerTool,
    emptyBodyIsOverflow: profile.emptyBodyIsOverflow,
    isReasoningOutside: compat.thinkingFormat === 'xai',
    hasThinkTags: profile.hasThinkTags,
  }
}

/** Returns `response_format`. */
function formatFields(plan: FormatPlan): JsonObject {
  switch (plan.kind) {
    case 'text':
    case 'tool':
      return {}
    case 'object':
      return { response_format: { type: 'json_object' } }
    case 'schema': {
      const { name, schema, strict } = plan
      return { response_format: { type: 'json_schema', json_schema: strict === undefined ? { name, schema } : { name, schema, strict } } }
    }
  }
}

/** Returns the fields for the tool choice. */
function toolChoiceFields({ choice, isSingle }: RequestPlan): JsonObject {
  const single: JsonObject = isSingle ? { parallel_tool_calls: false } : {}
  if (choice === undefined) return single
  if (typeof choice === 'string') return { tool_choice: choice, ...single }
  const named = (name: string): JsonObject => ({ type: 'function', function: { name } })
  if ('tool' in choice) return { tool_choice: named(choice.tool), ...single }
  const { mode, allowed } = choice
  return { tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: allowed.map(named) } }, ...single }
}

/** Returns all fields except messages and tools. */
function parametersOf(request: StreamRequest, profile: ChatProfile, searches: boolean, warnings: string[]): JsonObject {
  const { model } = request
  const { compat, capabilities, settingRules } = profile
  const maxTokens = statedLimit(request, capabilities)
  const reasoning = reasoningRequest(request, profile, warnings)
  const body: JsonObject = { model: model.id, stream: true }
  if (compat.supportsUsageInStreaming) body.stream_options = { include_usage: true }
  if (compat.supportsStore) body.store = false
  if (maxTokens !== undefined) body[limitField(model, compat)] = maxTokens
  Object.assign(body, reasoning.fields)
  const noSampling = reasoning.allowsSampling ? (searches ? 'while it searches' : undefined) : 'while it reasons'
  Object.assign(body, settingFieldsOf(request, { rules: settingRules, capabilities, noSampling }, warnings))
  if (isResponsesOnly(model)) warnings.push(`Only OpenAI's Responses API serves ${model.id}. OpenAI will probably reject this call.`)
  return body
}

function limitField(model: ModelConfig, compat: OpenAiCompat): string {
  return compat.maxTokensField === 'maxCompletionTokens' || isOpenAiReasoner(model, compat) ? 'max_completion_tokens' : 'max_tokens'
}

function headersOf({ model, credential, messages }: StreamRequest, service: string, { isCopilot }: ChatProfile): Record<string, string> {
  const own: Record<string, string> = { 'content-type': 'application/json' }
  if (credential !== undefined && credential !== '') own.authorization = `Bearer ${headerCredential(service, credential)}`
  if (isCopilot) {
    own['x-initiator'] = messages.at(-1)?.role === 'user' ? 'user' : 'agent'
    const hasImages = messages.some((message) => message.content.some((block) => block.type === 'image'))
    if (hasImages) own['copilot-vision-request'] = 'true'
  }
  return mergeHeaders(own, model.headers)
}

/** Appends the endpoint path to `baseUrl`. A bare host gets the default version. */
function chatUrl(baseUrl: string, { isCopilot }: ChatProfile): string {
  return joinUrl(baseUrl, !isCopilot && isBareHost(baseUrl) ? '/v1/chat/completions' : '/chat/completions')
}

/** Returns whether to send cache breakpoints. OpenRouter forwards them to Anthropic. Its other providers cache automatically. */
function marksCache({ model }: StreamRequest, { compat }: ChatProfile): boolean {
  return compat.thinkingFormat === 'openRouter' && model.id.startsWith('anthropic/')
}
