// Names from OpenTelemetry's semantic conventions for generative AI, as of 2026, and the data we report for them. Names outside the
// conventions begin with `phi.`.

import type { Attributes } from '@opentelemetry/api'
import { headOf } from '../../src/base/text/characters.ts'
import { ownOf } from '../../src/contract/json.ts'
import { type ModelConfig, PhiError, type RunResult, type StopReason, type Usage } from '../../src/index.ts'
import type { ApiProtocol } from '../../src/providers.ts'

/** A loop's agent and model, from `LoopObserver` or from `agentStart`. A parallel loop has no model. */
export interface LoopFacts {
  runId: string
  loopId: string
  sessionId: string
  agentId: string
  agentName?: string
  model?: ModelFacts
}

/** A trace's model data. */
export type ModelFacts = Pick<ModelConfig, 'id' | 'provider' | 'api' | 'baseUrl'>

/** Longer names are truncated, because names and ids come from providers and models. */
const maxName = 256

/** Returns a name or an id as an attribute. */
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

/** Returns the server in a base URL. Returns nothing for an invalid URL, such as a scripted model's. */
function serverOf(baseUrl: string): Attributes {
  const url = URL.parse(baseUrl)
  if (url === null || !/^https?:$/.test(url.protocol)) return {}
  const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port)
  return { 'server.address': url.hostname, 'server.port': port }
}

/** Returns the attributes that a model's spans and metrics share. */
export function modelAttributes(model: ModelFacts): Attributes {
  return { 'gen_ai.provider.name': providerName(model), 'gen_ai.request.model': nameOf(model.id), ...serverOf(model.baseUrl) }
}

/** Attributes for all calls to a model. They are created once and shared, so do not change them. */
interface ChatAttributes {
  /** Attributes for the duration metric. */
  common: Attributes
  /** For tokens. */
  input: Attributes
  output: Attributes
}

const ofModels = new WeakMap<ModelFacts, ChatAttributes>()

/** Like {@link modelAttributes}, for calls. */
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

/** `gen_ai.usage.*`, if the provider reported usage. The whole prompt counts as input, cached or not. */
export function usageAttributes({
  input,
  output,
  reasoning,
  cacheRead,
  cacheWrite,
  searches = 0,
  beside: separate,
  reportedCost,
}: Usage): Attributes {
  const prompt = input + cacheRead + cacheWrite
  return {
    ...(prompt + output > 0 && { 'gen_ai.usage.input_tokens': prompt, 'gen_ai.usage.output_tokens': output }),
    ...(cacheRead > 0 && { 'gen_ai.usage.cache_read.input_tokens': cacheRead }),
    ...(cacheWrite > 0 && { 'gen_ai.usage.cache_creation.input_tokens': cacheWrite }),
    ...(reasoning > 0 && { 'gen_ai.usage.reasoning.output_tokens': reasoning }),
    ...(separate !== undefined && {
      'phi.usage.beside.input_tokens': separate.input + separate.cacheRead + separate.cacheWrite,
      'phi.usage.beside.output_tokens': separate.output,
    }),
    ...(searches > 0 && { 'phi.usage.searches': searches }),
    ...(reportedCost !== undefined && { 'phi.usage.reported_cost_usd': reportedCost }),
  }
}

/** Returns the limit that a run reached: its name, maximum and used amount. */
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

/** `error.type` for a run, a model call or a tool that was stopped. */
export const cancelled = 'cancelled'

/** Returns `error.type`: the code if it is our error, otherwise its class name, but never a message. */
export function errorType(error: unknown): string {
  if (PhiError.isInstance(error)) return nameOf(error.code)
  return error instanceof Error && /^[A-Za-z_$][\w$.]{0,63}$/.test(error.name) ? error.name : '_OTHER'
}

/** Returns `error.type` for an abort: the timeout's code, regardless of the caller's reason. */
export function stopType(reason: unknown): string {
  return PhiError.isInstance(reason) ? nameOf(reason.code) : cancelled
}

/** Like `isToolName`, for provider-executed tools. MCP server tools have dots in their names. */
export function isServiceToolName(name: string): boolean {
  return /^[a-zA-Z0-9_.-]{1,128}$/.test(name)
}
