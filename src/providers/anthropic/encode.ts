import { type JsonObject, jsonObjectIn } from '../../contract/json.ts'
import type { FileCitations } from '../../contract/message/content.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { ToolDefinition } from '../../contract/model/request.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import type { ModelProfile } from '../kit/capabilities/capabilities.ts'
import { continuesWithoutThinking, generationFields, whyNoSampling } from '../kit/capabilities/claude-thinking.ts'
import type { EncodedCall } from '../kit/codec.ts'
import { CacheMarks, perObject, toJson } from '../kit/encode/json-pieces.ts'
import { type MessageEncoder, TurnWriter } from '../kit/encode/message-encoder.ts'
import { placesOfMedia } from '../kit/history/beginnings.ts'
import { legalName } from '../kit/history/hash.ts'
import { HistoryMemory } from '../kit/history/history-memory.ts'
import { mediaRules, type NormaliseTarget, targetOf } from '../kit/history/target.ts'
import type { CitedDocuments } from '../kit/optional/citations/cited-documents.ts'
import type { MediaRules } from '../kit/optional/media/media-rules.ts'
import { citesDocuments, type FormatPlan } from '../kit/optional/response-format/response-format.ts'
import { fittedTools } from '../kit/schema/fitted-schema.ts'
import { planRequest, type RequestPlan } from '../kit/settings/plan-request.ts'
import { adjusted, type SettingRules, settingFieldsOf, upToOne } from '../kit/settings/write-settings.ts'
import { joinUrl } from '../kit/transport/endpoint.ts'
import { breakpointOf, deferredJson, messageEncoder, toolsJson } from './encode-message.ts'
import { type AnthropicWire, keyHint, requestHeaders, systemTexts } from './identity.ts'
import { anthropicProfile, keepsThinking } from './profile.ts'
import { containerIn, searchJson, searchKnows } from './server-tools.ts'

/** A call with the context needed to decode its response. */
export interface AnthropicCall extends EncodedCall {
  prefixHash: string | undefined
  /** Documents that the response may cite. */
  cited: CitedDocuments
}

/** Cached data for a model and its conversations. */
function knownOf(model: ModelConfig, wire: AnthropicWire) {
  const profile = anthropicProfile(model)
  const histories = (cites: boolean) => historiesOf(model, profile, wire, messageEncoder(cites))
  const plain = histories(false)
  const cited = histories(true)
  return {
    profile,
    url: joinUrl(model.baseUrl, '/v1/messages'),
    historyFor: (plan: RequestPlan, cites: boolean) => (cites ? cited : plain)(plan),
  }
}

/** Returns the history caches by deferred tools, because search results are sent back only with the same tools. */
function historiesOf(model: ModelConfig, profile: ModelProfile, { serverTools }: AnthropicWire, encoder: MessageEncoder) {
  const memory = (knows: NormaliseTarget['knowsTool']) =>
    new HistoryMemory(targetOf(model, profile, keepsThinking(model), knows), (head) => new TurnWriter(encoder, head))
  const plain = memory(serverTools.knows)
  let searching: { names: string; history: typeof plain } | undefined
  return ({ request, deferred }: RequestPlan): typeof plain => {
    if (request.searchable === undefined) return plain
    const names = deferred.map(({ name }) => name).join()
    if (searching?.names !== names) searching = { names, history: memory(searchKnows(serverTools, deferred)) }
    return searching.history
  }
}

/**
 * Creates a request encoder for the Messages API, which throws `ProviderError` for a request that cannot be sent. The provider owns the
 * cached model data, because a module-level map would retain it until a full garbage collection.
 *
 * Source: docs/providers/anthropic.md
 */
export function requestEncoder(wire: AnthropicWire): (asked: StreamRequest) => AnthropicCall {
  const modelOf = perObject((model: ModelConfig) => knownOf(model, wire))
  return (asked) => encodeRequest(asked, wire, modelOf(asked.model))
}

function encodeRequest(asked: StreamRequest, wire: AnthropicWire, { profile, url, historyFor }: ReturnType<typeof knownOf>): AnthropicCall {
  const { capabilities } = profile
  const media = mediaRules(profile)
  const warnings: string[] = []
  const plan = planRequest(asked, profile, toolRules, warnings)
  const { request, format, deferred } = plan
  const { model, cache } = request
  const system = systemTexts(request.systemPrompt, wire)
  const { serverTools } = wire
  const search = deferred.length === 0 ? '' : searchJson(serverTools)
  const fitted = (tools: readonly ToolDefinition[]) => fittedTools(tools, profile.toolSchemas, warnings)
  // Callable tools come last, because the cache breakpoint follows them and must not be on a deferred tool.
  const tools = [deferredJson(fitted(deferred)), search, serverTools.tools, toolsJson(fitted(request.tools))]
    .filter((part) => part !== '')
    .join(',')
  const cites = placesOfMedia(request.messages).length > 0 && citesAll(format, media, warnings)
  const head = capabilities.boundReasoning ? [system.join('\n'), tools] : []
  const { messages, writer, leftOut } = historyFor(plan, cites).write(request.messages, head)
  warnings.push(...leftOut)
  const fields = generationFields(request, capabilities, continuesWithoutThinking(messages), warnings)
  const settings = { rules: ruled(request), capabilities, noSampling: whyNoSampling(fields) }
  Object.assign(fields, settingFieldsOf(request, settings, warnings))
  // The rest of a paused response must use the same format and tool choice.
  if (request.continues === undefined) Object.assign(fields, formatFields(fields, format), toolChoiceFields(plan))
  const container = serverTools.tools === '' ? undefined : containerIn(request.messages, model)
  if (container !== undefined) fields.container = container
  const marks = new CacheMarks(cache, breakpointOf(request))
  let body = toJson({ model: model.id, stream: true, ...fields }).slice(0, -1)
  const blocks = system.map((text) => toJson({ type: 'text', text })).join(',')
  if (blocks !== '') body += `,"system":[${marks.putIn('cacheSystem', blocks)}]`
  if (tools !== '') body += `,"tools":[${marks.putIn('cacheTools', tools)}]`
  body += serverTools.mcpServersJson
  body += `,"messages":${writer.toJson(marks.isWanted('cacheMessages') ? marks : undefined)}}`
  return {
    url,
    headers: requestHeaders(request, wire),
    ...(wire.secrets.length > 0 && { secrets: [...wire.secrets, ...(request.credential === undefined ? [] : [request.credential])] }),
    body,
    warnings,
    answerTool: format.answerTool,
    hint: keyHint(request, wire),
    prefixHash: writer.prefixHash,
    cited: { messages: asked.messages, api: 'anthropicMessages', media, failedLast: true },
  }
}

/** Returns whether to enable citations. The API requires the same value for all documents in a request. */
function citesAll(plan: FormatPlan, rules: MediaRules, warnings: string[]): boolean {
  const { request } = plan
  if (!citesDocuments(plan, rules, warnings)) return false
  const hasCitations = (word: FileCitations) =>
    request.messages.some(({ content }) => content.some((block) => block.type === 'file' && block.citations === word))
  if (!hasCitations(false)) return true
  if (!hasCitations(true)) return false
  adjusted(request, 'citations requested for all documents: the provider does not support only some', warnings)
  return true
}

/** Returns the fields for the response format. */
function formatFields(fields: JsonObject, plan: FormatPlan): JsonObject {
  if (plan.kind !== 'schema') return {}
  return { output_config: { ...jsonObjectIn(fields.output_config), format: { type: 'json_schema', schema: plan.schema } } }
}

/** Returns the fields for the tool choice, which include the flag for sequential calls. */
function toolChoiceFields({ choice, isSingle }: RequestPlan): JsonObject {
  if (choice === undefined && !isSingle) return {}
  const single = isSingle && choice !== 'none' ? { disable_parallel_tool_use: true } : {}
  if (typeof choice === 'object' && 'tool' in choice) return { tool_choice: { type: 'tool', name: legalName(choice.tool), ...single } }
  return { tool_choice: { type: choice === 'required' ? 'any' : choice === 'none' ? 'none' : 'auto', ...single } }
}

const toolRules = { none: true, subset: false, forcingStopsThinking: true, searches: true }

const tiers = { standard: 'standard_only', priority: 'auto' } as const

const rules: SettingRules = {
  temperature: upToOne('temperature'),
  topP: { field: 'top_p' },
  topK: { field: 'top_k' },
  stopSequences: { field: 'stop_sequences' },
  serviceTier: (tier) => (tier === 'standard' || tier === 'priority' ? { service_tier: tiers[tier] } : `knows no tier "${tier}"`),
  // Set at each breakpoint.
  cacheTtl: () => ({}),
  user: (user) => ({ metadata: { user_id: user } }),
}

/** Recent models reject both settings together. */
const temperatureRules: SettingRules = { ...rules, topP: () => 'accepts no topP with temperature' }

function ruled({ temperature }: StreamRequest): SettingRules {
  return temperature === undefined ? rules : temperatureRules
}
