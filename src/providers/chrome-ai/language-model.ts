import { errorText, ProviderError, type ProviderErrorCode } from '../../contract/errors.ts'
import { type JsonObject, type JsonSchema, type JsonValue, ownOf } from '../../contract/json.ts'
import type { AssistantMessage, Message } from '../../contract/message/message.ts'

/** Whether a browser has a model for what is asked, or could have it. */
export type BrowserModelAvailability = 'unavailable' | 'downloadable' | 'downloading' | 'available'

/** A piece of a prompt. Bytes are those of a picture or of a sound. */
export interface PromptContent {
  type: 'text' | 'image' | 'audio' | 'tool-call' | 'tool-response'
  value: unknown
}

/** A message of a prompt. */
export interface PromptMessage {
  role: 'system' | Exclude<Message['role'], 'toolResult'>
  content: string | PromptContent[]
}

interface Expected {
  type: PromptContent['type']
  languages?: readonly string[]
}

/** What a session is made for. */
export interface SessionCore {
  expectedInputs?: Expected[]
  expectedOutputs?: Expected[]
  tools?: { name: string; description: string; inputSchema: JsonSchema }[]
}

/** What reports a download. */
interface CreateMonitor {
  addEventListener(type: 'downloadprogress', listener: (event: { loaded: number; total?: number }) => void): void
}

/** How a session is made. */
export interface SessionOptions extends SessionCore {
  initialPrompts?: PromptMessage[]
  signal?: AbortSignal
  monitor?: (monitor: CreateMonitor) => void
}

/** A piece of an answer: text, or what else the model says. */
export type AnswerChunk = string | { type: string; value: unknown }

interface PromptOptions {
  responseConstraint?: JsonSchema
  signal?: AbortSignal
}

/** A session of the browser's model. Older browsers call some of it by other names. */
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

/** The interface `LanguageModel` of a browser, as far as it is used: that of the Prompt API at webmachinelearning.github.io. */
export interface LanguageModelInterface {
  availability(options?: SessionCore): Promise<BrowserModelAvailability>
  create(options?: SessionOptions): Promise<LanguageModelSession>
}

type ToolValue = new (fields: JsonObject) => object

/** What a browser has of the Prompt API: the global object, or what stands in its place. */
export interface BrowserAi {
  LanguageModel: LanguageModelInterface
  /** Present where the model makes tool calls of its own. */
  LanguageModelToolCall?: ToolValue
  LanguageModelToolSuccess?: ToolValue
  LanguageModelToolError?: ToolValue
}

/** A call that the model made. */
export interface ModelToolCall {
  callId: string
  name: string
  arguments: JsonValue
}

/** Tokens that a session has used. */
export function usedBy({ contextUsage, inputUsage }: LanguageModelSession): number {
  return contextUsage ?? inputUsage ?? 0
}

/** Tokens that a session holds; infinite where it does not say. */
export function windowOf({ contextWindow, inputQuota }: LanguageModelSession): number {
  return contextWindow ?? inputQuota ?? Number.POSITIVE_INFINITY
}

/** What the exceptions of the Prompt API mean, by their names. */
const codes: { readonly [name: string]: ProviderErrorCode } = {
  AbortError: 'cancelled',
  QuotaExceededError: 'contextOverflow',
  NotSupportedError: 'unsupported',
  EncodingError: 'unsupportedMedia',
  SyntaxError: 'schemaMismatch',
  NetworkError: 'network',
}

const hints: { readonly [name: string]: string } = {
  NotAllowedError: 'A page may begin the download of the model while its user acts on it: make the first call in the handler of a click.',
  NotSupportedError: 'The browser does not take this language, medium or schema. availability() of phi-core/browser says so beforehand.',
}

/** An error of the browser's model, or an abort, as a provider tells it. */
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
