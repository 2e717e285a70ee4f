import { definedFields } from '../../../contract/json.ts'
import type { ModelCapabilities, ModelConfig } from '../../../contract/model/model-config.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import type { CallIdRule } from '../history/hash.ts'
import type { FileLimits } from '../optional/media/media-rules.ts'
import type { FormatRules } from '../optional/response-format/response-format.ts'
import type { SchemaDialect } from '../optional/schema/dialects.ts'

/** One row of a model-family table. The first row whose `ids` matches a model id applies. */
export interface CapabilityRow {
  ids: RegExp
  capabilities: ModelCapabilities
}

/** Image types that every model with image input accepts. */
export const pictures: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** Document types that models with document input accept. */
export const picturesAndPdf: readonly string[] = [...pictures, 'application/pdf']

/** Default capabilities for a model without thinking. */
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

/** Looks up the capabilities of `model` in `table`, or uses `newest` for an unknown id. `model.capabilities` takes precedence. */
export function capabilitiesOf(model: ModelConfig, table: readonly CapabilityRow[], newest: ModelCapabilities): ModelCapabilities {
  const row = table.find(({ ids }) => ids.test(model.id))
  return { ...(row?.capabilities ?? newest), ...definedFields(model.capabilities) }
}

/** Response limit for an unknown model if the provider requires a limit. All models in the family accept this value. */
const cautiousLimit = 8192

/** Returns the maximum response tokens for a provider that requires a limit. */
export function outputLimit({ model, maxTokens }: StreamRequest, { maxOutputTokens = cautiousLimit }: ModelCapabilities): number {
  return maxTokens ?? (model.maxTokens > 0 ? model.maxTokens : maxOutputTokens)
}

/**
 * Returns the maximum response tokens for a provider that has its own default. If it is `undefined`, the request contains no limit. Ignores
 * the model's own limit, because providers count the requested limit toward the tokens per minute.
 */
export function statedLimit({ model, maxTokens }: StreamRequest, { maxOutputTokens = Infinity }: ModelCapabilities): number | undefined {
  if (maxTokens !== undefined) return maxTokens
  return model.maxTokens > 0 && model.maxTokens < maxOutputTokens ? model.maxTokens : undefined
}

/** A model's capabilities as plain data. Each protocol extends them. */
export interface ModelProfile {
  capabilities: ModelCapabilities
  /** Response formats that the provider can enforce. */
  formats: FormatRules
  /** JSON Schema features that the provider accepts in tool schemas. */
  toolSchemas: SchemaDialect
  /** Form of tool call ids that the provider accepts. */
  callIds: CallIdRule
  /** File limits for one message. */
  files?: FileLimits
  /** URLs that the provider fetches, regardless of media type. */
  fetches?: RegExp
  /** Whether text files are sent as documents if citations are requested. */
  citesText?: boolean
  /** Media types that can be sent inline. Default: all that the model accepts. */
  inline?: readonly string[]
  /** Whether the provider can pause a response, and continues it if it is the last message in a request. */
  pauses?: boolean
}
