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

/** Makes the provider of a protocol; called once per transport, when the first call is made. May load it only then. */
export type ProviderLoader = (transport: TransportOptions) => StreamProvider | Promise<StreamProvider>

/** How a model from a configuration is called. */
export interface RegistryModelOptions extends TransportOptions {
  /** The key, or where to get one; the configuration holds none. */
  credentials?: ApiKey
}

const modelOptions = optionsOf<RegistryModelOptions>({ ...transportTable, credentials: aKey })

/** What every configuration says; the rest is looked at by the agent that gets the model. */
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
 * Knows who speaks which protocol.
 *
 * **Contract**
 * - A new registry knows the seven protocols of this package, or those of `loaders`; `register` adds one or replaces it.
 * - Nothing is loaded before a call is made. What cannot be loaded rejects that call with `LoadError`, which nobody retries: the network of the
 *   model is not at fault. The next call tries again.
 * - A provider or model it has given keeps the loader of that time.
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
      throw new ConfigError('invalidOption', `No provider registered for protocol: ${protocol}. Registered: ${known}.`)
    }
    return lazyProvider(protocol, transport, () => loader(transport))
  }
}

/** A provider that is loaded with its first call. */
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

/** The provider, waited for only until `signal` aborts. */
async function loaded(provider: LateChunk<StreamProvider>, signal?: AbortSignal): Promise<StreamProvider> {
  if (provider.loaded !== undefined) return provider.loaded
  try {
    return await (signal === undefined ? provider.load() : raceAbort(provider.load(), signal))
  } catch (error) {
    if (signal?.aborted !== true) throw error
    throw new ProviderError('cancelled', `The call was cancelled: ${errorText(signal.reason)}`)
  }
}
