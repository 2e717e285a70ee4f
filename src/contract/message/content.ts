import type { JsonObject } from '../json.ts'
import type { ApiProtocol } from '../model/model-config.ts'

/**
 * What a service attached to a block and wants back byte for byte: signatures, redacted thinking, encrypted reasoning.
 *
 * **Contract**
 * - Opaque: only the codec of `api` writes or reads `payload`.
 * - It is sent back to the same `api` and `model` while the prefix it is bound to still stands, and to nobody else.
 *
 * Source: docs/concepts/messages.md
 */
export interface ProviderState {
  api: ApiProtocol
  /** Model id the block came from. */
  model: string
  /** Hash of the request prefix the block is bound to; absent where the service binds nothing. */
  prefixHash?: string
  payload: JsonObject
}

/** Plain text, from a user, a model or a tool. */
export interface TextContent {
  type: 'text'
  text: string
  providerState?: ProviderState
}

/** An inline image: `data` is base64 without a `data:` prefix. */
export interface ImageContent {
  type: 'image'
  data: string
  mimeType: string
}

/**
 * Reasoning a model showed (or withheld: `thinking` is then empty and the state lies in `signature` or `providerState`).
 * Source: docs/concepts/messages.md
 */
export interface ThinkingContent {
  type: 'thinking'
  thinking: string
  /** Integrity token of the service; echoed unmodified or not at all. */
  signature?: string
  providerState?: ProviderState
}

/**
 * A model's request to run a tool. `arguments` is what the model wrote, parsed; where it was not a JSON object, or
 * meant something else than it says (a key twice, `1e400`, `-0`, half of a surrogate pair, more than 200 levels), `arguments` is `{}` and `invalidArguments` holds the raw text, so the call is answered with an error, never executed.
 */
export interface ToolCallContent {
  type: 'toolCall'
  id: string
  name: string
  arguments: JsonObject
  /** The raw argument text, when it cannot be taken for what it says. */
  invalidArguments?: string
  providerState?: ProviderState
}

/** One block of a message. Source: docs/concepts/messages.md */
export type Content = TextContent | ImageContent | ThinkingContent | ToolCallContent
