import type { JsonObject } from '../../contract/json.ts'
import { aText, type Infer, listOf, type OptionTable, oneOf, options } from '../../contract/shape/shape.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import { statedLimit } from '../kit/capabilities/capabilities.ts'
import {
  adjusted,
  answerRoom,
  effortFor,
  leaveOut,
  levelBudgets,
  type SettingRules,
  settingFieldsOf,
  stopTexts,
} from '../kit/settings/write-settings.ts'
import { type GeminiProfile, usualBudget } from './profile.ts'

const modality = oneOf('TEXT', 'IMAGE', 'AUDIO')

/** Output options of models that generate images or audio. Each field is sent unchanged. */
export interface GeminiOutputOptions {
  /** Default: the API decides by model. */
  responseModalities?: Infer<typeof modality>[]
  /** Image settings. */
  imageConfig?: {
    /** Aspect ratio, for example `16:9`. */
    aspectRatio?: string
    /** Image size, for example `2K`. */
    imageSize?: string
  }
}

/** Option table of {@link GeminiOutputOptions}. */
export const geminiOutputTable: OptionTable<GeminiOutputOptions> = {
  responseModalities: listOf(modality),
  imageConfig: options<NonNullable<GeminiOutputOptions['imageConfig']>>({ aspectRatio: aText, imageSize: aText }),
}

/** Returns the `generationConfig` fields of these options. */
export function outputFields({ responseModalities, imageConfig }: GeminiOutputOptions): GeminiOutputOptions {
  return { ...(responseModalities !== undefined && { responseModalities }), ...(imageConfig !== undefined && { imageConfig }) }
}

const rules: SettingRules = {
  temperature: { field: 'temperature' },
  topP: { field: 'topP' },
  topK: { field: 'topK' },
  stopSequences: stopTexts('stopSequences', 5),
  seed: { field: 'seed' },
  frequencyPenalty: { field: 'frequencyPenalty' },
  presencePenalty: { field: 'presencePenalty' },
  // `gemini-provider.ts` sends this setting outside `generationConfig`.
  serviceTier: (tier) => (tier === 'fast' ? 'knows no tier "fast"' : {}),
}

/** Returns the `generationConfig` fields for length, sampling and thinking. Adds changed or omitted settings to `warnings`. */
export function generationConfig(request: StreamRequest, profile: GeminiProfile, warnings: string[]): JsonObject {
  const { thinking, thinkingBudget, thinkingSummary } = request
  const { capabilities } = profile
  const maxOutputTokens = statedLimit(request, capabilities)
  const settings = settingFieldsOf(request, { rules, capabilities }, warnings)
  const fields: JsonObject = { ...(maxOutputTokens !== undefined && { maxOutputTokens }), ...settings }
  const byBudget = capabilities.thinking === 'budget'
  if (thinkingBudget !== undefined && !byBudget) leaveOut(request, 'thinkingBudget', 'does not count what it thinks', warnings)
  if (byBudget) addBudget(fields, request, profile, warnings)
  else if (capabilities.thinking !== 'none') addLevel(fields, request, profile, warnings)
  else if (thinking !== 'off') leaveOut(request, `thinking level ${thinking}`, 'does not think', warnings)
  if (thinkingSummary === 'none' && capabilities.thinking !== 'none')
    fields.thinkingConfig = { ...Object(fields.thinkingConfig), includeThoughts: false }
  return fields
}

/** Adds a thinking budget. Thinking tokens count as output, so the budget must leave room for the response. */
function addBudget(fields: JsonObject, request: StreamRequest, { family, capabilities }: GeminiProfile, warnings: string[]): void {
  const { thinking: level, thinkingBudget: asked } = request
  const { min, max } = family.budget ?? usualBudget
  if (level === 'off' && asked === undefined) {
    fields.thinkingConfig = { thinkingBudget: capabilities.thinkingOff ? 0 : min }
    return
  }
  const budget = asked ?? (level === 'off' ? min : levelBudgets[level])
  const thinkingBudget = Math.min(max, Math.max(min, budget))
  if (asked !== undefined && asked !== thinkingBudget)
    adjusted(request, `thinkingBudget changed from ${asked} to ${thinkingBudget}: ${request.model.id} takes ${min} to ${max}`, warnings)
  const wanted = fields.maxOutputTokens
  if (typeof wanted === 'number' && wanted <= thinkingBudget) {
    fields.maxOutputTokens = thinkingBudget + Math.min(wanted, answerRoom)
    const raised = `maxOutputTokens raised from ${wanted} to ${fields.maxOutputTokens}: the thinking budget of ${thinkingBudget} counts too`
    // Ignore the model's default limit, which the caller did not request.
    adjusted(request.maxTokens === undefined ? {} : request, raised, warnings)
  }
  fields.thinkingConfig = { includeThoughts: true, thinkingBudget }
}

/** Adds a thinking level. Thinking cannot be disabled, only reduced. */
function addLevel(fields: JsonObject, request: StreamRequest, { capabilities }: GeminiProfile, warnings: string[]): void {
  const isOff = request.thinking === 'off'
  if (isOff && capabilities.thinkingOff) return
  const effort = isOff ? capabilities.efforts[0] : effortFor(request, capabilities, warnings)
  const config: JsonObject = isOff ? {} : { includeThoughts: true }
  if (effort !== undefined) config.thinkingLevel = effort.toUpperCase()
  fields.thinkingConfig = config
}
