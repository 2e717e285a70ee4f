import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { CostConfig } from '../../contract/model/usage.ts'
import type { StreamProvider } from './provider.ts'

/**
 * Supplies API keys. Source: docs/providers/anthropic.md
 *
 * **Contract**
 * - `current()` is called once per model call and returns the key. It may fetch or refresh it.
 * - `invalidate()` is called when the provider rejects that key. The model call is then retried exactly once.
 * - Error messages of either must not contain the key.
 */
export interface CredentialProvider {
  current(signal: AbortSignal): string | Promise<string>
  invalidate(): void | Promise<void>
}

/** An API key, a function that returns one per call, or a credential provider that is also notified of rejected keys. */
export type ApiKey = string | ((signal: AbortSignal) => string | Promise<string>) | CredentialProvider

/** Credential provider of a fixed key. It cannot refresh, so a rejected key is not retried. */
interface StaticCredential extends CredentialProvider {
  readonly isStatic: true
}

/** Creates a credential provider for a fixed key. The key stays in a closure, so logging the object cannot print it. */
export function staticCredential(key: string): StaticCredential {
  return { isStatic: true, current: () => key, invalidate: () => undefined }
}

/**
 * A model that is ready to be called: configuration, provider and credentials. Created by a factory such as `anthropic(id, { apiKey })`.
 */
export interface Model {
  config: ModelConfig
  provider: StreamProvider
  /** Absent if the provider needs no key. */
  credentials?: CredentialProvider
  /** For composed models: returns the model that produced a response, whose prices apply. Default: this model. */
  answeredBy?: (message: AssistantMessage) => ModelConfig | undefined
  /** For composed models: the other models that may respond. A cost limit needs the prices of all of them. */
  alternatives?: readonly ModelConfig[]
  /** For composed models: keys of the latest calls, to redact from logs. Default: the key of `credentials`. */
  secrets?: () => readonly string[]
  /** Why the model cannot be called: its factory got no key. Callers such as `new Agent` throw this as `ConfigError`. */
  unusable?: string
}

/** Facts of one model in a catalogue. */
export interface CatalogueEntry {
  /** Provider name, as in factories and messages. */
  provider: string
  id: string
  /** Tokens. */
  contextWindow: number
  /** Maximum tokens of a response. */
  maxOutputTokens: number
  /** USD per million tokens. */
  cost: CostConfig
  /** Whether the model supports thinking. */
  reasoning: boolean
  /** Whether the model accepts images. */
  takesPictures: boolean
}

/** Looks up facts of models: `catalogue` of `phi-core/models`, or an implementation of your own. */
export interface ModelCatalogue {
  /** Returns the facts of a model, or `undefined` if it is unknown. */
  find(provider: string, id: string): CatalogueEntry | undefined
}
