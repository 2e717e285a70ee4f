import {
  aFlag,
  aFunction,
  aNumberFromZero,
  aPositiveNumber,
  aText,
  checkOptions,
  either,
  type Kind,
  kind,
  listOf,
  type OptionTable,
  oneOf,
  options,
  texts,
  withMethods,
} from '../../base/check-options.ts'
import type { ModelCapabilities, OpenAiCompat } from '../../types/model-config.ts'
import type { CostConfig } from '../../types/usage.ts'
import type { ProviderOptions, TransportOptions } from './model-options.ts'

export const transportTable: OptionTable<TransportOptions> = {
  fetch: aFunction,
  idleTimeoutMs: aPositiveNumber,
  progressTimeoutMs: aPositiveNumber,
  maxEventChars: aPositiveNumber,
}

const costTable: OptionTable<CostConfig> = {
  inputPerMillion: aNumberFromZero,
  outputPerMillion: aNumberFromZero,
  cacheReadPerMillion: aNumberFromZero,
  cacheWritePerMillion: aNumberFromZero,
}

const capabilityTable: OptionTable<ModelCapabilities> = {
  thinking: oneOf('none', 'budget', 'adaptive', 'alwaysOn'),
  efforts: listOf(aText),
  sampling: aFlag,
  forcedToolChoice: aFlag,
  thinkingOff: aFlag,
  boundReasoning: aFlag,
  images: aFlag,
  imagesInToolResults: aFlag,
  jsonSchema: aFlag,
  contextWindow: aPositiveNumber,
}

const compatTable: OptionTable<OpenAiCompat> = {
  supportsStore: aFlag,
  supportsDeveloperRole: aFlag,
  supportsReasoningEffort: aFlag,
  supportsUsageInStreaming: aFlag,
  maxTokensField: oneOf('maxTokens', 'maxCompletionTokens'),
  requiresToolResultName: aFlag,
  requiresAssistantAfterToolResult: aFlag,
  thinkingFormat: oneOf('openAi', 'xai', 'qwen', 'openRouter', 'deepSeek', 'together', 'chatTemplate'),
}

/** A key, a function that gives one, or a credential provider. */
export const aKey: Kind = either(aText, aFunction, withMethods('a credential provider', 'current', 'invalidate'))

const { compat: _compat, ...withoutCompat }: OptionTable<ProviderOptions> = {
  ...transportTable,
  apiKey: aKey,
  baseUrl: aText,
  headers: texts,
  name: aText,
  provider: aText,
  contextWindow: aPositiveNumber,
  maxTokens: aPositiveNumber,
  cost: options(costTable),
  reasoning: aFlag,
  compat: options(compatTable),
  capabilities: options(capabilityTable),
}

/** What every factory takes; {@link chatTable} for those whose service may deviate from OpenAI. */
export const modelTable: OptionTable<Omit<ProviderOptions, 'compat'>> = withoutCompat
export const chatTable: OptionTable<ProviderOptions> = { ...withoutCompat, compat: _compat }

const aModelId = kind('the id of a model', (value) => typeof value === 'string' && value.trim() !== '')

/** Throws `ConfigError` `invalidOption` for a model id that is none, and for options that cannot work. */
export function checkFactory(id: string, given: object, kind: Kind): void {
  checkOptions(id, aModelId, 'id')
  checkOptions(given, kind)
}

/** What says that a request carries a key of its own. */
const keyHeader = /^(authorization|x-api-key|api-key|x-goog-api-key)$/i

/**
 * Why model `id`, at the service's own address, cannot be called: nothing says how a key gets into its requests, no option, no `fetch` or header that
 * brings one. A blank key is none: that is what a variable is that was not set.
 */
export function whyUnusable(
  id: string,
  given: Pick<ProviderOptions, 'apiKey' | 'fetch' | 'headers'>,
  variable: string,
): string | undefined {
  const { apiKey, fetch, headers = {} } = given
  const isGiven = typeof apiKey === 'string' ? apiKey.trim() !== '' : apiKey !== undefined
  if (isGiven || fetch !== undefined || Object.keys(headers).some((name) => keyHeader.test(name))) return undefined
  return `The key of model "${id}" is missing, or empty: pass it as apiKey. Most people keep it in the environment variable ${variable}, which this package does not read by itself. No key is needed with a baseUrl (of a proxy that adds it) or a fetch of your own.`
}
