import type { AssistantMessage } from '../../contract/message/message.ts'
import type { ModelConfig } from '../../contract/model/model-config.ts'
import type { CredentialProvider } from './credentials.ts'
import type { StreamProvider } from './provider.ts'

/**
 * A model ready to be called: what it is, who speaks its protocol, and where the key comes from.
 * Made by a factory such as `anthropic(id, { apiKey })`.
 */
export interface Model {
  config: ModelConfig
  provider: StreamProvider
  /** Absent for services that need no key. */
  credentials?: CredentialProvider
  /** Which model gave an answer, where this one is made of several: its prices count. Default: this one. */
  answeredBy?: (message: AssistantMessage) => ModelConfig | undefined
  /** Why it cannot be called: its factory was given no key. Whoever is to call it, such as `new Agent`, throws this as `ConfigError`. */
  unusable?: string
}
