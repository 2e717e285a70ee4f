import type { Model, ModelConfig } from 'phi-core'
import { ProviderRegistry, protocolOf } from 'phi-core/providers'
import { anthropic } from 'phi-core/providers/anthropic'
import { openaiCompatible } from 'phi-core/providers/openai'

/** Describes your own models behind a known protocol. Fields that you omit keep their known values. */
export function described(baseUrl: string): Model[] {
  return [
    anthropic('house-model-2', { baseUrl, capabilities: { thinking: 'none', jsonSchema: false, media: [] } }),
    openaiCompatible('house-model-3', { baseUrl, reasoning: true, capabilities: { efforts: ['low', 'max'], sampling: false } }),
  ]
}

// #region registry
/** Creates a model from a configuration such as `api = "anthropic_messages"`. The key is supplied separately. */
export function fromConfiguration(entry: Omit<ModelConfig, 'api'> & { api: string }, apiKey: string): Model {
  const api = protocolOf(entry.api)
  if (api === undefined) throw new Error(`${entry.name}: no protocol is called "${entry.api}".`)
  return new ProviderRegistry().createModel({ ...entry, api }, { credentials: apiKey })
}
// #endregion registry
