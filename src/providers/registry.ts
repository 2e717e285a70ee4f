/**
 * Providers by protocol name, for configuration. Each is loaded on its first call. If you know the model at build time, use its factory
 * instead.
 *
 * ```ts
 * const model = new ProviderRegistry().createModel(config, { credentials: apiKey })
 * ```
 *
 * @module
 */
import { raceAbort } from '../base/abort.ts'
import { type LateChunk, lateChunk } from '../base/late/late-chunk.ts'
import { ConfigError, errorText, ProviderError } from '../contract/errors.ts'
import type { ApiProtocol, KnownApi, ModelConfig } from '../contract/model/model-config.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aFunction, anObject, aText, options as optionsOf, required } from '../contract/shape/shape.ts'
import type { ApiKey, Model } from '../types/model/model.ts'
import type { StreamProvider } from '../types/model/provider.ts'
import { credentialsOf } from './kit/create-model.ts'
import { aKey, type TransportOptions, transportTable } from './kit/provider-options.ts'
import { lateProviders } from './model-name.ts'

export { protocolOf } from './model-name.ts'

/** Creates the provider of a protocol. Called once per transport, on the first model call, and may load code. */
export type ProviderLoader = (transport: TransportOptions) => StreamProvider | Promise<StreamProvider>

/** Options for `ProviderRegistry.createModel`. */
export interface RegistryModelOptions extends TransportOptions {
  /** API key, or a function that returns it. The configuration contains no key. */
  credentials?: ApiKey
}

const modelOptions = optionsOf<RegistryModelOptions>({ ...transportTable, credentials: aKey })

/** Required fields of a configuration. The agent that uses the model validates the rest. */
const aConfig = optionsOf<Pick<ModelConfig, 'id' | 'api'>>({ id: required(aText), api: required(aText) }, true)

/** The seven protocols of this package. */
const builtIn: Record<KnownApi, ProviderLoader> = {
  anthropicMessages: async (transport) => (await lateProviders.anthropic.load()).anthropicProvider(transport),
  openAiCompletions: async (transport) => (await lateProviders.chat.load()).openAiProvider(transport),
  openAiResponses: async (transport) => (await lateProviders.responses.load()).openAiResponsesProvider(transport),
  azureOpenAiResponses: async (transport) => (await lateProviders.responses.load()).azureProvider(transport),
  googleGenerativeAi: async (transport) => (await lateProviders.google.load()).googleProvider(transport),
  googleVertex: async (transport) => (await lateProviders.google.load()).vertexProvider(transport),
  bedrockConverseStream: async (transport) => (await lateProviders.bedrock.load()).bedrockProvider(transport),
}

/**
 * Registry of providers by protocol.
 *
 * **Contract**
 * - A new registry contains the seven protocols of this package, or the given `loaders`. `register` adds or replaces a protocol.
 * - Providers are loaded on the first model call. If loading fails, the call rejects with `LoadError`, without automatic retries. The next
 *   call loads again.
 * - Providers and models keep the loader that was registered when they were created.
 *
 * Source: docs/internals/architecture.md
 */
export class ProviderRegistry {
  readonly #loaders = new Map<ApiProtocol, ProviderLoader>()
  readonly #providers = new Map<ApiProtocol, StreamProvider>()

  constructor(loaders: { readonly [api in ApiProtocol]?: ProviderLoader } = builtIn) {
    checkOptions(loaders, anObject, 'loaders')
    for (const [api, loader] of Object.entries(loaders)) if (loader !== undefined) this.register(api, loader)
  }

  /** Adds a protocol, or replaces its provider. */
  register(protocol: ApiProtocol, loader: ProviderLoader): void {
    checkOptions(protocol, aText, 'protocol')
    checkOptions(loader, aFunction, 'loader')
    this.#loaders.set(protocol, loader)
    this.#providers.delete(protocol)
  }

  /** Returns whether `protocol` has a provider. */
  has(protocol: ApiProtocol): boolean {
    return this.#loaders.has(protocol)
  }

  /** Returns the registered protocols in registration order. */
  protocols(): ApiProtocol[] {
    return [...this.#loaders.keys()]
  }

  /** Returns the provider of `protocol`, always the same object. Throws `ConfigError` `invalidOption` for an unknown protocol. */
  get(protocol: ApiProtocol): StreamProvider {
    let provider = this.#providers.get(protocol)
    if (provider === undefined) {
      provider = this.#provider(protocol, {})
      this.#providers.set(protocol, provider)
    }
    return provider
  }

  /** Creates a model from `config`. Throws `ConfigError` `invalidOption` for an unknown protocol. */
  createModel(config: ModelConfig, options: RegistryModelOptions = {}): Model {
    checkOptions(config, aConfig, 'config')
    checkOptions(options, modelOptions)
    const { credentials: key, ...transport } = options
    const provider = Object.keys(transport).length === 0 ? this.get(config.api) : this.#provider(config.api, transport)
    const credentials = credentialsOf(key)
    return credentials === undefined ? { config, provider } : { config, provider, credentials }
  }

  #provider(protocol: ApiProtocol, transport: TransportOptions): StreamProvider {
    const loader = this.#loaders.get(protocol)
    if (loader === undefined) {
      const known = this.protocols().join(', ') || 'none'
      throw new ConfigError('invalidOption', `No provider is registered for protocol ${protocol}. Registered: ${known}.`)
    }
    return lazyProvider(protocol, transport, () => loader(transport))
  }
}

/** Creates a provider that is loaded on its first call. */
function lazyProvider(api: ApiProtocol, { fetch }: TransportOptions, load: () => StreamProvider | Promise<StreamProvider>): StreamProvider {
  const provider = lateChunk(`the provider of ${api}`, async () => load())
  return {
    api,
    ...(fetch !== undefined && { fetch }),
    checkMedia: async (media, model) => (await loaded(provider)).checkMedia?.(media, model),
    encode: async (request) => (await loaded(provider)).encode(request),
    stream: async (request, emit, signal) => (await loaded(provider, signal)).stream(request, emit, signal),
  }
}

/** Awaits the provider until `signal` aborts. */
async function loaded(provider: LateChunk<StreamProvider>, signal?: AbortSignal): Promise<StreamProvider> {
  if (provider.loaded !== undefined) return provider.loaded
  try {
    return await (signal === undefined ? provider.load() : raceAbort(provider.load(), signal))
  } catch (error) {
    if (signal?.aborted !== true) throw error
    throw new ProviderError('cancelled', `The call was cancelled: ${errorText(signal.reason)}`)
  }
}
