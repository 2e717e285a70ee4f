import { isObject } from '../../contract/json.ts'
import {
  capabilityFields,
  compatFields,
  type ModelCapabilities,
  type ModelSettings,
  modelSettingFields,
  type OpenAiCompat,
} from '../../contract/model/model-config.ts'
import { headerFields } from '../../contract/model/request-settings.ts'
import { type CostConfig, costFields } from '../../contract/model/usage.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  aPositiveNumber,
  aText,
  either,
  kind,
  namesOf,
  type OptionTable,
  options,
  type Shape,
  withMethods,
} from '../../contract/shape/shape.ts'
import type { ApiKey, ModelCatalogue } from '../../types/model/model.ts'
import { headerKey } from './transport/endpoint.ts'
import type { Patience } from './transport/stall-clock.ts'

/** Transport options of every provider. */
export interface TransportOptions extends Patience {
  /** Default: the global `fetch`, looked up at each call. */
  fetch?: typeof fetch
  /** Maximum characters of one response event; a longer one fails the call. Default: 16,777,216. AWS events have a fixed limit of 24 MiB. */
  maxEventChars?: number
}

/** Options of every model factory, besides the model id. */
export interface ProviderOptions extends TransportOptions, ModelSettings {
  /**
   * A key, or a function that is called before each call, and once more after its key was rejected. It stays in a closure, never in the
   * configuration.
   */
  apiKey?: ApiKey
  /** Base URL; for proxies and compatible providers. */
  baseUrl?: string
  /** Extra request headers. Not for secrets: they are captured with the configuration. */
  headers?: Record<string, string>
  /** Display name. Default: the model id. */
  name?: string
  /** Provider name for logs, loop ids and cost reports. */
  provider?: string
  /** Tokens. */
  contextWindow?: number
  /** Tokens. */
  maxTokens?: number
  /** Model facts, such as `catalogue` of `phi-core/models`: context window, response limit, prices. Own options win. Default: none. */
  catalogue?: ModelCatalogue
  /** USD per million tokens, with `tiers` for long prompts. Default: unknown. */
  cost?: CostConfig
  /** Whether the model can think. */
  reasoning?: boolean
  /** Differences of an OpenAI-compatible backend. */
  compat?: Partial<OpenAiCompat>
  /** Overrides of the capability table. */
  capabilities?: Partial<ModelCapabilities>
}

export const aTime = either(
  aPositiveNumber,
  kind('false', (value) => value === false),
)

export const transportTable: OptionTable<TransportOptions> = {
  fetch: aFunction,
  firstByteTimeoutMs: aTime,
  idleTimeoutMs: aTime,
  progressTimeoutMs: aTime,
  maxEventChars: aPositiveNumber,
}

/** Returns what is wrong with a key called `name`, without the key. A blank key counts as absent, which is reported where it is needed. */
export function keyFault(key: string, name: string): string | undefined {
  if (key.trim() === '') return undefined
  const excess = [
    key !== key.trim() && 'white space around it',
    /^["'`]|["'`]$/.test(key) && 'quotes around it',
    /^bearer\s/i.test(key) && 'a word before it',
    !headerKey.test(key) && 'characters that no header may carry, such as a line break',
  ].find(Boolean)
  return excess
    ? `${name} has ${excess}. Pass the key alone, without quotes, spaces or a prefix such as Bearer. Check your .env file.`
    : undefined
}

/** A key. */
export const aKeyText: Shape = { ...aText, inside: (value, path) => keyFault(String(value), path) }

/** A key, a function that returns one, or a credential provider. */
export const aKey: Shape = either(aKeyText, aFunction, withMethods('a credential provider', 'current', 'invalidate'))

/** A base URL. */
const aBaseUrl: Shape = {
  ...aText,
  inside: (value, path) => {
    const url = String(value)
    if (/^https?:\/\/\S+$/i.test(url) && URL.canParse(url)) return undefined
    // Its query may contain a key.
    const [address = ''] = url.split('?', 1)
    return `${path} ${JSON.stringify(address.slice(0, 60))} is not an absolute URL. Begin it with https:// or http://, such as "http://127.0.0.1:11434/v1".`
  },
}

/** Arrays have a method of that name too. */
const aCatalogue: Shape = kind(
  'a catalogue, such as that of phi-core/models, with find()',
  (value) => isObject(value) && typeof value.find === 'function',
)

const { cacheWrite1hPerMillion: _hour, tiers: _tiers, ...fourRates } = costFields
/** Requires all four rates, because a call without a computable cost would bypass every limit. */
const wholeCost: Shape = {
  ...options<CostConfig>(costFields),
  inside: (value, path) => {
    const missing = namesOf(fourRates).filter((name) => Reflect.get(Object(value), name) === undefined)
    if (missing.length === 0) return undefined
    return `${path} lacks ${missing.join(' and ')}. Give all four rates, in USD per million tokens; 0 for what is free.`
  },
}

const { compat: _compat, ...withoutCompat }: OptionTable<ProviderOptions> = {
  ...transportTable,
  apiKey: aKey,
  baseUrl: aBaseUrl,
  headers: headerFields,
  name: aText,
  provider: aText,
  contextWindow: aPositiveNumber,
  maxTokens: aPositiveNumber,
  ...modelSettingFields,
  catalogue: aCatalogue,
  cost: wholeCost,
  reasoning: aFlag,
  compat: options<OpenAiCompat>(compatFields),
  capabilities: options<ModelCapabilities>(capabilityFields),
}

/** Options of every factory; {@link chatTable} adds those of OpenAI-compatible providers. */
export const modelTable: OptionTable<Omit<ProviderOptions, 'compat'>> = withoutCompat
export const chatTable: OptionTable<ProviderOptions> = { ...withoutCompat, compat: _compat }

const aModelId = kind('the id of a model', (value) => typeof value === 'string' && value.trim() !== '')

/** Throws `ConfigError` `invalidOption` for an invalid model id and for invalid options. */
export function checkFactory(id: string, given: object, kind: Shape): void {
  checkOptions(id, aModelId, 'id')
  checkOptions(given, kind)
}
