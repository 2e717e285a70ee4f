// The words of OpenTelemetry's semantic conventions for generative AI, as of their own repository in 2026, and what of ours they stand for.
// What has no word there begins with `phi.`.

import type { Attributes } from '@opentelemetry/api'
import { headOf } from '../../src/base/text/characters.ts'
import { ownOf } from '../../src/contract/json.ts'
import { type ModelConfig, PhiError, type RunResult, type StopReason, type Usage } from '../../src/index.ts'
import type { ApiProtocol } from '../../src/providers.ts'

/** Who a loop is and whom it asks: of `LoopObserver`, or read from `agentStart`. The whole of a parallel loop has no model. */
export interface LoopFacts {
  runId: string
  loopId: string
  sessionId: string
  agentId: string
  agentName?: string
  model?: ModelFacts
}

/** What a trace says of a model. */
export type ModelFacts = Pick<ModelConfig, 'id' | 'provider' | 'api' | 'baseUrl'>

/** Longer ones are cut: names and ids come from services and models. */
const maxName = 256

/** A name or an id as an attribute. */
export function nameOf(text: string): string {
  return headOf(text, maxName)
}

const byApi: Readonly<Partial<Record<ApiProtocol, string>>> = {
  azureOpenAiResponses: 'azure.ai.openai',
  googleGenerativeAi: 'gcp.gemini',
  googleVertex: 'gcp.vertex_ai',
  bedrockConverseStream: 'aws.bedrock',
}

const byProvider: Readonly<Record<string, string>> = { xai: 'x_ai', mistral: 'mistral_ai', moonshot: 'moonshot_ai' }

/** `gen_ai.provider.name`. */
function providerName({ provider, api }: ModelFacts): string {
  return byApi[api] ?? ownOf(byProvider, provider) ?? nameOf(provider)
}

/** Where the model is asked; nothing for an address that is none, such as that of a scripted model. */
function serverOf(baseUrl: string): Attributes {
  const url = URL.parse(baseUrl)
  if (url === null || !/^https?:$/.test(url.protocol)) return {}
  const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port)
  return { 'server.address': url.hostname, 'server.port': port }
}

/** What the spans and the figures of a model have in common. */
export function modelAttributes(model: ModelFacts): Attributes {
  return { 'gen_ai.provider.name': providerName(model), 'gen_ai.request.model': nameOf(model.id), ...serverOf(model.baseUrl) }
}

/** What all calls of a model say: made once, and the same objects for each, so nobody may change them. */
interface ChatAttributes {
  /** Of the duration. */
  common: Attributes
  /** Of the tokens. */
  input: Attributes
  output: Attributes
}

const ofModels = new WeakMap<ModelFacts, ChatAttributes>()

/** As {@link modelAttributes}, for its calls. */
export function chatAttributes(model: ModelFacts): ChatAttributes {
  const known = ofModels.get(model)
  if (known !== undefined) return known
  const common = { 'gen_ai.operation.name': 'chat', ...modelAttributes(model) }
  const made = {
    common: Object.freeze(common),
    input: Object.freeze({ ...common, 'gen_ai.token.type': 'input' }),
    output: Object.freeze({ ...common, 'gen_ai.token.type': 'output' }),
  }
  ofModels.set(model, made)
  return made
}

/** `gen_ai.usage.*`, where the service has counted: all of the prompt is input, cached or not. */
export function usageAttributes({
  input,
  output,
  reasoning,
  cacheRead,
  cacheWrite,
  searches = 0,
  beside,
  reportedCost,
}: Usage): Attributes {
  const prompt = input + cacheRead + cacheWrite
  return {
    ...(prompt + output > 0 && { 'gen_ai.usage.input_tokens': prompt, 'gen_ai.usage.output_tokens': output }),
    ...(cacheRead > 0 && { 'gen_ai.usage.cache_read.input_tokens': cacheRead }),
    ...(cacheWrite > 0 && { 'gen_ai.usage.cache_creation.input_tokens': cacheWrite }),
    ...(reasoning > 0 && { 'gen_ai.usage.reasoning.output_tokens': reasoning }),
    ...(beside !== undefined && {
      'phi.usage.beside.input_tokens': beside.input + beside.cacheRead + beside.cacheWrite,
      'phi.usage.beside.output_tokens': beside.output,
    }),
    ...(searches > 0 && { 'phi.usage.searches': searches }),
    ...(reportedCost !== undefined && { 'phi.usage.reported_cost_usd': reportedCost }),
  }
}

/** The limit that a run has reached: its name, what it allows, and what was used. */
export function limitAttributes({ name, max, used }: NonNullable<RunResult['limit']>): Attributes {
  return {
    'phi.run.limit.name': name,
    ...(max !== undefined && { 'phi.run.limit.max': max }),
    ...(used !== undefined && { 'phi.run.limit.used': used }),
  }
}

const finishReasons: Readonly<Partial<Record<StopReason, string>>> = { toolUse: 'tool_call', guardRail: 'content_filter' }

/** As in `gen_ai.response.finish_reasons`. */
export function finishReason(stopReason: StopReason): string {
  return finishReasons[stopReason] ?? stopReason
}

/** What a run, a model call or a tool that was stopped ended with. */
export const cancelled = 'cancelled'

/** `error.type`: the code of an error of ours, else the name of its class; nothing that an error says. */
export function errorType(error: unknown): string {
  if (PhiError.isInstance(error)) return nameOf(error.code)
  return error instanceof Error && /^[A-Za-z_$][\w$.]{0,63}$/.test(error.name) ? error.name : '_OTHER'
}

/** `error.type` of what was cut off: of a timeout its code, whatever else a caller gave as a reason. */
export function stopType(reason: unknown): string {
  return PhiError.isInstance(reason) ? nameOf(reason.code) : cancelled
}

/** As `isToolName`, for tools of services: those of MCP servers have dots in their names. */
export function isServiceToolName(name: string): boolean {
  return /^[a-zA-Z0-9_.-]{1,128}$/.test(name)
}
