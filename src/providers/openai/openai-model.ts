import type { Model } from '../../types/model.ts'
import { credentialsOf, type ModelDefaults, modelConfig, type ProviderOptions } from '../shared/factory-options.ts'
import { openAiBackend, withoutReasoning } from './compat.ts'
import { openAiProvider } from './openai-provider.ts'

/** A model of OpenAI on Chat Completions. Without an `apiKey` the request carries none, as behind a proxy that adds it. */
export function openai(id: string, options: ProviderOptions = {}): Model {
  const { baseUrl, compat } = openAiBackend
  const reasoning = !withoutReasoning.test(id)
  return chatModel(
    id,
    { api: 'openAiCompletions', provider: 'openai', baseUrl, compat, reasoning, contextWindow: 128_000, maxTokens: 4096 },
    options,
  )
}

/** A model on Chat Completions: `options` over `defaults`. */
export function chatModel(id: string, defaults: ModelDefaults, options: ProviderOptions): Model {
  const made: Model = { config: modelConfig(id, defaults, options), provider: openAiProvider(options) }
  const credentials = credentialsOf(options.apiKey)
  if (credentials !== undefined) made.credentials = credentials
  return made
}
