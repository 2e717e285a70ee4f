/**
 * A model that plays a script: for demonstrations, tests and examples. No key, no network, any runtime.
 *
 * ```ts
 * const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'It is 3.' }])
 * ```
 *
 * @module
 */
import type { Model } from '../../types/model.ts'
import type { ModelConfig } from '../../types/model-config.ts'
import { checkedPace } from './player.ts'
import type { Script } from './script.ts'
import { ScriptedProvider } from './scripted-provider.ts'

export type { Script, ScriptedFailure, ScriptedStep, ScriptedToolCall } from './script.ts'
export { exhaustedText } from './script.ts'
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

/** A `Model` whose provider remembers what it was asked. */
export interface ScriptedModel extends Model {
  provider: ScriptedProvider
}

/**
 * A model that answers from `script`. A list is worked off over all calls of this model and then answers `(no more mock responses)`.
 * Throws `ConfigError` `invalidOption` when `chunkSize` or `delayMs` is out of range.
 */
export function scripted(script: Script, options: ScriptedOptions = {}): ScriptedModel {
  const { id = 'scripted', name = 'Scripted demo model', delayMs = 0, chunkSize = 16, gate } = options
  const pace = checkedPace(gate === undefined ? { delayMs, chunkSize } : { delayMs, chunkSize, gate })
  const config: ModelConfig = {
    provider: 'scripted',
    baseUrl: '',
    reasoning: true,
    contextWindow: 200_000,
    maxTokens: 8192,
    cost: { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 },
    headers: {},
    ...options.config,
    id,
    name,
    api: 'scripted',
  }
  return { config, provider: new ScriptedProvider(script, pace) }
}
