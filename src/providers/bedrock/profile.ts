import type { ModelCapabilities, ModelConfig } from '../../contract/model/model-config.ts'
import { type CapabilityRow, capabilitiesOf, type ModelProfile, pictures, plain } from '../kit/capabilities/capabilities.ts'
import { claudeTable, newestClaude } from '../kit/capabilities/claude-capabilities.ts'

import { carried, documentLimits, documents, videos } from './media.ts'

/** Which field of `additionalModelRequestFields` asks a family to think. */
export type ThinkingField = 'claude' | 'nova' | 'reasoningEffort' | 'reasoning' | 'none'

/** What sets the models of one vendor apart on this protocol. */
export interface Family {
  ids: RegExp
  thinkingField: ThinkingField
  /** Where `cachePoint` blocks may stand: everywhere, everywhere but at tools, or nowhere. */
  cachePoints: 'all' | 'notAtTools' | 'none'
  /** Whether a result may say that it failed. */
  resultStatus: boolean
  /** Whether ids of calls are exactly nine letters and digits. */
  shortIds: boolean
  /** Documents that may be larger than others. Default: none. */
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

/** The first that matches counts. Ids may carry the region of an inference profile, or be an ARN that ends with one. */
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

/** Models nothing is known of: nothing but messages, tools and the common settings is sent. */
const unknownFamily: Family = { ...other, ids: /^/, newest: { ...plain, jsonSchema: false } }

/** What is known of a model on this protocol. */
export interface BedrockProfile extends ModelProfile {
  family: Family
}

/**
 * What is known of `model`. `underlying` is the model behind an ARN that does not name it. A schema goes to the service, for the models it
 * holds to one; Claude models that it does not are made to call a tool.
 */
export function bedrockProfile(model: ModelConfig, underlying = model.id): BedrockProfile {
  const family = families.find(({ ids }) => ids.test(underlying)) ?? unknownFamily
  const known = capabilitiesOf({ ...model, id: underlying }, family.table, family.newest)
  const saysNone = !model.reasoning && model.capabilities?.thinking === undefined
  // The service fetches nothing by https and keeps no files. A model that reads PDFs reads the other documents too.
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
