import type { JsonSchema } from '../../contract/json.ts'
import type { FileContent, ImageContent, MediaContent } from '../../contract/message/content.ts'
import type { AssistantMessage, Message } from '../../contract/message/message.ts'
import type { ApiProtocol, ModelConfig } from '../../contract/model/model-config.ts'
import type { CacheStrategy, StreamDelta, ToolDefinition } from '../../contract/model/request.ts'
import type { RequestSettings, ResponseFormat, ThinkingLevel } from '../../contract/model/request-settings.ts'
import type { RateLimits } from '../../contract/model/usage.ts'
import type { ModelName, RunFailure } from '../../contract/run/run-facts.ts'
import type { StandardSchema } from '../standard-schema.ts'

/** Media that a service does not fetch itself. */
export interface MediaQuery {
  /** As it stands in the message: nobody has checked where it leads. */
  url: string
  /** What the message says it is. */
  mimeType: string
  /** Owned by the run; aborts with it. */
  signal: AbortSignal
}

/**
 * Fetches media for services that fetch nothing themselves. Addresses come from users, clients and tools: your function decides which hosts are asked.
 * `fetchMedia` of `phi-core/models` is one that guards.
 *
 * **Contract**
 * - It is asked once per block and agent; what it gave is kept as long as the block. A failure is remembered for the rest of the run.
 * - What it throws, or rejects with, says why: a line with that stands for the block, or, with `requireMedia`, the call fails.
 * - Bytes that contradict `mimeType` count as a failure.
 *
 * Source: docs/guides/many-documents.md
 */
export type ResolveMedia = (query: MediaQuery) => Blob | Uint8Array | Promise<Blob | Uint8Array>

/**
 * The same block, with its bytes in place of its address or its `blob`; the same object at each call, the block itself where nobody has them. Rejects with
 * why not.
 */
export type MediaWithBytes = (block: ImageContent | FileContent) => Promise<ImageContent | FileContent>

/**
 * What a caller may say about the form of an answer: a `ResponseFormat`, or a schema with an object at its root: a Standard Schema (zod 4.2
 * …) or a JSON Schema. A schema is asked for as `jsonSchema`, named after its `title`, else `answer`. `Output` is what a Standard Schema makes of an answer.
 */
export type ResponseFormatInput<Output = unknown> = ResponseFormat | StandardSchema<unknown, Output> | JsonSchema

/** Tools that are not shown to the model before it has searched for them. */
export interface SearchableTools {
  /** All of them, also those that stand in the `tools` of the request because they were found. */
  tools: readonly ToolDefinition[]
  /** Names of the `tools` of the request that find them: a search of the service takes their place. */
  foundBy: readonly string[]
}

/** Everything one model call needs, independent of any wire protocol. */
export interface StreamRequest extends RequestSettings {
  model: ModelConfig
  /** The key of this call. Only `encode` reads it; it appears in `headers`, never in `redactedHeaders`. */
  credential?: string
  systemPrompt: string
  /** Any history: the codec normalises it so that it sends. Messages are compared by identity to reuse encoded forms. */
  messages: readonly Message[]
  /**
   * The answer so far, which its service paused: what it says now is the last of `messages` too. The service goes on with it, and so does the message of this call: its
   * `usage` is then that of all requests.
   */
  continues?: AssistantMessage
  tools: readonly ToolDefinition[]
  /** Tools that the model may find. Only where the service has a search of its own is more sent of them than `tools` has. */
  searchable?: SearchableTools
  thinking: ThinkingLevel
  cache: CacheStrategy
  /** Default: text. */
  responseFormat?: ResponseFormat
  /** Responses of the history that say what media their service refused. They count although `messages` leaves them out: it may be compacted. */
  refusals?: readonly AssistantMessage[]
  /** If the service refuses media, the request is not sent again without them: another model may take them. */
  keepsMedia?: true
  /** Fetches what the service does not fetch itself, and reads what the session keeps. Without it, such media are left out. */
  resolveMedia?: MediaWithBytes
}

/** Exactly what is sent, and the same headers with every secret replaced. */
export interface EncodedRequest {
  url: string
  headers: Record<string, string>
  redactedHeaders: Record<string, string>
  body: string
  /** What the codec had to leave out to be accepted, such as a temperature next to thinking. For the log. */
  warnings: readonly string[]
}

/**
 * The stream is open. `message` is the message as it grows: a live view, O(1) to read, that the provider goes on writing until it
 * settles. `warnings` are those of the encoded request.
 */
export interface StreamStart {
  type: 'start'
  message: AssistantMessage
  warnings?: readonly string[]
}

/** Something of the answer could not be kept as it came, or is not known. For the log. */
export interface StreamWarning {
  type: 'warning'
  warning: string
}

/** A model that is made of several asks another one than it would, or than it has asked before. */
export interface StreamFallback {
  type: 'fallback'
  from: ModelName
  to: ModelName
  /** Why; absent where `from` was not asked because it has failed lately. */
  error?: RunFailure
}

/** What the service said of its rate limits, with an answer or a refusal. Comes before all else of that answer, and is no part of it. */
export interface StreamRateLimits {
  type: 'rateLimits'
  /** The model that was asked. */
  of: ModelName
  limits: RateLimits
}

/** What a provider reports while it streams. */
export type StreamEvent = StreamStart | StreamWarning | StreamFallback | StreamRateLimits | StreamDelta

/**
 * Speaks one wire protocol.
 *
 * **Contract**
 * - `encode` normalises any history and returns what will be sent. It rejects with `ProviderError` `schemaMismatch`, `unsupportedMedia` or `other`.
 * - `stream` calls `emit` synchronously as bytes arrive: one `start`, then deltas; `rateLimits` may come before it. A request that is sent again before it
 *   showed anything has a `start` of its own. It never calls it after it settled.
 * - `stream` resolves with the finished message; its `start` message is that same object.
 * - `stream` rejects only with `ProviderError`, whose `partial` is the message so far (an abort is code `cancelled`), or with `LoadError`
 *   where the provider itself could not be loaded; so does `encode`.
 * - The end of the stream without the protocol's terminal event is a `network` error, never success.
 * - The caller owns `signal`; after it aborts, reading stops within one chunk and no listener stays behind.
 */
export interface StreamProvider {
  readonly api: ApiProtocol
  /** How it sends, where its caller said so: what else goes to the service goes the same way. Default: the global `fetch`. */
  readonly fetch?: typeof fetch
  /**
   * Rejects with `ProviderError` `unsupportedMedia` if the service of `model` would refuse one of `media` of a new message, such as a picture over a documented
   * limit. The message then stays out of the history. Default: no check.
   */
  checkMedia?(media: readonly MediaContent[], model: ModelConfig): Promise<void>
  encode(request: StreamRequest): Promise<EncodedRequest>
  stream(request: StreamRequest, emit: (event: StreamEvent) => void, signal: AbortSignal): Promise<AssistantMessage>
}
