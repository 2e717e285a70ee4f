import { ConfigError, ProviderError } from '../../contract/errors.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aText, type OptionTable, oneOf, options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamProvider, StreamRequest } from '../../types/model/provider.ts'
import { createModel, modelConfig } from '../kit/create-model.ts'
import { defineProvider } from '../kit/define-provider.ts'
import { checkFactory, modelTable, type ProviderOptions } from '../kit/provider-options.ts'
import { headerCredential, mergeHeaders } from '../kit/transport/endpoint.ts'
import { withoutReasoning } from '../openai/compat.ts'
import { contextWindowOf } from '../openai/model-families.ts'
import { type OpenAiResponsesProviderOptions, responsesCodec, responsesTable } from '../openai-responses/codec.ts'
import type { ResponsesRoute } from '../openai-responses/encode-request.ts'
import { responsesCapabilities } from '../openai-responses/profile.ts'
import { checkServerTools } from '../openai-responses/server-tools.ts'
import { azureAddress, isEntraToken } from './azure-url.ts'

/** Kind of credential: a resource key, or an Entra ID token. */
export type AzureAuth = 'apiKey' | 'entra'

/** Options for `azureProvider`. */
export interface AzureProviderOptions extends OpenAiResponsesProviderOptions {
  /** The `api-version`. A dated version selects the older route. Default: none, because the current route requires none. */
  apiVersion?: string
  /** Kind of credential. Default: detected from the key. */
  auth?: AzureAuth
  /** Deployment for the `image_generation` tool. */
  imageDeployment?: string
}

/** Options for `azure`. `resource` or `baseUrl` is required. */
export interface AzureOptions extends Omit<ProviderOptions, 'compat'>, AzureProviderOptions {
  /** Resource name. `my-resource` means `https://my-resource.openai.azure.com`. */
  resource?: string
  /**
   * Model behind the deployment, which determines its capabilities. Default: derived from the deployment name, otherwise the newest model.
   */
  underlyingModel?: string
}

const ownTable: OptionTable<AzureProviderOptions> = {
  ...responsesTable,
  apiVersion: aText,
  auth: oneOf('apiKey', 'entra'),
  imageDeployment: aText,
}
const factoryOptions = optionsOf<AzureOptions>({ ...modelTable, ...ownTable, resource: aText, underlyingModel: aText })
const providerOptions = optionsOf<AzureProviderOptions>(ownTable)

/**
 * Creates a model for an Azure OpenAI deployment, called over the Responses API.
 *
 * **Contract**
 * - `baseUrl` may be any form that Azure documents: root, `/openai/v1`, `/openai/deployments/<name>`, on `openai.azure.com`,
 *   `services.ai.azure.com` or `cognitiveservices.azure.com`. A deployment in the URL is used.
 * - If Azure's content filter rejects a prompt, the response has stop reason `guardRail`.
 * - Defaults: the context window of the model's family (128,000 tokens if unknown), the model's maximum output. Prices are unknown unless
 *   `cost` is set.
 * - Throws `ConfigError` `invalidOption` without `resource` and `baseUrl`, for an invalid `resource` (the key would be sent to another
 *   host), and for an invalid option. Without a key, `baseUrl`, `fetch` or authenticating header, `new Agent` throws.
 *
 * Source: docs/providers/openai-responses.md
 *
 * @example
 * ```ts
 * const model = azure('my-deployment', { resource: 'my-resource', apiKey, underlyingModel: 'gpt-5.1' })
 * ```
 */
export function azure(deployment: string, options: AzureOptions): Model {
  checkFactory(deployment, options, factoryOptions)
  const { resource, underlyingModel } = options
  if (options.baseUrl === undefined && resource === undefined) {
    throw new ConfigError('invalidOption', `azure("${deployment}") needs a resource or a baseUrl that locates the deployment.`)
  }
  if (resource !== undefined && !/^[a-zA-Z0-9-]+$/.test(resource)) {
    throw new ConfigError('invalidOption', `resource "${resource}" is not a resource name. Pass only the name, or the URL as baseUrl.`)
  }
  const defaults = {
    api: 'azureOpenAiResponses',
    provider: 'azure_openai',
    baseUrl: `https://${resource}.openai.azure.com`,
    reasoning: !withoutReasoning.test(underlyingModel ?? deployment),
    contextWindow: contextWindowOf(underlyingModel ?? deployment),
    capabilities: responsesCapabilities,
    apiKeyVariable: 'AZURE_OPENAI_API_KEY',
  } as const
  const provider = deploymentProvider(options)
  if (underlyingModel === undefined) return createModel(deployment, defaults, options, provider)
  const behind = modelConfig(underlyingModel, defaults, options)
  const { contextWindow, cost, reasoning } = behind
  // Use the model name, because catalogues do not list deployment names.
  const { catalogue: _asked, ...others } = options
  const known = { ...others, contextWindow, cost, reasoning, capabilities: responsesCapabilities(behind) }
  return createModel(deployment, defaults, known, provider)
}

/** Creates a provider for the Responses API on Azure. The provider is stateless and serves any number of deployments and runs. */
export function azureProvider(options: AzureProviderOptions = {}): StreamProvider {
  checkOptions(options, providerOptions)
  return deploymentProvider(options)
}

function deploymentProvider(options: AzureProviderOptions): StreamProvider {
  const { reasoningSummary = 'auto', serverTools = [], apiVersion } = options
  checkServerTools(serverTools)
  return defineProvider({
    api: 'azureOpenAiResponses',
    service: 'Azure OpenAI',
    transport: options,
    codec: {
      ...responsesCodec({ reasoningSummary, serverTools, route: (request) => azureRoute(request, options) }),
      explain: (error, request) => explained(error, request, apiVersion),
    },
  })
}

/** Returns the URL and headers for `request`. */
function azureRoute({ model, credential }: StreamRequest, { apiVersion, auth, imageDeployment }: AzureProviderOptions): ResponsesRoute {
  const own: Record<string, string> = { 'content-type': 'application/json' }
  if (imageDeployment !== undefined) own['x-ms-oai-image-generation-deployment'] = imageDeployment
  if (credential !== undefined && credential !== '') {
    const key = headerCredential('Azure OpenAI', credential)
    if (auth === 'entra' || (auth === undefined && isEntraToken(key))) own.authorization = `Bearer ${key}`
    else own['api-key'] = key
  }
  const { url, deployment = model.id } = azureAddress(model.baseUrl, apiVersion)
  return { url, model: deployment, headers: mergeHeaders(own, model.headers) }
}

/** Adds a hint to an Azure 404 error. Returns other errors unchanged. */
function explained(error: ProviderError, { model }: StreamRequest, apiVersion: string | undefined): ProviderError {
  if (error.status !== 404) return error
  const { url, deployment = model.id } = azureAddress(model.baseUrl, apiVersion)
  const { origin, pathname } = new URL(url)
  const message = `${error.message} Either ${origin} has no deployment named "${deployment}", or it does not serve ${pathname}. Pass a deployment name as the model id; a new deployment needs a few minutes. For the path, set baseUrl to the resource endpoint and omit apiVersion.`
  return new ProviderError(error.code, message, {
    status: 404,
    isRetryable: error.isRetryable,
    ...(error.limits !== undefined && { limits: error.limits }),
  })
}
