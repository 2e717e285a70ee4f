import type { JsonValue } from '../json.ts'
import type { Usage } from '../model/usage.ts'
import type { NodeTag } from '../session/node-tag.ts'
import type { Content, ImageContent, TextContent, ToolCallContent } from './content.ts'
import { newId } from './ids.ts'
import type { BlockProvenance } from './provenance.ts'

/** Why a model stopped. Source: docs/concepts/messages.md */
export type StopReason =
  | 'stop'
  | 'length'
  | 'toolUse'
  | 'error'
  | 'aborted'
  | 'maxTurns'
  | 'userStop'
  | 'handoff'
  | 'guardRail'
  | 'contextCompacted'
  | 'paused'

/** What a person (or a program on their behalf) said. */
export interface UserMessage {
  role: 'user'
  content: Content[]
  /** Epoch ms. */
  timestamp: number
}

/** What a model answered. A failed or aborted answer keeps its partial content and says why; of an aborted one the text is sent once a user message follows. */
export interface AssistantMessage {
  role: 'assistant'
  content: Content[]
  stopReason: StopReason
  /** Model id as requested. */
  model: string
  /** Provider name, such as `anthropic`. */
  provider: string
  /** The service's own id of this answer, for its support and for traces; absent where it gave none. */
  responseId?: string
  /** The model that answered, as the service calls it: a dated one, say. Absent where it did not say. */
  responseModel?: string
  usage: Usage
  /** Epoch ms. */
  timestamp: number
  /** Present when `stopReason` is `error` or `aborted`: the text a person can act on, without secrets. */
  errorMessage?: string
}

/** What a tool returned for one call. */
export interface ToolResultMessage {
  role: 'toolResult'
  toolCallId: string
  toolName: string
  content: Content[]
  isError: boolean
  /** Epoch ms. */
  timestamp: number
  /** Loop a sub-agent ran to produce this result. */
  childLoopId?: string
}

/** A message a model can see. Plain JSON, discriminated on `role`. Source: docs/concepts/messages.md */
export type Message = UserMessage | AssistantMessage | ToolResultMessage

/** The turn a message belongs to. `turnIndex` counts from 0 within its loop. */
export interface TurnId {
  loopId: string
  turnIndex: number
}

/** What the runtime adds to a message, flattened onto it. */
export interface MessageEnvelope {
  /** Unique within a history; stable from `messageStart` to storage. */
  id: string
  turnId?: TurnId
  /** Overrides the derived provenance of this message in request captures (docs/concepts/messages.md). */
  provenanceHint?: BlockProvenance
  /** Position in the revert tree; present only in revert mode. */
  nodeId?: number
  parentId?: number
  tags?: NodeTag[]
}

/** A message of the application: never sent to a model by any function of ours. Source: docs/concepts/messages.md */
export interface ExtensionMessage {
  role: 'extension'
  id: string
  kind: string
  data: JsonValue
}

/** A `Message` with its envelope. */
export type LlmMessage = Message & MessageEnvelope

/** One entry of a history. */
export type AgentMessage = LlmMessage | ExtensionMessage

/** `Whole`, of which only `Needed` must be given, with `content` as blocks or as text. */
type Written<Whole extends Message, Needed extends keyof Whole> = Pick<Whole, Needed | 'role'> &
  Partial<Omit<Whole, Needed | 'content' | 'usage'>> &
  Partial<MessageEnvelope> & { content: string | readonly Content[] }

/**
 * A message as people write it: `{ role: 'user', content: 'hi' }`. What is left out is filled in: an id, the time, `stopReason`, `usage` of zero, and
 * `unknown` as the model that said it.
 */
export type MessageInput =
  | Written<UserMessage, 'role'>
  | (Written<AssistantMessage, 'role'> & { usage?: Partial<Usage> })
  | Written<ToolResultMessage, 'toolCallId' | 'toolName'>
  | (Omit<ExtensionMessage, 'id'> & { id?: string })

/** Anything a caller may hand in as input: text, one message, or a list of them, complete or as people write them. */
export type PromptInput = string | MessageInput | readonly MessageInput[]

/** Milliseconds since the epoch, as an integer. */
export function now(): number {
  return Date.now()
}

/** A user message of `text` and optional `images` (base64, no `data:` prefix), stamped now. */
export function userMessage(text: string, images: readonly ImageContent[] = []): UserMessage {
  const content: Content[] = text === '' && images.length > 0 ? [] : [{ type: 'text', text }]
  return { role: 'user', content: [...content, ...images], timestamp: now() }
}

/** An application message: `kind` says what it is, `data` is any JSON value. */
export function extensionMessage(kind: string, data: JsonValue): ExtensionMessage {
  return { role: 'extension', id: newId(), kind, data }
}

/** `message` with an id: the same object when it has one, else a copy with a new one. */
export function withId(message: Message | AgentMessage | Omit<ExtensionMessage, 'id'>): AgentMessage {
  return 'id' in message && message.id !== undefined ? message : { ...message, id: newId() }
}

/** True for entries a model may see, false for extensions. */
export function isLlmMessage(message: AgentMessage): message is LlmMessage {
  return message.role !== 'extension'
}

/** The text blocks of `content`, joined without a separator. */
export function textOf(content: readonly Content[]): string {
  let text = ''
  for (const block of content) if (block.type === 'text') text += block.text
  return text
}

/** The text of the last answer of a model that has any; empty where there is none. */
export function lastAnswerText(messages: readonly AgentMessage[]): string {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message?.role !== 'assistant') continue
    const said = textOf(message.content)
    if (said.trim() !== '') return said
  }
  return ''
}

/** Whether a model answered and said nothing: no call, no reasoning, and no text but blank. */
export function isEmptyAnswer({ stopReason, content }: Pick<AssistantMessage, 'stopReason' | 'content'>): boolean {
  const isSaid = stopReason === 'stop' || stopReason === 'toolUse'
  return isSaid && content.every((block) => block.type === 'text' && block.text.trim() === '' && block.providerState === undefined)
}

/** Whether the last answer of a model says nothing. */
export function endsEmpty(messages: readonly AgentMessage[]): boolean {
  const last = messages.findLast((message) => message.role === 'assistant')
  return last !== undefined && isEmptyAnswer(last)
}

/** The tool calls of `content`, in order. */
export function toolCallsOf(content: readonly Content[]): ToolCallContent[] {
  return content.filter((block) => block.type === 'toolCall')
}

/** One text block. */
export function text(value: string): TextContent {
  return { type: 'text', text: value }
}
