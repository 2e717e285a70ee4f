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

/** Provider facts that a factory supplies. */
export type ModelDefaults = Pick<ModelConfig, 'api' | 'provider' | 'baseUrl' | 'reasoning' | 'contextWindow' | 'compat'> & {
  /** Looks up a model's capabilities. The response limit becomes `maxTokens`. Default: the configuration's values. */
  capabilities?: (config: ModelConfig) => Partial<ModelCapabilities>
  /** Response limit for an unknown model. Default: 0, which uses the provider's own limit. */
  maxTokens?: number
  /** Usual environment variable for the key. Absent if the provider needs no key. */
  apiKeyVariable?: string | undefined
}

/** Returns the configuration for the model `id`, without the key. `options` override `defaults`. */
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

/** Looks up a model's limits and prices. Warns once about an unknown model, because its cost then counts as 0. */
function entryIn(catalogue: ModelCatalogue | undefined, provider: string, id: string, isElsewhere: boolean): CatalogueEntry | undefined {
  const entry = catalogue?.find(provider, id) ?? (isElsewhere ? entryOfVendor(catalogue, id) : undefined)
  if (catalogue !== undefined && entry === undefined) {
    logWarning(undefined, 'modelNotInCatalogue', {
      message: `The catalogue has no model ${JSON.stringify(id)} of ${provider}. Context window and output limit are those of its family, and prices are unknown.`,
      hint: 'Pass cost and contextWindow to the model factory.',
    })
  }
  return entry
}

/** Returns whether a base URL may be a gateway that serves models of any vendor, by id or as `vendor/id`. */
function entryOfVendor(catalogue: ModelCatalogue | undefined, id: string): CatalogueEntry | undefined {
  const [, service, own] = /^([^/]+)\/(.+)$/.exec(id) ?? []
  const vendor = vendorOfModel(id)
  return (
    (service !== undefined && own !== undefined ? catalogue?.find(service, own) : undefined) ??
    (vendor === undefined ? undefined : catalogue?.find(vendor, own ?? id))
  )
}

/**
 * Returns the response limit as a capability, not as a setting, so that requests do not contain it unless the provider requires a limit.
 * Otherwise, it could leave too few tokens for a long prompt.
 */
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
 * Creates a model for `provider`. `options` override `defaults`. Stores the key in a closure. Throws `ConfigError` `invalidOption` for
 * another vendor's model at a vendor's own URL.
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
  // Any other value is probably a mistake, such as an options object or AWS credentials.
  const isKnown = credentials !== undefined && options.apiKey === undefined
  const { baseUrl, ...others } = options
  // Without a `baseUrl`, calls go to the provider's own URL, which requires a key.
  const isProxied = baseUrl !== undefined && withoutTrailingSlash(baseUrl) !== defaults.baseUrl
  const unusable = apiKeyVariable === undefined || isKnown || isProxied ? undefined : whyUnusable(id, others, apiKeyVariable)
  if (unusable !== undefined) model.unusable = unusable
  return model
}

/** Headers that can contain a key. */
const keyHeader = /^(authorization|x-api-key|api-key|x-goog-api-key)$/i

/**
 * Returns why model `id` cannot be called at the provider's own URL: no option, `fetch` or header supplies a key. A blank key, such as an
 * unset variable, counts as missing. Configurations parse the variable name from this message.
 */
function whyUnusable(id: string, given: Pick<ProviderOptions, 'apiKey' | 'fetch' | 'headers'>, variable: string): string | undefined {
  const { apiKey, fetch, headers = {} } = given
  const isGiven = typeof apiKey === 'string' ? apiKey.trim() !== '' : apiKey !== undefined
  if (isGiven || fetch !== undefined || Object.keys(headers).some((name) => keyHeader.test(name))) return undefined
  if ('apiKey' in given)
    return `The apiKey of model "${id}" is empty. Pass a key. In Node, set process.env.${variable} in the shell or with node --env-file=.env.`
  const ways = `pass apiKey: process.env.${variable}, or use modelFromEnv of phi-core/env. No key is needed with a custom fetch, or with the baseUrl of a proxy that adds the key.`
  return `The key of model "${id}" is missing. Environment variables are not read automatically: ${ways}`
}

/** Converts `apiKey` to a credential provider, or `undefined` without a key. Validates each key before its first use. */
export function credentialsOf(apiKey: ApiKey | undefined): CredentialProvider | undefined {
  if (apiKey === undefined) return undefined
  if (typeof apiKey === 'string') return staticCredential(apiKey)
  if (typeof apiKey === 'function') {
    return { current: async (signal) => givenKey(await apiKey(signal), 'apiKey()'), invalidate: () => undefined }
  }
  return {
    current: (signal) => {
      const given: unknown = apiKey.current(signal)
      // A key that is available synchronously needs no promise.
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
  throw new ConfigError('invalidOption', `${giver} returned no key. It must return or resolve with a non-empty string.`)
}

function withoutTrailingSlash(url: string): string {
  let end = url.length
  while (end > 0 && url[end - 1] === '/') end--
  return url.slice(0, end)
}
