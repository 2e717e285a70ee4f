import type { ModelConfig } from '../../contract/model/model-config.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamProvider } from '../../types/model/provider.ts'
import { createModel, type ModelDefaults } from '../kit/create-model.ts'
import { defineProvider } from '../kit/define-provider.ts'
import { chatTable, checkFactory, type ProviderOptions, type TransportOptions, transportTable } from '../kit/provider-options.ts'
import { chatCapabilities } from './capabilities.ts'
import { ChatDecoder } from './chat-decoder.ts'
import { compatOf, openAiBackend, withoutReasoning } from './compat.ts'
import { requestEncoder } from './encode-request.ts'

const providerOptions = optionsOf<TransportOptions>(transportTable)
/** What `openai` and `openrouter` take. */
export const chatOptions = optionsOf<ProviderOptions>(chatTable)

const serviceNames: { readonly [provider: string]: string } = { openai: 'OpenAI', openrouter: 'OpenRouter', local: 'The local server' }

/**
 * The provider for OpenAI Chat Completions and the services that speak it. It keeps no state of a call: one serves any number of models and
 * calls. Source: docs/providers/openai.md
 */
export function openAiProvider(options: TransportOptions = {}): StreamProvider {
  checkOptions(options, providerOptions)
  return chatProvider(options)
}

function chatProvider(options: TransportOptions): StreamProvider {
  return defineProvider({
    api: 'openAiCompletions',
    service: ({ provider }) => serviceOf(provider),
    transport: options,
    codec: {
      encode: requestEncoder(serviceOf),
      decoder: (call, context) => new ChatDecoder(call, context),
      media: (model) => chatCapabilities(model, compatOf(model)),
    },
  })
}

/** How the service is called in messages. */
function serviceOf(provider: string): string {
  return Object.hasOwn(serviceNames, provider) ? (serviceNames[provider] ?? provider) : provider
}

/**
 * A model of OpenAI on Chat Completions. Throws `ConfigError` `invalidOption` for a wrong option. Without a key, a `baseUrl`, a `fetch` or a header that
 * brings one, `new Agent` throws.
 */
export function openai(id: string, options: ProviderOptions = {}): Model {
  checkFactory(id, options, chatOptions)
  const { baseUrl, compat, apiKeyVariable } = openAiBackend
  const reasoning = !withoutReasoning.test(id)
  return chatModel(
    id,
    { api: 'openAiCompletions', provider: 'openai', baseUrl, compat, reasoning, contextWindow: 128_000, apiKeyVariable },
    options,
  )
}

/** A model on Chat Completions: `options` over `defaults`. */
export function chatModel(id: string, defaults: ModelDefaults, options: ProviderOptions): Model {
  const capabilities = (config: ModelConfig) => chatCapabilities(config, compatOf(config))
  return createModel(id, { ...defaults, capabilities }, options, chatProvider(options))
}
