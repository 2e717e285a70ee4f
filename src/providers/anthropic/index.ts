import { checkOptions } from '../../contract/shape/read.ts'
import { aFlag, aText, either, type OptionTable, options as optionsOf, required } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamProvider } from '../../types/model/provider.ts'
import { claudeWindow } from '../kit/capabilities/claude-capabilities.ts'
import { createModel } from '../kit/create-model.ts'
import { defineProvider } from '../kit/define-provider.ts'
import { mediaRules } from '../kit/history/target.ts'
import { aServerToolList, type ServerTools, serverToolSecrets } from '../kit/optional/server-tools/server-tools.ts'
import { checkFactory, modelTable, type ProviderOptions, type TransportOptions, transportTable } from '../kit/provider-options.ts'
import { AnthropicDecoder } from './decode.ts'
import { requestEncoder } from './encode.ts'
import type { AnthropicWire } from './identity.ts'
import { anthropicCapabilities, anthropicProfile } from './profile.ts'
import { checkServerTools, serverToolParts } from './server-tools.ts'

export { anthropicTools } from './server-tools.ts'

import { serviceAddresses } from '../kit/transport/endpoint.ts'

/** Options for `anthropicProvider`: browser calls, API version, OAuth and provider-executed tools. */
export interface AnthropicProviderOptions extends TransportOptions {
  /** Sends the header that the API requires for calls from a browser. Anyone who opens the page can then read the key. */
  dangerouslyAllowBrowser?: boolean
  /** The `anthropic-version` header. Default: `2023-06-01`. */
  anthropicVersion?: string
  /**
   * Uses the key as an OAuth token of a Claude subscription (`sk-ant-oat…`). Sends the headers and first system text of Claude Code, which
   * the API requires for such tokens. Never inferred from the key. Using a subscription in other programs may violate its terms of service
   * and lead to an account ban. The API rejects such calls from browsers.
   */
  oauth?: boolean | { userAgent: string }
  /** Provider-executed tools from `anthropicTools`, or raw declarations. */
  serverTools?: ServerTools
}

/** Options for `anthropic`: model settings and the options of `anthropicProvider`. */
export type AnthropicOptions = Omit<ProviderOptions, 'compat'> & AnthropicProviderOptions

const ownTable: OptionTable<AnthropicProviderOptions> = {
  ...transportTable,
  dangerouslyAllowBrowser: aFlag,
  anthropicVersion: aText,
  oauth: either(aFlag, optionsOf<{ userAgent: string }>({ userAgent: required(aText) })),
  serverTools: aServerToolList,
}
const factoryOptions = optionsOf<AnthropicOptions>({ ...modelTable, ...ownTable })
const providerOptions = optionsOf<AnthropicProviderOptions>(ownTable)

/**
 * Creates a model on the Anthropic Messages API or a compatible API (`baseUrl`).
 *
 * **Contract**
 * - Sends no request. Accepts any model id. Unknown ids are treated as the newest model.
 * - Throws `ConfigError` `invalidOption` for an invalid option. Without a key, `baseUrl`, `fetch` or authenticating header, `new Agent`
 *   throws.
 * - Defaults: a context window of 200,000 tokens, the maximum output of the model (8,192 tokens for other vendors),
 *   `https://api.anthropic.com`. Prices are unknown unless `cost` is set.
 *
 * Source: docs/providers/anthropic.md
 *
 * @example
 * ```ts
 * const model = anthropic('claude-sonnet-5', { apiKey })
 * ```
 */
export function anthropic(id: string, options: AnthropicOptions = {}): Model {
  checkFactory(id, options, factoryOptions)
  const defaults = {
    api: 'anthropicMessages',
    provider: 'anthropic',
    baseUrl: serviceAddresses.anthropic,
    reasoning: true,
    contextWindow: claudeWindow,
    capabilities: anthropicCapabilities,
    apiKeyVariable: 'ANTHROPIC_API_KEY',
  } as const
  return createModel(id, defaults, options, messagesProvider(options))
}

/** Creates a provider for the Messages protocol. The provider is stateless and serves any number of models and runs. */
export function anthropicProvider(options: AnthropicProviderOptions = {}): StreamProvider {
  checkOptions(options, providerOptions)
  return messagesProvider(options)
}

function messagesProvider(options: AnthropicProviderOptions): StreamProvider {
  const { dangerouslyAllowBrowser = false, anthropicVersion = '2023-06-01', oauth = false, serverTools = [] } = options
  checkServerTools(serverTools)
  const wire: AnthropicWire = {
    dangerouslyAllowBrowser,
    anthropicVersion,
    serverTools: serverToolParts(serverTools),
    secrets: serverToolSecrets(serverTools),
  }
  if (oauth !== false) wire.oauthUserAgent = oauth === true ? 'claude-cli/2.1.2' : oauth.userAgent
  return defineProvider({
    api: 'anthropicMessages',
    service: 'Anthropic',
    transport: options,
    browserHint: dangerouslyAllowBrowser ? undefined : 'or dangerouslyAllowBrowser',
    codec: {
      encode: requestEncoder(wire),
      decoder: (call, context) => new AnthropicDecoder(call, context),
      media: (model) => mediaRules(anthropicProfile(model)),
      says: ['context', 'citations'],
      guards: ['system', 'tools', 'tool_choice', 'thread'],
    },
  })
}
