import type { JsonObject } from '../../contract/json.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import { answerToolName } from '../../contract/model/request.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import { statedLimit } from '../kit/capabilities/capabilities.ts'
import type { EncodedCall } from '../kit/codec.ts'
import { toJson } from '../kit/encode/json-text.ts'
import { perObject } from '../kit/encode/per-object.ts'
import { rootObject, toolsEncoder } from '../kit/encode/tool-json.ts'
import { targetOf } from '../kit/history/clean-message.ts'
import { HistoryMemory } from '../kit/history/history-memory.ts'
import { type FormatPlan, planFormat } from '../kit/response-format/response-format.ts'
import { type ServerTools, serverToolSecrets } from '../kit/server-tools.ts'
import { effortFor } from '../openai/reasoning-request.ts'
import { type EchoMode, messageEncoder } from './encode-message.ts'
import { InputWriter } from './input-writer.ts'
import { type ResponsesProfile, responsesProfile } from './profile.ts'
import { isReplayable, replayPayload } from './replay-state.ts'
import { includedFor } from './server-tools.ts'

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
  /** Tools that the service runs. */
  serverTools: ServerTools
}

/** A call that knows what of earlier answers it carries that the service may refuse. */
export interface ResponsesCall extends EncodedCall {
  hasReasoning: boolean
  /** It carries what ran in a container, which the service may have forgotten. */
  hasContainers: boolean
}

/** The service takes no smaller limit. */
const minTokens = 16

/** Without `strict: false` the service makes every property required; an object without `properties` it refuses. */
const toolsJson = toolsEncoder(({ name, description, parameters }) =>
  toJson({ type: 'function', name, description, parameters: { properties: {}, ...rootObject(parameters) }, strict: false }),
)

/** What is known of a model, and of the conversations it was sent. */
function knownOf(model: ModelConfig) {
  const profile = responsesProfile(model)
  const encoder = messageEncoder(profile.capabilities.mediaInToolResults.length > 0)
  const target = targetOf(model, profile, ({ providerState }) => isReplayable(replayPayload(providerState).item))
  return { profile, history: new HistoryMemory(target, ([mode = 'whole']) => new InputWriter(encoder, mode as EchoMode)) }
}

/**
 * Makes Responses requests, exactly as they are sent; `mode` says how much of earlier answers. What is known of
 * models belongs to the provider, as the encoder does: in a map of this file it would outlive both, until a full collection.
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
  { profile, history }: ReturnType<typeof knownOf>,
  mode: EchoMode,
): ResponsesCall {
  const warnings: string[] = []
  const plan = planFormat(asked, profile.capabilities, profile.formats, warnings)
  const { request } = plan
  const { url, model, headers } = options.route(asked)
  const { writer, leftOut } = history.write(request.messages, [mode])
  warnings.push(...leftOut)
  const parameters = parametersOf(request, profile, options, warnings)
  const fields: JsonObject = { model, stream: true, store: false, ...parameters, ...formatFields(plan) }
  const { serverTools } = options
  const include = [...(Array.isArray(fields.include) ? fields.include : []), ...(profile.isOpenAi ? includedFor(serverTools) : [])]
  if (include.length > 0) fields.include = include
  const declared = [toolsJson(request.tools), ...serverTools.map(toJson)].filter((part) => part !== '')
  const tools = declared.length === 0 ? '' : `,"tools":[${declared.join(',')}]`
  const body = `${toJson(fields).slice(0, -1)}${tools},"input":${writer.toJson(systemItem(request, profile))}}`
  const secrets = serverToolSecrets(serverTools)
  const hidden = secrets.length === 0 ? {} : { secrets: [...secrets, ...(asked.credential === undefined ? [] : [asked.credential])] }
  const { hasReasoning, hasContainers } = writer
  return { url, headers, body, warnings, answerTool: plan.answerTool, hasReasoning, hasContainers, ...hidden }
}

/** `text.format`, or the choice of the tool that takes the answer. */
function formatFields(plan: FormatPlan): JsonObject {
  switch (plan.kind) {
    case 'text':
      return {}
    case 'object':
      return { text: { format: { type: 'json_object' } } }
    case 'schema':
      return { text: { format: { type: 'json_schema', name: plan.name, schema: plan.schema, strict: plan.strict ?? false } } }
    case 'tool':
      if (plan.force === 'none') return {}
      return { tool_choice: plan.force === 'any' ? 'required' : { type: 'function', name: answerToolName } }
  }
}

/** Not `instructions`: xAI refuses them. */
function systemItem({ systemPrompt }: StreamRequest, { isOpenAi }: ResponsesProfile): string {
  return systemPrompt.trim() === '' ? '' : toJson({ role: isOpenAi ? 'developer' : 'system', content: systemPrompt })
}

/** Everything but the input and the tools. */
function parametersOf(
  request: StreamRequest,
  { capabilities, isOpenAi }: ResponsesProfile,
  { reasoningSummary, serverTools }: EncodingOptions,
  warnings: string[],
): JsonObject {
  const { model, thinkingLevel: level, temperature } = request
  const wanted = statedLimit(request, capabilities)
  const fields: JsonObject = wanted === undefined ? {} : { max_output_tokens: Math.max(minTokens, wanted) }
  if (wanted !== undefined && wanted < minTokens)
    warnings.push(`maxTokens raised from ${wanted} to ${minTokens}: the service takes no less`)
  let effort: string | undefined
  if (capabilities.thinking !== 'none') {
    effort = effortFor(level, capabilities.efforts, capabilities.thinking === 'alwaysOn')
    if (effort === 'minimal' && serverTools.some(({ type }) => type === 'web_search')) {
      effort = 'low'
      warnings.push('The effort "minimal" was raised to "low": the service does not search with less.')
    }
    const reasoning: JsonObject = effort === undefined ? {} : { effort }
    if (level !== 'off' && reasoningSummary !== 'none') reasoning.summary = reasoningSummary
    if (Object.keys(reasoning).length > 0) fields.reasoning = reasoning
    fields.include = ['reasoning.encrypted_content']
  } else if (level !== 'off') {
    warnings.push(`thinkingLevel "${level}" was left out: ${model.id} is not described as a reasoning model.`)
  }
  if (temperature !== undefined) {
    const isTaken = capabilities.sampling && (capabilities.thinking === 'none' || effort === 'none' || !isOpenAi)
    if (isTaken) fields.temperature = temperature
    else warnings.push(`temperature ${temperature} was left out: ${model.id} does not take it while it reasons.`)
  }
  return fields
}
