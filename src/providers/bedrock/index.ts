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
 * Tools that Amazon Bedrock runs for models of the Nova 2 family, for the option `serverTools`. Each is the declaration of the service as plain JSON.
 *
 * Source: docs/providers/bedrock.md
 */
export const bedrockTools = {
  /** Searches the web. */
  grounding: (): JsonObject => ({ systemTool: { name: 'nova_grounding' } }),
  /** Runs code. */
  codeInterpreter: (): JsonObject => ({ systemTool: { name: 'nova_code_interpreter' } }),
} as const

/** Throws `ConfigError` `invalidOption` for what is no declaration of the service. */
function checkServerTools(tools: ServerTools): void {
  for (const tool of tools) {
    if (typeof Object(tool.systemTool).name === 'string') continue
    const advice = 'Each entry is { systemTool: { name } }. Use bedrockTools.'
    throw new ConfigError('invalidOption', `serverTools: ${JSON.stringify(Object.keys(tool))} is no tool of the service. ${advice}`)
  }
}

export type { AwsCredentialSource, AwsCredentials } from './credentials.ts'
export { bedrockRegion } from './sign.ts'

/** How ConverseStream is called. */
export interface BedrockProviderOptions extends TransportOptions {
  /** Where the model is called and what signatures are for. Default: that of an ARN, else that of an AWS `baseUrl`, else `us-east-1`. */
  region?: string
  /** The id of the model behind an ARN that does not name it (application inference profiles): what is sent depends on it. */
  underlyingModel?: string
  /** Tools that the service runs: those of `bedrockTools`, or declarations of the service. */
  serverTools?: ServerTools
}

/** What `bedrock` takes beside the model id. */
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
 * A model of Amazon Bedrock, called through ConverseStream.
 *
 * **Contract**
 * - `id` is a model id, an inference profile (`us.anthropic.claude-sonnet-4-6`) or an ARN; most models are served through profiles only.
 * - Nothing is sent here. Throws `ConfigError` `invalidOption` for half a pair of AWS credentials, for a region that is none, and for a wrong
 *   option. Without a key or credentials, a `baseUrl`, a `fetch` or a header that brings one, `new Agent` throws.
 * - Defaults: 200,000 tokens of context, answers as long as the model can make them, the public endpoint of the region. Prices are unknown unless `cost` says them.
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

/** Speaks ConverseStream. It keeps no state of a call, so one provider may serve any number of models and runs. */
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
        // A model may be called in its own words there.
        ...['model', 'messages', 'system', 'tools', 'tool_choice', 'stream'].map((name) => `additionalModelRequestFields.${name}`),
      ],
    },
  })
}
