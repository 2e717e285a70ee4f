import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'
import { type CapabilityRow, capabilitiesOf, pictures, picturesAndPdf, plain } from '../kit/capabilities/capabilities.ts'
import { serviceBehind, withoutReasoning } from './compat.ts'
import { familyOf } from './model-families.ts'

// Output limits: developers.openai.com/api/docs/models and models.dev, 2026-10.

/** Maximum tools per request. The API's error: "array too long. Expected an array with maximum length 128". */
export const toolLimit = 128

/** Audio types of models with audio input. */
const sounds = ['audio/wav', 'audio/x-wav', 'audio/mpeg']

/** OpenAI models with image and document input. */
const seeing: ModelCapabilities = { ...plain, media: picturesAndPdf, mediaByUrl: pictures, mediaById: ['application/pdf'] }

/** Capabilities of models that always reason and reject `temperature`. */
const reasoner: ModelCapabilities = {
  ...seeing,
  thinking: 'alwaysOn',
  efforts: ['low', 'medium', 'high'],
  sampling: false,
  thinkingOff: false,
  maxOutputTokens: 128_000,
}

/** Capabilities of models with optional reasoning, whose efforts include `none`. */
function optional(efforts: readonly string[], sampling: boolean): ModelCapabilities {
  return { ...seeing, thinking: 'adaptive', efforts: ['none', ...efforts], sampling, maxOutputTokens: 128_000 }
}

const upToHigh = ['low', 'medium', 'high']
const upToXhigh = [...upToHigh, 'xhigh']
const upToMax = [...upToXhigh, 'max']

/** Capabilities of unknown OpenAI models. All of the newest models accept these efforts. */
const newest: ModelCapabilities = { ...reasoner, efforts: upToMax }

/**
 * Capabilities of OpenAI's models on Chat Completions. The first matching row wins. Ids may have a vendor (`openai/…`) or a fine-tune
 * prefix (`ft:…`).
 */
export const openAiCapabilities: readonly CapabilityRow[] = [
  { ids: /(^|[/:])gpt-3\.5/, capabilities: { ...plain, media: [], maxOutputTokens: 4096 } },
  { ids: /(^|[/:])gpt-4-(turbo|vision|1106|0125)/, capabilities: { ...plain, maxOutputTokens: 4096 } },
  { ids: /(^|[/:])gpt-4(?![.o\w])/, capabilities: { ...plain, maxOutputTokens: 8192 } },
  { ids: /(^|[/:])gpt-4\.1/, capabilities: { ...seeing, maxOutputTokens: 32_768 } },
  // Models with audio input do not accept images.
  { ids: /(^|[/:])gpt-(?:4o-)?(?:mini-)?audio/, capabilities: { ...plain, media: sounds, maxOutputTokens: 16_384 } },
  { ids: withoutReasoning, capabilities: { ...seeing, maxOutputTokens: 16_384 } },
  { ids: /(^|[/:])o1-preview/, capabilities: { ...reasoner, maxOutputTokens: 32_768 } },
  { ids: /(^|[/:])o1-mini/, capabilities: { ...reasoner, media: [], maxOutputTokens: 65_536 } },
  { ids: /(^|[/:])o3-mini/, capabilities: { ...reasoner, media: [], maxOutputTokens: 100_000 } },
  { ids: /(^|[/:])o\d/, capabilities: { ...reasoner, maxOutputTokens: 100_000 } },
  { ids: /(^|[/:])gpt-5\.1(?!\d)/, capabilities: optional(upToHigh, true) },
  { ids: /(^|[/:])gpt-5\.[2-5](?!\d)/, capabilities: optional(upToXhigh, true) },
  { ids: /(^|[/:])gpt-5\.\d/, capabilities: optional(upToMax, true) },
  { ids: /(^|[/:])gpt-5/, capabilities: { ...reasoner, efforts: ['minimal', ...upToHigh] } },
  { ids: /(^|[/:])(gpt-6-luna|gpt-6-sol|gpt-6\.1-terra)/, capabilities: optional(upToMax, false) },
  { ids: /(^|[/:])gpt-([6-9]|\d\d)/, capabilities: newest },
]

/** Providers that extract PDFs for their models and fetch files by URL. */
const readingPdf: ModelCapabilities = { ...plain, media: picturesAndPdf, mediaByUrl: picturesAndPdf }

/** How a model combines reasoning efforts and tools on this endpoint. */
export type ToolsAndEffort = 'together' | 'withoutEffort' | 'effortNone'

/** Returns how `model` combines tools and `reasoning_effort`: some models accept tools only without the field, others only with `none`. */
export function toolsAndEffort(model: ModelConfig): ToolsAndEffort {
  if (/(^|[/:])gpt-5\.[45](?!\d)/.test(model.id)) return 'withoutEffort'
  return /(^|[/:])gpt-5\.([6-9]|\d\d)/.test(model.id) ? 'effortNone' : 'together'
}

/** Returns whether a model is only available on the Responses API. */
export function isResponsesOnly(model: ModelConfig): boolean {
  return /(^|[/:])(o\d|gpt-5[\d.]*)-(pro|codex)/.test(model.id)
}

/**
 * Returns whether the rules for OpenAI's own models apply: for their ids on any provider, and for unknown ids at OpenAI. OpenRouter adapts
 * requests itself, and open `gpt-oss` models run on other servers.
 */
export function isOpenAiModel(model: ModelConfig, compat: OpenAiCompat): boolean {
  if (compat.thinkingFormat === 'openRouter' || model.id.includes('gpt-oss')) return false
  return model.provider === 'openai' || openAiCapabilities.some(({ ids }) => ids.test(model.id))
}

/** Returns whether `model` is an OpenAI reasoning model, which rejects `max_tokens` on any provider. */
export function isOpenAiReasoner(model: ModelConfig, compat: OpenAiCompat): boolean {
  return isOpenAiModel(model, compat) && !withoutReasoning.test(model.id)
}

/**
 * Returns the capabilities of `model`. Assumes that models on other backends accept everything, and reason if the configuration sets
 * `reasoning`.
 */
export function chatCapabilities(model: ModelConfig, compat: OpenAiCompat): ModelCapabilities {
  if (isOpenAiModel(model, compat)) return capabilitiesOf(model, openAiCapabilities, newest)
  // OpenRouter extracts and fetches PDFs and searches for any model. Mistral also extracts PDFs.
  const isRouter = compat.thinkingFormat === 'openRouter'
  const base = isRouter || serviceBehind(model) === 'mistral' ? readingPdf : plain
  const open: ModelCapabilities = model.reasoning
    ? { ...base, thinking: 'adaptive', efforts: upToHigh, thinkingOff: false, ...familyOf(model, compat) }
    : base
  const known = capabilitiesOf(model, [], open)
  return isRouter ? { ...known, toolSearch: known.toolSearch ?? true } : known
}
