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
  toldAs,
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

/** Why a model stopped, in words. */
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
/** Why a model stopped. Source: docs/concepts/messages.md */
export type StopReason = Infer<typeof stopReason>

/** Blocks, for which a caller may write text. */
const blocks: GivenShape<Content[], string | readonly Content[]> = written(listOf(content), aText, (said): Content[] => [text(said)])
const unknownName = filled(aText, () => 'unknown')

const userFields = {
  role: oneOf('user'),
  content: blocks,
  /** Epoch ms. */
  timestamp: filled(aNumber, now),
}

/** What a person (or a program on their behalf) said. */
export interface UserMessage extends FieldsOf<typeof userFields> {}

const likelyTokenFields = {
  token: aText,
  /** Natural logarithm of its probability. */
  logprob: aNumber,
}
const guarded = fieldsOf({
  verdict: oneOf('replaced', 'refused'),
  /** Why it was refused. */
  reason: optional(aText),
  /** What the model had said was streamed before: whoever watched has seen it. */
  wasShown: aFlag,
})

const tokenLogprobFields = {
  ...likelyTokenFields,
  /** The likeliest at its place, where they were asked for. */
  top: optional(listOf(object<FieldsOf<typeof likelyTokenFields>>(likelyTokenFields))),
}

/** How likely one token was. */
export interface TokenLogprob extends FieldsOf<typeof tokenLogprobFields> {}
const tokenLogprob: ShapeOf<TokenLogprob> = object<TokenLogprob>(tokenLogprobFields)

const refusedMediaFields = {
  /** A hash of what the media contain: the same for each copy of the block. */
  key: aText,
  /** What the service said, as the model is told it. */
  reason: aText,
}

/** Media that a service refused, so that they are not sent to it again. */
export interface RefusedMedia extends FieldsOf<typeof refusedMediaFields> {}
const refusedMedia: ShapeOf<RefusedMedia> = object<RefusedMedia>(refusedMediaFields)

const assistantFields = {
  role: oneOf('assistant'),
  content: blocks,
  stopReason: filled(stopReason, (said: { content: readonly Content[] }) =>
    said.content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop',
  ),
  /** Model id as requested. */
  model: unknownName,
  /** Provider name, such as `anthropic`. */
  provider: unknownName,
  /** The service's own id of this answer, for its support and for traces; absent where it gave none. */
  responseId: optional(aText),
  /** The model that answered, as the service calls it: a dated one, say. Absent where it did not say. */
  responseModel: optional(aText),
  /** How the service handled the request, as it calls that: `default`, `flex`, `priority`. */
  serviceTier: optional(aText),
  /** What the model said in place of an answer it refused; `stopReason` is `guardRail`. Where it came as an answer it is also text. */
  refusal: optional(aText),
  /** The `afterAnswer` hook said no to what the model had said, or gave other words. */
  guarded: optional(guarded),
  /** Where in its text the answer stands, where JSON was asked for. */
  outputForm: optional(outputForm),
  /** How likely each token of the text was, where the service says so. */
  logprobs: optional(listOf(tokenLogprob)),
  /** Media that the service refused. This is the response to the request without them. Later requests to its model leave them out, too. */
  refusedMedia: optional(listOf(refusedMedia)),
  /** What the service keeps between requests, such as a container: it is sent back to the same service and model. */
  providerState: optional(providerState),
  usage: filled(usage, emptyUsage),
  /** Epoch ms. */
  timestamp: filled(aNumber, now),
  /** Present when `stopReason` is `error` or `aborted`: the text a person can act on, without secrets. */
  errorMessage: optional(aText),
}

/** What a model answered. A failed or aborted answer keeps its partial content and says why; of an aborted one the text is sent once a user message follows. */
export interface AssistantMessage extends FieldsOf<typeof assistantFields> {}

const toolResultFields = {
  role: oneOf('toolResult'),
  toolCallId: aText,
  toolName: aText,
  content: blocks,
  isError: filled(aFlag, () => false),
  /** Epoch ms. */
  timestamp: filled(aNumber, now),
  /** Loop a sub-agent ran to produce this result. */
  childLoopId: optional(aText),
  /** Names of tools that are offered from then on. */
  offers: optional(listOf(aText)),
  /** Ends the run, once all calls of its message have ended. */
  endRun: optional(isTrue),
  /** What the call began goes on beside the run, under this id, and reports when it has ended. */
  backgroundId: optional(aText),
  /** The result was made up, with `isError`: its process ended while the call ran, and nobody knows what it did. */
  outcome: optional(callOutcome),
}

/** What a tool returned for one call. */
export interface ToolResultMessage extends FieldsOf<typeof toolResultFields> {}

/** A message a model can see. Plain JSON, discriminated on `role`. Source: docs/concepts/messages.md */
export type Message = UserMessage | AssistantMessage | ToolResultMessage
export const message: ShapeOf<Message> = tagged('role', {
  user: object<UserMessage>(userFields),
  assistant: object<AssistantMessage>(assistantFields),
  toolResult: object<ToolResultMessage>(toolResultFields),
})

const turnIdFields = { loopId: aText, turnIndex: aNumber }

/** The turn a message belongs to. `turnIndex` counts from 0 within its loop. */
export interface TurnId extends FieldsOf<typeof turnIdFields> {}
export const turnId: ShapeOf<TurnId> = object<TurnId>(turnIdFields)

const envelopeFields = {
  /** Unique within a history; stable from `messageStart` to storage. */
  id: aText,
  turnId: optional(turnId),
  /** Overrides the derived provenance of this message in request captures (docs/concepts/messages.md). */
  provenanceHint: optional(blockProvenance),
  /** Position in the revert tree; present only in revert mode. */
  nodeId: optional(aNumber),
  parentId: optional(aNumber),
  tags: optional(listOf(nodeTag)),
}

/** What the runtime adds to a message, flattened onto it. */
export interface MessageEnvelope extends FieldsOf<typeof envelopeFields> {}

const extensionFields = { role: oneOf('extension'), id: aText, kind: aText, data: json }

/** A message of the application: never sent to a model by any function of ours. Source: docs/concepts/messages.md */
export interface ExtensionMessage extends FieldsOf<typeof extensionFields> {}

/** A `Message` with its envelope. */
export type LlmMessage = Message & MessageEnvelope

/** One entry of a history. */
export type AgentMessage = LlmMessage | ExtensionMessage

type InHistory<M extends Message> = M & MessageEnvelope
const userEntry = object<InHistory<UserMessage>>({ ...userFields, ...envelopeFields }, ['id', 'content'])
const answerEntry = object<InHistory<AssistantMessage>>({ ...assistantFields, ...envelopeFields }, ['id', 'content', 'usage'])
/** A result in a history. */
export const resultEntry: ShapeOf<InHistory<ToolResultMessage>> = object<InHistory<ToolResultMessage>>(
  { ...toolResultFields, ...envelopeFields },
  ['id', 'content', 'toolCallId'],
)

/** One entry of a history. Of one of another version in a log, as much must fit as readers of a history rely on. */
export const agentMessage: ShapeOf<AgentMessage> = tagged('role', {
  user: userEntry,
  assistant: answerEntry,
  toolResult: resultEntry,
  extension: object<ExtensionMessage>(extensionFields, ['id']),
})
/** One that a model may see. */
export const llmMessage: ShapeOf<LlmMessage> = tagged('role', { user: userEntry, assistant: answerEntry, toolResult: resultEntry })
/** An answer, as the journal has it. */
export const assistantMessage: Shape = tagged('role', { assistant: answerEntry })
/** A result, as the journal has it. */
export const toolResultMessage: Shape = tagged('role', { toolResult: resultEntry })

const anyEnvelope = { ...envelopeFields, id: optional(aText) }

const llmInputs = {
  user: fieldsOf({ ...userFields, ...anyEnvelope }),
  assistant: fieldsOf({ ...assistantFields, ...anyEnvelope }),
  toolResult: fieldsOf({ ...toolResultFields, ...anyEnvelope }),
}
/** One that a model may see, with those extras that it has. */
export const llmMessageInput = tagged('role', llmInputs)
/** One entry of a history that may have no id yet; a caller may leave out what can be filled in. */
export const messageInput = toldAs(
  tagged('role', { ...llmInputs, extension: fieldsOf({ ...extensionFields, id: anyEnvelope.id }) }),
  "a text, or a message such as { role: 'user', content: 'hi' }",
)

/**
 * A message as people write it: `{ role: 'user', content: 'hi' }`. What is left out is filled in: an id, the time, `stopReason`, `usage` of zero, and
 * `unknown` as the model that said it.
 */
export type MessageInput = Given<typeof messageInput>

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

/** Whether a message in the place of a user's is the report of what went on beside the run: a tool's words, not a person's. */
export function isReport({ provenanceHint }: Pick<MessageEnvelope, 'provenanceHint'>): boolean {
  return provenanceHint?.kind === 'background'
}

/** Where the last thing stands that a user said, at `until` or before; -1 for nothing. */
export function lastSaidAt(messages: readonly AgentMessage[], until = messages.length): number {
  return messages.findLastIndex((message, at) => message.role === 'user' && !isReport(message) && at <= until)
}

/** The text blocks of `content`, joined without a separator. */
export function textOf(content: readonly Content[]): string {
  let text = ''
  for (const block of content) if (block.type === 'text') text += block.text
  return text
}

/** Any message: only answers have more than their blocks to show. */
interface ShownMessage {
  content: Content[]
  refusal?: string | undefined
  errorMessage?: string | undefined
}

/**
 * What a person is shown of a message: its blocks, and behind them its refusal as a text, where neither they nor its error say it. The same list where there is
 * none.
 *
 * Source: docs/concepts/messages.md
 */
export function shownContent({ content, refusal, errorMessage }: ShownMessage): Content[] {
  if (refusal === undefined || refusal === '' || errorMessage?.includes(refusal) || textOf(content).includes(refusal)) return content
  return [...content, text(refusal)]
}

/** The text of the last answer of a model that has any; empty where there is none. */
export function lastAnswerText(messages: readonly AgentMessage[]): string {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message?.role !== 'assistant') continue
    const said = textOf(shownContent(message))
    if (said.trim() !== '') return said
  }
  return ''
}

/** Characters of a text that is looked at for blanks: to look joins the pieces that it came in. A model that writes blanks without end meets its output limit. */
const maxLooked = 10_000

/** Whether a model answered and said nothing: no call, no reasoning, and no text but blank. */
export function isEmptyAnswer({ stopReason, content }: Pick<AssistantMessage, 'stopReason' | 'content'>): boolean {
  const isSaid = stopReason === 'stop' || stopReason === 'toolUse'
  return isSaid && content.every(isNothing)
}

/** Thinking alone says nothing to whoever asked. */
function isNothing(block: Content): boolean {
  return block.type === 'thinking' || (block.type === 'text' && isBlank(block.text) && block.providerState === undefined)
}

function isBlank(text: string): boolean {
  return text.length <= maxLooked && text.trim() === ''
}

/** What the result of a run says of the last answer among `messages`, which it added. */
export function answerOf(status: string, messages: readonly AgentMessage[]): { text: string; stopReason?: StopReason; isEmpty?: true } {
  const last = messages.findLast((message) => message.role === 'assistant')
  if (last === undefined) return { text: '' }
  const { stopReason } = last
  return { text: textOf(shownContent(last)), stopReason, ...(status === 'completed' && isEmptyAnswer(last) && { isEmpty: true }) }
}

/** A call that something of ours must answer: a call of a tool, or one of a tool of the service that waits for a person's decision. */
export interface AnswerableCall extends ToolCallContent {
  /** Only the decision is ours; the service runs it. */
  isOfService?: true
}

/** The calls of `content` that something of ours must answer, in order. */
export function callsToAnswer(content: readonly Content[]): AnswerableCall[] {
  const calls: AnswerableCall[] = []
  for (const block of content) {
    if (block.type === 'toolCall') calls.push(block)
    else if (isToAnswer(block)) calls.push(callOfService(block))
  }
  return calls
}

/** Whether there are any: asked for each answer, so that no list is made of it. */
export function hasCallsToAnswer(content: readonly Content[]): boolean {
  return content.some(isToAnswer)
}

function isToAnswer(block: Content): block is ToolCallContent | ServiceToolContent {
  return block.type === 'toolCall' || (block.type === 'serviceTool' && block.needsApproval === true)
}

function callOfService({ id, name, input }: ServiceToolContent): AnswerableCall {
  return { type: 'toolCall', id, name, arguments: isJsonObject(input) ? input : { input: input ?? null }, isOfService: true }
}

/** The tool calls of `content`, in order. */
export function toolCallsOf(content: readonly Content[]): ToolCallContent[] {
  return content.filter((block) => block.type === 'toolCall')
}

/** One text block. */
export function text(value: string): TextContent {
  return { type: 'text', text: value }
}

/** The loop in which a message came into the history; `undefined` where none says so. */
export function loopIdOf(message: AgentMessage): string | undefined {
  return message.role === 'extension' ? undefined : message.turnId?.loopId
}
