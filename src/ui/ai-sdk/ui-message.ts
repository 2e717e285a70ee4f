import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import type { OutputForm } from '../../contract/model/request-settings.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { RunStatus } from '../../contract/run/run-facts.ts'

/** Usage and cost of a response so far, summed over its model calls. Stored in `message.metadata`. */
export interface UiMetadata {
  /** Model id of the last model call. */
  model: string
  /** Provider name, such as `anthropic`. */
  provider: string
  usage: Usage
  /** USD, if the encoder knows prices. */
  costUsd?: number
  /** Location of the value in the response text, if the run requests JSON. See `outputOf`. */
  output?: OutputForm
  /** Status of the ended run. Present only in streams, not in histories. */
  status?: RunStatus
  /** Includes sub-agents, compactions and tools that call models. Present together with `status`. */
  totalUsage?: Usage
  /** Cost of `totalUsage` in USD, as in `agentEnd`. Absent if any part has no price. */
  totalCostUsd?: number
}

/** Returns the price of one model response in USD, or `undefined` if unknown. */
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

/** The model's thinking. */
export interface UiReasoningPart {
  type: 'reasoning'
  id: string
  text: string
  state: 'done'
}

/** A source of a response. Each source appears once, after the blocks. `phi.citations` contains quotes and positions. */
export type UiSourcePart = { sourceId: string; providerMetadata: { phi: { citations: JsonObject[] } } } & (
  | { type: 'source-url'; url: string; title: string }
  | { type: 'source-document'; mediaType: string; title: string }
)

/** A tool's output: a string if all content is text, otherwise the parts in order. Provider-executed tools return any JSON. */
export type UiToolOutput = JsonValue | (UiTextPart | UiFilePart)[]

/** State of a tool call. */
export type UiToolState =
  | { state: 'input-available' }
  | { state: 'approval-requested'; approval: { id: string } }
  | { state: 'output-available'; output: UiToolOutput }
  | { state: 'output-error'; errorText: string }
  | { state: 'output-denied'; approval: { id: string; approved: false; reason?: string } }

/** A tool call with the model's arguments. The type is `dynamic-tool`, or `tool-{name}` for client tools. */
export interface UiToolCall {
  type: 'dynamic-tool' | `tool-${string}`
  toolCallId: string
  toolName: string
  title?: string
  /** An object, or the raw text if it is not a JSON object. Provider-executed tools accept any JSON. */
  input: JsonValue
  /** Whether the provider executes the call. */
  providerExecuted?: true
}

/** A tool call with its state. */
export type UiToolPart = UiToolCall & UiToolState

/** A message during a response: from a user (steering), or a notice from the runtime. */
export type Interjection =
  | { type: 'steering-message'; id: string; parts: (UiTextPart | UiFilePart)[] }
  | { type: 'data-phi-notice'; data: { text: string } }

/** An application data part, such as `data-weather` for `ctx.data('weather', …)`. Replaces an earlier part with the same type and id. */
export interface UiDataPart {
  type: `data-${string}`
  id: string
  data: JsonValue
}

/** A part of a `UiMessage`: text, file, source, thinking, tool call, step, data, or steering message. */
export type UiPart =
  | UiTextPart
  | UiFilePart
  | UiSourcePart
  | UiReasoningPart
  | UiToolPart
  | { type: 'step-start' }
  | Interjection
  | UiDataPart

/** A message in the format of `useChat`. One response may correspond to several history messages. */
export interface UiMessage {
  id: string
  role: 'user' | 'assistant'
  metadata?: UiMetadata
  parts: UiPart[]
}

/** A chunk of a `useChat` stream. */
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
      /** Absent for client tools, which the client knows by name. */
      dynamic?: true
      /** `true`: the client does not run the call. `false` revokes an earlier `true`. */
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
  | (UiDataPart & { transient?: true })
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

/** Common fields of tool-result chunks. */
export interface UiToolEnd {
  toolCallId: string
  dynamic?: true
  providerExecuted?: true
  /** The result's `details`, for the application only. */
  toolMetadata?: { details: JsonValue }
}

/** A response's finish reason. `interrupted`: the run was stopped, or the event stream broke off. */
export type UiFinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'interrupted' | 'other'
