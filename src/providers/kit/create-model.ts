import { logWarning } from '../../base/log-warning.ts'
import { ConfigError } from '../../contract/errors.ts'
import { definedFields } from '../../contract/json.ts'
import type { ModelCapabilities, ModelConfig, ModelSettings } from '../../contract/model/model-config.ts'
import { settingsIn } from '../../contract/model/request-settings.ts'
import { unknownCost } from '../../contract/model/usage.ts'
import {
  type ApiKey,
  type CatalogueEntry,
  type CredentialProvider,
  type Model,
  type ModelCatalogue,
  staticCredential,
} from '../../types/model/model.ts'
import type { StreamProvider } from '../../types/model/provider.ts'
import { keyFault, type ProviderOptions } from './provider-options.ts'
import { checkVendor, vendorOfModel } from './vendors.ts'

/** What a factory knows about its service. */
export type ModelDefaults = Pick<ModelConfig, 'api' | 'provider' | 'baseUrl' | 'reasoning' | 'contextWindow' | 'compat'> & {
  /** What the protocol's table says of a model; its longest answer is how long answers may be. Default: what the configuration says of itself. */
  capabilities?: (config: ModelConfig) => Partial<ModelCapabilities>
  /** Tokens of an answer, where nothing is known of the model. Default 0: the service decides. */
  maxTokens?: number
  /** Where people usually keep its key; absent: it needs none. */
  apiKeyVariable?: string | undefined
}

/** The configuration of model `id`: `options` over `defaults`. It holds no key. */
export function modelConfig(id: string, defaults: ModelDefaults, options: ProviderOptions): ModelConfig {
  const provider = options.provider ?? defaults.provider
  const entry = entryIn(options.catalogue, provider, id, options.baseUrl !== undefined)
  const config: ModelConfig = {
    id,
    name: options.name ?? id,
    api: defaults.api,
    provider,
    baseUrl: withoutTrailingSlash(options.baseUrl ?? defaults.baseUrl),
    reasoning: options.reasoning ?? entry?.reasoning ?? defaults.reasoning,
    contextWindow: options.contextWindow ?? options.capabilities?.contextWindow ?? entry?.contextWindow ?? defaults.contextWindow,
    maxTokens: 0,
    cost: options.cost ?? entry?.cost ?? { ...unknownCost },
    headers: options.headers ?? {},
  }
  if (defaults.compat !== undefined) config.compat = { ...defaults.compat, ...definedFields(options.compat) }
  const settings = modelSettingsIn(options)
  if (settings !== undefined) config.settings = settings
  const capabilities = { ...capabilitiesIn(entry), ...definedFields(options.capabilities) }
  if (Object.keys(capabilities).length > 0) config.capabilities = capabilities
  const known = defaults.capabilities?.(config) ?? options.capabilities
  config.maxTokens = options.maxTokens ?? known?.maxOutputTokens ?? capabilities.maxOutputTokens ?? defaults.maxTokens ?? 0
  return config
}

/** What is known of a model. That nothing is, is told once: its cost counts for nothing then. */
function entryIn(catalogue: ModelCatalogue | undefined, provider: string, id: string, isElsewhere: boolean): CatalogueEntry | undefined {
  const entry = catalogue?.find(provider, id) ?? (isElsewhere ? entryOfVendor(catalogue, id) : undefined)
  if (catalogue !== undefined && entry === undefined) {
    logWarning(undefined, 'modelNotInCatalogue', {
      message: `The catalogue knows no model ${JSON.stringify(id)} of ${provider}: context window and longest answer are those of its family, and it has no prices.`,
      hint: 'Pass cost and contextWindow to its factory.',
    })
  }
  return entry
}

/** Behind a base URL a gateway may serve the models of any vendor, by their ids or as `vendor/id`. */
function entryOfVendor(catalogue: ModelCatalogue | undefined, id: string): CatalogueEntry | undefined {
  const [, service, own] = /^([^/]+)\/(.+)$/.exec(id) ?? []
  const vendor = vendorOfModel(id)
  return (
    (service !== undefined && own !== undefined ? catalogue?.find(service, own) : undefined) ??
    (vendor === undefined ? undefined : catalogue?.find(vendor, own ?? id))
  )
}

/** Its longest answer is a capability and no wish: a service that decides by itself is not told it, for a long prompt would not fit beside it. */
function capabilitiesIn(entry: CatalogueEntry | undefined): Partial<ModelCapabilities> {
  if (entry === undefined) return {}
  const { maxOutputTokens, takesPictures } = entry
  return takesPictures ? { maxOutputTokens } : { maxOutputTokens, media: [] }
}

function modelSettingsIn({ maxTokens: _tokens, headers: _headers, ...options }: ProviderOptions): ModelSettings | undefined {
  const settings: ModelSettings = settingsIn(options)
  if (options.thinking !== undefined) settings.thinking = options.thinking
  return Object.keys(settings).length === 0 ? undefined : settings
}

/**
 * The tail of every factory: a model of `provider` with `options` over `defaults`, and its key kept in a closure. Throws `ConfigError` `invalidOption` for
 * another vendor's model at a vendor's own address.
 */
export function createModel(
  id: string,
  defaults: ModelDefaults,
  options: ProviderOptions,
  provider: StreamProvider,
  credentials: CredentialProvider | undefined = credentialsOf(options.apiKey),
): Model {
  const model: Model = { config: modelConfig(id, defaults, options), provider }
  checkVendor(model.config, options.apiKey)
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

/** What says that a request carries a key of its own. */
const keyHeader = /^(authorization|x-api-key|api-key|x-goog-api-key)$/i

/**
 * Why model `id`, at the service's own address, cannot be called: nothing says how a key gets into its requests, no option, no `fetch` or header that
 * brings one. A blank key is none: that is what a variable is that was not set. Configurations read the variable from the sentence.
 */
function whyUnusable(id: string, given: Pick<ProviderOptions, 'apiKey' | 'fetch' | 'headers'>, variable: string): string | undefined {
  const { apiKey, fetch, headers = {} } = given
  const isGiven = typeof apiKey === 'string' ? apiKey.trim() !== '' : apiKey !== undefined
  if (isGiven || fetch !== undefined || Object.keys(headers).some((name) => keyHeader.test(name))) return undefined
  if ('apiKey' in given)
    return `The apiKey of model "${id}" is empty: pass a key. In Node, process.env.${variable} comes from the shell, or from a file: node --env-file=.env.`
  const ways = `pass apiKey: process.env.${variable}, or use modelFromEnv of phi-core/env. No key is needed with a baseUrl (of a proxy that adds it) or a fetch of your own.`
  return `The key of model "${id}" is missing. No variable is read by itself: ${ways}`
}

/** `apiKey` as a credential provider; `undefined` where none was given. Each key that code gives is looked at before its first use. */
export function credentialsOf(apiKey: ApiKey | undefined): CredentialProvider | undefined {
  if (apiKey === undefined) return undefined
  if (typeof apiKey === 'string') return staticCredential(apiKey)
  if (typeof apiKey === 'function') {
    return { current: async (signal) => givenKey(await apiKey(signal), 'apiKey()'), invalidate: () => undefined }
  }
  return {
    current: (signal) => {
      const given: unknown = apiKey.current(signal)
      // One that is there costs no promise.
      return typeof given === 'string' ? givenKey(given, byProvider) : Promise.resolve(given).then((key) => givenKey(key, byProvider))
    },
    invalidate: () => apiKey.invalidate(),
  }
}

const byProvider = 'current() of the credential provider'

function givenKey(key: unknown, giver: string): string {
  if (typeof key === 'string' && key.trim() !== '') {
    const fault = keyFault(key, `the key that ${giver} gave`)
    if (fault === undefined) return key
    throw new ConfigError('invalidOption', fault)
  }
  throw new ConfigError('invalidOption', `${giver} gave no key. It must return, or resolve with, a text that is not empty.`)
}

function withoutTrailingSlash(url: string): string {
  let end = url.length
  while (end > 0 && url[end - 1] === '/') end--
  return url.slice(0, end)
}
