import type { JsonObject } from '../../contract/json.ts'
import type { ModelCapabilities, ThinkingLevel } from '../../contract/model/model-config.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import { statedLimit } from '../kit/capabilities/capabilities.ts'
import type { GeminiProfile } from './profile.ts'

/** Tokens per level, before the limits of the family. Source: docs/providers/google.md */
const budgets: Record<Exclude<ThinkingLevel, 'off'>, number> = { minimal: 128, low: 512, medium: 2048, high: 8192 }

/** Efforts of the service, weakest first. */
const ranks = ['minimal', 'low', 'medium', 'high']

/** Room for the answer beside the thinking, where the limit that was asked for leaves none. */
const answerRoom = 4096

/**
 * The fields of `generationConfig` but the form of the answer: its length, the temperature, and how much the model thinks. What had to be
 * changed or left out is added to `warnings`.
 */
export function generationConfig(request: StreamRequest, profile: GeminiProfile, warnings: string[]): JsonObject {
  const { thinkingLevel, model, temperature } = request
  const { capabilities } = profile
  const maxOutputTokens = statedLimit(request, capabilities)
  const fields: JsonObject = maxOutputTokens === undefined ? {} : { maxOutputTokens }
  if (temperature !== undefined) {
    if (capabilities.sampling) fields.temperature = temperature
    else warnings.push(`temperature left out: ${model.id} does not take it`)
  }
  if (capabilities.thinking === 'budget') addBudget(fields, thinkingLevel, profile, warnings)
  else if (capabilities.thinking !== 'none') addLevel(fields, thinkingLevel, capabilities)
  else if (thinkingLevel !== 'off') warnings.push(`thinking level ${thinkingLevel} left out: ${model.id} does not think`)
  return fields
}

/** The tokens of thoughts count as output, so a budget must leave room for the answer. */
function addBudget(fields: JsonObject, level: ThinkingLevel, { family, capabilities }: GeminiProfile, warnings: string[]): void {
  const { min, max } = family.budget ?? { min: 1, max: 24_576 }
  if (level === 'off') {
    fields.thinkingConfig = { thinkingBudget: capabilities.thinkingOff ? 0 : min }
    return
  }
  const thinkingBudget = Math.min(max, Math.max(min, budgets[level]))
  const wanted = fields.maxOutputTokens
  if (typeof wanted === 'number' && wanted <= thinkingBudget) {
    fields.maxOutputTokens = thinkingBudget + Math.min(wanted, answerRoom)
    warnings.push(`maxOutputTokens raised from ${wanted} to ${fields.maxOutputTokens}: the thinking budget of ${thinkingBudget} counts too`)
  }
  fields.thinkingConfig = { includeThoughts: true, thinkingBudget }
}

/** The effort nearest to `level`, rather stronger than weaker. Thinking cannot be switched off, only be made least. */
function addLevel(fields: JsonObject, level: ThinkingLevel, { efforts, thinkingOff }: ModelCapabilities): void {
  const isOff = level === 'off'
  if (isOff && thinkingOff) return
  const nearest = efforts.find((effort) => ranks.indexOf(effort) >= ranks.indexOf(level)) ?? efforts.at(-1)
  const effort = isOff ? efforts[0] : nearest
  const config: JsonObject = isOff ? {} : { includeThoughts: true }
  if (effort !== undefined) config.thinkingLevel = effort.toUpperCase()
  fields.thinkingConfig = config
}
