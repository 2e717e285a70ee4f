import { isMediaOf } from '../../contract/message/media.ts'
import type { ModelCapabilities, ModelConfig } from '../../contract/model/model-config.ts'
import { type CapabilityRow, capabilitiesOf, type ModelProfile, plain } from '../kit/capabilities/capabilities.ts'
import { levelBudgets } from '../kit/settings/write-settings.ts'

/** Protocol differences of a model family, in addition to its capabilities. */
export interface GeminiFamily extends CapabilityRow {
  /** Range of the thinking budget in tokens, if the family uses budgets. */
  budget?: { min: number; max: number }
  /** Whether call ids are sent back. Older models match results by order and reject ids. */
  echoesCallIds: boolean
  /** Whether the first call of a response must have a signature. */
  needsSignatures: boolean
  /** Whether tools and a response format can be combined. */
  toolsWithFormat: boolean
  /** Whether system instructions are supported. Otherwise, they start the first user message. */
  systemInstruction: boolean
}

// Output limits: ai.google.dev/gemini-api/docs/models and models.dev, 2026-10.

const upToHigh = ['low', 'medium', 'high']

const old = { echoesCallIds: false, needsSignatures: false, toolsWithFormat: false, systemInstruction: true }
const modern = { echoesCallIds: true, needsSignatures: true, toolsWithFormat: true, systemInstruction: true }

/** All media that Gemini models accept. */
const everything = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif', 'application/pdf', 'audio/*', 'video/*']
const seeing: ModelCapabilities = { ...plain, media: everything, mediaById: everything }

/** Video pages that the Gemini API accepts by URL. Source: docs/providers/google.md */
const videosByPage = /^https:\/\/(?:(?:www\.|m\.)?youtube\.com\/watch\?|youtu\.be\/)/i

/**
 * Types that the Gemini API fetches by https URL, for models after 2.0. From ai.google.dev/gemini-api/docs/file-input-methods, since
 * 2026-01.
 */
const byUrl = ['image/png', 'image/jpeg', 'image/webp', 'application/pdf']
const beforeUrls = /gemini-(1\.|2\.0)/

/** Usual thinking budget. Level `max` is the maximum of most models. Source: docs/providers/google.md */
export const usualBudget = { min: 1, max: levelBudgets.max }

/** The API's error: "Penalty is not enabled for this model." */
const refuses = ['frequencyPenalty', 'presencePenalty'] as const
const budget: ModelCapabilities = { ...seeing, thinking: 'budget', refuses, maxOutputTokens: 65_536 }
const level: ModelCapabilities = {
  ...seeing,
  thinking: 'adaptive',
  efforts: upToHigh,
  thinkingOff: false,
  mediaInToolResults: everything,
  refuses,
  maxOutputTokens: 65_536,
}

/** The newest family. Also used for unknown ids, because every current model accepts its requests. */
const newest: GeminiFamily = { ids: /^/, capabilities: level, ...modern }

/** The first matching row wins. */
const families: readonly GeminiFamily[] = [
  {
    ids: /gemma/,
    capabilities: { ...plain, jsonSchema: false, maxOutputTokens: 8192 },
    ...old,
    systemInstruction: false,
  },
  // Models from other vendors on Vertex AI.
  { ids: /claude|gpt-oss/, capabilities: plain, ...old, echoesCallIds: true },
  { ids: /gemini-(1\.|2\.0)/, capabilities: { ...seeing, maxOutputTokens: 8192 }, ...old },
  { ids: /gemini-2\.5-.*tts/, capabilities: { ...plain, maxOutputTokens: 16_384 }, ...old },
  { ids: /gemini-2\.5-.*image/, capabilities: { ...seeing, maxOutputTokens: 32_768 }, ...old },
  { ids: /gemini-2\.5-pro/, capabilities: { ...budget, thinkingOff: false }, budget: { min: 128, max: 32_768 }, ...old },
  { ids: /gemini-2\.5-flash-lite/, capabilities: budget, budget: { ...usualBudget, min: 512 }, ...old },
  { ids: /gemini-2\./, capabilities: budget, budget: usualBudget, ...old },
  { ids: /gemini-.*image/, capabilities: { ...seeing, mediaInToolResults: everything, maxOutputTokens: 32_768 }, ...modern },
  { ids: /gemini-3-pro/, capabilities: { ...level, efforts: ['low', 'high'] }, ...modern },
  { ids: /gemini-3(\.[0-6])?-flash/, capabilities: { ...level, efforts: ['minimal', ...upToHigh] }, ...modern },
]

/** Profile of a model on `streamGenerateContent`. */
export interface GeminiProfile extends ModelProfile {
  family: GeminiFamily
}

/** Returns the capabilities of `model`. */
export function geminiCapabilities(model: ModelConfig): ModelCapabilities {
  return geminiProfile(model).capabilities
}

/**
 * Returns the profile of `model`, with overrides from its configuration. Requests send ids that the API issued back unchanged. Models from
 * other vendors accept only shorter ids.
 */
export function geminiProfile(model: ModelConfig): GeminiProfile {
  const family = families.find(({ ids }) => ids.test(model.id)) ?? newest
  const isVertex = model.api === 'googleVertex'
  const { media } = family.capabilities
  const fetched = beforeUrls.test(model.id) ? [] : byUrl.filter((type) => isMediaOf(type, media))
  const row = { ...family, capabilities: { ...family.capabilities, mediaByUrl: isVertex ? media : fetched } }
  const known = capabilitiesOf(model, [row], level)
  const saysNone = !model.reasoning && model.capabilities?.thinking === undefined
  const capabilities: ModelCapabilities = saysNone ? { ...known, thinking: 'none' } : known
  const native = capabilities.jsonSchema ? ({ jsonObject: 'mode', jsonSchema: 'gemini' } as const) : {}
  return {
    family,
    capabilities,
    ...(!isVertex && capabilities.media.length > 0 && { fetches: videosByPage }),
    toolSchemas: 'gemini',
    callIds: family.echoesCallIds && !family.needsSignatures ? 'word64' : 'visible256',
    formats: { ...native, excludesTools: !family.toolsWithFormat, otherwise: 'tool', forcingStopsThinking: false },
  }
}
