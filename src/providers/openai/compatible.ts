import { ConfigError } from '../../types/errors.ts'
import type { Model } from '../../types/model.ts'
import type { ModelDefaults, ProviderOptions } from '../shared/model-options.ts'
import { type BackendName, compatPresets } from './backends.ts'
import { type Backend, defaultCompat } from './compat.ts'
import { chatModel } from './provider.ts'

/** Options of `openaiCompatible`: a known `backend`, or any other by its `baseUrl`. */
export interface CompatibleOptions extends ProviderOptions {
  /** A service of `compatPresets`: its address, deviations and name. */
  backend?: BackendName
}

/** A model on OpenRouter; `id` is `vendor/model`. */
export function openrouter(id: string, options: ProviderOptions = {}): Model {
  const { baseUrl, compat } = compatPresets.openrouter
  return chatModel(
    id,
    { api: 'openAiCompletions', provider: 'openrouter', baseUrl, compat, reasoning: true, contextWindow: 200_000, maxTokens: 4096 },
    options,
  )
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
  const capabilities = { ...known?.capabilities, ...options.capabilities }
  return chatModel(id, defaults, { ...options, capabilities, headers: { ...known?.headers, ...options.headers } })
}

/** A model of a local server, such as Ollama, LM Studio, vLLM or llama.cpp. Most need no key. */
export function local(baseUrl: string, id: string, options: Omit<ProviderOptions, 'baseUrl'> = {}): Model {
  return openaiCompatible(id, { provider: 'local', ...options, baseUrl })
}
