import { definedFields } from '../../../contract/json.ts'
import type { ModelCapabilities, ModelConfig } from '../../../contract/model/model-config.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import type { CallIdRule } from '../history/hash.ts'
import type { FileLimits } from '../optional/media/media-rules.ts'
import type { FormatRules } from '../optional/response-format/response-format.ts'
import type { SchemaDialect } from '../optional/schema/dialects.ts'

/** One row of a family's table: the first row whose `ids` matches a model id describes it. */
export interface CapabilityRow {
  ids: RegExp
  capabilities: ModelCapabilities
}

/** Pictures that every model with eyes takes. */
export const pictures: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** What models that read documents take. */
export const picturesAndPdf: readonly string[] = [...pictures, 'application/pdf']

/** A model that does not think and takes everything else. */
export const plain: ModelCapabilities = {
  thinking: 'none',
  efforts: [],
  sampling: true,
  forcedToolChoice: true,
  thinkingOff: true,
  boundReasoning: false,
  media: pictures,
  mediaInToolResults: [],
  mediaByUrl: [],
  mediaById: [],
  jsonSchema: true,
}

/**
 * What `model` accepts: its row of `table`, else `newest`, with `model.capabilities` on top.
 */
export function capabilitiesOf(model: ModelConfig, table: readonly CapabilityRow[], newest: ModelCapabilities): ModelCapabilities {
  const row = table.find(({ ids }) => ids.test(model.id))
  return { ...(row?.capabilities ?? newest), ...definedFields(model.capabilities) }
}

/** Where a service must be told, and nothing is known of its model: what models of that kind have taken from the first on. */
const cautiousLimit = 8192

/** How long the answer may be, in tokens, where the service must be told. */
export function outputLimit({ model, maxTokens }: StreamRequest, { maxOutputTokens = cautiousLimit }: ModelCapabilities): number {
  return maxTokens ?? (model.maxTokens > 0 ? model.maxTokens : maxOutputTokens)
}

/**
 * How long the answer may be, in tokens, where a service decides by itself unless it is told; `undefined`: it need not be told. The model's own limit
 * limits nothing, but services count what they are told against the tokens per minute.
 */
export function statedLimit({ model, maxTokens }: StreamRequest, { maxOutputTokens = Infinity }: ModelCapabilities): number | undefined {
  if (maxTokens !== undefined) return maxTokens
  return model.maxTokens > 0 && model.maxTokens < maxOutputTokens ? model.maxTokens : undefined
}

/** What is known of a model, as plain data; each protocol adds what it needs. */
export interface ModelProfile {
  capabilities: ModelCapabilities
  /** What its service can do about the form of an answer. */
  formats: FormatRules
  /** What its service takes in the schemas of tools. */
  toolSchemas: SchemaDialect
  /** Which ids of calls its service takes. */
  callIds: CallIdRule
  /** What the service takes of files in one message. */
  files?: FileLimits
  /** Addresses that the service fetches, whatever the type of what is there. */
  fetches?: RegExp
  /** Files of text are documents where they are to be cited. */
  citesText?: boolean
  /** Of which media the bytes may stand in a request. Default: of all that the model takes. */
  inline?: readonly string[]
  /** The service may pause an answer, and goes on with it when it is the last thing it is sent. */
  pauses?: boolean
}
