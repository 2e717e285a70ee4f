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

/** Options for `openaiCompatible`: a known `backend`, or the `baseUrl` of any other backend. */
export interface CompatibleOptions extends ChatModelOptions {
  /**
   * A preset of `compatPresets`, which sets the URL, compatibility flags and name. Default: the preset at `baseUrl`, of which only the
   * flags apply.
   */
  backend?: BackendName
}

const compatibleOptions = optionsOf<CompatibleOptions>({ ...chatOptionTable, backend: oneOf(...Object.keys(compatPresets)) })

/** Creates a model on OpenRouter. `id` is `vendor/model`. Throws like `openai`. */
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
 * Creates a model on any OpenAI-compatible provider.
 *
 * - `backend` sets the compatibility flags. `compat` overrides individual flags.
 * - Throws `ConfigError` `invalidOption` without `backend` and `baseUrl`, and for an invalid option.
 * - Without the key that a backend requires, `new Agent` throws.
 */
export function openaiCompatible(id: string, options: CompatibleOptions): Model {
  checkFactory(id, options, compatibleOptions)
  const { backend, baseUrl } = options
  if (backend === undefined && baseUrl === undefined) {
    throw new ConfigError('invalidOption', `openaiCompatible("${id}") needs a backend or a baseUrl that serves the model.`)
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

/** Returns the known provider at `baseUrl`. A local port does not identify a provider. */
function serviceAt(baseUrl: string | undefined): Backend | undefined {
  const backend = backendAt(baseUrl)
  const known: Backend | undefined = backend === undefined ? undefined : compatPresets[backend]
  return known?.isLocal === true ? undefined : known
}

/**
 * Creates a model on a local server, such as Ollama, LM Studio, vLLM or llama.cpp. Most local servers need no key. Default `baseUrl`:
 * Ollama on this machine. Throws `ConfigError` `invalidOption` for an invalid option, and for a URL instead of the id.
 */
export function local(id: string, options: ChatModelOptions = {}): Model {
  // Check the id before the options, because an older signature accepted the URL as first argument.
  if (/^https?:\/\//i.test(id)) {
    throw new ConfigError('invalidOption', `id ${shown(id, 'id')} is a URL. The model comes first: local('qwen3', { baseUrl }).`)
  }
  checkFactory(id, options, chatOptions)
  const given = { provider: 'local', firstByteTimeoutMs: false, ...definedFields(options) } as const
  return openaiCompatible(id, { ...given, baseUrl: options.baseUrl ?? compatPresets.ollama.baseUrl })
}
