import type { JsonObject } from '../../contract/json.ts'
import type { Message } from '../../contract/message/message.ts'
import type { ModelCapabilities } from '../../contract/model/model-config.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import { statedLimit } from '../kit/capabilities/capabilities.ts'
import { continuesWithoutThinking, generationFields, whyNoSampling } from '../kit/capabilities/claude-thinking.ts'
import { adjusted, effortFor, leaveOut, type SettingRules, settingFieldsOf, upToOne } from '../kit/settings/write-settings.ts'
import type { ThinkingField } from './profile.ts'

/** A request's generation fields. */
export interface Generation {
  inferenceConfig: JsonObject
  /** `additionalModelRequestFields`; may be empty. */
  additional: JsonObject
  /** Fields at the top level. */
  topLevel: JsonObject
}

const rules: SettingRules = {
  temperature: upToOne('temperature'),
  topP: { field: 'topP' },
  stopSequences: { field: 'stopSequences' },
  serviceTier: (tier) =>
    tier === 'fast' ? { performanceConfig: { latency: 'optimized' } } : { serviceTier: { type: tier === 'standard' ? 'default' : tier } },
}
const claudeRules: SettingRules = {
  ...rules,
  topK: { field: 'top_k' },
  // Set at each breakpoint.
  cacheTtl: () => ({}),
}
/** Recent models reject both settings together. */
const temperatureRules: SettingRules = { ...claudeRules, topP: () => 'accepts no topP with temperature' }

/** Returns the generation fields for `request` as the model's family requires. Adds omitted settings to `warnings`. */
export function generationOf(
  request: StreamRequest,
  messages: readonly Message[],
  field: ThinkingField,
  capabilities: ModelCapabilities,
  warnings: string[],
): Generation {
  if (field === 'claude') return claudeGeneration(request, messages, capabilities, warnings)
  const { thinking } = request
  const maxTokens = statedLimit(request, capabilities)
  const settings = sorted(settingFieldsOf(request, { rules, capabilities }, warnings))
  const inferenceConfig: JsonObject = { ...(maxTokens !== undefined && { maxTokens }), ...settings.inferenceConfig }
  const { topLevel } = settings
  if (request.thinkingBudget !== undefined) leaveOut(request, 'thinkingBudget', 'does not count what it thinks', warnings)
  if (request.thinkingSummary !== undefined) leaveOut(request, 'thinkingSummary', undefined, warnings)
  if (field === 'none' || capabilities.thinking === 'none') {
    if (thinking !== 'off') leaveOut(request, `thinking level ${thinking}`, 'does not think, or cannot be asked to', warnings)
    return { inferenceConfig, additional: {}, topLevel }
  }
  const effort = effortFor(request, capabilities, warnings) ?? 'low'
  if (field === 'reasoningEffort') return { inferenceConfig, additional: { reasoning_effort: effort }, topLevel }
  if (field === 'reasoning') return { inferenceConfig, additional: { reasoning: { effort } }, topLevel }
  if (thinking === 'off') return { inferenceConfig, additional: {}, topLevel }
  const additional = { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } }
  return {
    inferenceConfig: effort === 'high' ? withoutLimits(request, inferenceConfig, warnings) : inferenceConfig,
    additional,
    topLevel,
  }
}

/** Settings that Nova rejects at its highest effort. */
function withoutLimits(request: StreamRequest, inferenceConfig: JsonObject, warnings: string[]): JsonObject {
  const names = Object.keys(inferenceConfig)
  if (names.length > 0) adjusted(request, `${names.join(' and ')} dropped: Nova does not accept them at its highest effort`, warnings)
  return {}
}

function claudeGeneration(
  request: StreamRequest,
  messages: readonly Message[],
  capabilities: ModelCapabilities,
  warnings: string[],
): Generation {
  const { max_tokens: maxTokens, ...thinking } = generationFields(request, capabilities, continuesWithoutThinking(messages), warnings)
  const own = request.temperature === undefined ? claudeRules : temperatureRules
  const fields = settingFieldsOf(request, { rules: own, capabilities, noSampling: whyNoSampling(thinking) }, warnings)
  const { inferenceConfig, additional, topLevel } = sorted(fields)
  return {
    inferenceConfig: { ...(maxTokens !== undefined && { maxTokens }), ...inferenceConfig },
    additional: { ...thinking, ...additional },
    topLevel,
  }
}

/** Distributes settings over a request's three parts. */
function sorted({ top_k: topK, serviceTier, performanceConfig, ...inferenceConfig }: JsonObject): Generation {
  return {
    inferenceConfig,
    additional: topK === undefined ? {} : { top_k: topK },
    topLevel: { ...(serviceTier !== undefined && { serviceTier }), ...(performanceConfig !== undefined && { performanceConfig }) },
  }
}
