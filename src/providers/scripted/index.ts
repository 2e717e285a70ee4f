import { unknownCost } from '../../contract/model/usage.ts'
/**
 * A model that plays a script: for demonstrations, tests and examples. No key, no network, any runtime.
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
  toldAs,
  wholeFrom,
} from '../../contract/shape/shape.ts'
import type { Model } from '../../types/model/model.ts'
import { checkedPace } from './player.ts'
import type { Script, ScriptedFailure, ScriptedStep, ScriptedToolCall } from './script.ts'
import { ScriptedProvider } from './scripted-provider.ts'

export type { Script, ScriptedFailure, ScriptedStep, ScriptedToolCall } from './script.ts'
export { ScriptedProvider } from './scripted-provider.ts'

/** How a scripted model behaves. Every field is optional. */
export interface ScriptedOptions {
  /** Model id. Default `scripted`. */
  id?: string
  /** Shown to people. Default `Scripted demo model`. */
  name?: string
  /** Wait before each piece, in ms. Default 0. */
  delayMs?: number
  /** UTF-16 units per piece. Default 16. */
  chunkSize?: number
  /** Awaited before each piece: holds the stream until the caller lets it go on. */
  gate?: () => Promise<void>
  /** Other fields of the model's description, such as `contextWindow` or `cost`. */
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
  // Their range is looked at when they are played, as that of what a function gives.
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
const aScript = either(aFunction, listOf(toldAs(anAnswer, "an answer, such as { text: 'hi' }")))
const scriptedOptions = options<ScriptedOptions>({
  id: aText,
  name: aText,
  delayMs: aNumberFromZero,
  chunkSize: wholeFrom(1),
  gate: aFunction,
  config: anObject,
})

/** A `Model` whose provider remembers what it was asked. */
export interface ScriptedModel extends Model {
  provider: ScriptedProvider
}

/**
 * A model that answers from `script`. A list is worked off over all calls of this model; a call after the last answer fails (`ProviderError` `other`).
 * Throws `ConfigError` `invalidOption` for a wrong step or option, `chunkSize` and `delayMs` out of range among them.
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
