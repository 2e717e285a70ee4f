import type { ModelCapabilities, ModelConfig } from '../../contract/model/model-config.ts'
import { type CapabilityRow, capabilitiesOf, type ModelProfile, pictures, plain } from '../kit/capabilities/capabilities.ts'
import { claudeTable, newestClaude } from '../kit/capabilities/claude-capabilities.ts'

import { carried, documentLimits, documents, videos } from './media.ts'

/** Field of `additionalModelRequestFields` that enables thinking. */
export type ThinkingField = 'claude' | 'nova' | 'reasoningEffort' | 'reasoning' | 'none'

/** Protocol differences between vendors' models. */
export interface Family {
  ids: RegExp
  thinkingField: ThinkingField
  /** Supported positions of `cachePoint` blocks: all, all except tools, or none. */
  cachePoints: 'all' | 'notAtTools' | 'none'
  /** Whether a result may have an error status. */
  resultStatus: boolean
  /** Whether call ids must consist of exactly nine letters and digits. */
  shortIds: boolean
  /** Document types without a size limit. Default: none. */
  largeDocuments?: readonly string[]
  newest: ModelCapabilities
  table: readonly CapabilityRow[]
}

const efforts = ['low', 'medium', 'high']
const other: Omit<Family, 'ids' | 'newest'> = {
  thinkingField: 'none',
  cachePoints: 'none',
  resultStatus: false,
  shortIds: false,
  table: [],
}
const textOnly: ModelCapabilities = { ...plain, media: [], jsonSchema: false }
const reasoner: ModelCapabilities = { ...plain, thinking: 'alwaysOn', efforts, sampling: false, thinkingOff: false }
const claude: Omit<Family, 'ids'> = {
  ...other,
  thinkingField: 'claude',
  resultStatus: true,
  newest: newestClaude,
  table: claudeTable,
  largeDocuments: [],
}
const novaMedia = [...pictures, ...documents, ...videos]
const nova: ModelCapabilities = { ...plain, media: novaMedia, mediaInToolResults: novaMedia, jsonSchema: false }
const largeOfNova = ['application/pdf', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document']

/** The first match wins. Ids may have a profile region, or be an ARN that ends with one. */
const families: readonly Family[] = [
  { ...claude, ids: /claude-(instant|v?2|3-(opus|sonnet|haiku)|3-5-sonnet-20240620)/ },
  { ...claude, ids: /claude-3/, cachePoints: 'all' },
  { ...claude, ids: /claude/, cachePoints: 'all', largeDocuments: ['application/pdf'] },
  {
    ...other,
    ids: /amazon\.nova/,
    thinkingField: 'nova',
    cachePoints: 'notAtTools',
    resultStatus: true,
    largeDocuments: largeOfNova,
    newest: { ...nova, thinking: 'adaptive', efforts },
    table: [
      { ids: /nova-micro/, capabilities: { ...nova, media: [], mediaInToolResults: [] } },
      { ids: /nova-(lite|pro|premier)/, capabilities: nova },
    ],
  },
  { ...other, ids: /openai\.gpt-oss/, thinkingField: 'reasoningEffort', newest: { ...reasoner, media: [], sampling: true } },
  { ...other, ids: /openai\./, thinkingField: 'reasoning', newest: reasoner },
  { ...other, ids: /mistral\.(magistral|ministral|mistral-large-3|voxtral)/, shortIds: true, newest: plain },
  { ...other, ids: /mistral\./, shortIds: true, newest: { ...plain, jsonSchema: false } },
  { ...other, ids: /deepseek\.v/, newest: { ...textOnly, jsonSchema: true } },
  { ...other, ids: /deepseek\./, newest: textOnly },
  { ...other, ids: /(qwen|google|minimax|moonshot(ai)?|nvidia)\./, newest: plain },
]

/** For unknown models, requests contain only messages, tools and common settings. */
const unknownFamily: Family = { ...other, ids: /^/, newest: { ...plain, jsonSchema: false } }

/** Profile of a model on this protocol. */
export interface BedrockProfile extends ModelProfile {
  family: Family
}

/**
 * Returns the profile of `model`. `underlying` is the model behind an ARN that does not contain it. Schemas are sent for models that
 * enforce them. Other Claude models use a forced tool.
 */
export function bedrockProfile(model: ModelConfig, underlying = model.id): BedrockProfile {
  const family = families.find(({ ids }) => ids.test(underlying)) ?? unknownFamily
  const known = capabilitiesOf({ ...model, id: underlying }, family.table, family.newest)
  const saysNone = !model.reasoning && model.capabilities?.thinking === undefined
  // The API does not fetch URLs or store files. A model that accepts PDFs also accepts other documents.
  const reads = model.capabilities?.media === undefined && known.media.includes('application/pdf')
  const media = carried(reads ? [...known.media, ...documents] : known.media, pictures)
  const served = { ...known, media, mediaInToolResults: known.mediaInToolResults.length > 0 ? media : [], mediaByUrl: [], mediaById: [] }
  const capabilities: ModelCapabilities = saysNone ? { ...served, thinking: 'none' } : served
  const schema = capabilities.jsonSchema ? { jsonSchema: 'bedrockFormat' as const } : {}
  const otherwise = family.thinkingField === 'claude' ? 'tool' : 'refuse'
  const formats = { ...schema, otherwise, forcingStopsThinking: true } as const
  const files = documentLimits(family.largeDocuments ?? [])
  return {
    family,
    capabilities,
    files,
    formats,
    toolSchemas: family.thinkingField === 'nova' ? 'novaTools' : 'claudeTools',
    callIds: family.shortIds ? 'nineChars' : 'word64',
  }
}
