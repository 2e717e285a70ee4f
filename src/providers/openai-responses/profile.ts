import { typeByName } from '../../contract/message/media.ts'
import type { ModelCapabilities, ModelConfig } from '../../contract/model/model-config.ts'
import { type CapabilityRow, capabilitiesOf, type ModelProfile, pictures, picturesAndPdf, plain } from '../kit/capabilities/capabilities.ts'
import { openAiCapabilities } from '../openai/capabilities.ts'

/** Returns the capabilities of a model that always reasons. */
function reasoner(efforts: readonly string[]): ModelCapabilities {
  return { ...plain, media: picturesAndPdf, thinking: 'alwaysOn', efforts, sampling: false, thinkingOff: false, maxOutputTokens: 128_000 }
}

// Output limits: developers.openai.com/api/docs/models and models.dev, 2026-10.

/** Models available only on this API, before those shared with Chat Completions. Source: docs/providers/openai-responses.md */
const table: readonly CapabilityRow[] = [
  { ids: /(^|[/:.])gpt-5-pro/, capabilities: { ...reasoner(['high']), maxOutputTokens: 272_000 } },
  { ids: /(^|[/:.])gpt-5\.\d+-pro/, capabilities: reasoner(['medium', 'high', 'xhigh']) },
  { ids: /(^|[/:.])gpt-5(\.1)?-codex(?!-max)/, capabilities: reasoner(['low', 'medium', 'high']) },
  { ids: /(^|[/:.])gpt-5\.\d+-codex/, capabilities: reasoner(['low', 'medium', 'high', 'xhigh']) },
  { ids: /(^|[/:.])gpt-5\.\d+-chat/, capabilities: { ...reasoner(['medium']), maxOutputTokens: 16_384 } },
  ...openAiCapabilities,
]

/**
 * Documents from which OpenAI extracts text, with up to 1,000 rows per sheet. Source:
 * https://developers.openai.com/api/docs/guides/file-inputs
 */
const office = ['doc', 'docx', 'rtf', 'odt', 'xls', 'xlsx', 'ppt', 'pptx'].flatMap((end) => typeByName(`.${end}`) ?? [])

/** Returns the supported media. Models that accept PDFs also accept other documents, except on Azure. */
function mediaOf({ media }: ModelCapabilities, { api }: ModelConfig): readonly string[] {
  return api !== 'azureOpenAiResponses' && media.includes('application/pdf') ? [...media, ...office] : media
}

/** Capabilities of unknown OpenAI models. All of the newest models accept these efforts. */
const newest = reasoner(['low', 'medium', 'high', 'xhigh', 'max'])

/**
 * Returns whether the rules for OpenAI's own models apply: for their ids on any provider, for unknown OpenAI ids, and for Azure
 * deployments. Open `gpt-oss` models run on other servers.
 */
function isOpenAiModel({ id, api, provider }: ModelConfig): boolean {
  if (id.includes('gpt-oss')) return false
  return provider === 'openai' || api === 'azureOpenAiResponses' || table.some(({ ids }) => ids.test(id))
}

/** xAI accepts documents by URL or file id, but not as bytes. Results accept no media. */
const xaiMedia = { media: picturesAndPdf, mediaByUrl: ['application/pdf'], mediaById: ['application/pdf'] }

function isXai({ provider }: ModelConfig): boolean {
  return provider === 'xai'
}

/**
 * Returns whether the provider runs custom tool calls itself. This is true for xAI, because this package cannot declare custom tools.
 * Source: docs/providers/openai-responses.md
 */
export function runsCustomTools(model: ModelConfig): boolean {
  return isXai(model) || /^https:\/\/([\w.-]+\.)?x\.ai(\/|$)/.test(model.baseUrl)
}

/**
 * Returns whether the model has tool search: on OpenAI and Azure, GPT-5.4 and later. Other providers and custom deployment names must
 * enable it.
 */
function searchesTools({ id, api, provider }: ModelConfig): boolean {
  const [, major, minor = '0'] = /(?:^|[/:.])gpt-(\d+)(?:\.(\d+))?/.exec(id) ?? []
  const isNew = Number(major) > 5 || (major === '5' && Number(minor) >= 4)
  const isUnknown = major === undefined && !table.some(({ ids }) => ids.test(id))
  return api === 'azureOpenAiResponses' ? isNew : provider === 'openai' && (isNew || isUnknown)
}

/**
 * Returns the capabilities of `model` on the Responses API. Models from other providers reason if the configuration sets `reasoning`, and
 * accept images only in user messages.
 */
export function responsesCapabilities(model: ModelConfig): ModelCapabilities {
  const { capabilities: own, reasoning } = model
  let known: ModelCapabilities
  if (isOpenAiModel(model)) {
    const { capabilities: _, ...bare } = model
    known = capabilitiesOf(bare, table, newest)
    const media = mediaOf(known, model)
    known = { ...known, media, mediaInToolResults: media, mediaByUrl: media, mediaById: media, toolSearch: searchesTools(model) }
  } else known = { ...plain, ...(isXai(model) && xaiMedia), thinking: 'adaptive', efforts: ['low', 'medium', 'high'], thinkingOff: false }
  if (!reasoning) known = { ...known, thinking: 'none' }
  return { ...known, ...own }
}

/** Profile of a model on the Responses API. */
export interface ResponsesProfile extends ModelProfile {
  /** Whether the rules for OpenAI's own models apply. */
  isOpenAi: boolean
}

/** Returns the profile of `model`. */
export function responsesProfile(model: ModelConfig): ResponsesProfile {
  const capabilities = responsesCapabilities(model)
  const schema = capabilities.jsonSchema ? { jsonSchema: 'openAiFormat' as const, strictSchema: 'openAiStrict' as const } : {}
  return {
    capabilities,
    isOpenAi: isOpenAiModel(model),
    ...(isXai(model) && { inline: pictures }),
    callIds: 'visible64',
    toolSchemas: 'openAiTools',
    formats: { ...schema, jsonObject: 'mode', jsonMustBeNamed: true, otherwise: 'tool', forcingStopsThinking: false },
  }
}
