import { errorText, ProviderError, type ProviderErrorCode } from '../../contract/errors.ts'
import { type JsonObject, type JsonSchema, type JsonValue, ownOf } from '../../contract/json.ts'
import type { AssistantMessage, Message } from '../../contract/message/message.ts'

/** Availability of a browser model. */
export type BrowserModelAvailability = 'unavailable' | 'downloadable' | 'downloading' | 'available'

/** A part of a prompt. Bytes are an image or audio. */
export interface PromptContent {
  type: 'text' | 'image' | 'audio' | 'tool-call' | 'tool-response'
  value: unknown
}

/** A prompt message. */
export interface PromptMessage {
  role: 'system' | Exclude<Message['role'], 'toolResult'>
  content: string | PromptContent[]
}

interface Expected {
  type: PromptContent['type']
  languages?: readonly string[]
}

/** A session's requirements. */
export interface SessionCore {
  expectedInputs?: Expected[]
  expectedOutputs?: Expected[]
  tools?: { name: string; description: string; inputSchema: JsonSchema }[]
}

/** Reports a download. */
interface CreateMonitor {
  addEventListener(type: 'downloadprogress', listener: (event: { loaded: number; total?: number }) => void): void
}

/** Options for creating a session. */
export interface SessionOptions extends SessionCore {
  initialPrompts?: PromptMessage[]
  signal?: AbortSignal
  monitor?: (monitor: CreateMonitor) => void
}

/** A chunk of a response: text, or a typed value. */
export type AnswerChunk = string | { type: string; value: unknown }

interface PromptOptions {
  responseConstraint?: JsonSchema
  signal?: AbortSignal
}

/** A session of the browser's model. Older browsers use other names for some fields. */
export interface LanguageModelSession {
  promptStreaming(input: PromptMessage[], options?: PromptOptions): ReadableStream<AnswerChunk>
  measureContextUsage?(input: PromptMessage[], options?: PromptOptions): Promise<number>
  measureInputUsage?(input: PromptMessage[], options?: PromptOptions): Promise<number>
  readonly contextUsage?: number
  readonly contextWindow?: number
  readonly inputUsage?: number
  readonly inputQuota?: number
  destroy(): void
}

/** The `LanguageModel` interface of the Prompt API, as far as it is used (webmachinelearning.github.io). */
export interface LanguageModelInterface {
  availability(options?: SessionCore): Promise<BrowserModelAvailability>
  create(options?: SessionOptions): Promise<LanguageModelSession>
}

type ToolValue = new (fields: JsonObject) => object

/** Prompt API globals of a browser, or replacements. */
export interface BrowserAi {
  LanguageModel: LanguageModelInterface
  /** Present if the model supports native tool calls. */
  LanguageModelToolCall?: ToolValue
  LanguageModelToolSuccess?: ToolValue
  LanguageModelToolError?: ToolValue
}

/** A tool call of the model. */
export interface ModelToolCall {
  callId: string
  name: string
  arguments: JsonValue
}

/** Returns the tokens used by a session. */
export function usedBy({ contextUsage, inputUsage }: LanguageModelSession): number {
  return contextUsage ?? inputUsage ?? 0
}

/** Returns a session's context window, or infinite if unknown. */
export function windowOf({ contextWindow, inputQuota }: LanguageModelSession): number {
  return contextWindow ?? inputQuota ?? Number.POSITIVE_INFINITY
}

/** Error codes by name of the Prompt API exception. */
const codes: { readonly [name: string]: ProviderErrorCode } = {
  AbortError: 'cancelled',
  QuotaExceededError: 'contextOverflow',
  NotSupportedError: 'unsupported',
  EncodingError: 'unsupportedMedia',
  SyntaxError: 'schemaMismatch',
  NetworkError: 'network',
}

const hints: { readonly [name: string]: string } = {
  NotAllowedError: 'The browser downloads the model only after a user gesture. Make the first call from a click handler.',
  NotSupportedError: 'The browser does not support this language, medium or schema. Check availability() of phi-core/browser first.',
}

/** Converts a browser error or an abort to a provider error. */
export function browserFailure(error: unknown, signal: AbortSignal, partial?: AssistantMessage): ProviderError {
  const options = partial === undefined ? {} : { partial }
  if (signal.aborted) return new ProviderError('cancelled', 'The model call was aborted.', options)
  if (ProviderError.isInstance(error)) return error
  const name = String(Object(error).name)
  const code = ownOf(codes, name) ?? 'other'
  const hint = ownOf(hints, name)
  const message = `The browser's model failed: ${errorText(error)}`
  return new ProviderError(code, message, { ...options, cause: error, ...(hint !== undefined && { hint }) })
}
