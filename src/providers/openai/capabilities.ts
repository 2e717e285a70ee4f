import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'
import { type CapabilityRow, capabilitiesOf, pictures, picturesAndPdf, plain } from '../kit/capabilities/capabilities.ts'
import { serviceBehind, withoutReasoning } from './compat.ts'
import { familyOf } from './model-families.ts'

// Output limits: developers.openai.com/api/docs/models and models.dev, 2026-10.

/** The most tools that a request may have: its error "array too long. Expected an array with maximum length 128". */
export const toolLimit = 128

/** What models take that hear. */
const sounds = ['audio/wav', 'audio/x-wav', 'audio/mpeg']

/** A model of OpenAI that takes pictures and documents. */
const seeing: ModelCapabilities = { ...plain, media: picturesAndPdf, mediaByUrl: pictures, mediaById: ['application/pdf'] }

/** A model that always thinks and takes no `temperature`. */
const reasoner: ModelCapabilities = {
  ...seeing,
  thinking: 'alwaysOn',
  efforts: ['low', 'medium', 'high'],
  sampling: false,
  thinkingOff: false,
  maxOutputTokens: 128_000,
}

/** A model that thinks when asked to; `none` is one of its efforts. */
function optional(efforts: readonly string[], sampling: boolean): ModelCapabilities {
  return { ...seeing, thinking: 'adaptive', efforts: ['none', ...efforts], sampling, maxOutputTokens: 128_000 }
}

const upToHigh = ['low', 'medium', 'high']
const upToXhigh = [...upToHigh, 'xhigh']
const upToMax = [...upToXhigh, 'max']

/** Unknown models of OpenAI are new ones: these efforts are accepted by all of the newest. */
const newest: ModelCapabilities = { ...reasoner, efforts: upToMax }

/**
 * What OpenAI's models accept on Chat Completions; the first row that matches counts. Ids may carry a vendor (`openai/…`) or a
 * fine-tune (`ft:…`). Source: docs/providers/openai.md
 */
export const openAiCapabilities: readonly CapabilityRow[] = [
  { ids: /(^|[/:])gpt-3\.5/, capabilities: { ...plain, media: [], maxOutputTokens: 4096 } },
  { ids: /(^|[/:])gpt-4-(turbo|vision|1106|0125)/, capabilities: { ...plain, maxOutputTokens: 4096 } },
  { ids: /(^|[/:])gpt-4(?![.o\w])/, capabilities: { ...plain, maxOutputTokens: 8192 } },
  { ids: /(^|[/:])gpt-4\.1/, capabilities: { ...seeing, maxOutputTokens: 32_768 } },
  // Those that hear see nothing.
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

/** Where the service reads documents for its models, and fetches what it is to read. */
const readingPdf: ModelCapabilities = { ...plain, media: picturesAndPdf, mediaByUrl: picturesAndPdf }

/** How a model's efforts and tools go together on this endpoint. */
export type ToolsAndEffort = 'together' | 'withoutEffort' | 'effortNone'

/** Some models take tools here only without `reasoning_effort`, some only with `none`. */
export function toolsAndEffort(model: ModelConfig): ToolsAndEffort {
  if (/(^|[/:])gpt-5\.[45](?!\d)/.test(model.id)) return 'withoutEffort'
  return /(^|[/:])gpt-5\.([6-9]|\d\d)/.test(model.id) ? 'effortNone' : 'together'
}

/** Whether a model is served by the Responses API alone. */
export function isResponsesOnly(model: ModelConfig): boolean {
  return /(^|[/:])(o\d|gpt-5[\d.]*)-(pro|codex)/.test(model.id)
}

/**
 * Whether the rules of OpenAI's own models hold: for its ids wherever they are served, and for unknown ids of its provider. OpenRouter
 * adapts requests itself, and the open `gpt-oss` models run on servers of their own.
 */
export function isOpenAiModel(model: ModelConfig, compat: OpenAiCompat): boolean {
  if (compat.thinkingFormat === 'openRouter' || model.id.includes('gpt-oss')) return false
  return model.provider === 'openai' || openAiCapabilities.some(({ ids }) => ids.test(model.id))
}

/** Whether `model` is one of OpenAI's that think: these refuse `max_tokens`, wherever they are served. */
export function isOpenAiReasoner(model: ModelConfig, compat: OpenAiCompat): boolean {
  return isOpenAiModel(model, compat) && !withoutReasoning.test(model.id)
}

/** What `model` accepts. Models of other backends take anything, and think if the configuration says so. */
export function chatCapabilities(model: ModelConfig, compat: OpenAiCompat): ModelCapabilities {
  if (isOpenAiModel(model, compat)) return capabilitiesOf(model, openAiCapabilities, newest)
  // It reads PDFs, fetches them and searches for any model. Mistral reads them, too.
  const isRouter = compat.thinkingFormat === 'openRouter'
  const base = isRouter || serviceBehind(model) === 'mistral' ? readingPdf : plain
  const open: ModelCapabilities = model.reasoning
    ? { ...base, thinking: 'adaptive', efforts: upToHigh, thinkingOff: false, ...familyOf(model, compat) }
    : base
  const known = capabilitiesOf(model, [], open)
  return isRouter ? { ...known, toolSearch: known.toolSearch ?? true } : known
}
