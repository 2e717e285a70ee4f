import { ownOf } from '../../contract/json.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { type OptionTable, options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { StreamProvider } from '../../types/model/provider.ts'
import { createModel, type ModelDefaults } from '../kit/create-model.ts'
import { defineProvider } from '../kit/define-provider.ts'
import { aServerToolList, type ServerTools } from '../kit/optional/server-tools/server-tools.ts'
import { chatTable, checkFactory, type ProviderOptions, type TransportOptions, transportTable } from '../kit/provider-options.ts'
import { chatCapabilities } from './capabilities.ts'
import { compatOf, openAiBackend, withoutReasoning } from './compat.ts'
import { ChatDecoder } from './decode/chat-decoder.ts'
import { requestEncoder } from './encode-request.ts'
import { contextWindowOf } from './model-families.ts'
import { checkOpenAiTools, checkServerTools } from './server-tools.ts'

/** Options for `openAiProvider`. */
export interface ChatProviderOptions extends TransportOptions {
  /** Provider-executed tools from `chatTools` and `openrouterTools`, or raw declarations. */
  serverTools?: ServerTools
}

/** Options for `openai`, `openrouter` and `local`. */
export interface ChatModelOptions extends ProviderOptions, ChatProviderOptions {}

const providerOptions = optionsOf<ChatProviderOptions>({ ...transportTable, serverTools: aServerToolList })
/** Option table of {@link ChatModelOptions}. */
export const chatOptionTable: OptionTable<ChatModelOptions> = { ...chatTable, serverTools: aServerToolList }
/** Validated options of `openai` and `openrouter`. */
export const chatOptions = optionsOf<ChatModelOptions>(chatOptionTable)

const serviceNames: { readonly [provider: string]: string } = { openai: 'OpenAI', openrouter: 'OpenRouter', local: 'The local server' }

/**
 * Creates a provider for OpenAI Chat Completions and compatible providers. The provider is stateless and serves any number of models and
 * calls.
 */
export function openAiProvider(options: ChatProviderOptions = {}): StreamProvider {
  checkOptions(options, providerOptions)
  return chatProvider(options)
}

function chatProvider(options: ChatProviderOptions): StreamProvider {
  const { serverTools = [] } = options
  checkServerTools(serverTools)
  return defineProvider({
    api: 'openAiCompletions',
    service: ({ provider }) => serviceOf(provider),
    transport: options,
    codec: {
      encode: requestEncoder(serviceOf, serverTools),
      decoder: (call, context) => new ChatDecoder(call, context),
      media: (model) => chatCapabilities(model, compatOf(model)),
      says: [],
      // The last three belong to OpenRouter: other models, a stored configuration, and a prompt instead of messages.
      guards: ['tools', 'functions', 'tool_choice', 'function_call', 'store', 'models', 'preset', 'prompt'],
    },
  })
}

/** A provider's display name. */
function serviceOf(provider: string): string {
  return ownOf(serviceNames, provider) ?? provider
}

/**
 * Creates an OpenAI model on Chat Completions. Throws `ConfigError` `invalidOption` for an invalid option. Without a key, `baseUrl`,
 * `fetch` or authenticating header, `new Agent` throws.
 */
export function openai(id: string, options: ChatModelOptions = {}): Model {
  checkFactory(id, options, chatOptions)
  if (options.baseUrl === undefined) checkOpenAiTools(options.serverTools ?? [])
  const { baseUrl, compat, apiKeyVariable } = openAiBackend
  const reasoning = !withoutReasoning.test(id)
  return chatModel(
    id,
    { api: 'openAiCompletions', provider: 'openai', baseUrl, compat, reasoning, contextWindow: contextWindowOf(id), apiKeyVariable },
    options,
  )
}

/** Creates a model on Chat Completions from `options` over `defaults`. */
export function chatModel(id: string, defaults: ModelDefaults, options: ChatModelOptions): Model {
  const capabilities = (config: ModelConfig) => chatCapabilities(config, compatOf(config))
  return createModel(id, { ...defaults, capabilities }, options, chatProvider(options))
}
