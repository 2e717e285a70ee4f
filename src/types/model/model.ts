import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { CostConfig } from '../../contract/model/usage.ts'
import type { StreamProvider } from './provider.ts'

/**
 * Where a key comes from. Source: docs/providers/anthropic.md
 *
 * **Contract**
 * - `current()` is called once per model call and returns the key to use; it may fetch or refresh.
 * - `invalidate()` is called when the service rejected that key; the call is then repeated exactly once.
 * - Neither may put the key into an error message.
 */
export interface CredentialProvider {
  current(signal: AbortSignal): string | Promise<string>
  invalidate(): void | Promise<void>
}

/** A key, where to get one at each call, or a credential provider that also learns of a rejected one. */
export type ApiKey = string | ((signal: AbortSignal) => string | Promise<string>) | CredentialProvider

/** A key that never changes: a rejected one stays rejected, so there is no second try. */
interface StaticCredential extends CredentialProvider {
  readonly isStatic: true
}

/** A credential provider for a fixed key. The key stays inside the closure: it is on no object that can be logged. */
export function staticCredential(key: string): StaticCredential {
  return { isStatic: true, current: () => key, invalidate: () => undefined }
}

/**
 * A model ready to be called: what it is, who speaks its protocol, and where the key comes from. Made by a factory such as `anthropic(id, { apiKey })`.
 */
export interface Model {
  config: ModelConfig
  provider: StreamProvider
  /** Absent for services that need no key. */
  credentials?: CredentialProvider
  /** Which model gave an answer, where this one is made of several: its prices count. Default: this one. */
  answeredBy?: (message: AssistantMessage) => ModelConfig | undefined
  /** Other models that may answer in its place, where they are known: a cost limit needs prices of all. */
  alternatives?: readonly ModelConfig[]
  /** Keys that its latest calls used, where it is made of several models; they are taken out of what is logged. Default: only `credentials` gives some. */
  secrets?: () => readonly string[]
  /** Why it cannot be called: its factory was given no key. A caller, such as `new Agent`, throws this as `ConfigError`. */
  unusable?: string
}

/** What a catalogue knows of a model. */
export interface CatalogueEntry {
  /** As factories and messages name the service. */
  provider: string
  id: string
  /** Tokens. */
  contextWindow: number
  /** Tokens of its longest answer. */
  maxOutputTokens: number
  /** USD per million tokens. */
  cost: CostConfig
  /** Whether it can think. */
  reasoning: boolean
  /** Whether it takes pictures. */
  takesPictures: boolean
}

/** Facts of models: `catalogue` of `phi-core/models`, or one of your own. */
export interface ModelCatalogue {
  /** What is known of a model; `undefined` where nothing is. */
  find(provider: string, id: string): CatalogueEntry | undefined
}
