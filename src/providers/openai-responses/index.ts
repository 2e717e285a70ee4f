import { ownOf } from '../../contract/json.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamProvider, StreamRequest } from '../../types/model/provider.ts'
import { createModel } from '../kit/create-model.ts'
import { defineProvider } from '../kit/define-provider.ts'
import { checkFactory, modelTable, type ProviderOptions } from '../kit/provider-options.ts'
import { headerCredential, isBareHost, joinUrl, mergeHeaders, serviceAddresses } from '../kit/transport/endpoint.ts'
import { withoutReasoning } from '../openai/compat.ts'
import { contextWindowOf } from '../openai/model-families.ts'
import { type OpenAiResponsesProviderOptions, responsesCodec, responsesTable } from './codec.ts'
import type { ResponsesRoute } from './encode-request.ts'
import { responsesCapabilities } from './profile.ts'
import { checkServerTools } from './server-tools.ts'

export type { OpenAiResponsesProviderOptions } from './codec.ts'
export type { ReasoningSummary } from './encode-request.ts'
export {
  type OpenAiMcpOptions,
  type OpenAiWebSearchOptions,
  openaiTools,
  type XaiWebSearchOptions,
  type XaiXSearchOptions,
  xaiTools,
} from './server-tools.ts'

/** Options for `openaiResponses`: model settings and provider options. */
export type OpenAiResponsesOptions = Omit<ProviderOptions, 'compat'> & OpenAiResponsesProviderOptions

const factoryOptions = optionsOf<OpenAiResponsesOptions>({ ...modelTable, ...responsesTable })
const providerOptions = optionsOf<OpenAiResponsesProviderOptions>(responsesTable)

const serviceNames: { readonly [provider: string]: string } = { openai: 'OpenAI', openrouter: 'OpenRouter', xai: 'xAI' }

/**
 * Creates a model on OpenAI's Responses API or a compatible API (`baseUrl` and `provider`).
 *
 * **Contract**
 * - Sends no request. Accepts any model id. Treats unknown OpenAI ids as the newest model.
 * - Throws `ConfigError` `invalidOption` for an invalid option. Without a key, `baseUrl`, `fetch` or authenticating header, `new Agent`
 *   throws.
 * - Responses are not stored at the provider. The history contains encrypted reasoning, which is sent back only to the same model.
 * - Defaults: the context window of the model's family (128,000 tokens if unknown), the model's maximum output,
 *   `https://api.openai.com/v1`. Prices are unknown unless `cost` is set.
 *
 * Source: docs/providers/openai-responses.md
 *
 * @example
 * ```ts
 * const model = openaiResponses('gpt-6-sol', { apiKey })
 * const grok = openaiResponses('grok-4.3', { apiKey: xaiKey, baseUrl: 'https://api.x.ai/v1', provider: 'xai' })
 * ```
 */
export function openaiResponses(id: string, options: OpenAiResponsesOptions = {}): Model {
  checkFactory(id, options, factoryOptions)
  const defaults = {
    api: 'openAiResponses',
    provider: 'openai',
    baseUrl: serviceAddresses.openai,
    reasoning: !withoutReasoning.test(id),
    contextWindow: contextWindowOf(id),
    capabilities: responsesCapabilities,
    apiKeyVariable: 'OPENAI_API_KEY',
  } as const
  return createModel(id, defaults, options, responsesProvider(options))
}

/** Creates a provider for the Responses API. The provider is stateless and serves any number of models and runs. */
export function openAiResponsesProvider(options: OpenAiResponsesProviderOptions = {}): StreamProvider {
  checkOptions(options, providerOptions)
  return responsesProvider(options)
}

function responsesProvider(options: OpenAiResponsesProviderOptions): StreamProvider {
  const { reasoningSummary = 'auto', serverTools = [] } = options
  checkServerTools(serverTools)
  return defineProvider({
    api: 'openAiResponses',
    service: ({ provider }) => serviceOf(provider),
    transport: options,
    codec: responsesCodec({ reasoningSummary, serverTools, route: (request) => routeOf(request, serviceOf(request.model.provider)) }),
  })
}

/** A provider's display name. */
function serviceOf(provider: string): string {
  return ownOf(serviceNames, provider) ?? provider
}

/** Returns the URL of a request. A bare host gets the default version. */
function routeOf({ model, credential }: StreamRequest, service: string): ResponsesRoute {
  const own: Record<string, string> = { 'content-type': 'application/json' }
  if (credential !== undefined && credential !== '') own.authorization = `Bearer ${headerCredential(service, credential)}`
  const url = joinUrl(model.baseUrl, isBareHost(model.baseUrl) ? '/v1/responses' : '/responses')
  return { url, model: model.id, headers: mergeHeaders(own, model.headers) }
}
