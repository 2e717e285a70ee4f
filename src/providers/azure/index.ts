import { ConfigError } from '../../types/errors.ts'
import type { Model } from '../../types/model.ts'
import type { StreamProvider, StreamRequest } from '../../types/provider.ts'
import { withoutReasoning } from '../openai/compat.ts'
import type { ResponsesService } from '../openai-responses/call.ts'
import { responsesCapabilities } from '../openai-responses/capabilities.ts'
import type { OpenAiResponsesProviderOptions } from '../openai-responses/index.ts'
import { credentialsOf, modelConfig, type ProviderOptions } from '../shared/factory-options.ts'
import { loadPart } from '../shared/load-part.ts'
import type { AzureAuth } from './codec.ts'

export type { AzureAuth } from './codec.ts'

/** How a resource of Azure OpenAI is called. */
export interface AzureProviderOptions extends OpenAiResponsesProviderOptions {
  /** The `api-version`. A dated one selects the older route. Default: none, the current route needs none. */
  apiVersion?: string
  /** What the key is. Default: a token of Entra ID where it looks like one, else the key of the resource. */
  auth?: AzureAuth
}

/** What `azure` takes beside the name of the deployment: `resource` or `baseUrl`, and more. */
export interface AzureOptions extends Omit<ProviderOptions, 'compat'>, AzureProviderOptions {
  /** Name of the resource: `my-resource` stands for `https://my-resource.openai.azure.com`. */
  resource?: string
  /** The model behind the deployment, for what it accepts. Default: what the name of the deployment says, else the newest. */
  underlyingModel?: string
}

/**
 * A deployment on Azure OpenAI, over the Responses API.
 *
 * **Contract**
 * - `baseUrl` may be any form that Azure documents: root, `/openai/v1`, `/openai/deployments/<name>`, on `openai.azure.com`,
 *   `services.ai.azure.com` or `cognitiveservices.azure.com`. A deployment named there is the one that is called.
 * - A prompt that Azure's content filter refuses is an answer that stopped with `guardRail`.
 * - Defaults: 128,000 tokens of context, 4,096 of answer. Prices are unknown unless `cost` says them.
 * - Throws `ConfigError` `invalidOption` when neither `resource` nor `baseUrl` says where the deployment is, and for a `resource` that is
 *   no name: a key would go to another host.
 *
 * Source: spec/21, reference/providers.md §4.
 *
 * @example
 * ```ts
 * const model = azure('my-deployment', { resource: 'my-resource', apiKey, underlyingModel: 'gpt-5.1' })
 * ```
 */
export function azure(deployment: string, options: AzureOptions): Model {
  const { resource, underlyingModel } = options
  if (options.baseUrl === undefined && resource === undefined) {
    throw new ConfigError('invalidOption', `azure("${deployment}") needs a resource or a baseUrl, to know where the deployment is.`)
  }
  if (resource !== undefined && !/^[a-zA-Z0-9-]+$/.test(resource)) {
    throw new ConfigError(
      'invalidOption',
      `resource "${resource}" is no name of a resource: give its name alone, or its address as baseUrl.`,
    )
  }
  const defaults = {
    api: 'azureOpenAiResponses',
    provider: 'azure_openai',
    baseUrl: `https://${resource}.openai.azure.com`,
    reasoning: !withoutReasoning.test(underlyingModel ?? deployment),
    contextWindow: 128_000,
    maxTokens: 4096,
  } as const
  const config = modelConfig(deployment, defaults, options)
  if (underlyingModel !== undefined) config.capabilities = responsesCapabilities({ ...config, id: underlyingModel })
  const credentials = credentialsOf(options.apiKey)
  const model: Model = { config, provider: azureProvider(options) }
  if (credentials !== undefined) model.credentials = credentials
  return model
}

/** Speaks the Responses API to Azure. It keeps no state between calls, so one provider may serve any number of deployments and runs. */
export function azureProvider(options: AzureProviderOptions = {}): StreamProvider {
  const { apiVersion, auth, reasoningSummary = 'auto' } = options
  const prepare = async (signal?: AbortSignal) => {
    const codec = await loadPart(import('./codec.ts'), signal)
    const route = (request: StreamRequest) => codec.azureRoute(request, apiVersion, auth)
    const service: ResponsesService = { name: 'Azure OpenAI', transport: options, reasoningSummary, route }
    return { service, codec }
  }
  return {
    api: 'azureOpenAiResponses',
    encode: async (request) => {
      const { service, codec } = await prepare()
      return codec.encodeCall(request, service)
    },
    stream: async (request, emit, signal) => {
      const { service, codec } = await prepare(signal)
      try {
        return await codec.callService(request, service, emit, signal)
      } catch (error) {
        throw codec.explained(error, request, apiVersion)
      }
    },
  }
}
