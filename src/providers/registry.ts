/**
 * Providers by the name of their protocol, for configurations: each is loaded with its first call. Programs that know their model use its
 * factory instead.
 *
 * ```ts
 * const model = new ProviderRegistry().createModel(config, { credentials: apiKey })
 * ```
 *
 * @module
 */
import type { CredentialProvider } from '../types/credentials.ts'
import { ConfigError } from '../types/errors.ts'
import type { Model } from '../types/model.ts'
import type { ApiProtocol, ModelConfig } from '../types/model-config.ts'
import type { StreamProvider } from '../types/provider.ts'
import { credentialsOf, type TransportOptions } from './shared/factory-options.ts'
import { loadPart } from './shared/load-part.ts'

export type { TransportOptions } from './shared/factory-options.ts'
export { protocolOf } from './shared/protocol-name.ts'

/** Makes the provider of a protocol; called once per transport, when the first call is made. May load it only then. */
export type ProviderLoader = (transport: TransportOptions) => StreamProvider | Promise<StreamProvider>

/** How a model from a configuration is called. */
export interface RegistryModelOptions extends TransportOptions {
  /** The key, or where to get one; the configuration holds none. */
  credentials?: string | CredentialProvider
}

/** The seven protocols of this package. */
const builtIn: Partial<Record<ApiProtocol, ProviderLoader>> = {
  anthropicMessages: async (transport) => (await import('./anthropic/index.ts')).anthropicProvider(transport),
  openAiCompletions: async (transport) => (await import('./openai/index.ts')).openAiProvider(transport),
  openAiResponses: async (transport) => (await import('./openai-responses/index.ts')).openAiResponsesProvider(transport),
  azureOpenAiResponses: async (transport) => (await import('./azure/index.ts')).azureProvider(transport),
  googleGenerativeAi: async (transport) => (await import('./google/index.ts')).googleProvider(transport),
  googleVertex: async (transport) => (await import('./vertex/index.ts')).vertexProvider(transport),
  bedrockConverseStream: async (transport) => (await import('./bedrock/index.ts')).bedrockProvider(transport),
}

/**
 * Knows who speaks which protocol.
 *
 * **Contract**
 * - A new registry knows the seven protocols of this package, or those of `loaders`; `register` adds one or replaces it.
 * - Nothing is loaded before a call is made. What cannot be loaded rejects that call with `ProviderError` `network`; the next one tries again.
 * - A provider or model it has given keeps the loader of that time.
 *
 * Source: spec/21 "ProviderRegistry".
 */
export class ProviderRegistry {
  readonly #loaders = new Map<ApiProtocol, ProviderLoader>()
  readonly #providers = new Map<ApiProtocol, StreamProvider>()

  constructor(loaders: Partial<Record<ApiProtocol, ProviderLoader>> = builtIn) {
    // The keys of a typed record.
    for (const [api, loader] of Object.entries(loaders)) this.register(api as ApiProtocol, loader)
  }

  /** Adds a protocol, or replaces its provider. */
  register(protocol: ApiProtocol, loader: ProviderLoader): void {
    this.#loaders.set(protocol, loader)
    this.#providers.delete(protocol)
  }

  /** Whether somebody speaks `protocol`. */
  has(protocol: ApiProtocol): boolean {
    return this.#loaders.has(protocol)
  }

  /** The protocols it knows, in the order they were registered. */
  protocols(): ApiProtocol[] {
    return [...this.#loaders.keys()]
  }

  /** The provider of `protocol`, the same object each time. Throws `ConfigError` `invalidOption` when nobody speaks it. */
  get(protocol: ApiProtocol): StreamProvider {
    let provider = this.#providers.get(protocol)
    if (provider === undefined) {
      provider = this.#provider(protocol, {})
      this.#providers.set(protocol, provider)
    }
    return provider
  }

  /** The model of `config`, ready to be called. Throws `ConfigError` `invalidOption` when nobody speaks its protocol. */
  createModel(config: ModelConfig, options: RegistryModelOptions = {}): Model {
    const { credentials: key, ...transport } = options
    const provider = Object.keys(transport).length === 0 ? this.get(config.api) : this.#provider(config.api, transport)
    const credentials = credentialsOf(key)
    return credentials === undefined ? { config, provider } : { config, provider, credentials }
  }

  #provider(protocol: ApiProtocol, transport: TransportOptions): StreamProvider {
    const loader = this.#loaders.get(protocol)
    if (loader === undefined) {
      const known = this.protocols().join(', ') || 'none'
      throw new ConfigError('invalidOption', `No provider registered for protocol: ${protocol}. Registered: ${known}.`)
    }
    return lazyProvider(protocol, () => loader(transport))
  }
}

/** A provider that is loaded with its first call. */
function lazyProvider(api: ApiProtocol, load: () => StreamProvider | Promise<StreamProvider>): StreamProvider {
  let loading: Promise<StreamProvider> | undefined
  const loaded = (signal?: AbortSignal): Promise<StreamProvider> => {
    loading ??= Promise.resolve()
      .then(load)
      .catch((error: unknown) => {
        loading = undefined
        throw error
      })
    return loadPart(loading, signal)
  }
  return {
    api,
    encode: async (request) => (await loaded()).encode(request),
    stream: async (request, emit, signal) => (await loaded(signal)).stream(request, emit, signal),
  }
}
