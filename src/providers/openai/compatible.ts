import { ConfigError } from '../../contract/errors.ts'
import { definedFields } from '../../contract/json.ts'
import { shown } from '../../contract/shape/json-fault.ts'
import { oneOf, options as optionsOf } from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import type { ModelDefaults } from '../kit/create-model.ts'
import { checkFactory } from '../kit/provider-options.ts'
import { type BackendName, backendAt, compatPresets } from './backends.ts'
import { type Backend, defaultCompat } from './compat.ts'
import { contextWindowOf } from './model-families.ts'
import { type ChatModelOptions, chatModel, chatOptions, chatOptionTable } from './provider.ts'

/** Options of `openaiCompatible`: a known `backend`, or any other by its `baseUrl`. */
export interface CompatibleOptions extends ChatModelOptions {
  /** A service of `compatPresets`: its address, deviations and name. Default: the one at `baseUrl`, of which only the deviations count. */
  backend?: BackendName
}

const compatibleOptions = optionsOf<CompatibleOptions>({ ...chatOptionTable, backend: oneOf(...Object.keys(compatPresets)) })

/** A model on OpenRouter; `id` is `vendor/model`. Throws as `openai`. */
export function openrouter(id: string, options: ChatModelOptions = {}): Model {
  checkFactory(id, options, chatOptions)
  const { baseUrl, compat, apiKeyVariable } = compatPresets.openrouter
  return chatModel(
    id,
    {
      api: 'openAiCompletions',
      provider: 'openrouter',
      baseUrl,
      compat,
      reasoning: true,
      contextWindow: contextWindowOf(id, 200_000),
      apiKeyVariable,
    },
    options,
  )
}

/**
 * A model of any service that resembles OpenAI. Deviations come from `backend`, `compat` overrides them one by one.
 * Throws `ConfigError` `invalidOption` when neither `backend` nor `baseUrl` says where it is and for a wrong option. Without the key that
 * a backend wants, `new Agent` throws.
 */
export function openaiCompatible(id: string, options: CompatibleOptions): Model {
  checkFactory(id, options, compatibleOptions)
  const { backend, baseUrl } = options
  if (backend === undefined && baseUrl === undefined) {
    throw new ConfigError('invalidOption', `openaiCompatible("${id}") needs a backend or a baseUrl, to know where the model is served.`)
  }
  const known: Backend | undefined = backend === undefined ? serviceAt(baseUrl) : compatPresets[backend]
  const defaults: ModelDefaults = {
    api: 'openAiCompletions',
    provider: backend ?? 'openai-compatible',
    baseUrl: known?.baseUrl ?? '',
    reasoning: known?.thinks === true || known?.capabilities?.thinking !== undefined,
    contextWindow: contextWindowOf(id),
    apiKeyVariable: backend === undefined ? undefined : known?.apiKeyVariable,
    compat: known?.compat ?? defaultCompat,
  }
  const capabilities = { ...known?.capabilities, ...definedFields(options.capabilities) }
  const patience = known?.isLocal === true ? ({ firstByteTimeoutMs: false } as const) : {}
  return chatModel(id, defaults, {
    ...patience,
    ...definedFields(options),
    capabilities,
    headers: { ...known?.headers, ...options.headers },
  })
}

/** The service at `baseUrl`. A port of this machine says nothing of what listens there. */
function serviceAt(baseUrl: string | undefined): Backend | undefined {
  const backend = backendAt(baseUrl)
  const known: Backend | undefined = backend === undefined ? undefined : compatPresets[backend]
  return known?.isLocal === true ? undefined : known
}

/**
 * A model of a local server, such as Ollama, LM Studio, vLLM or llama.cpp. Most need no key. Default `baseUrl`: Ollama's, on this machine.
 * Throws `ConfigError` `invalidOption` for a wrong option, and for an address where the id belongs.
 */
export function local(id: string, options: ChatModelOptions = {}): Model {
  // Before the options: this is how it was called once, with the id behind the address.
  if (/^https?:\/\//i.test(id)) {
    throw new ConfigError('invalidOption', `id ${shown(id, 'id')} is an address. The model comes first: local('qwen3', { baseUrl }).`)
  }
  checkFactory(id, options, chatOptions)
  const given = { provider: 'local', firstByteTimeoutMs: false, ...definedFields(options) } as const
  return openaiCompatible(id, { ...given, baseUrl: options.baseUrl ?? compatPresets.ollama.baseUrl })
}
