import { type CredentialProvider, staticCredential } from '../../types/credentials.ts'
import type { Model } from '../../types/model.ts'
import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../types/model-config.ts'
import type { StreamProvider } from '../../types/provider.ts'
import type { CostConfig } from '../../types/usage.ts'

/** How a provider sends, whatever the protocol. */
export interface TransportOptions {
  /** Default: the global `fetch`, looked up at each call. */
  fetch?: typeof fetch
  /** Milliseconds without a single byte before a call fails as `network`. Default 60,000. */
  idleTimeoutMs?: number
  /** Milliseconds without content (pings do not count) before a call fails as `network`. Default 300,000. */
  progressTimeoutMs?: number
}

/** What every model factory takes beside the model id. */
export interface ProviderOptions extends TransportOptions {
  /** A key, or where to get one. It is kept in a closure, never in the configuration. */
  apiKey?: string | CredentialProvider
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
export type ModelDefaults = Pick<ModelConfig, 'api' | 'provider' | 'baseUrl' | 'reasoning' | 'contextWindow' | 'maxTokens' | 'compat'>

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
  const config = modelConfig(id, defaults, options)
  return credentials === undefined ? { config, provider } : { config, provider, credentials }
}

/** `apiKey` as a credential provider; `undefined` where none was given. */
export function credentialsOf(apiKey: string | CredentialProvider | undefined): CredentialProvider | undefined {
  return typeof apiKey === 'string' ? staticCredential(apiKey) : apiKey
}

function withoutTrailingSlash(url: string): string {
  let end = url.length
  while (end > 0 && url[end - 1] === '/') end--
  return url.slice(0, end)
}
