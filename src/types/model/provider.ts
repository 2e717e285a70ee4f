import type { JsonSchema } from '../json.ts'
import type { AssistantMessage, Message } from '../message/message.ts'
import type { StandardSchema } from '../standard-schema.ts'
import type { ApiProtocol, ModelConfig, ThinkingLevel } from './model-config.ts'

/** Prompt caching. Source: docs/concepts/prompt-caching.md */
export type CacheStrategy =
  | { type: 'auto' }
  | { type: 'disabled' }
  | { type: 'manual'; cacheSystem: boolean; cacheTools: boolean; cacheMessages: boolean }

/**
 * What form an answer must have. Services that cannot promise a schema get a tool that only takes the answer, and are made to call it.
 */
export type ResponseFormat =
  | { type: 'text' }
  | { type: 'jsonObject' }
  | { type: 'jsonSchema'; name: string; schema: JsonSchema; strict?: boolean }

/**
 * What a caller may say about the form of an answer: a `ResponseFormat`, or a schema with an object at its root: a Standard Schema (zod 4.2
 * …) or a JSON Schema. A schema is asked for as `jsonSchema`, named after its `title`, else `answer`.
 */
export type ResponseFormatInput = ResponseFormat | StandardSchema | JsonSchema

/** The tool that takes an answer where the service itself cannot be held to a form. */
export const answerToolName = 'respond_json'

/** A tool as the model sees it. */
export interface ToolDefinition {
  name: string
  description: string
  /** JSON Schema of the arguments, an object at its root. */
  parameters: JsonSchema
}

/** Everything one model call needs, independent of any wire protocol. */
export interface StreamRequest {
  model: ModelConfig
  /** The key of this call. Only `encode` reads it; it appears in `headers`, never in `redactedHeaders`. */
  credential?: string
  systemPrompt: string
  /** Any history: the codec normalises it so that it sends. Messages are compared by identity to reuse encoded forms. */
  messages: readonly Message[]
  tools: readonly ToolDefinition[]
  thinkingLevel: ThinkingLevel
  /** Tokens; absent means `model.maxTokens`. */
  maxTokens?: number
  temperature?: number
  cache: CacheStrategy
  /** Default: text. */
  responseFormat?: ResponseFormat
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

/** One increment of a block. `contentIndex` is the block's position in the finished message. */
export type StreamDelta =
  | { type: 'text'; contentIndex: number; delta: string }
  | { type: 'thinking'; contentIndex: number; delta: string }
  | { type: 'toolCallDelta'; contentIndex: number; toolCallId: string; toolName: string; delta: string }

/**
 * The stream is open. `message` is the message as it grows: a live view, O(1) to read, that the provider goes on writing until it
 * settles. `warnings` are those of the encoded request.
 */
export interface StreamStart {
  type: 'start'
  message: AssistantMessage
  warnings?: readonly string[]
}

/** What a provider reports while it streams. */
export type StreamEvent = StreamStart | StreamDelta

/**
 * Speaks one wire protocol.
 *
 * **Contract**
 * - `encode` normalises any history and returns what will be sent. It rejects with `ProviderError` `schemaMismatch` or `other`.
 * - `stream` calls `emit` synchronously as bytes arrive: one `start`, then deltas. It never calls it after it settled.
 * - `stream` resolves with the finished message; its `start` message is that same object.
 * - `stream` rejects only with `ProviderError`, whose `partial` is the message so far (an abort is code `cancelled`), or with `LoadError`
 *   where the provider itself could not be loaded; so does `encode`.
 * - The end of the stream without the protocol's terminal event is a `network` error, never success.
 * - The caller owns `signal`; after it aborts, reading stops within one chunk and no listener stays behind.
 */
export interface StreamProvider {
  readonly api: ApiProtocol
  encode(request: StreamRequest): Promise<EncodedRequest>
  stream(request: StreamRequest, emit: (event: StreamEvent) => void, signal: AbortSignal): Promise<AssistantMessage>
}
