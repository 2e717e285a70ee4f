import { checkOptions } from '../../contract/shape/read.ts'
import { aFlag, type OptionTable, options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamProvider } from '../../types/model/provider.ts'
import { createModel } from '../kit/create-model.ts'
import { aServerToolList, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'
import { checkFactory, modelTable, type ProviderOptions, type TransportOptions, transportTable } from '../kit/provider-options.ts'
import { serviceAddresses } from '../kit/transport/endpoint.ts'
import { contextWindowOf, geminiProvider } from './gemini-provider.ts'
import { type GeminiOutputOptions, geminiOutputTable, outputFields } from './generation-config.ts'
import { geminiCapabilities } from './profile.ts'
import { checkServerTools } from './server-tools.ts'

export { googleTools } from './server-tools.ts'

/** Options for `googleProvider`: where to send the key, and provider-executed tools. */
export interface GoogleProviderOptions extends TransportOptions, GeminiOutputOptions {
  /**
   * Sends the key as `?key=`, for proxies that require it. The key then appears wherever URLs are logged. Default: false, which sends a
   * header.
   */
  keyInQuery?: boolean
  /** Provider-executed tools from `googleTools`, or raw declarations. */
  serverTools?: ServerTools
}

/** Options for `google`: model settings and the options of `googleProvider`. */
export type GoogleOptions = Omit<ProviderOptions, 'compat'> & GoogleProviderOptions

const ownTable: OptionTable<GoogleProviderOptions> = {
  ...transportTable,
  ...geminiOutputTable,
  keyInQuery: aFlag,
  serverTools: aServerToolList,
}
const factoryOptions = optionsOf<GoogleOptions>({ ...modelTable, ...ownTable })
const providerOptions = optionsOf<GoogleProviderOptions>(ownTable)

/**
 * Creates a model on the Gemini API (Google Generative AI) or a compatible API (`baseUrl`).
 *
 * **Contract**
 * - Sends no request. Accepts any model id. Treats unknown ids as the newest model.
 * - Throws `ConfigError` `invalidOption` for an invalid option. Without a key, `baseUrl`, `fetch` or authenticating header, `new Agent`
 *   throws.
 * - Defaults: a context window of 1,000,000 tokens (131,072 for Gemma), the model's maximum output,
 *   `https://generativelanguage.googleapis.com`. Prices are unknown unless `cost` is set.
 * - `baseUrl` is a host, or a URL that ends with a version or `/models`.
 *
 * Source: docs/providers/google.md
 *
 * @example
 * ```ts
 * const model = google('gemini-3.5-flash', { apiKey })
 * ```
 */
export function google(id: string, options: GoogleOptions = {}): Model {
  checkFactory(id, options, factoryOptions)
  const defaults = {
    api: 'googleGenerativeAi',
    provider: 'google',
    baseUrl: serviceAddresses.google,
    reasoning: true,
    contextWindow: contextWindowOf(id),
    capabilities: geminiCapabilities,
    apiKeyVariable: 'GEMINI_API_KEY',
  } as const
  return createModel(id, defaults, options, geminiApi(options))
}

/** Creates a provider for the Gemini API. The provider is stateless and serves any number of models and runs. */
export function googleProvider(options: GoogleProviderOptions = {}): StreamProvider {
  checkOptions(options, providerOptions)
  return geminiApi(options)
}

function geminiApi(options: GoogleProviderOptions): StreamProvider {
  const { keyInQuery, serverTools = [] } = options
  checkServerTools(serverTools)
  const keyPlace = keyInQuery === true ? 'query' : 'header'
  const service = { api: 'googleGenerativeAi', name: 'Google', path: '/v1beta/models' } as const
  return geminiProvider({ ...service, keyPlace: () => keyPlace, serverTools, output: outputFields(options) }, options)
}
