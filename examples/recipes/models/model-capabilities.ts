import type { Model, ModelConfig } from 'phi-core'
import { ProviderRegistry, protocolOf } from 'phi-core/providers'
import { anthropic } from 'phi-core/providers/anthropic'
import { openaiCompatible } from 'phi-core/providers/openai'

/** A model of one's own behind a known protocol: each field that is given counts, the others are those of the table. */
export function described(baseUrl: string): Model[] {
  return [
    anthropic('house-model-2', { baseUrl, capabilities: { thinking: 'none', jsonSchema: false, media: [] } }),
    openaiCompatible('house-model-3', { baseUrl, reasoning: true, capabilities: { efforts: ['low', 'max'], sampling: false } }),
  ]
}

// #region registry
/** A model from a configuration file, which says `api = "anthropic_messages"` and holds no key. */
export function fromConfiguration(entry: Omit<ModelConfig, 'api'> & { api: string }, apiKey: string): Model {
  const api = protocolOf(entry.api)
  if (api === undefined) throw new Error(`${entry.name}: no protocol is called "${entry.api}".`)
  return new ProviderRegistry().createModel({ ...entry, api }, { credentials: apiKey })
}
// #endregion registry
