import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { OutputForm } from '../../contract/model/request-settings.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { RunStatus } from '../../contract/run/run-facts.ts'

/** The cost of a response so far, for `message.metadata`. Sums over all its model calls. */
export interface UiMetadata {
  /** Model id of the last model call. */
  model: string
  /** Provider name, such as `anthropic`. */
  provider: string
  usage: Usage
  /** USD, if the encoder knows prices. */
  costUsd?: number
  /** Position of the value in the text, if the run asks for JSON: see `outputOf`. */
  output?: OutputForm
  /** Status of the ended run. Only in streams, not in histories. */
  status?: RunStatus
  /** Includes sub-agents, compactions and tools that call models. Present together with `status`. */
  totalUsage?: Usage
  /** USD of `totalUsage`, as in `agentEnd`; absent if a part of it has no price. */
  totalCostUsd?: number
}

/** Returns the price of one model response in USD; `undefined` if unknown. */
export type CostOf = (message: AssistantMessage) => number | undefined

/** Text of a message, or of a tool's result. */
export interface UiTextPart {
  type: 'text'
  text: string
  state?: 'done'
}

/** A file of a message. `url` is a `data:` URL or the URL of the block. */
export interface UiFilePart {
  type: 'file'
  mediaType: string
  url: string
  filename?: string
}

/** Thinking of a model. */
export interface UiReasoningPart {
  type: 'reasoning'
  id: string
  text: string
  state: 'done'
}

/** Sources of an answer, each once, after its blocks. Quotes and positions are in `phi.citations`. */
export type UiSourcePart = { sourceId: string; providerMetadata: { phi: { citations: JsonObject[] } } } & (
  | { type: 'source-url'; url: string; title: string }
  | { type: 'source-document'; mediaType: string; title: string }
)

/** Output of a tool: its text if it is only text, else its parts in order. A provider-executed tool returns any JSON. */
export type UiToolOutput = JsonValue | (UiTextPart | UiFilePart)[]

/** State of a tool call. */
export type UiToolState =
  | { state: 'input-available' }
  | { state: 'approval-requested'; approval: { id: string } }
  | { state: 'output-available'; output: UiToolOutput }
  | { state: 'output-error'; errorText: string }
  | { state: 'output-denied'; approval: { id: string; approved: false; reason?: string } }

/** A tool call as the model wrote it: of a tool that the client need not know, or of a client tool. */
export interface UiToolCall {
  type: 'dynamic-tool' | `tool-${string}`
  toolCallId: string
  toolName: string
  title?: string
  /** An object, or the text if it is not a JSON object. A provider-executed tool takes any JSON. */
  input: JsonValue
  /** The provider executed it. */
  providerExecuted?: true
}

/** A tool call of a response with its state. */
export type UiToolPart = UiToolCall & UiToolState

/** Text during a response: from a user, or from the runtime that stopped the run. */
export type Interjection =
  | { type: 'steering-message'; id: string; parts: (UiTextPart | UiFilePart)[] }
  | { type: 'data-phi-notice'; data: { text: string } }

/** A part of a `UiMessage`: text, file, source, thinking, tool call, step, or steering message. */
export type UiPart = UiTextPart | UiFilePart | UiSourcePart | UiReasoningPart | UiToolPart | { type: 'step-start' } | Interjection

/** A message as `useChat` stores it. One response may be several messages of our history. */
export interface UiMessage {
  id: string
  role: 'user' | 'assistant'
  metadata?: UiMetadata
  parts: UiPart[]
}

/** A chunk of the stream that `useChat` reads. */
export type UiChunk =
  | { type: 'start'; messageId?: string; messageMetadata?: Partial<UiMetadata> }
  | { type: 'start-step' | 'finish-step' | 'reset-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; toolCallId: string; toolName: string; dynamic?: true }
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | {
      type: 'tool-input-available'
      toolCallId: string
      toolName: string
      input: JsonValue
      /** Absent for client tools, whose names the client knows. */
      dynamic?: true
      /** `true`: the client does not run it; `false` takes that back. */
      providerExecuted?: boolean
      title?: string
    }
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string }
  | ({ type: 'tool-output-available'; output: UiToolOutput; preliminary?: true } & UiToolEnd)
  | ({ type: 'tool-output-error'; errorText: string } & UiToolEnd)
  | { type: 'tool-output-denied'; toolCallId: string }
  | UiFileChunk
  | UiSourcePart
  | Interjection
  | { type: `data-phi-${string}`; data: JsonValue | object; transient: true }
  | { type: 'message-metadata'; messageMetadata: Partial<UiMetadata> }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason?: string }
  | { type: 'finish'; finishReason: UiFinishReason; messageMetadata?: Partial<UiMetadata> }

/** A file that the model or a provider-executed tool created. */
export interface UiFileChunk {
  type: 'file'
  mediaType: string
  url: string
  providerMetadata?: { phi: { filename: string } }
}

/** Additional fields of a tool result. */
export interface UiToolEnd {
  toolCallId: string
  dynamic?: true
  providerExecuted?: true
  /** `details` of the result: for the application, never for the model. */
  toolMetadata?: { details: JsonValue }
}

/** The finish reason. `interrupted`: it was stopped, or the event stream broke off. */
export type UiFinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'interrupted' | 'other'
