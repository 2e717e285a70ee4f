import { ConfigError } from '../../contract/errors.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aText, type OptionTable, oneOf, options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamProvider } from '../../types/model/provider.ts'
import { contextWindowOf, geminiProvider, modelsUrl } from '../google/gemini-provider.ts'
import { type GeminiOutputOptions, geminiOutputTable, outputFields } from '../google/generation-config.ts'
import { geminiCapabilities } from '../google/profile.ts'
import { checkServerTools } from '../google/server-tools.ts'
import { createModel } from '../kit/create-model.ts'
import { aServerToolList, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'
import { checkFactory, modelTable, type ProviderOptions, type TransportOptions, transportTable } from '../kit/provider-options.ts'
import { serviceAddresses } from '../kit/transport/endpoint.ts'

/** Options for `vertexProvider`: project, location, publisher and authentication. */
export interface VertexProviderOptions extends TransportOptions, GeminiOutputOptions {
  /** Kind of `apiKey`: an OAuth access token or an API key. Default: a token if the URL contains a project, otherwise a key. */
  auth?: 'bearer' | 'apiKey'
  /** Provider-executed tools from `googleTools`, or raw declarations. */
  serverTools?: ServerTools
}

/** Options for `vertex`: model settings and the options of `vertexProvider`. */
export interface VertexOptions extends Omit<ProviderOptions, 'compat'>, VertexProviderOptions {
  /** Project to bill. Without a project, `apiKey` is an express mode key. */
  project?: string
  /** `global`, `us`, `eu` or a region such as `us-central1`. Default: `global`, which is often the only location for newer models. */
  location?: string
  /** The model's publisher. Default: `google`. */
  publisher?: string
}

const ownTable: OptionTable<VertexProviderOptions> = {
  ...transportTable,
  ...geminiOutputTable,
  auth: oneOf('bearer', 'apiKey'),
  serverTools: aServerToolList,
}
const factoryOptions = optionsOf<VertexOptions>({ ...modelTable, ...ownTable, project: aText, location: aText, publisher: aText })
const providerOptions = optionsOf<VertexProviderOptions>(ownTable)

const apiVersion = '/v1'

/**
 * Creates a Gemini model on Vertex AI. Sends no request.
 *
 * **Contract**
 * - With a `project`, `apiKey` is an OAuth access token, as text or from a `CredentialProvider` that renews it. Otherwise, it is an express
 *   mode key.
 * - `config.baseUrl` ends with `/models`. A `baseUrl` with this ending is used unchanged. Otherwise the path is appended.
 * - Throws `ConfigError` `invalidOption` for an invalid location, an invalid option, and a Claude model. Without a key, `baseUrl`, `fetch`
 *   or authenticating header, `new Agent` throws. Unknown ids are treated as the newest Gemini model.
 * - Defaults: a context window of 1,000,000 tokens (131,072 for Gemma), the model's maximum output. Prices are unknown unless `cost` is
 *   set.
 *
 * Source: docs/providers/google.md
 *
 * @example
 * ```ts
 * const model = vertex('gemini-3.5-flash', { project: 'my-project', location: 'global', apiKey: tokens })
 * ```
 */
export function vertex(id: string, options: VertexOptions = {}): Model {
  checkFactory(id, options, factoryOptions)
  refuseClaude(id, options)
  const { project, baseUrl } = options
  const defaults = {
    api: 'googleVertex',
    provider: 'vertex',
    baseUrl: baseUrl ?? addressOf(options),
    reasoning: true,
    contextWindow: contextWindowOf(id),
    capabilities: geminiCapabilities,
    apiKeyVariable: baseUrl !== undefined ? undefined : project === undefined ? 'GOOGLE_API_KEY' : 'GOOGLE_ACCESS_TOKEN',
  } as const
  const provider = vertexService(project === undefined ? options : { auth: 'bearer', ...options })
  // The model call reports an invalid URL, as with other providers.
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return createModel(id, defaults, options, provider)
  return createModel(id, defaults, { ...options, baseUrl: modelsUrl(baseUrl, pathOf(options)) }, provider)
}

/** Vertex AI serves Claude over a different protocol. */
function refuseClaude(id: string, { publisher }: VertexOptions): void {
  if (publisher !== 'anthropic' && !/claude/i.test(id)) return
  throw new ConfigError(
    'invalidOption',
    `vertex(${JSON.stringify(id.slice(0, 60))}) is a Claude model, which vertex() cannot call yet. Use anthropic(…) or bedrock(…) for Claude.`,
  )
}

/** Creates a provider for Vertex AI. The provider is stateless and serves any number of models and runs. */
export function vertexProvider(options: VertexProviderOptions = {}): StreamProvider {
  checkOptions(options, providerOptions)
  return vertexService(options)
}

function vertexService(options: VertexProviderOptions): StreamProvider {
  const { auth, serverTools = [] } = options
  checkServerTools(serverTools)
  const service = {
    api: 'googleVertex',
    name: 'Vertex AI',
    path: pathOf({}),
    keyPlace: ({ baseUrl }: { baseUrl: string }) =>
      auth === 'bearer' || (auth === undefined && baseUrl.includes('/projects/')) ? 'bearer' : 'header',
    browserHint: 'or call it with an express API key',
    serverTools,
    output: outputFields(options),
  } as const
  return geminiProvider(service, options)
}

/**
 * Returns the Vertex AI URL for a location: a global, a continental or a regional host. Throws `ConfigError` `invalidOption` for an invalid
 * location, because the key would be sent to another host.
 */
function vertexHost(location: string): string {
  if (!/^[a-z0-9-]+$/.test(location)) {
    throw new ConfigError('invalidOption', `location "${location}" is not a Vertex AI location. Use one such as global, eu or us-central1.`)
  }
  if (location === 'global') return serviceAddresses.vertex
  if (location === 'us' || location === 'eu') return `https://aiplatform.${location}.rep.googleapis.com`
  return `https://${location}-aiplatform.googleapis.com`
}

function addressOf(options: VertexOptions): string {
  // Express mode uses the global host.
  return vertexHost(options.project === undefined ? 'global' : (options.location ?? 'global')) + pathOf(options)
}

function pathOf({ project, location = 'global', publisher = 'google' }: VertexOptions): string {
  const models = `/publishers/${encodeURIComponent(publisher)}/models`
  if (project === undefined) return apiVersion + models
  return `${apiVersion}/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}${models}`
}
