import { unknownCost } from '../../contract/model/usage.ts'
/**
 * A model that plays a script, for demos, tests and examples. Needs no key and no network, and runs on any runtime.
 *
 * ```ts
 * const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'It is 3.' }])
 * ```
 *
 * @module
 */

import { definedFields } from '../../contract/json.ts'
import { citation, content } from '../../contract/message/content.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  aNumber,
  aNumberFromZero,
  anObject,
  aText,
  either,
  listOf,
  options,
  required,
  wholeFrom,
  withExpected,
} from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import { checkedPace } from './player.ts'
import type { Script, ScriptedFailure, ScriptedStep, ScriptedToolCall } from './script.ts'
import { ScriptedProvider } from './scripted-provider.ts'

export type { Script, ScriptedFailure, ScriptedStep, ScriptedToolCall } from './script.ts'
export { ScriptedProvider } from './scripted-provider.ts'

/** Options for `scripted`: identity and speed of the model. */
export interface ScriptedOptions {
  /** Model id. Default: `scripted`. */
  id?: string
  /** Display name. Default: `Scripted demo model`. */
  name?: string
  /** Milliseconds before each chunk. Default: 0. */
  delayMs?: number
  /** UTF-16 units per chunk. Default: 16. */
  chunkSize?: number
  /** Awaited before each chunk, to delay the stream. */
  gate?: () => Promise<void>
  /** Other fields of the model configuration, such as `contextWindow` or `cost`. */
  config?: Partial<Omit<ModelConfig, 'id' | 'name' | 'api'>>
}

const texts = either(aText, listOf(aText))
const anAnswer = options<ScriptedStep>({
  thinking: texts,
  text: texts,
  citations: listOf(citation),
  blocks: listOf(content),
  toolCalls: listOf(options<ScriptedToolCall>({ id: aText, name: required(aText), arguments: required(anObject) })),
  stopReason: aText,
  usage: anObject,
  // Values are range-checked during playback, like values from a function.
  delayMs: aNumber,
  chunkSize: aNumber,
  fail: options<ScriptedFailure>({
    code: required(aText),
    message: required(aText),
    status: aNumberFromZero,
    retryAfterMs: aNumberFromZero,
    afterText: aFlag,
  }),
})
const aScript = either(aFunction, listOf(withExpected(anAnswer, "an answer, such as { text: 'hi' }")))
const scriptedOptions = options<ScriptedOptions>({
  id: aText,
  name: aText,
  delayMs: aNumberFromZero,
  chunkSize: wholeFrom(1),
  gate: aFunction,
  config: anObject,
})

/** A `Model` whose provider records its requests. */
export interface ScriptedModel extends Model {
  provider: ScriptedProvider
}

/**
 * Creates a model that responds from `script`. All calls of this model consume the same list. A call after its end fails (`ProviderError`
 * `other`). Throws `ConfigError` `invalidOption` for an invalid step or option, including out-of-range `chunkSize` and `delayMs`.
 */
export function scripted(script: Script, given: ScriptedOptions = {}): ScriptedModel {
  checkOptions(script, aScript, 'script')
  checkOptions(given, scriptedOptions)
  const { id = 'scripted', name = 'Scripted demo model', delayMs = 0, chunkSize = 16, gate } = given
  const pace = checkedPace(gate === undefined ? { delayMs, chunkSize } : { delayMs, chunkSize, gate })
  const config: ModelConfig = {
    provider: 'scripted',
    baseUrl: '',
    reasoning: true,
    contextWindow: 200_000,
    maxTokens: 8192,
    cost: { ...unknownCost },
    headers: {},
    ...definedFields(given.config),
    id,
    name,
    api: 'scripted',
  }
  return { config, provider: new ScriptedProvider(script, pace) }
}
