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
import { editedArguments } from '../tool/edited-arguments.ts'
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

/** Content blocks. Callers may pass a string. */
const blocks: GivenShape<Content[], string | readonly Content[]> = written(listOf(content), aText, (given): Content[] => [text(given)])
const unknownName = filled(aText, () => 'unknown')

const userFields = {
  role: oneOf('user'),
  content: blocks,
  /** Epoch milliseconds. */
  timestamp: filled(aNumber, now),
}

/** Input from a user, or from a program on the user's behalf. */
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

/** One token's probability. */
export interface TokenLogprob extends FieldsOf<typeof tokenLogprobFields> {}
const tokenLogprob: ShapeOf<TokenLogprob> = object<TokenLogprob>(tokenLogprobFields)

const refusedMediaFields = {
  /** Hash of the media content, equal for copies of a block. */
  key: aText,
  /** The provider's reason, as sent to the model. */
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
  /** The provider's response id, for support and traces, if any. */
  responseId: optional(aText),
  /** Model name that the provider reports, such as a dated version, if any. */
  responseModel: optional(aText),
  /** Service tier as reported by the provider: `default`, `flex`, `priority`. */
  serviceTier: optional(aText),
  /** The model's refusal text. `stopReason` is then `guardRail`. If it was streamed as normal text, `content` contains it too. */
  refusal: optional(aText),
  /** Set if the `afterAnswer` hook refused the original text or replaced it. */
  guarded: optional(guarded),
  /** Location of the requested value in the JSON response. */
  outputForm: optional(outputForm),
  /** Token probabilities, if the provider reports them. */
  logprobs: optional(listOf(tokenLogprob)),
  /** Media that the provider rejected. The provider was then called without these media. Later requests to the model omit them too. */
  refusedMedia: optional(listOf(refusedMedia)),
  /** Provider state between requests, such as a container id. Sent back to the same provider and model. */
  providerState: optional(providerState),
  usage: filled(usage, emptyUsage),
  /** Epoch milliseconds. */
  timestamp: filled(aNumber, now),
  /** Error text for users, without secrets. Present if `stopReason` is `error` or `aborted`. */
  errorMessage: optional(aText),
}

/**
 * A model response. A failed or aborted response contains its partial content and the reason. The text of an aborted response is sent to
 * the model when a user message follows.
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
  /** Id of the sub-agent loop that produced this result. */
  childLoopId: optional(aText),
  /** Names of tools to offer, starting with the next request. */
  offers: optional(listOf(aText)),
  /** Whether to end the run after all calls of the same message. */
  endRun: optional(isTrue),
  /** Id of the background task that the call started. */
  backgroundId: optional(aText),
  /** Set on an error result that replaces a lost result, because the process ended during the call. The call's effect is unknown. */
  outcome: optional(callOutcome),
  /** Set if a person changed the arguments when approving the call. The call in the response keeps the model's arguments. */
  edited: optional(editedArguments),
}

/** The result of one tool call. */
export interface ToolResultMessage extends FieldsOf<typeof toolResultFields> {}

/** A message that models can see. Plain JSON, discriminated on `role`. Source: docs/concepts/messages.md */
export type Message = UserMessage | AssistantMessage | ToolResultMessage
export const message: ShapeOf<Message> = tagged('role', {
  user: object<UserMessage>(userFields),
  assistant: object<AssistantMessage>(assistantFields),
  toolResult: object<ToolResultMessage>(toolResultFields),
})

const turnIdFields = { loopId: aText, turnIndex: aNumber }

/** A message's turn. `turnIndex` is zero-based within its loop. */
export interface TurnId extends FieldsOf<typeof turnIdFields> {}
export const turnId: ShapeOf<TurnId> = object<TurnId>(turnIdFields)

const envelopeFields = {
  /** Unique within a history. Stable from `messageStart` to storage. */
  id: aText,
  turnId: optional(turnId),
  /** Overrides the derived provenance of this message in request captures (docs/concepts/messages.md). */
  provenanceHint: optional(blockProvenance),
  /** Position in the revert tree. Present only in revert mode. */
  nodeId: optional(aNumber),
  parentId: optional(aNumber),
  tags: optional(listOf(nodeTag)),
}

/** Fields that the runtime adds to a message. */
export interface MessageEnvelope extends FieldsOf<typeof envelopeFields> {}

const extensionFields = { role: oneOf('extension'), id: aText, kind: aText, data: json }

/** An application message, which is never sent to a model. Source: docs/concepts/messages.md */
export interface ExtensionMessage extends FieldsOf<typeof extensionFields> {}

/** A `Message` with its envelope fields. */
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

/** One entry of a history. Log entries from newer versions need only the fields that readers use. */
export const agentMessage: ShapeOf<AgentMessage> = tagged('role', {
  user: userEntry,
  assistant: answerEntry,
  toolResult: resultEntry,
  extension: object<ExtensionMessage>(extensionFields, ['id']),
})
/** An entry that models can see. */
export const llmMessage: ShapeOf<LlmMessage> = tagged('role', { user: userEntry, assistant: answerEntry, toolResult: resultEntry })
/** A response in the form that the journal records. */
export const assistantMessage: Shape = tagged('role', { assistant: answerEntry })
/** A tool result in the form that the journal records. */
export const toolResultMessage: Shape = tagged('role', { toolResult: resultEntry })

const anyEnvelope = { ...envelopeFields, id: optional(aText) }

const llmInputs = {
  user: fieldsOf({ ...userFields, ...anyEnvelope }),
  assistant: fieldsOf({ ...assistantFields, ...anyEnvelope }),
  toolResult: fieldsOf({ ...toolResultFields, ...anyEnvelope }),
}
/** An entry that models can see, with optional envelope fields. */
export const llmMessageInput = tagged('role', llmInputs)
/** A history entry whose id is optional. Callers may omit fields that have defaults. */
export const messageInput = withExpected(
  tagged('role', { ...llmInputs, extension: fieldsOf({ ...extensionFields, id: anyEnvelope.id }) }),
  "a text, or a message such as { role: 'user', content: 'hi' }",
)

/**
 * Message input, such as `{ role: 'user', content: 'hi' }`. Defaults: new `id`, current time, `stopReason`, zero `usage`, and `unknown` as
 * model and provider.
 */
export type MessageInput = Given<typeof messageInput>

/** Prompt input: text, one message or a list of messages, complete or with omitted fields. */
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

/** Creates an application message of this `kind`. `data` is any JSON value. */
export function extensionMessage(kind: string, data: JsonValue): ExtensionMessage {
  return { role: 'extension', id: newId(), kind, data }
}

/** Returns `message` if it has an id, otherwise a copy with a new id. */
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

/** Fields of any message. Only responses can have content outside their blocks. */
interface ShownMessage {
  content: Content[]
  refusal?: string | undefined
  errorMessage?: string | undefined
}

/**
 * Returns the content to show to users: the blocks, plus the refusal text if neither the blocks nor the error contain it. Without a
 * refusal, returns the same array.
 *
 * Source: docs/concepts/messages.md
 */
export function shownContent({ content, refusal, errorMessage }: ShownMessage): Content[] {
  if (refusal === undefined || refusal === '' || errorMessage?.includes(refusal) || textOf(content).includes(refusal)) return content
  return [...content, text(refusal)]
}

/** Returns the text of the last response that contains text, or an empty string. */
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

/** Returns whether a response contains only blank text: no calls and no thinking. */
export function isEmptyAnswer({ stopReason, content }: Pick<AssistantMessage, 'stopReason' | 'content'>): boolean {
  const isComplete = stopReason === 'stop' || stopReason === 'toolUse'
  return isComplete && content.every(isNothing)
}

/** Returns whether a block is thinking or blank text, so that a response of only such blocks counts as empty. */
function isNothing(block: Content): boolean {
  return block.type === 'thinking' || (block.type === 'text' && isBlank(block.text) && block.providerState === undefined)
}

function isBlank(text: string): boolean {
  return text.length <= maxLooked && text.trim() === ''
}

/** Returns the text and stop reason of the last response in `messages`, which contains the run's new messages. */
export function answerOf(status: string, messages: readonly AgentMessage[]): { text: string; stopReason?: StopReason; isEmpty?: true } {
  const last = messages.findLast((message) => message.role === 'assistant')
  if (last === undefined) return { text: '' }
  const { stopReason } = last
  return { text: textOf(shownContent(last)), stopReason, ...(status === 'completed' && isEmptyAnswer(last) && { isEmpty: true }) }
}

/** A tool call that this package must respond to: a call to one of its tools, or a provider-executed call that needs an approval. */
export interface AnswerableCall extends ToolCallContent {
  /** Set if the provider executes the call and only the approval is decided here. */
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

/** Returns whether `content` contains such calls, without allocating a list. */
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

/** Returns the id of the loop that added a message to the history, if known. */
export function loopIdOf(message: AgentMessage): string | undefined {
  return message.role === 'extension' ? undefined : message.turnId?.loopId
}
