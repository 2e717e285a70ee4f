import { isJsonObject, type JsonValue } from '../json.ts'
import { outputForm } from '../model/request-settings.ts'
import { emptyUsage, usage } from '../model/usage.ts'
import {
  aFlag,
  aNumber,
  aText,
  type FieldsOf,
  fieldsOf,
  filled,
  type Given,
  type GivenShape,
  type Infer,
  isTrue,
  json,
  listOf,
  object,
  oneOf,
  optional,
  type Shape,
  type ShapeOf,
  tagged,
  withExpected,
  written,
} from '../shape/shape.ts'
import { callOutcome } from '../tool/tool-result.ts'
import {
  type Content,
  content,
  type ImageContent,
  providerState,
  type ServiceToolContent,
  type TextContent,
  type ToolCallContent,
} from './content.ts'
import { blockProvenance, newId, nodeTag } from './identity.ts'

/** Why a model stopped. */
export const stopReason = oneOf(
  'stop',
  'length',
  'toolUse',
  'error',
  'aborted',
  'maxTurns',
  'userStop',
  'handoff',
  'guardRail',
  'contextCompacted',
  'paused',
)
/** Reason why a model stopped. Source: docs/concepts/messages.md */
export type StopReason = Infer<typeof stopReason>

/** Content blocks; callers may pass a string. */
const blocks: GivenShape<Content[], string | readonly Content[]> = written(listOf(content), aText, (given): Content[] => [text(given)])
const unknownName = filled(aText, () => 'unknown')

const userFields = {
  role: oneOf('user'),
  content: blocks,
  /** Epoch milliseconds. */
  timestamp: filled(aNumber, now),
}

/** Input of a user, or of a program acting for one. */
export interface UserMessage extends FieldsOf<typeof userFields> {}

const likelyTokenFields = {
  token: aText,
  /** Natural logarithm of the token's probability. */
  logprob: aNumber,
}
const guarded = fieldsOf({
  verdict: oneOf('replaced', 'refused'),
  /** Why the response was refused. */
  reason: optional(aText),
  /** Whether the original text was already streamed to readers. */
  wasShown: aFlag,
})

const tokenLogprobFields = {
  ...likelyTokenFields,
  /** Most likely tokens at this position, if requested. */
  top: optional(listOf(object<FieldsOf<typeof likelyTokenFields>>(likelyTokenFields))),
}

/** Probability of one token. */
export interface TokenLogprob extends FieldsOf<typeof tokenLogprobFields> {}
const tokenLogprob: ShapeOf<TokenLogprob> = object<TokenLogprob>(tokenLogprobFields)

const refusedMediaFields = {
  /** Hash of the media content; equal for copies of a block. */
  key: aText,
  /** The provider's reason, as the model gets it. */
  reason: aText,
}

/** Media that a provider rejected, so that they are not sent again. */
export interface RefusedMedia extends FieldsOf<typeof refusedMediaFields> {}
const refusedMedia: ShapeOf<RefusedMedia> = object<RefusedMedia>(refusedMediaFields)

const assistantFields = {
  role: oneOf('assistant'),
  content: blocks,
  stopReason: filled(stopReason, (message: { content: readonly Content[] }) =>
    message.content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop',
  ),
  /** Model id as requested. */
  model: unknownName,
  /** Provider name, such as `anthropic`. */
  provider: unknownName,
  /** Response id of the provider, for support and traces; absent if it sends none. */
  responseId: optional(aText),
  /** Model that responded, as the provider names it, such as a dated version. Absent if it is not reported. */
  responseModel: optional(aText),
  /** Service tier used, in the provider's words: `default`, `flex`, `priority`. */
  serviceTier: optional(aText),
  /** Refusal text of the model; `stopReason` is `guardRail`. If streamed as a response, it is also a text block. */
  refusal: optional(aText),
  /** Set if the `afterAnswer` hook refused the original text or replaced it. */
  guarded: optional(guarded),
  /** Location of the requested value in the JSON response. */
  outputForm: optional(outputForm),
  /** Token probabilities, if the provider reports them. */
  logprobs: optional(listOf(tokenLogprob)),
  /**
   * Media that the provider rejected. This message is the response to the request without them; later requests to the model omit them too.
   */
  refusedMedia: optional(listOf(refusedMedia)),
  /** State that the provider keeps between requests, such as a container. Sent back to the same provider and model. */
  providerState: optional(providerState),
  usage: filled(usage, emptyUsage),
  /** Epoch milliseconds. */
  timestamp: filled(aNumber, now),
  /** Error text for users, without secrets. Present if `stopReason` is `error` or `aborted`. */
  errorMessage: optional(aText),
}

/**
 * A response of a model. A failed or aborted response keeps its partial content and the reason. The text of an aborted response is sent
 * once a user message follows.
 */
export interface AssistantMessage extends FieldsOf<typeof assistantFields> {}

const toolResultFields = {
  role: oneOf('toolResult'),
  toolCallId: aText,
  toolName: aText,
  content: blocks,
  isError: filled(aFlag, () => false),
  /** Epoch milliseconds. */
  timestamp: filled(aNumber, now),
  /** Loop of the sub-agent that produced this result. */
  childLoopId: optional(aText),
  /** Names of tools that are offered from now on. */
  offers: optional(listOf(aText)),
  /** Ends the run after all calls of its message. */
  endRun: optional(isTrue),
  /** Id of the background task that the call started. The task reports when it ends. */
  backgroundId: optional(aText),
  /** Set on an error result that replaces a lost one: the process ended during the call, so its effect is unknown. */
  outcome: optional(callOutcome),
}

/** Result of one tool call. */
export interface ToolResultMessage extends FieldsOf<typeof toolResultFields> {}

/** A message that models can see. Plain JSON, discriminated on `role`. Source: docs/concepts/messages.md */
export type Message = UserMessage | AssistantMessage | ToolResultMessage
export const message: ShapeOf<Message> = tagged('role', {
  user: object<UserMessage>(userFields),
  assistant: object<AssistantMessage>(assistantFields),
  toolResult: object<ToolResultMessage>(toolResultFields),
})

const turnIdFields = { loopId: aText, turnIndex: aNumber }

/** Turn of a message. `turnIndex` is zero-based within its loop. */
export interface TurnId extends FieldsOf<typeof turnIdFields> {}
export const turnId: ShapeOf<TurnId> = object<TurnId>(turnIdFields)

const envelopeFields = {
  /** Unique within a history; stable from `messageStart` to storage. */
  id: aText,
  turnId: optional(turnId),
  /** Overrides the derived provenance of this message in request captures (docs/concepts/messages.md). */
  provenanceHint: optional(blockProvenance),
  /** Position in the revert tree; only in revert mode. */
  nodeId: optional(aNumber),
  parentId: optional(aNumber),
  tags: optional(listOf(nodeTag)),
}

/** Fields that the runtime adds to a message. */
export interface MessageEnvelope extends FieldsOf<typeof envelopeFields> {}

const extensionFields = { role: oneOf('extension'), id: aText, kind: aText, data: json }

/** A message of the application. This package never sends it to a model. Source: docs/concepts/messages.md */
export interface ExtensionMessage extends FieldsOf<typeof extensionFields> {}

/** A `Message` with its envelope. */
export type LlmMessage = Message & MessageEnvelope

/** One entry of a history. */
export type AgentMessage = LlmMessage | ExtensionMessage

type InHistory<M extends Message> = M & MessageEnvelope
const userEntry = object<InHistory<UserMessage>>({ ...userFields, ...envelopeFields }, ['id', 'content'])
const answerEntry = object<InHistory<AssistantMessage>>({ ...assistantFields, ...envelopeFields }, ['id', 'content', 'usage'])
/** A tool result in a history. */
export const resultEntry: ShapeOf<InHistory<ToolResultMessage>> = object<InHistory<ToolResultMessage>>(
  { ...toolResultFields, ...envelopeFields },
  ['id', 'content', 'toolCallId'],
)

/** One entry of a history. Entries of newer versions in a log need only the fields that readers rely on. */
export const agentMessage: ShapeOf<AgentMessage> = tagged('role', {
  user: userEntry,
  assistant: answerEntry,
  toolResult: resultEntry,
  extension: object<ExtensionMessage>(extensionFields, ['id']),
})
/** An entry that models can see. */
export const llmMessage: ShapeOf<LlmMessage> = tagged('role', { user: userEntry, assistant: answerEntry, toolResult: resultEntry })
/** A response as the journal records it. */
export const assistantMessage: Shape = tagged('role', { assistant: answerEntry })
/** A tool result as the journal records it. */
export const toolResultMessage: Shape = tagged('role', { toolResult: resultEntry })

const anyEnvelope = { ...envelopeFields, id: optional(aText) }

const llmInputs = {
  user: fieldsOf({ ...userFields, ...anyEnvelope }),
  assistant: fieldsOf({ ...assistantFields, ...anyEnvelope }),
  toolResult: fieldsOf({ ...toolResultFields, ...anyEnvelope }),
}
/** An entry that models can see, with optional envelope fields. */
export const llmMessageInput = tagged('role', llmInputs)
/** An entry of a history without required id; callers may omit fields with defaults. */
export const messageInput = withExpected(
  tagged('role', { ...llmInputs, extension: fieldsOf({ ...extensionFields, id: anyEnvelope.id }) }),
  "a text, or a message such as { role: 'user', content: 'hi' }",
)

/**
 * A message as callers write it: `{ role: 'user', content: 'hi' }`. Defaults: new `id`, current time, `stopReason`, zero `usage`, and
 * `unknown` as model and provider.
 */
export type MessageInput = Given<typeof messageInput>

/** Input of a caller: text, one message, or a list of messages, complete or abbreviated. */
export type PromptInput = string | MessageInput | readonly MessageInput[]

/** Returns the current time in integer epoch milliseconds. */
export function now(): number {
  return Date.now()
}

/** Creates a user message from `text` and optional `images` (base64 without a `data:` prefix), with the current time. */
export function userMessage(text: string, images: readonly ImageContent[] = []): UserMessage {
  const content: Content[] = text === '' && images.length > 0 ? [] : [{ type: 'text', text }]
  return { role: 'user', content: [...content, ...images], timestamp: now() }
}

/** Creates an extension message of the application: `kind` identifies it, `data` is any JSON value. */
export function extensionMessage(kind: string, data: JsonValue): ExtensionMessage {
  return { role: 'extension', id: newId(), kind, data }
}

/** Returns `message` if it has an id, else a copy with a new id. */
export function withId(message: Message | AgentMessage | Omit<ExtensionMessage, 'id'>): AgentMessage {
  return 'id' in message && message.id !== undefined ? message : { ...message, id: newId() }
}

/** Returns true for entries that models can see, false for extensions. */
export function isLlmMessage(message: AgentMessage): message is LlmMessage {
  return message.role !== 'extension'
}

/** Returns whether a user message is the report of a background task. */
export function isReport({ provenanceHint }: Pick<MessageEnvelope, 'provenanceHint'>): boolean {
  return provenanceHint?.kind === 'background'
}

/** Returns the index of the last user message at or before `until`, or -1. */
export function lastPromptIndex(messages: readonly AgentMessage[], until = messages.length): number {
  return messages.findLastIndex((message, at) => message.role === 'user' && !isReport(message) && at <= until)
}

/** Returns the text blocks of `content`, joined without a separator. */
export function textOf(content: readonly Content[]): string {
  let text = ''
  for (const block of content) if (block.type === 'text') text += block.text
  return text
}

/** Any message; only responses have more than their blocks to show. */
interface ShownMessage {
  content: Content[]
  refusal?: string | undefined
  errorMessage?: string | undefined
}

/**
 * Returns the content to show to users: the blocks, plus the refusal as text if neither they nor the error contain it. Returns the same
 * array without a refusal.
 *
 * Source: docs/concepts/messages.md
 */
export function shownContent({ content, refusal, errorMessage }: ShownMessage): Content[] {
  if (refusal === undefined || refusal === '' || errorMessage?.includes(refusal) || textOf(content).includes(refusal)) return content
  return [...content, text(refusal)]
}

/** Returns the text of the last response that has any, or an empty string. */
export function lastAnswerText(messages: readonly AgentMessage[]): string {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message?.role !== 'assistant') continue
    const shownText = textOf(shownContent(message))
    if (shownText.trim() !== '') return shownText
  }
  return ''
}

/** Maximum characters to check for blank text, because the check flattens the string. */
const maxLooked = 10_000

/** Returns whether a response is empty: no call, no thinking, only blank text. */
export function isEmptyAnswer({ stopReason, content }: Pick<AssistantMessage, 'stopReason' | 'content'>): boolean {
  const isComplete = stopReason === 'stop' || stopReason === 'toolUse'
  return isComplete && content.every(isNothing)
}

/** A response of thinking alone counts as empty. */
function isNothing(block: Content): boolean {
  return block.type === 'thinking' || (block.type === 'text' && isBlank(block.text) && block.providerState === undefined)
}

function isBlank(text: string): boolean {
  return text.length <= maxLooked && text.trim() === ''
}

/** Returns the text and stop reason of the last response among `messages`, which the run added. */
export function answerOf(status: string, messages: readonly AgentMessage[]): { text: string; stopReason?: StopReason; isEmpty?: true } {
  const last = messages.findLast((message) => message.role === 'assistant')
  if (last === undefined) return { text: '' }
  const { stopReason } = last
  return { text: textOf(shownContent(last)), stopReason, ...(status === 'completed' && isEmptyAnswer(last) && { isEmpty: true }) }
}

/** A tool call that this package must respond to: a call of a tool, or a provider-executed call that needs an approval. */
export interface AnswerableCall extends ToolCallContent {
  /** Only the approval is decided here; the provider executes the call. */
  isOfService?: true
}

/** Returns the calls of `content` that this package must respond to, in order. */
export function callsToAnswer(content: readonly Content[]): AnswerableCall[] {
  const calls: AnswerableCall[] = []
  for (const block of content) {
    if (block.type === 'toolCall') calls.push(block)
    else if (isToAnswer(block)) calls.push(callOfService(block))
  }
  return calls
}

/** Returns whether there are any, without allocating a list. */
export function hasCallsToAnswer(content: readonly Content[]): boolean {
  return content.some(isToAnswer)
}

function isToAnswer(block: Content): block is ToolCallContent | ServiceToolContent {
  return block.type === 'toolCall' || (block.type === 'serviceTool' && block.needsApproval === true)
}

function callOfService({ id, name, input }: ServiceToolContent): AnswerableCall {
  return { type: 'toolCall', id, name, arguments: isJsonObject(input) ? input : { input: input ?? null }, isOfService: true }
}

/** Returns the tool calls of `content`, in order. */
export function toolCallsOf(content: readonly Content[]): ToolCallContent[] {
  return content.filter((block) => block.type === 'toolCall')
}

/** Creates a text block. */
export function text(value: string): TextContent {
  return { type: 'text', text: value }
}

/** Returns the loop that added a message to the history, or `undefined`. */
export function loopIdOf(message: AgentMessage): string | undefined {
  return message.role === 'extension' ? undefined : message.turnId?.loopId
}
