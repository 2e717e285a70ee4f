/**
 * Models that speak OpenAI Chat Completions: OpenAI itself, OpenRouter, local servers and every compatible service.
 *
 * ```ts
 * const model = openai('gpt-6-sol', { apiKey })
 * const small = local('http://localhost:11434/v1', 'qwen3')
 * const grok = openaiCompatible('grok-4', { backend: 'xai', apiKey })
 * ```
 *
 * @module
 */
import { ConfigError } from '../../types/errors.ts'
import type { Model } from '../../types/model.ts'
import { credentialsOf, type ModelDefaults, modelConfig, type ProviderOptions } from '../shared/factory-options.ts'
import { type Backend, type BackendName, compatPresets, defaultCompat } from './backends.ts'
import { openAiCapabilities } from './capabilities.ts'
import { openAiProvider } from './openai-provider.ts'

export { type Backend, type BackendName, compatPresets, defaultCompat } from './backends.ts'
export { openAiCapabilities } from './capabilities.ts'
export { openAiProvider } from './openai-provider.ts'

/** Options of `openaiCompatible`: a known `backend`, or any other by its `baseUrl`. */
export interface CompatibleOptions extends ProviderOptions {
  /** A service of `compatPresets`: its address, deviations and name. */
  backend?: BackendName
}

/** A model of OpenAI on Chat Completions. Without an `apiKey` the request carries none, as behind a proxy that adds it. */
export function openai(id: string, options: ProviderOptions = {}): Model {
  const row = openAiCapabilities.find(({ ids }) => ids.test(id))
  const reasoning = row === undefined || row.capabilities.thinking !== 'none'
  return model(id, { ...fromBackend('openai'), reasoning, contextWindow: 128_000, maxTokens: 4096 }, options)
}

/** A model on OpenRouter; `id` is `vendor/model`. */
export function openrouter(id: string, options: ProviderOptions = {}): Model {
  return model(id, { ...fromBackend('openrouter'), reasoning: true, contextWindow: 200_000, maxTokens: 4096 }, options)
}

/**
 * A model of any service that resembles OpenAI. Deviations come from `backend`, `compat` overrides them one by one.
 * Throws `ConfigError` `invalidOption` when neither `backend` nor `baseUrl` says where it is.
 */
export function openaiCompatible(id: string, options: CompatibleOptions): Model {
  const { backend, baseUrl } = options
  if (backend === undefined && baseUrl === undefined) {
    throw new ConfigError('invalidOption', `openaiCompatible("${id}") needs a backend or a baseUrl, to know where the model is served.`)
  }
  const known: Backend | undefined = backend === undefined ? undefined : compatPresets[backend]
  const defaults: ModelDefaults = {
    api: 'openAiCompletions',
    provider: backend ?? 'openai-compatible',
    baseUrl: known?.baseUrl ?? '',
    reasoning: known?.capabilities?.thinking !== undefined,
    contextWindow: 128_000,
    maxTokens: 4096,
    compat: known?.compat ?? defaultCompat,
  }
  return model(id, defaults, { ...options, capabilities: { ...known?.capabilities, ...options.capabilities } })
}

/** A model of a local server, such as Ollama, LM Studio, vLLM or llama.cpp. Most need no key. */
export function local(baseUrl: string, id: string, options: Omit<ProviderOptions, 'baseUrl'> = {}): Model {
  return openaiCompatible(id, { provider: 'local', ...options, baseUrl })
}

function fromBackend(name: BackendName): Pick<ModelDefaults, 'api' | 'provider' | 'baseUrl' | 'compat'> {
  const { baseUrl, compat } = compatPresets[name]
  return { api: 'openAiCompletions', provider: name, baseUrl, compat }
}

function model(id: string, defaults: ModelDefaults, options: ProviderOptions): Model {
  const made: Model = { config: modelConfig(id, defaults, options), provider: openAiProvider(options) }
  const credentials = credentialsOf(options.apiKey)
  if (credentials !== undefined) made.credentials = credentials
  return made
}
