import type { Content, ToolCallContent } from '../../contract/message/content.ts'
import {
  type AgentMessage,
  type AssistantMessage,
  type MessageEnvelope,
  type ToolResultMessage,
  textOf,
  toolCallsOf,
  type UserMessage,
} from '../../contract/message/message.ts'
import { isCut, noticeOf, notRunText, unansweredText } from '../shared/answers.ts'
import type { AgUiMessage, AgUiPart } from './ag-ui-event.ts'

/**
 * Ids of calls that are unique in a conversation. Some services number their calls from 0 in every answer; a client of AG-UI would take the second
 * one for the first. An id that comes again gets a number.
 */
export class CallIds {
  readonly #counts = new Map<string, number>()
  readonly #prefix: string

  /** `prefix` tells the calls of a sub-agent from those of others. */
  constructor(prefix = '') {
    this.#prefix = prefix
  }

  /** The id of a new call. */
  next(toolCallId: string): string {
    this.#counts.set(toolCallId, (this.#counts.get(toolCallId) ?? 0) + 1)
    return this.current(toolCallId)
  }

  /** The id of the last call that the service gave this one. */
  current(toolCallId: string): string {
    const count = this.#counts.get(toolCallId) ?? 1
    return `${this.#prefix}${toolCallId}${count === 1 ? '' : `#${count}`}`
  }
}

/**
 * A history as a client of AG-UI keeps it, for `MESSAGES_SNAPSHOT`, or to begin with.
 *
 * **Contract**
 * - Ids are those that the events of the runs have, in every process: a message has its own, a thought `{message}:{index}`, a result
 *   `{call}:result`.
 * - Signatures of services and messages of the application are not shown, nor images that a model made.
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
      const calls = toolCallsOf(message.content).map((call) => ({ call, id: ids.next(call.id) }))
      shown.push(...answerOf(message, calls))
      if (isCut(message)) shown.push(...calls.map(({ id }) => notRun(id)))
      else open = calls.map(({ id }) => id)
    }
  }
  return shown
}

/** The answer to a call that was never run. */
export function notRun(id: string): AgUiMessage & { role: 'tool' } {
  return resultOf(id, { content: [{ type: 'text', text: notRunText }], isError: true })
}

/** What a person said, or the runtime in their name. */
export function userMessageOf(message: UserMessage & { id: string }): AgUiMessage & { role: 'user' | 'system' } {
  const notice = noticeOf(message)
  return notice === undefined
    ? { id: message.id, role: 'user', content: contentOf(message.content) }
    : { id: message.id, role: 'system', content: notice }
}

/** What a tool gave back. */
export function resultOf(id: string, { content, isError }: Pick<ToolResultMessage, 'content' | 'isError'>): AgUiMessage & { role: 'tool' } {
  return { id: `${id}:result`, role: 'tool', toolCallId: id, content: contentOf(content), ...(isError && { metadata: { isError: true } }) }
}

/** Text alone, or parts where there are images. */
function contentOf(content: readonly Content[]): string | AgUiPart[] {
  if (!content.some(({ type }) => type === 'image')) return textOf(content)
  return content.flatMap((block): AgUiPart[] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }]
    return block.type === 'image' && block.data !== undefined
      ? [{ type: 'image', source: { type: 'data', value: block.data, mimeType: block.mimeType } }]
      : []
  })
}

/** The arguments as the model wrote them. */
export function argumentsText({ arguments: args, invalidArguments }: ToolCallContent): string {
  return invalidArguments ?? JSON.stringify(args)
}

/** The id of a thought. */
export function reasoningId(messageId: string, contentIndex: number): string {
  return `${messageId}:${contentIndex}`
}

/** Thoughts, and the message itself where its first text or call is. */
function answerOf({ id, content }: AssistantMessage & MessageEnvelope, calls: { call: ToolCallContent; id: string }[]): AgUiMessage[] {
  const shown: AgUiMessage[] = []
  const text = textOf(content)
  const answer: AgUiMessage = {
    id,
    role: 'assistant',
    ...(text !== '' && { content: text }),
    ...(calls.length > 0 && {
      toolCalls: calls.map(({ call, id: callId }) => ({
        id: callId,
        type: 'function' as const,
        function: { name: call.name, arguments: argumentsText(call) },
      })),
    }),
  }
  for (const [index, block] of content.entries()) {
    if (block.type === 'thinking') {
      if (block.thinking !== '') shown.push({ id: reasoningId(id, index), role: 'reasoning', content: block.thinking })
    } else if (block.type === 'toolCall' || (block.type === 'text' && block.text !== '')) {
      if (!shown.includes(answer)) shown.push(answer)
    }
  }
  return shown
}

/**
 * Clients keep the thoughts they have unless a snapshot holds some: what they had of a run that is shown again would then be doubled. So there is
 * always one, if only an empty one.
 */
export function snapshotOf(messages: AgUiMessage[]): AgUiMessage[] {
  return messages.some(({ role }) => role === 'reasoning')
    ? messages
    : [{ id: 'phi.reasoning', role: 'reasoning', content: '' }, ...messages]
}
