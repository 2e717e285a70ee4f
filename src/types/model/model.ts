import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { CostConfig } from '../../contract/model/usage.ts'
import type { StreamProvider } from './provider.ts'

/**
 * Supplies API keys. Source: docs/providers/anthropic.md
 *
 * **Contract**
 * - `current()` is called once per model call and returns the key. It may fetch or refresh it.
 * - `invalidate()` is called when the provider rejects the key. The model call is then retried exactly once.
 * - Error messages must not contain the key.
 */
export interface CredentialProvider {
  current(signal: AbortSignal): string | Promise<string>
  invalidate(): void | Promise<void>
}

/** An API key, a function called for each model call, or a credential provider that is also notified of rejected keys. */
export type ApiKey = string | ((signal: AbortSignal) => string | Promise<string>) | CredentialProvider

/** Credential provider for a fixed key, which cannot be refreshed. A model call with a rejected key is not retried. */
interface StaticCredential extends CredentialProvider {
  readonly isStatic: true
}

/** Creates a credential provider for a fixed key. Stores the key in a closure, so logging the object does not reveal it. */
export function staticCredential(key: string): StaticCredential {
  return { isStatic: true, current: () => key, invalidate: () => undefined }
}

/** A callable model: configuration, provider and credentials. Created by a factory such as `anthropic(id, { apiKey })`. */
export interface Model {
  config: ModelConfig
  provider: StreamProvider
  /** Supplies the API key. Absent if the provider needs no key. */
  credentials?: CredentialProvider
  /** For composed models: returns the model that produced a response, to apply that model's prices. Default: this model. */
  answeredBy?: (message: AssistantMessage) => ModelConfig | undefined
  /** For composed models: the other models that may respond. A cost limit requires prices for all of them. */
  alternatives?: readonly ModelConfig[]
  /** For composed models: API keys used by the latest calls, to redact from logs. Default: the key from `credentials`. */
  secrets?: () => readonly string[]
  /**
   * Reason why the model cannot be called: its factory got no API key. Callers such as `new Agent` throw a `ConfigError` with this text.
   */
  unusable?: string
}

/** Known properties and prices of a model, as its catalogue lists them. */
export interface CatalogueEntry {
  /** Provider name, as used by factories and messages. */
  provider: string
  id: string
  /** Tokens. */
  contextWindow: number
  /** Maximum output tokens per response. */
  maxOutputTokens: number
  /** Prices in USD per million tokens. */
  cost: CostConfig
  /** Whether the model supports thinking. */
  reasoning: boolean
  /** Whether the model accepts images. */
  takesPictures: boolean
}

/** Looks up model properties. Use `catalogue` from `phi-core/models`, or implement your own. */
export interface ModelCatalogue {
  /** Returns a model's catalogue entry, or `undefined` if the model is unknown. */
  find(provider: string, id: string): CatalogueEntry | undefined
}
