import { isMediaOf } from '../../contract/message/media.ts'
import type { ModelCapabilities, ModelConfig } from '../../contract/model/model-config.ts'
import { type CapabilityRow, capabilitiesOf, type ModelProfile, plain } from '../kit/capabilities/capabilities.ts'
import { levelBudgets } from '../kit/settings/write-settings.ts'

/** What sets a family apart on the wire, beside its capabilities. */
export interface GeminiFamily extends CapabilityRow {
  /** Tokens a thinking budget may have, where the family thinks by budget. */
  budget?: { min: number; max: number }
  /** Whether ids of calls go back. Older models match results to calls by order alone and refuse ids. */
  echoesCallIds: boolean
  /** Whether the first call of an answer must carry a signature. */
  needsSignatures: boolean
  /** Whether tools and a form of the answer go together. */
  toolsWithFormat: boolean
  /** Whether there is a place for instructions; otherwise they open the first user message. */
  systemInstruction: boolean
}

// Output limits: ai.google.dev/gemini-api/docs/models and models.dev, 2026-10.

const upToHigh = ['low', 'medium', 'high']

const old = { echoesCallIds: false, needsSignatures: false, toolsWithFormat: false, systemInstruction: true }
const modern = { echoesCallIds: true, needsSignatures: true, toolsWithFormat: true, systemInstruction: true }

/** All that Gemini's models take. */
const everything = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif', 'application/pdf', 'audio/*', 'video/*']
const seeing: ModelCapabilities = { ...plain, media: everything, mediaById: everything }

/** The Gemini API looks at videos of this site by their pages. Source: docs/providers/google.md */
const videosByPage = /^https:\/\/(?:(?:www\.|m\.)?youtube\.com\/watch\?|youtu\.be\/)/i

/**
 * What the Gemini API fetches by an https address, from the models after 2.0 on.
 * Of ai.google.dev/gemini-api/docs/file-input-methods, since 2026-01.
 */
const byUrl = ['image/png', 'image/jpeg', 'image/webp', 'application/pdf']
const beforeUrls = /gemini-(1\.|2\.0)/

/** What models take that count; level `max` is all that most of them take. Source: docs/providers/google.md */
export const usualBudget = { min: 1, max: levelBudgets.max }

/** "Penalty is not enabled for this model." */
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

/** Also what an unknown id is taken for: nothing is sent that any current model refuses. */
const newest: GeminiFamily = { ids: /^/, capabilities: level, ...modern }

/** The first row that matches counts. */
const families: readonly GeminiFamily[] = [
  {
    ids: /gemma/,
    capabilities: { ...plain, jsonSchema: false, maxOutputTokens: 8192 },
    ...old,
    systemInstruction: false,
  },
  // Guests of Vertex AI behind this protocol.
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

/** What is known of one model behind `streamGenerateContent`. */
export interface GeminiProfile extends ModelProfile {
  family: GeminiFamily
}

/** What the service accepts for `model`. */
export function geminiCapabilities(model: ModelConfig): ModelCapabilities {
  return geminiProfile(model).capabilities
}

/**
 * The profile of `model`; overrides of its configuration are on top of the capabilities. Ids that the service gave come back as they were;
 * models of others take fewer characters.
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
