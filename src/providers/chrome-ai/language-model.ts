import type { JsonObject, JsonSchema, JsonValue } from '../../contract/json.ts'
import type { Message } from '../../contract/message/message.ts'

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
