import type { JsonObject } from '../../contract/json.ts'
import type { Message } from '../../contract/message/message.ts'
import type { ModelCapabilities, ThinkingLevel } from '../../contract/model/model-config.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import { statedLimit } from '../kit/capabilities/capabilities.ts'
import { continuesWithoutThinking, generationFields } from '../kit/capabilities/claude-thinking.ts'
import type { ThinkingField } from './profile.ts'

/** The parts of a request that depend on how a model thinks. */
export interface Generation {
  inferenceConfig: JsonObject
  /** `additionalModelRequestFields`; empty where there is nothing to add. */
  additional: JsonObject
}

const efforts: Record<ThinkingLevel, string> = { off: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high' }

/** How `request` is to be answered, in the words of the model's family. What had to be left out is added to `warnings`. */
export function generationOf(
  request: StreamRequest,
  messages: readonly Message[],
  field: ThinkingField,
  capabilities: ModelCapabilities,
  warnings: string[],
): Generation {
  if (field === 'claude') return claudeGeneration(request, messages, capabilities, warnings)
  const { model, temperature, thinkingLevel } = request
  const effort = efforts[thinkingLevel]
  const maxTokens = statedLimit(request, capabilities)
  const inferenceConfig: JsonObject = maxTokens === undefined ? {} : { maxTokens }
  if (temperature !== undefined) {
    if (capabilities.sampling) inferenceConfig.temperature = temperature
    else warnings.push(`temperature left out: ${model.id} does not take it`)
  }
  let additional: JsonObject = {}
  if (field === 'none' || capabilities.thinking === 'none') {
    if (thinkingLevel !== 'off')
      warnings.push(`thinking level ${thinkingLevel} left out: ${model.id} does not think, or cannot be asked to`)
  } else if (field === 'reasoningEffort') additional = { reasoning_effort: effort }
  else if (field === 'reasoning') additional = { reasoning: { effort } }
  else if (thinkingLevel !== 'off') {
    additional = { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } }
    if (effort === 'high') return { inferenceConfig: withoutLimits(inferenceConfig, warnings), additional }
  }
  return { inferenceConfig, additional }
}

/** Nova refuses these beside its highest effort. */
function withoutLimits(inferenceConfig: JsonObject, warnings: string[]): JsonObject {
  const names = Object.keys(inferenceConfig)
  if (names.length > 0) warnings.push(`${names.join(' and ')} left out: Nova does not take them at its highest effort`)
  return {}
}

function claudeGeneration(
  request: StreamRequest,
  messages: readonly Message[],
  capabilities: ModelCapabilities,
  warnings: string[],
): Generation {
  const fields = generationFields(request, capabilities, continuesWithoutThinking(messages), warnings)
  const { max_tokens: maxTokens, temperature, ...additional } = fields
  const inferenceConfig: JsonObject = { ...(maxTokens !== undefined && { maxTokens }) }
  if (temperature !== undefined) inferenceConfig.temperature = temperature
  return { inferenceConfig, additional }
}
