import type { ModelCapabilities, ModelConfig } from '../../../contract/model/model-config.ts'
import type { CallIdRule } from '../history/legal-id.ts'
import type { FormatRules } from '../response-format/response-format.ts'

/** One row of a family's table: the first row whose `ids` matches a model id describes it. */
export interface CapabilityRow {
  ids: RegExp
  capabilities: ModelCapabilities
}

/** A model that does not think and takes everything else. */
export const plain: ModelCapabilities = {
  thinking: 'none',
  efforts: [],
  sampling: true,
  forcedToolChoice: true,
  thinkingOff: true,
  boundReasoning: false,
  images: true,
  imagesInToolResults: false,
  jsonSchema: true,
}

/**
 * What `model` accepts: its row of `table`, else `newest`, with `model.capabilities` on top.
 */
export function capabilitiesOf(model: ModelConfig, table: readonly CapabilityRow[], newest: ModelCapabilities): ModelCapabilities {
  const row = table.find(({ ids }) => ids.test(model.id))
  return { ...(row?.capabilities ?? newest), ...model.capabilities }
}

/** What is known of a model, as plain data; each protocol adds what it needs. */
export interface ModelProfile {
  capabilities: ModelCapabilities
  /** What its service can do about the form of an answer. */
  formats: FormatRules
  /** Which ids of calls its service takes. */
  callIds: CallIdRule
}
