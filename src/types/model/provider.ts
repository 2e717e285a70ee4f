import type { JsonSchema } from '../../contract/json.ts'
import type { FileContent, ImageContent, MediaContent } from '../../contract/message/content.ts'
import type { AssistantMessage, Message } from '../../contract/message/message.ts'
import type { ApiProtocol, ModelConfig } from '../../contract/model/model-config.ts'
import type { CacheStrategy, StreamDelta, ToolDefinition } from '../../contract/model/request.ts'
import type { RequestSettings, ResponseFormat, ThinkingLevel } from '../../contract/model/request-settings.ts'
import type { RateLimits } from '../../contract/model/usage.ts'
import type { ModelName, RunFailure } from '../../contract/run/run-facts.ts'
import type { StandardSchema } from '../standard-schema.ts'

/** Identifies media that a provider does not fetch itself. */
export interface MediaQuery {
  /** As in the message. The URL is not validated. */
  url: string
  /** MIME type that the message declares. */
  mimeType: string
  /** Owned by the run; aborts with it. */
  signal: AbortSignal
}

/**
 * Fetches media for providers that do not fetch URLs. URLs come from users, clients and tools, so your function decides which hosts are
 * allowed. `fetchMedia` of `phi-core/models` is a guarded implementation.
 *
 * **Contract**
 * - Called once per block and agent. The result is cached with the block; a failure is remembered for the rest of the run.
 * - If it throws or rejects, a text line with the reason replaces the block. With `requireMedia`, the model call fails.
 * - Bytes that contradict `mimeType` count as a failure.
 *
 * Source: docs/guides/many-documents.md
 */
export type ResolveMedia = (query: MediaQuery) => Blob | Uint8Array | Promise<Blob | Uint8Array>

/**
 * Resolves with the block whose URL or `blob` is replaced by its bytes. Returns the same object for the same block, and the block itself if
 * its bytes are not available. Rejects with the reason of a failure.
 */
export type MediaWithBytes = (block: ImageContent | FileContent) => Promise<ImageContent | FileContent>

/**
 * Format of a response: a `ResponseFormat`, or a schema with an object at its root (Standard Schema such as zod 4.2, or JSON Schema). A
 * schema is sent as `jsonSchema`, named after its `title`, or `answer`. `Output` is the output type of a Standard Schema.
 */
export type ResponseFormatInput<Output = unknown> = ResponseFormat | StandardSchema<unknown, Output> | JsonSchema

/** Tools that the model discovers by search. */
export interface SearchableTools {
  /** All searchable tools, including those already found and listed in the `tools` of the request. */
  tools: readonly ToolDefinition[]
  /** Names of the search tools in the request. A search by the provider replaces them. */
  foundBy: readonly string[]
}

/** Everything one model call needs, independent of the wire protocol. */
export interface StreamRequest extends RequestSettings {
  model: ModelConfig
  /** API key of this call. Only `encode` reads it; it appears in `headers`, never in `redactedHeaders`. */
  credential?: string
  systemPrompt: string
  /** Any history; the codec normalises it. Messages are compared by identity to reuse their encoded form. */
  messages: readonly Message[]
  /**
   * The paused response to continue. It is also the last of `messages`. The message of this call continues it, and its `usage` covers all
   * requests.
   */
  continues?: AssistantMessage
  tools: readonly ToolDefinition[]
  /** Tools that the model may discover. Sent in full only if the provider has a search of its own; otherwise only `tools` are sent. */
  searchable?: SearchableTools
  thinking: ThinkingLevel
  cache: CacheStrategy
  /** Default: text. */
  responseFormat?: ResponseFormat
  /** Responses of the history that record which media the provider rejected. They apply even if compaction removed them from `messages`. */
  refusals?: readonly AssistantMessage[]
  /** If the provider rejects media, the request is not retried without them, because another model may accept them. */
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
  /** Settings that the codec had to omit, such as a temperature next to thinking. For the log. */
  warnings: readonly string[]
}

/**
 * Emitted when the stream is open. `message` is a live view of the growing message, O(1) to read; the provider writes to it until it
 * settles. `warnings` are those of the encoded request.
 */
export interface StreamStart {
  type: 'start'
  message: AssistantMessage
  warnings?: readonly string[]
}

/** Emitted when response content is unknown or could not be preserved. For the log. */
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

/** Rate limits from the headers of a response. Emitted before all other events of that response. */
export interface StreamRateLimits {
  type: 'rateLimits'
  /** The model that was called. */
  of: ModelName
  limits: RateLimits
}

/** Events of a provider during a stream. */
export type StreamEvent = StreamStart | StreamWarning | StreamFallback | StreamRateLimits | StreamDelta

/**
 * Implements one wire protocol.
 *
 * **Contract**
 * - `encode` normalises any history and returns the HTTP request. It rejects with `ProviderError` `schemaMismatch`, `unsupportedMedia` or
 *   `other`.
 * - `stream` calls `emit` synchronously as bytes arrive: one `start`, then deltas; `rateLimits` may precede it. A request that is retried
 *   before its first delta emits another `start`. `emit` is never called after `stream` settles.
 * - `stream` resolves with the finished message, which is the object of its `start` event.
 * - `stream` rejects only with `ProviderError`, whose `partial` is the message so far (code `cancelled` for an abort). It rejects with
 *   `LoadError` if the provider's code cannot be loaded. `encode` does so too.
 * - A stream that ends without the protocol's terminal event is a `network` error, never a success.
 * - The caller owns `signal`. After an abort, reading stops within one chunk and no listener remains.
 */
export interface StreamProvider {
  readonly api: ApiProtocol
  /** `fetch` for all requests to this provider, such as uploads. Default: the global `fetch`. */
  readonly fetch?: typeof fetch
  /**
   * Rejects with `ProviderError` `unsupportedMedia` if the provider of `model` would reject one of `media`, such as an image over a
   * documented limit. The message then stays out of the history. Default: no check.
   */
  checkMedia?(media: readonly MediaContent[], model: ModelConfig): Promise<void>
  encode(request: StreamRequest): Promise<EncodedRequest>
  stream(request: StreamRequest, emit: (event: StreamEvent) => void, signal: AbortSignal): Promise<AssistantMessage>
}
