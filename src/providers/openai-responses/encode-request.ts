import type { JsonObject } from '../../contract/json.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { ToolDefinition } from '../../contract/model/request.ts'
import type { RequestSettings } from '../../contract/model/request-settings.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import { statedLimit } from '../kit/capabilities/capabilities.ts'
import type { EncodedCall } from '../kit/codec.ts'
import { perObject, toJson, toolsEncoder } from '../kit/encode/json-pieces.ts'
import { HistoryMemory } from '../kit/history/history-memory.ts'
import { targetOf } from '../kit/history/target.ts'
import type { FormatPlan } from '../kit/optional/response-format/response-format.ts'
import { hiddenBy, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'
import { fittedTools } from '../kit/schema/fitted-schema.ts'
import { planRequest, type RequestPlan } from '../kit/settings/plan-request.ts'
import { adjusted, effortFor, leaveOut, type SettingRules, settingFieldsOf } from '../kit/settings/write-settings.ts'
import { toolLimit } from '../openai/capabilities.ts'
import { cacheFields, openAiTier } from '../openai/setting-rules.ts'
import { type EchoMode, messageEncoder } from './encode-message.ts'
import { InputWriter } from './input-writer.ts'
import { type ResponsesProfile, responsesProfile } from './profile.ts'
import { isReplayable, replayPayload } from './replay-state.ts'
import { includedFor, searchJson } from './server-tools.ts'

/** Level of detail of reasoning summaries. `none` requests no summary. */
export type ReasoningSummary = NonNullable<RequestSettings['thinkingSummary']>

/** A request's destination. */
export interface ResponsesRoute {
  url: string
  /** The provider's name of the model. */
  model: string
  headers: Record<string, string>
}

/** Options for the encoder. */
export interface EncodingOptions {
  route: (request: StreamRequest) => ResponsesRoute
  reasoningSummary: ReasoningSummary
  /** Provider-executed tools. */
  serverTools: ServerTools
}

/** A call, with information about parts of earlier responses that the provider may reject. */
export interface ResponsesCall extends EncodedCall {
  hasReasoning: boolean
  /** Whether the request contains container output, which may have expired. */
  hasContainers: boolean
}

/** Minimum of `max_output_tokens`. */
const minTokens = 16

/** Adds `strict: false`, because the API would otherwise make every property required. */
const toolsJson = toolsEncoder((tool) => toJson(toolJson(tool)))
/** Definitions of deferred tools, which the provider searches. */
const deferredJson = toolsEncoder((tool) => toJson({ ...toolJson(tool), defer_loading: true }))

function toolJson({ name, description, parameters }: ToolDefinition): object {
  return { type: 'function', name, description, parameters, strict: false }
}

/** Cached data for a model and its conversations. */
function knownOf(model: ModelConfig) {
  const profile = responsesProfile(model)
  const encoder = messageEncoder(profile.capabilities.mediaInToolResults.length > 0)
  const target = targetOf(model, profile, ({ providerState }) => isReplayable(replayPayload(providerState).item))
  return {
    profile,
    rules: rulesFor(model, profile),
    history: new HistoryMemory(target, ([mode = 'whole']) => new InputWriter(encoder, mode as EchoMode)),
  }
}

/**
 * Creates an encoder for Responses requests. `mode` selects the parts of earlier responses. The provider owns the cached model data,
 * because a module-level map would retain it until a full garbage collection.
 *
 * Source: docs/providers/openai-responses.md
 */
export function requestEncoder(options: EncodingOptions): (asked: StreamRequest, mode?: EchoMode) => ResponsesCall {
  const modelOf = perObject(knownOf)
  return (asked, mode = 'whole') => encodeRequest(asked, options, modelOf(asked.model), mode)
}

function encodeRequest(
  asked: StreamRequest,
  options: EncodingOptions,
  { profile, rules, history }: ReturnType<typeof knownOf>,
  mode: EchoMode,
): ResponsesCall {
  const warnings: string[] = []
  const plan = planRequest(asked, profile, profile.isOpenAi ? ofOpenAi : toolRules, warnings)
  const { request, format, deferred } = plan
  const { url, model, headers } = options.route(asked)
  const { writer, leftOut } = history.write(request.messages, [mode])
  warnings.push(...leftOut)
  const parameters = parametersOf(request, { ...profile, rules }, options, warnings)
  const fields: JsonObject = { model, stream: true, store: false, ...parameters, ...toolChoiceFields(plan) }
  const text = { ...Object(parameters.text), ...formatOf(format) }
  if (Object.keys(text).length > 0) fields.text = text
  const { serverTools } = options
  const include = [...(Array.isArray(fields.include) ? fields.include : []), ...(profile.isOpenAi ? includedFor(serverTools) : [])]
  if (include.length > 0) fields.include = include
  const search = deferred.length === 0 || serverTools.some(({ type }) => type === searchJson.type) ? [] : [searchJson]
  const fitted = (tools: readonly ToolDefinition[]) => fittedTools(tools, profile.toolSchemas, warnings)
  const own = [toolsJson(fitted(request.tools)), deferredJson(fitted(deferred))].filter((part) => part !== '')
  const declared = [...own, ...[...search, ...serverTools].map(toJson)]
  const tools = declared.length === 0 ? '' : `,"tools":[${declared.join(',')}]`
  const body = `${toJson(fields).slice(0, -1)}${tools},"input":${writer.toJson(systemItem(request, profile))}}`
  const hidden = hiddenBy(serverTools, asked.credential)
  const { hasReasoning, hasContainers } = writer
  return { url, headers, body, warnings, answerTool: format.answerTool, hasReasoning, hasContainers, ...hidden }
}

const toolRules = { none: true, subset: true, forcingStopsThinking: false, searches: true }
const ofOpenAi = { ...toolRules, maxTools: toolLimit }

/** Returns the response format in `text`. */
function formatOf(plan: FormatPlan): JsonObject {
  if (plan.kind === 'object') return { format: { type: 'json_object' } }
  if (plan.kind !== 'schema') return {}
  return { format: { type: 'json_schema', name: plan.name, schema: plan.schema, strict: plan.strict ?? false } }
}

/** Returns the fields for the tool choice. */
function toolChoiceFields({ choice, isSingle }: RequestPlan): JsonObject {
  const single: JsonObject = isSingle ? { parallel_tool_calls: false } : {}
  if (choice === undefined) return single
  if (typeof choice === 'string') return { tool_choice: choice, ...single }
  const named = (name: string): JsonObject => ({ type: 'function', name })
  if ('tool' in choice) return { tool_choice: named(choice.tool), ...single }
  return { tool_choice: { type: 'allowed_tools', mode: choice.mode, tools: choice.allowed.map(named) }, ...single }
}

/** Returns the rules for each setting. Source: docs/concepts/models.md */
function rulesFor(model: ModelConfig, { isOpenAi, capabilities }: ResponsesProfile): SettingRules {
  return {
    temperature: { field: 'temperature' },
    topP: { field: 'top_p' },
    verbosity: isOpenAi && capabilities.thinking !== 'none' ? (verbosity) => ({ text: { verbosity } }) : undefined,
    serviceTier: isOpenAi ? openAiTier : undefined,
    cacheTtl: isOpenAi ? (ttl) => cacheFields(ttl, model, '12h') : undefined,
    user: { field: isOpenAi ? 'safety_identifier' : 'user' },
  }
}

/** Sends the system prompt as an input item, because xAI rejects `instructions`. */
function systemItem({ systemPrompt }: StreamRequest, { isOpenAi }: ResponsesProfile): string {
  return systemPrompt.trim() === '' ? '' : toJson({ role: isOpenAi ? 'developer' : 'system', content: systemPrompt })
}

/** Returns all fields except input and tools. */
function parametersOf(
  request: StreamRequest,
  { capabilities, isOpenAi, rules }: ResponsesProfile & { rules: SettingRules },
  { reasoningSummary, serverTools }: EncodingOptions,
  warnings: string[],
): JsonObject {
  const { thinking: level, thinkingSummary = reasoningSummary } = request
  const wanted = statedLimit(request, capabilities)
  const fields: JsonObject = wanted === undefined ? {} : { max_output_tokens: Math.max(minTokens, wanted) }
  if (wanted !== undefined && wanted < minTokens)
    adjusted(request, `maxTokens raised from ${wanted} to ${minTokens}: the provider's minimum`, warnings)
  let effort: string | undefined
  if (capabilities.thinking !== 'none') {
    effort = effortFor(request, capabilities, warnings)
    if (effort === 'minimal' && serverTools.some(({ type }) => type === 'web_search')) {
      effort = 'low'
      warnings.push('The effort "minimal" was raised to "low", the minimum for web search.')
    }
    const reasoning: JsonObject = effort === undefined ? {} : { effort }
    if (level !== 'off' && thinkingSummary !== 'none') reasoning.summary = thinkingSummary
    if (Object.keys(reasoning).length > 0) fields.reasoning = reasoning
    fields.include = ['reasoning.encrypted_content']
  } else if (level !== 'off') {
    leaveOut(request, `thinking level ${level}`, 'is not described as a reasoning model', warnings)
  }
  if (request.thinkingBudget !== undefined) leaveOut(request, 'thinkingBudget', 'thinks by effort: set thinking', warnings)
  const takesSampling = capabilities.thinking === 'none' || effort === 'none' || !isOpenAi
  Object.assign(
    fields,
    settingFieldsOf(request, { rules, capabilities, noSampling: takesSampling ? undefined : 'while it reasons' }, warnings),
  )
  return fields
}
