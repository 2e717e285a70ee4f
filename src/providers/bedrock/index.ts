import { ConfigError } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aFunction, aText, type OptionTable, options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamProvider } from '../../types/model/provider.ts'
import { claudeWindow } from '../kit/capabilities/claude-capabilities.ts'
import { createModel } from '../kit/create-model.ts'
import { defineProvider } from '../kit/define-provider.ts'
import { mediaRules } from '../kit/history/target.ts'
import { aServerToolList, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'
import {
  aKey,
  aKeyText,
  checkFactory,
  modelTable,
  type ProviderOptions,
  type TransportOptions,
  transportTable,
} from '../kit/provider-options.ts'
import { type BedrockKeys, bedrockCredentials } from './credentials.ts'
import { BedrockDecoder } from './decode/converse-decoder.ts'
import { requestEncoder } from './encode.ts'
import { bedrockProfile } from './profile.ts'
import { bedrockRegion, endpointOf } from './sign.ts'

/**
 * Amazon Bedrock's provider-executed tools for Nova 2 models, for the `serverTools` option. Each is a raw declaration as plain JSON.
 *
 * Source: docs/providers/bedrock.md
 */
export const bedrockTools = {
  /** Searches the web. */
  grounding: (): JsonObject => ({ systemTool: { name: 'nova_grounding' } }),
  /** Runs code. */
  codeInterpreter: (): JsonObject => ({ systemTool: { name: 'nova_code_interpreter' } }),
} as const

/** Throws `ConfigError` `invalidOption` for an invalid declaration. */
function checkServerTools(tools: ServerTools): void {
  for (const tool of tools) {
    if (typeof Object(tool.systemTool).name === 'string') continue
    const advice = 'Pass entries of the form { systemTool: { name } }, or use bedrockTools.'
    throw new ConfigError('invalidOption', `serverTools: ${JSON.stringify(Object.keys(tool))} is not a tool of the provider. ${advice}`)
  }
}

export type { AwsCredentialSource, AwsCredentials } from './credentials.ts'
export { bedrockRegion } from './sign.ts'

/** Options for `bedrockProvider`: region, underlying model and provider-executed tools. */
export interface BedrockProviderOptions extends TransportOptions {
  /** Region of the endpoint and signatures. Default: the region in an ARN, otherwise in an AWS `baseUrl`, otherwise `us-east-1`. */
  region?: string
  /** Model id for an ARN that does not contain one (application inference profiles). Determines the request format. */
  underlyingModel?: string
  /** Provider-executed tools from `bedrockTools`, or raw declarations. */
  serverTools?: ServerTools
}

/** Options for `bedrock`: model settings, credentials, and the options of `bedrockProvider`. */
export type BedrockOptions = Omit<ProviderOptions, 'compat' | 'apiKey'> & BedrockProviderOptions & BedrockKeys

const ownTable: OptionTable<BedrockProviderOptions> = {
  ...transportTable,
  region: aText,
  underlyingModel: aText,
  serverTools: aServerToolList,
}
const keyTable: OptionTable<BedrockKeys> = {
  apiKey: aKey,
  accessKeyId: aKeyText,
  secretAccessKey: aKeyText,
  sessionToken: aKeyText,
  credentials: aFunction,
}
const factoryOptions = optionsOf<BedrockOptions>({ ...modelTable, ...ownTable, ...keyTable })
const providerOptions = optionsOf<BedrockProviderOptions>(ownTable)

/**
 * Creates an Amazon Bedrock model, called over ConverseStream.
 *
 * **Contract**
 * - `id` is a model id, an inference profile (`us.anthropic.claude-sonnet-4-6`) or an ARN. Most models are only available through
 *   profiles.
 * - Sends no request. Throws `ConfigError` `invalidOption` for incomplete AWS credentials, for an invalid region, and for an invalid
 *   option. Without credentials, `baseUrl`, `fetch` or authenticating header, `new Agent` throws.
 * - Defaults: a context window of 200,000 tokens, the model's maximum output, the region's public endpoint. Prices are unknown unless
 *   `cost` is set.
 *
 * Source: docs/providers/bedrock.md
 *
 * @example
 * ```ts
 * const model = bedrock('us.anthropic.claude-sonnet-4-6', { region: 'us-west-2', apiKey })
 * ```
 */
export function bedrock(id: string, options: BedrockOptions = {}): Model {
  checkFactory(id, options, factoryOptions)
  const region = options.region ?? bedrockRegion(id, options.baseUrl)
  const defaults = {
    api: 'bedrockConverseStream',
    provider: 'bedrock',
    baseUrl: endpointOf(region),
    reasoning: true,
    contextWindow: claudeWindow,
    capabilities: (config: ModelConfig) => bedrockProfile(config, options.underlyingModel).capabilities,
    apiKeyVariable: 'AWS_BEARER_TOKEN_BEDROCK (or AWS credentials as accessKeyId and secretAccessKey)',
  } as const
  return createModel(id, defaults, options, converse(options), bedrockCredentials(options))
}

/** Creates a provider for ConverseStream. The provider is stateless and serves any number of models and runs. */
export function bedrockProvider(options: BedrockProviderOptions = {}): StreamProvider {
  checkOptions(options, providerOptions)
  return converse(options)
}

function converse(options: BedrockProviderOptions): StreamProvider {
  checkServerTools(options.serverTools ?? [])
  return defineProvider({
    api: 'bedrockConverseStream',
    service: 'Amazon Bedrock',
    transport: options,
    codec: {
      encode: requestEncoder(options),
      decoder: (call, context) => new BedrockDecoder(call, context),
      media: (model) => mediaRules(bedrockProfile(model, options.underlyingModel)),
      says: ['context', 'citations'],
      guards: [
        ...['modelId', 'system', 'toolConfig.tools', 'toolConfig.toolChoice'],
        // Fields that can contain the model's native format.
        ...['model', 'messages', 'system', 'tools', 'tool_choice', 'stream'].map((name) => `additionalModelRequestFields.${name}`),
      ],
    },
  })
}
