import type { JsonSchema } from '../../contract/json.ts'
import type { FileContent, ImageContent, MediaContent } from '../../contract/message/content.ts'
import type { AssistantMessage, Message } from '../../contract/message/message.ts'
import type { ApiProtocol, ModelConfig } from '../../contract/model/model-config.ts'
import type { CacheStrategy, StreamDelta, ToolDefinition } from '../../contract/model/request.ts'
import type { RequestSettings, ResponseFormat, ThinkingLevel } from '../../contract/model/request-settings.ts'
import type { RateLimits } from '../../contract/model/usage.ts'
import type { ModelName, RunFailure } from '../../contract/run/run-facts.ts'
import type { StandardSchema } from '../standard-schema.ts'

/** Identifies media that the application must fetch for the provider. */
export interface MediaQuery {
  /** URL from the message, not validated. */
  url: string
  /** MIME type that the message declares. */
  mimeType: string
  /** Aborts when the run is stopped. The run owns the signal. */
  signal: AbortSignal
}

/**
 * Fetches media for providers that do not fetch URLs. URLs come from users, clients and tools, so your function decides which hosts are
 * allowed. `fetchMedia` from `phi-core/models` is a guarded implementation.
 *
 * **Contract**
 * - Called once per block and agent. The result is cached with the block. A failure is cached until the run ends.
 * - If the function throws or rejects, a text line with the reason replaces the block. With `requireMedia`, the model call fails.
 * - If the bytes contradict `mimeType`, the block counts as failed.
 *
 * Source: docs/guides/many-documents.md
 */
export type ResolveMedia = (query: MediaQuery) => Blob | Uint8Array | Promise<Blob | Uint8Array>

/**
 * Resolves with a copy of the block that contains the bytes instead of a URL or `blob`, or with the block itself if the bytes are
 * unavailable. Returns the same object for the same block. Rejects with the reason if fetching fails.
 */
export type MediaWithBytes = (block: ImageContent | FileContent) => Promise<ImageContent | FileContent>

/**
 * Response format: a `ResponseFormat`, or a schema with an object at its root (Standard Schema such as zod 4.2, or JSON Schema). A schema
 * is sent as `jsonSchema`, named after its `title`, or `answer`. `Output` is the output type of a Standard Schema.
 */
export type ResponseFormatInput<Output = unknown> = ResponseFormat | StandardSchema<unknown, Output> | JsonSchema

/** Tools that the model can discover by search. */
export interface SearchableTools {
  /** All searchable tools, including discovered ones that are already in the request's `tools`. */
  tools: readonly ToolDefinition[]
  /** Names of the request's search tools, which the provider's search replaces if supported. */
  foundBy: readonly string[]
}

/** Input of one model call, independent of the wire protocol. */
export interface StreamRequest extends RequestSettings {
  model: ModelConfig
  /** API key for this call. `encode` adds the key to `headers`, but not to `redactedHeaders`. */
  credential?: string
  systemPrompt: string
  /** The history, in any form. The codec normalises it, and caches encoded messages by object identity. */
  messages: readonly Message[]
  /**
   * Paused response to continue. It is also the last message in `messages`. The returned message includes the paused content and the total
   * usage of all requests.
   */
  continues?: AssistantMessage
  tools: readonly ToolDefinition[]
  /** Tools that the model may discover. Sent only if the provider supports tool search. Otherwise only `tools` are sent. */
  searchable?: SearchableTools
  thinking: ThinkingLevel
  cache: CacheStrategy
  /** Default: text. */
  responseFormat?: ResponseFormat
  /** Responses that record which media the provider rejected. They apply even if compaction removed them from `messages`. */
  refusals?: readonly AssistantMessage[]
  /** Disables the retry without media that the provider rejected, because another model may accept them. */
  keepsMedia?: true
  /** Resolves media that the provider does not fetch, and media in the session store. Default: such media are left out. */
  resolveMedia?: MediaWithBytes
}

/** The HTTP request as sent, and its headers with secrets redacted. */
export interface EncodedRequest {
  url: string
  headers: Record<string, string>
  redactedHeaders: Record<string, string>
  body: string
  /** Settings that the codec omitted, such as a temperature combined with thinking. Logged as warnings. */
  warnings: readonly string[]
}

/**
 * Emitted when the stream opens. `message` is a live view: the provider updates it until the stream settles. `warnings` come from the
 * encoded request.
 */
export interface StreamStart {
  type: 'start'
  message: AssistantMessage
  warnings?: readonly string[]
}

/** Emitted for response content that is unknown or could not be preserved. The loop logs the event as a warning. */
export interface StreamWarning {
  type: 'warning'
  warning: string
}

/** Emitted when a composed model switches to another model. */
export interface StreamFallback {
  type: 'fallback'
  from: ModelName
  to: ModelName
  /** Absent if `from` was skipped because it failed recently. */
  error?: RunFailure
}

/** Emitted with the rate limits from response headers, before all other events of the response. */
export interface StreamRateLimits {
  type: 'rateLimits'
  /** Model that sent the rate limits. */
  of: ModelName
  limits: RateLimits
}

/** Event that a provider emits while streaming. */
export type StreamEvent = StreamStart | StreamWarning | StreamFallback | StreamRateLimits | StreamDelta

/**
 * Implements one wire protocol.
 *
 * **Contract**
 * - `encode` normalises any history and returns the HTTP request. It rejects with `ProviderError` `schemaMismatch`, `unsupportedMedia` or
 *   `other`.
 * - `stream` calls `emit` synchronously as bytes arrive: one `start`, then deltas. `rateLimits` may precede `start`. A request that is
 *   retried before its first delta emits another `start`. `emit` is never called after `stream` settles.
 * - `stream` resolves with the finished message: the same object as in its `start` event.
 * - `stream` rejects with `ProviderError`, whose `partial` is the message so far (code `cancelled` for an abort). Both methods reject with
 *   `LoadError` if the provider's code cannot be loaded.
 * - A stream that ends without the protocol's terminal event is a `network` error, never a success.
 * - The caller owns `signal`. After an abort, the provider stops reading within one chunk and removes its listeners.
 */
export interface StreamProvider {
  readonly api: ApiProtocol
  /** `fetch` for all requests to this provider, such as uploads. Default: the global `fetch`. */
  readonly fetch?: typeof fetch
  /**
   * Rejects with `ProviderError` `unsupportedMedia` if the provider of `model` would reject one of `media`, such as an image over a
   * documented limit. A rejected message is not added to the history. Default: no check.
   */
  checkMedia?(media: readonly MediaContent[], model: ModelConfig): Promise<void>
  encode(request: StreamRequest): Promise<EncodedRequest>
  stream(request: StreamRequest, emit: (event: StreamEvent) => void, signal: AbortSignal): Promise<AssistantMessage>
}
