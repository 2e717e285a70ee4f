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

/** Transport options that all providers accept. */
export interface TransportOptions extends Patience {
  /** Sends requests. Default: the global `fetch`, looked up at each call. */
  fetch?: typeof fetch
  /**
   * Maximum characters of one response event. A longer event fails the call. Default: 16,777,216. AWS events have a fixed limit of 24 MiB.
   */
  maxEventChars?: number
}

/** Options for every model factory, in addition to the model id. */
export interface ProviderOptions extends TransportOptions, ModelSettings {
  /**
   * API key, or a function that returns one. The function is called before each model call, and again after the provider rejects its key.
   * The key stays in a closure and is never part of the configuration.
   */
  apiKey?: ApiKey
  /** Base URL, for proxies and compatible providers. */
  baseUrl?: string
  /** Extra request headers. Do not pass secrets, because the headers are captured with the configuration. */
  headers?: Record<string, string>
  /** Display name. Default: the model id. */
  name?: string
  /** Provider name for logs, loop ids and cost reports. */
  provider?: string
  /** Context window in tokens. Default: the catalogue's value, or the model family's. */
  contextWindow?: number
  /** Maximum response tokens. Default: the catalogue's value, or the model's maximum. */
  maxTokens?: number
  /**
   * Looks up the context window, response limit and prices, for example `catalogue` from `phi-core/models`. Explicit options take
   * precedence. Default: none.
   */
  catalogue?: ModelCatalogue
  /** Prices in USD per million tokens, with `tiers` for long prompts. Default: unknown. */
  cost?: CostConfig
  /** Whether the model supports thinking. */
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

/** Returns why the key called `name` is invalid, without quoting it. A blank key counts as absent and is reported when a key is needed. */
export function keyFault(key: string, name: string): string | undefined {
  if (key.trim() === '') return undefined
  const excess = [
    key !== key.trim() && 'whitespace around it',
    /^["'`]|["'`]$/.test(key) && 'quotes around it',
    /^bearer\s/i.test(key) && 'a word before it',
    !headerKey.test(key) && 'characters invalid in headers, such as a line break',
  ].find(Boolean)
  return excess
    ? `${name} has ${excess}. Pass only the key, without quotes, spaces or a prefix such as Bearer. Check your .env file.`
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
    // The query may contain a key.
    const [address = ''] = url.split('?', 1)
    return `${path} ${JSON.stringify(address.slice(0, 60))} is not an absolute URL. Pass a URL with https:// or http://, such as "http://127.0.0.1:11434/v1".`
  },
}

/** Excludes arrays, which have a method with the same name. */
const aCatalogue: Shape = kind(
  'a catalogue, such as that of phi-core/models, with find()',
  (value) => isObject(value) && typeof value.find === 'function',
)

const { cacheWrite1hPerMillion: _hour, tiers: _tiers, ...fourRates } = costFields
/** Requires all four rates, because a call without a computable cost would bypass cost limits. */
const wholeCost: Shape = {
  ...options<CostConfig>(costFields),
  inside: (value, path) => {
    const missing = namesOf(fourRates).filter((name) => Reflect.get(Object(value), name) === undefined)
    if (missing.length === 0) return undefined
    return `${path} lacks ${missing.join(' and ')}. Pass all four rates in USD per million tokens, with 0 for free tokens.`
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

/** Options for every factory; {@link chatTable} adds those of OpenAI-compatible providers. */
export const modelTable: OptionTable<Omit<ProviderOptions, 'compat'>> = withoutCompat
export const chatTable: OptionTable<ProviderOptions> = { ...withoutCompat, compat: _compat }

const aModelId = kind('the id of a model', (value) => typeof value === 'string' && value.trim() !== '')

/** Throws `ConfigError` `invalidOption` for an invalid model id and for invalid options. */
export function checkFactory(id: string, given: object, kind: Shape): void {
  checkOptions(id, aModelId, 'id')
  checkOptions(given, kind)
}
