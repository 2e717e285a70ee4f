import { type ApiKey, type CredentialProvider, staticCredential } from '../../types/credentials.ts'
import { ConfigError } from '../../types/errors.ts'
import type { Model } from '../../types/model.ts'
import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../types/model-config.ts'
import type { StreamProvider } from '../../types/provider.ts'
import type { CostConfig } from '../../types/usage.ts'
import { whyUnusable } from './option-tables.ts'

/** How a provider sends, whatever the protocol. */
export interface TransportOptions {
  /** Default: the global `fetch`, looked up at each call. */
  fetch?: typeof fetch
  /** Milliseconds without a single byte before a call fails as `network`. Default 60,000. */
  idleTimeoutMs?: number
  /** Milliseconds without content (pings do not count) before a call fails as `network`. Default 300,000. */
  progressTimeoutMs?: number
  /** Most characters one event of an answer may have before the call fails. Default 16,777,216. Messages of AWS have a limit of their own, 24 MiB. */
  maxEventChars?: number
}

/** What every model factory takes beside the model id. */
export interface ProviderOptions extends TransportOptions {
  /**
   * A key, or where to get one: a function is asked before each call, and once more after its key was rejected. It is kept in a closure, never in
   * the configuration.
   */
  apiKey?: ApiKey
  /** Endpoint; for proxies and compatible services. */
  baseUrl?: string
  /** Extra request headers. Not for secrets: they are captured with the configuration. */
  headers?: Record<string, string>
  /** Shown to people. Default: the model id. */
  name?: string
  /** Provider name for logs, loop ids and cost reports. */
  provider?: string
  /** Tokens. */
  contextWindow?: number
  /** Tokens. */
  maxTokens?: number
  /** USD per million tokens. Default: unknown. */
  cost?: CostConfig
  /** Whether the model can think. */
  reasoning?: boolean
  /** Deviations of an OpenAI-compatible backend. */
  compat?: Partial<OpenAiCompat>
  /** Overrides of the capability table. */
  capabilities?: Partial<ModelCapabilities>
}

/** What a factory knows about its service. */
export type ModelDefaults = Pick<ModelConfig, 'api' | 'provider' | 'baseUrl' | 'reasoning' | 'contextWindow' | 'maxTokens' | 'compat'> & {
  /** Where people usually keep its key; absent: it needs none. */
  apiKeyVariable?: string | undefined
}

/** The configuration of model `id`: `options` over `defaults`. It holds no key. */
export function modelConfig(id: string, defaults: ModelDefaults, options: ProviderOptions): ModelConfig {
  const config: ModelConfig = {
    id,
    name: options.name ?? id,
    api: defaults.api,
    provider: options.provider ?? defaults.provider,
    baseUrl: withoutTrailingSlash(options.baseUrl ?? defaults.baseUrl),
    reasoning: options.reasoning ?? defaults.reasoning,
    contextWindow: options.contextWindow ?? options.capabilities?.contextWindow ?? defaults.contextWindow,
    maxTokens: options.maxTokens ?? defaults.maxTokens,
    cost: options.cost ?? { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 },
    headers: options.headers ?? {},
  }
  if (defaults.compat !== undefined) config.compat = { ...defaults.compat, ...options.compat }
  if (options.capabilities !== undefined) config.capabilities = options.capabilities
  return config
}

/** The tail of every factory: a model of `provider` with `options` over `defaults`, and its key kept in a closure. */
export function createModel(
  id: string,
  defaults: ModelDefaults,
  options: ProviderOptions,
  provider: StreamProvider,
  credentials: CredentialProvider | undefined = credentialsOf(options.apiKey),
): Model {
  const model: Model = { config: modelConfig(id, defaults, options), provider }
  if (credentials !== undefined) model.credentials = credentials
  const { apiKeyVariable } = defaults
  // What is no text was made of something: an options object, AWS credentials.
  const isKnown = credentials !== undefined && options.apiKey === undefined
  const { baseUrl, ...others } = options
  // The service's own address says nothing: it wants a key.
  const isProxied = baseUrl !== undefined && withoutTrailingSlash(baseUrl) !== defaults.baseUrl
  const unusable = apiKeyVariable === undefined || isKnown || isProxied ? undefined : whyUnusable(id, others, apiKeyVariable)
  if (unusable !== undefined) model.unusable = unusable
  return model
}

/** `apiKey` as a credential provider; `undefined` where none was given. */
export function credentialsOf(apiKey: ApiKey | undefined): CredentialProvider | undefined {
  if (typeof apiKey === 'string') return staticCredential(apiKey)
  return typeof apiKey === 'function' ? { current: (signal) => askedFor(apiKey, signal), invalidate: () => undefined } : apiKey
}

async function askedFor(apiKey: (signal: AbortSignal) => string | Promise<string>, signal: AbortSignal): Promise<string> {
  const key: unknown = await apiKey(signal)
  if (typeof key === 'string' && key.trim() !== '') return key
  throw new ConfigError('invalidOption', 'apiKey() gave no key. It must return, or resolve with, a text that is not empty.')
}

function withoutTrailingSlash(url: string): string {
  let end = url.length
  while (end > 0 && url[end - 1] === '/') end--
  return url.slice(0, end)
}
