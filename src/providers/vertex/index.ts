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

/** How Vertex AI is called. */
export interface VertexProviderOptions extends TransportOptions, GeminiOutputOptions {
  /** What `apiKey` is: an OAuth access token, or an API key. Default: a token where the address names a project, else a key. */
  auth?: 'bearer' | 'apiKey'
  /** Tools that the service runs: those of `googleTools`, or declarations of the service. */
  serverTools?: ServerTools
}

/** What `vertex` takes beside the model id. */
export interface VertexOptions extends Omit<ProviderOptions, 'compat'>, VertexProviderOptions {
  /** The project that pays. Without one, `apiKey` is a key of express mode. */
  project?: string
  /** `global`, `us`, `eu` or a region such as `us-central1`. Default `global`: newer models are often served there only. */
  location?: string
  /** Whose model it is. Default `google`. */
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
 * A Gemini model on Vertex AI.
 *
 * **Contract**
 * - `apiKey` is an OAuth access token, as text or from a `CredentialProvider` that renews it; or an express key where no `project` is given.
 * - `config.baseUrl` is the address that ends with `/models`; as `baseUrl` it is taken as it is, of another the path is completed.
 * - Makes the model, and sends no request. Throws `ConfigError` `invalidOption` for a location that is none, and for a wrong option. Without a key, a `baseUrl`, a `fetch`
 *   or a header that brings one, `new Agent` throws. Unknown ids count as the newest Gemini. Claude is refused.
 * - Defaults: 1,000,000 tokens of context (131,072 for Gemma), answers as long as the model can make them. Prices are unknown unless `cost` says them.
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
  // What is no URL is reported by the call, as everywhere.
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return createModel(id, defaults, options, provider)
  return createModel(id, defaults, { ...options, baseUrl: modelsUrl(baseUrl, pathOf(options)) }, provider)
}

/** Vertex AI serves Claude by another protocol. */
function refuseClaude(id: string, { publisher }: VertexOptions): void {
  if (publisher !== 'anthropic' && !/claude/i.test(id)) return
  throw new ConfigError(
    'invalidOption',
    `vertex(${JSON.stringify(id.slice(0, 60))}) is a Claude model, which vertex() cannot call yet. Use anthropic(…) or bedrock(…) for Claude.`,
  )
}

/** Speaks the protocol of Vertex AI. It keeps no state of a call, so one provider may serve any number of models and runs. */
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
 * The address of Vertex AI for a location: one host for all of the world, one per continent, one per region.
 * Throws `ConfigError` `invalidOption` for what is no location: a key would go to another host.
 */
function vertexHost(location: string): string {
  if (!/^[a-z0-9-]+$/.test(location)) {
    throw new ConfigError('invalidOption', `location "${location}" is none of Vertex AI. Give one such as global, eu or us-central1.`)
  }
  if (location === 'global') return serviceAddresses.vertex
  if (location === 'us' || location === 'eu') return `https://aiplatform.${location}.rep.googleapis.com`
  return `https://${location}-aiplatform.googleapis.com`
}

function addressOf(options: VertexOptions): string {
  // Express mode is served by the global host.
  return vertexHost(options.project === undefined ? 'global' : (options.location ?? 'global')) + pathOf(options)
}

function pathOf({ project, location = 'global', publisher = 'google' }: VertexOptions): string {
  const models = `/publishers/${encodeURIComponent(publisher)}/models`
  if (project === undefined) return apiVersion + models
  return `${apiVersion}/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}${models}`
}
