import type { Model } from '../../types/model.ts'
import type { StreamProvider } from '../../types/provider.ts'
import type { Exchange } from '../shared/exchange.ts'
import { modelConfig, type ProviderOptions, type TransportOptions } from '../shared/factory-options.ts'
import { loadPart } from '../shared/load-part.ts'
import { sendStreaming } from '../shared/send.ts'
import { type BedrockKeys, bedrockCredentials, secretsOf } from './credentials.ts'
import { BedrockDecoder } from './decode.ts'
import { endpointOf, regionOf } from './region.ts'

export type { AwsCredentialSource, AwsCredentials } from './credentials.ts'

/** How ConverseStream is called. */
export interface BedrockProviderOptions extends TransportOptions {
  /** Where the model is called and what signatures are for. Default: that of an ARN, else that of an AWS `baseUrl`, else `us-east-1`. */
  region?: string
  /** The id of the model behind an ARN that does not name it (application inference profiles): what is sent depends on it. */
  underlyingModel?: string
}

/** What `bedrock` takes beside the model id. */
export type BedrockOptions = Omit<ProviderOptions, 'compat' | 'apiKey'> & BedrockProviderOptions & BedrockKeys

/**
 * A model of Amazon Bedrock, called through ConverseStream.
 *
 * **Contract**
 * - `id` is a model id, an inference profile (`us.anthropic.claude-sonnet-4-6`) or an ARN; most models are served through profiles only.
 * - Nothing is sent here. Throws `ConfigError` `invalidOption` for half a pair of AWS credentials and for a region that is none.
 * - Defaults: 200,000 tokens of context, 8,192 of answer, the public endpoint of the region. Prices are unknown unless `cost` says them.
 *
 * Source: spec/21, reference/providers.md §6.
 *
 * @example
 * ```ts
 * const model = bedrock('us.anthropic.claude-sonnet-4-6', { region: 'us-west-2', apiKey })
 * ```
 */
export function bedrock(id: string, options: BedrockOptions = {}): Model {
  const region = options.region ?? regionOf(id, options.baseUrl)
  const defaults = {
    api: 'bedrockConverseStream',
    provider: 'bedrock',
    baseUrl: endpointOf(region),
    reasoning: true,
    contextWindow: 200_000,
    maxTokens: 8192,
  } as const
  const credentials = bedrockCredentials(options)
  const model: Model = { config: modelConfig(id, defaults, options), provider: bedrockProvider(options) }
  if (credentials !== undefined) model.credentials = credentials
  return model
}

/** Speaks ConverseStream. It keeps no state between calls, so one provider may serve any number of models and runs. */
export function bedrockProvider(options: BedrockProviderOptions = {}): StreamProvider {
  return {
    api: 'bedrockConverseStream',
    encode: async (request) => {
      const { encodeRequest } = await loadPart(import('./encode.ts'))
      return (await encodeRequest(request, options)).encoded
    },
    stream: async (request, emit, signal) => {
      const { encodeRequest } = await loadPart(import('./encode.ts'), signal)
      const { encoded, ...boundTo } = await encodeRequest(request, options)
      const decoder = new BedrockDecoder({ request, ...boundTo }, emit)
      const exchange: Exchange = { service: 'Amazon Bedrock', encoded, decoder, signal, transport: options }
      if (request.credential !== undefined) exchange.credential = secretsOf(request.credential)
      return await sendStreaming(exchange)
    },
  }
}
