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

/** How the Messages service is called. */
export interface AnthropicProviderOptions extends TransportOptions {
  /** Sends the header without which the service refuses calls from a browser. Anyone who can open the page can then read the key. */
  dangerouslyAllowBrowser?: boolean
  /** The `anthropic-version` header. Default `2023-06-01`. */
  anthropicVersion?: string
  /**
   * Takes the key for an OAuth token of a Claude subscription (`sk-ant-oat…`) and calls as Claude Code does, which the service demands of
   * such tokens: with its headers and, as the first system text, its name. Never inferred from the key. Using a subscription in other
   * programs may break its terms of service and cost the account; the service also refuses such calls from a browser.
   */
  oauth?: boolean | { userAgent: string }
  /** Tools that the service runs: those of `anthropicTools`, or declarations of the service. */
  serverTools?: ServerTools
}

/** What `anthropic` takes beside the model id. */
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
 * A model of the Anthropic Messages service, or of one that speaks its protocol (`baseUrl`).
 *
 * **Contract**
 * - Nothing is sent here; any model id is accepted, unknown ones count as the newest.
 * - Throws `ConfigError` `invalidOption` for a wrong option. Without a key, a `baseUrl`, a `fetch` or a header that brings one, `new Agent` throws.
 * - Defaults: 200,000 tokens of context, answers as long as the model can make them (8,192 tokens where it is none of Anthropic's), `https://api.anthropic.com`. Prices are unknown unless `cost` says them.
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

/** Speaks the Messages protocol. It keeps no state of a call, so one provider may serve any number of models and runs. */
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
