import type { Model } from '../../types/model.ts'
import type { StreamProvider } from '../../types/provider.ts'
import type { Exchange } from '../shared/exchange.ts'
import { credentialsOf, modelConfig, type ProviderOptions, type TransportOptions } from '../shared/factory-options.ts'
import { loadPart } from '../shared/load-part.ts'
import { safely } from '../shared/safely.ts'
import { sendStreaming } from '../shared/send.ts'
import { AnthropicDecoder } from './decode.ts'
import type { AnthropicWire } from './identity.ts'

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
}

/** What `anthropic` takes beside the model id. */
export type AnthropicOptions = Omit<ProviderOptions, 'compat'> & AnthropicProviderOptions

/**
 * A model of the Anthropic Messages service, or of one that speaks its protocol (`baseUrl`).
 *
 * **Contract**
 * - Nothing is sent and nothing is checked here; any model id is accepted, unknown ones count as the newest.
 * - Defaults: 200,000 tokens of context, 8,192 of answer, `https://api.anthropic.com`. Prices are unknown unless `cost` says them.
 *
 * Source: spec/21, reference/providers.md §1.
 *
 * @example
 * ```ts
 * const model = anthropic('claude-sonnet-5', { apiKey })
 * ```
 */
export function anthropic(id: string, options: AnthropicOptions = {}): Model {
  const defaults = {
    api: 'anthropicMessages',
    provider: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    reasoning: true,
    contextWindow: 200_000,
    maxTokens: 8192,
  } as const
  const credentials = credentialsOf(options.apiKey)
  const model: Model = { config: modelConfig(id, defaults, options), provider: anthropicProvider(options) }
  if (credentials !== undefined) model.credentials = credentials
  return model
}

/** Speaks the Messages protocol. It keeps no state between calls, so one provider may serve any number of models and runs. */
export function anthropicProvider(options: AnthropicProviderOptions = {}): StreamProvider {
  const { dangerouslyAllowBrowser = false, anthropicVersion = '2023-06-01', oauth = false } = options
  const wire: AnthropicWire = { dangerouslyAllowBrowser, anthropicVersion }
  if (oauth !== false) wire.oauthUserAgent = oauth === true ? 'claude-cli/2.1.2' : oauth.userAgent
  return {
    api: 'anthropicMessages',
    encode: async (request) => {
      const { encodeRequest } = await loadPart(import('./encode.ts'))
      return safely(() => encodeRequest(request, wire), request).encoded
    },
    stream: async (request, emit, signal) => {
      const { encodeRequest } = await loadPart(import('./encode.ts'), signal)
      const { encoded, prefixHash, answerTool, authHint } = safely(() => encodeRequest(request, wire), request)
      const decoder = new AnthropicDecoder(request.model, emit, prefixHash, answerTool)
      const exchange: Exchange = { service: 'Anthropic', encoded, decoder, signal, transport: options }
      if (request.credential !== undefined) exchange.credential = request.credential
      if (authHint !== undefined) exchange.authHint = authHint
      if (!dangerouslyAllowBrowser) exchange.browserHint = 'or dangerouslyAllowBrowser'
      return await sendStreaming(exchange)
    },
  }
}
