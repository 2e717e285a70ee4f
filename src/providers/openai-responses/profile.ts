import { typeByName } from '../../contract/message/media.ts'
import type { ModelCapabilities, ModelConfig } from '../../contract/model/model-config.ts'
import { type CapabilityRow, capabilitiesOf, type ModelProfile, pictures, picturesAndPdf, plain } from '../kit/capabilities/capabilities.ts'
import { openAiCapabilities } from '../openai/capabilities.ts'

/** A model that always thinks, with these efforts. */
function reasoner(efforts: readonly string[]): ModelCapabilities {
  return { ...plain, media: picturesAndPdf, thinking: 'alwaysOn', efforts, sampling: false, thinkingOff: false, maxOutputTokens: 128_000 }
}

// Output limits: developers.openai.com/api/docs/models and models.dev, 2026-10.

/** Models that only this API serves, before those it shares with Chat Completions. Source: docs/providers/openai-responses.md */
const table: readonly CapabilityRow[] = [
  { ids: /(^|[/:.])gpt-5-pro/, capabilities: { ...reasoner(['high']), maxOutputTokens: 272_000 } },
  { ids: /(^|[/:.])gpt-5\.\d+-pro/, capabilities: reasoner(['medium', 'high', 'xhigh']) },
  { ids: /(^|[/:.])gpt-5(\.1)?-codex(?!-max)/, capabilities: reasoner(['low', 'medium', 'high']) },
  { ids: /(^|[/:.])gpt-5\.\d+-codex/, capabilities: reasoner(['low', 'medium', 'high', 'xhigh']) },
  { ids: /(^|[/:.])gpt-5\.\d+-chat/, capabilities: { ...reasoner(['medium']), maxOutputTokens: 16_384 } },
  ...openAiCapabilities,
]

/** Documents of which OpenAI reads the text, and the first thousand rows of each sheet. Source: https://developers.openai.com/api/docs/guides/file-inputs */
const office = ['doc', 'docx', 'rtf', 'odt', 'xls', 'xlsx', 'ppt', 'pptx'].flatMap((end) => typeByName(`.${end}`) ?? [])

/** What a model takes: one that reads PDFs is given the text of other documents too. Azure reads PDFs alone. */
function mediaOf({ media }: ModelCapabilities, { api }: ModelConfig): readonly string[] {
  return api !== 'azureOpenAiResponses' && media.includes('application/pdf') ? [...media, ...office] : media
}

/** Unknown models of OpenAI are new ones: these efforts are accepted by all of the newest. */
const newest = reasoner(['low', 'medium', 'high', 'xhigh', 'max'])

/**
 * Whether the rules of OpenAI's own models hold: for its ids wherever they are served, for unknown ids of its provider, and for deployments
 * on Azure. The open `gpt-oss` models run on servers of their own.
 */
function isOpenAiModel({ id, api, provider }: ModelConfig): boolean {
  if (id.includes('gpt-oss')) return false
  return provider === 'openai' || api === 'azureOpenAiResponses' || table.some(({ ids }) => ids.test(id))
}

/** It reads documents by their address, or once they are uploaded, and takes no bytes of them. Results of tools carry none. */
const xaiMedia = { media: picturesAndPdf, mediaByUrl: ['application/pdf'], mediaById: ['application/pdf'] }

function isXai({ provider }: ModelConfig): boolean {
  return provider === 'xai'
}

/** Whether the service runs the custom tools that it calls: nobody can declare one, so xAI means its own. Source: docs/providers/openai-responses.md */
export function runsCustomTools(model: ModelConfig): boolean {
  return isXai(model) || /^https:\/\/([\w.-]+\.)?x\.ai(\/|$)/.test(model.baseUrl)
}

/** OpenAI and Azure search among tools from GPT-5.4 on. What is served elsewhere, and a deployment that is called otherwise, has to say so. */
function searchesTools({ id, api, provider }: ModelConfig): boolean {
  const [, major, minor = '0'] = /(?:^|[/:.])gpt-(\d+)(?:\.(\d+))?/.exec(id) ?? []
  const isNew = Number(major) > 5 || (major === '5' && Number(minor) >= 4)
  const isUnknown = major === undefined && !table.some(({ ids }) => ids.test(id))
  return api === 'azureOpenAiResponses' ? isNew : provider === 'openai' && (isNew || isUnknown)
}

/**
 * What `model` accepts on the Responses API. Other services' models think if the configuration says so, and take images in user messages
 * only.
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

/** What is known of one model on the Responses API. */
export interface ResponsesProfile extends ModelProfile {
  /** The rules of OpenAI's own models hold. */
  isOpenAi: boolean
}

/** The profile of `model`. */
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
