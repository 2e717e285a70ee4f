import type { JsonValue } from '../../contract/json.ts'
import { mediaFields } from '../../contract/message/block-words.ts'
import {
  type Content,
  type FileContent,
  type ImageContent,
  isMedia,
  type ServiceToolContent,
  type ToolCallContent,
} from '../../contract/message/content.ts'
import {
  type AgentMessage,
  type AssistantMessage,
  type MessageEnvelope,
  shownContent,
  type ToolResultMessage,
  text,
  textOf,
  type UserMessage,
} from '../../contract/message/message.ts'
import { isCut, noticeOf, notRunText, unansweredText } from '../shared/answers.ts'
import {
  type AgUiContentEvent,
  type AgUiEvent,
  type AgUiMediaType,
  type AgUiMessage,
  type AgUiPart,
  type AgUiSource,
  activityTypes,
} from './ag-ui-event.ts'

/**
 * Makes call ids unique within a conversation by numbering repeated ids. Some providers reuse ids in every response, and AG-UI clients
 * would confuse the calls.
 */
export class CallIds {
  readonly #counts = new Map<string, number>()
  readonly #services = new Map<string, string>()
  readonly #prefix: string

  /** `prefix` distinguishes the calls of different sub-agents. */
  constructor(prefix = '') {
    this.#prefix = prefix
  }

  /** Returns the id for a new call. */
  next(toolCallId: string): string {
    this.#counts.set(toolCallId, (this.#counts.get(toolCallId) ?? 0) + 1)
    return this.current(toolCallId)
  }

  /** Returns the id of the last call with this provider id. */
  current(toolCallId: string): string {
    const count = this.#counts.get(toolCallId) ?? 1
    return `${this.#prefix}${toolCallId}${count === 1 ? '' : `#${count}`}`
  }

  /** Returns the id of a provider-executed call. The id is new unless the call is still open from an earlier message. */
  service(toolCallId: string): { id: string; isNew: boolean } {
    const open = this.#services.get(toolCallId)
    if (open !== undefined) return { id: open, isNew: false }
    const id = this.next(toolCallId)
    this.#services.set(toolCallId, id)
    return { id, isNew: true }
  }

  /** Ends a call. A later block with the same provider id is a new call. */
  serviceEnded(toolCallId: string): void {
    this.#services.delete(toolCallId)
  }
}

/**
 * Converts a history to AG-UI messages, for `MESSAGES_SNAPSHOT` or as initial messages.
 *
 * **Contract**
 * - Ids equal those in run events, in every process: a message keeps its id, a thinking block gets `{message}:{index}`, and a result gets
 *   `{call}:result`.
 * - Provider-executed calls become calls with results. Images, files and sources of a response become activities after its message.
 * - Omits provider signatures and application messages.
 */
export function toAgUiMessages(messages: readonly AgentMessage[], ids: CallIds = new CallIds()): AgUiMessage[] {
  const shown: AgUiMessage[] = []
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'user' || message.role === 'assistant') {
      if (message.role === 'user')
        for (const id of open) shown.push(resultOf(id, { content: [{ type: 'text', text: unansweredText }], isError: true }))
      open = []
    }
    if (message.role === 'user') shown.push(userMessageOf(message))
    else if (message.role === 'toolResult') {
      const id = ids.current(message.toolCallId)
      open = open.filter((other) => other !== id)
      shown.push(resultOf(id, message))
    } else if (message.role === 'assistant') {
      const { calls, results } = callsIn(message, ids)
      shown.push(...answerOf(message, calls))
      for (const result of results) place(shown, result)
      shown.push(...activitiesOf(message.id, message.content))
      const own = calls.flatMap(({ block, id }) => (block.type === 'toolCall' ? [id] : []))
      if (isCut(message)) shown.push(...own.map(notRun))
      else open = own
    }
  }
  return shown
}

type ToolMessage = AgUiMessage & { role: 'tool' }

/** Returns an error result for a call that never ran. */
export function notRun(id: string): ToolMessage {
  return resultOf(id, { content: [{ type: 'text', text: notRunText }], isError: true })
}

/** Converts a user message. A runtime notice becomes a system message. */
export function userMessageOf(message: UserMessage & { id: string }): AgUiMessage & { role: 'user' | 'system' } {
  const notice = noticeOf(message)
  return notice === undefined
    ? { id: message.id, role: 'user', content: contentOf(message.content) }
    : { id: message.id, role: 'system', content: notice }
}

/** Converts a tool result. */
export function resultOf(
  id: string,
  { content, isError, outcome }: Pick<ToolResultMessage, 'content' | 'isError' | 'outcome'>,
): ToolMessage {
  const metadata = isError ? { metadata: { isError: true as const, ...(outcome !== undefined && { outcome }) } } : {}
  return { id: `${id}:result`, role: 'tool', toolCallId: id, content: contentOf(content), ...metadata }
}

/** Converts a result message to an event. */
export function resultEvent({ id: messageId, ...result }: ToolMessage): AgUiContentEvent {
  return { type: 'TOOL_CALL_RESULT', messageId, ...result }
}

/** Returns text, or parts if the content includes images or files. */
function contentOf(content: readonly Content[]): string | AgUiPart[] {
  if (!content.some(isMedia)) return textOf(content)
  return content.flatMap((block): AgUiPart[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }]
    return isMedia(block) ? mediaPart(block) : []
  })
}

/** Omits media without a source, such as media in the session store. */
function mediaPart(block: ImageContent | FileContent): AgUiPart[] {
  const { mimeType } = block
  const source = sourceOf(block)
  if (source === undefined) return []
  const name = block.type === 'file' ? block.name : undefined
  return [{ type: mediaTypeOf(mimeType), source, ...(name !== undefined && { metadata: { filename: name } }) }]
}

function sourceOf({ mimeType, data, url, fileId }: ImageContent | FileContent): AgUiSource | undefined {
  if (data !== undefined) return { type: 'data', value: data, mimeType }
  if (url !== undefined) return { type: 'url', value: url, mimeType }
  return fileId === undefined ? undefined : { type: 'file', value: fileId, mimeType }
}

function mediaTypeOf(mimeType: string): AgUiMediaType {
  const [kind] = mimeType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
}

/** Returns the model's original arguments text. */
export function argumentsText(block: ToolCallContent | ServiceToolContent): string {
  if (block.type === 'serviceTool') return JSON.stringify(block.input ?? {})
  return block.invalidArguments ?? JSON.stringify(block.arguments)
}

/**
 * Returns the result of a provider-executed call, or `undefined` while the call is open. `isUnfinished`: the response was truncated, so the
 * call never ends.
 */
export function serviceResultOf(id: string, block: ServiceToolContent, isUnfinished: boolean): ToolMessage | undefined {
  const { status, output, error } = block
  if (status === 'done') return resultOf(id, { content: [text(outputText(output))], isError: false })
  if (status === 'failed') return resultOf(id, { content: [text(error?.message ?? error?.code ?? 'failed')], isError: true })
  return isUnfinished ? notRun(id) : undefined
}

function outputText(output: JsonValue | undefined): string {
  return typeof output === 'string' ? output : output === undefined ? '' : JSON.stringify(output)
}

/** Returns the images, files and citations of a response as activities. */
export function activitiesOf(messageId: string, content: readonly Content[]): (AgUiMessage & { role: 'activity' })[] {
  const shown = content.flatMap((block, contentIndex): (AgUiMessage & { role: 'activity' })[] => {
    if (!isMedia(block)) return []
    const shownMedia = { messageId, contentIndex, ...mediaFields(block) }
    return [{ id: `${messageId}:${contentIndex}`, role: 'activity', activityType: `phi.${block.type}`, content: shownMedia }]
  })
  const sources = content.flatMap((block, contentIndex) =>
    block.type === 'text' ? (block.citations ?? []).map((citation) => ({ contentIndex, ...citation })) : [],
  )
  if (sources.length === 0) return shown
  return [...shown, { id: `${messageId}:sources`, role: 'activity', activityType: 'phi.sources', content: { messageId, sources } }]
}

/** Returns the id of a thinking block. */
export function reasoningId(messageId: string, contentIndex: number): string {
  return `${messageId}:${contentIndex}`
}

/** Inserts a result in the position that clients use: after its call and any results that follow the call. */
function place(shown: AgUiMessage[], result: ToolMessage): void {
  const call = shown.findLastIndex(
    (message) => message.role === 'assistant' && message.toolCalls?.some(({ id }) => id === result.toolCallId),
  )
  let at = call + 1
  while (shown[at]?.role === 'tool') at += 1
  shown.splice(at, 0, result)
}

/** A call with its id in client messages. */
interface ShownCall {
  block: ToolCallContent | ServiceToolContent
  id: string
}

/** Returns the calls in `message`, and results for provider-executed calls, including open calls from earlier messages. */
function callsIn(message: AssistantMessage, ids: CallIds): { calls: ShownCall[]; results: ToolMessage[] } {
  const calls: ShownCall[] = []
  const results: ToolMessage[] = []
  for (const block of message.content) {
    if (block.type === 'toolCall') calls.push({ block, id: ids.next(block.id) })
    if (block.type !== 'serviceTool') continue
    const { id, isNew } = ids.service(block.id)
    if (isNew) calls.push({ block, id })
    const result = serviceResultOf(id, block, isCut(message))
    if (result !== undefined) results.push(result)
    if (result !== undefined || block.needsApproval) ids.serviceEnded(block.id)
  }
  return { calls, results }
}

/** Returns the reasoning messages, and the assistant message at the position of its first text or call. */
function answerOf(message: AssistantMessage & MessageEnvelope, calls: ShownCall[]): AgUiMessage[] {
  const { id } = message
  const content = shownContent(message)
  const shown: AgUiMessage[] = []
  const responseText = textOf(content)
  const answer: AgUiMessage = {
    id,
    role: 'assistant',
    ...(responseText !== '' && { content: responseText }),
    ...(calls.length > 0 && {
      toolCalls: calls.map(({ block, id: callId }) => ({
        id: callId,
        type: 'function' as const,
        function: { name: block.name, arguments: argumentsText(block) },
      })),
    }),
  }
  for (const [index, block] of content.entries()) {
    if (block.type === 'thinking') {
      if (block.thinking !== '') shown.push({ id: reasoningId(id, index), role: 'reasoning', content: block.thinking })
    } else if (calls.some((call) => call.block === block) || (block.type === 'text' && block.text !== '')) {
      if (!shown.includes(answer)) shown.push(answer)
    }
  }
  return shown
}

/**
 * Returns a snapshot that replaces the client's whole conversation. Clients keep their reasoning messages unless the snapshot contains
 * one, so an empty one is added if necessary. Clients keep activities unless the snapshot's metadata replaces them.
 */
export function snapshotOf(messages: AgUiMessage[]): AgUiEvent & { type: 'MESSAGES_SNAPSHOT' } {
  return {
    type: 'MESSAGES_SNAPSHOT',
    messages: messages.some(({ role }) => role === 'reasoning')
      ? messages
      : [{ id: 'phi.reasoning', role: 'reasoning', content: '' }, ...messages],
    metadata: { '@ag-ui/client': { authoritativeActivityTypes: [...activityTypes] } },
  }
}
