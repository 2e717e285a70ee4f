import type { JsonObject } from '../../../contract/json.ts'
import type { Content, ToolCallContent } from '../../../contract/message/content.ts'
import { newId } from '../../../contract/message/identity.ts'
import { type AssistantMessage, now, type ToolResultMessage, text, type UserMessage } from '../../../contract/message/message.ts'
import type { ResponseFormat } from '../../../contract/model/request-settings.ts'
import { emptyUsage } from '../../../contract/model/usage.ts'
import { textContent, userContent } from './caller-content.ts'
import { refuse } from './caller-fault.ts'
import type { CallerSetting } from './caller-settings.ts'
import type { CallerTool } from './caller-tools.ts'

/** Handling of the caller's instructions: as a user message, or appended to the system prompt. */
export type InstructionsPlace = 'asUser' | 'append'

/** Options for parsing a request. */
export interface ReadOptions {
  /** Handling of system and developer messages, and of `instructions`. Default: `asUser`. */
  callerInstructions?: InstructionsPlace
  /**
   * Whether the server stores the conversation, so that a request may contain results without their calls. The default depends on the
   * request.
   */
  isKept?: boolean
}

/** A message in a request, with an assigned id. */
export type CallerMessage = (UserMessage | AssistantMessage | ToolResultMessage) & { id: string }

/** Content that both OpenAI request formats have in common. */
export interface CallerRequest {
  /** Agent name. */
  model: string
  isStreamed: boolean
  /** The conversation as sent by the caller. Assistant messages are unverified. */
  messages: CallerMessage[]
  /** The messages after the last response. For a stored conversation, the server already has the earlier messages. */
  newest: CallerMessage[]
  /** Additional system prompt, if the server allows it. */
  instructions: string
  tools: CallerTool[]
  settings: CallerSetting[]
  responseFormat?: ResponseFormat
}

/** Parses a conversation. Like OpenAI, rejects results without a call and calls without a result. */
export class CallerConversation {
  readonly messages: CallerMessage[] = []
  readonly #place: InstructionsPlace
  readonly #instructions: string[] = []
  /** Index of the first new message. */
  #newestAt = 0
  /** Location of the first result whose call is not in the request. */
  #orphan: string | undefined
  /** Calls without a result, by id. */
  readonly #open = new Map<string, string>()

  constructor({ callerInstructions = 'asUser' }: ReadOptions) {
    this.#place = callerInstructions
  }

  get instructions(): string {
    return this.#instructions.join('\n\n')
  }

  get newest(): CallerMessage[] {
    return this.messages.slice(this.#newestAt)
  }

  /** Marks all messages so far as answered by a response. */
  answered(): void {
    this.#newestAt = this.messages.length
  }

  instruct(instruction: string): void {
    if (instruction.trim() === '') return
    if (this.#place === 'append') this.#instructions.push(instruction)
    else this.user([text(`[Instructions of the caller]\n${instruction}`)])
  }

  user(content: Content[]): void {
    this.messages.push({ role: 'user', content, timestamp: now(), id: newId() })
  }

  /** Adds an assistant's text and calls to the caller's tools. Merges consecutive parts of one response. */
  assistant(responseText: string, calls: ToolCallContent[], param: string): void {
    for (const { id, name } of calls) {
      if (this.#open.has(id)) refuse(param, `Two calls have the id ${JSON.stringify(id.slice(0, 100))}.`)
      this.#open.set(id, name)
    }
    const content: Content[] = [...(responseText === '' ? [] : [text(responseText)]), ...calls]
    const last = this.messages.at(-1)
    if (last?.role === 'assistant') last.content.push(...content)
    else if (content.length > 0) this.messages.push(answer(content))
    this.answered()
  }

  result(toolCallId: string, content: Content[], param: string): void {
    const toolName = this.#open.get(toolCallId) ?? 'unknown'
    if (!this.#open.delete(toolCallId)) this.#orphan ??= param
    this.messages.push({ role: 'toolResult', toolCallId, toolName, content, isError: false, timestamp: now(), id: newId() })
  }

  /** Rejects a conversation that a model cannot respond to. `param` is the field name; `isKept`: the server stores the conversation. */
  end(param: string, isKept: boolean): void {
    if (this.#orphan !== undefined && !isKept) refuse(this.#orphan, `${this.#orphan} has no matching call before it.`)
    const [unanswered] = this.#open.keys()
    if (unanswered !== undefined) refuse(param, `The call ${JSON.stringify(unanswered.slice(0, 100))} has no result.`)
    if (this.messages.length === 0) refuse(param, `${param} is empty.`)
    if (this.messages.at(-1)?.role === 'assistant')
      refuse(param, `${param} ends with an assistant message. End it with a user or tool message.`)
  }
}

function answer(content: Content[]): AssistantMessage & { id: string } {
  const stopReason = content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop'
  const unknown = 'unknown'
  return { role: 'assistant', content, stopReason, model: unknown, provider: unknown, usage: emptyUsage(), timestamp: now(), id: newId() }
}

/** Adds a message by role. `calls` contains the calls of an assistant message. Rejects an unknown role. */
export function addSpoken(conversation: CallerConversation, { role, content }: JsonObject, calls: ToolCallContent[], param: string): void {
  switch (role) {
    case 'system':
    case 'developer':
      conversation.instruct(textContent(content, `${param}.content`))
      return
    case 'user':
      conversation.user(userContent(content, `${param}.content`))
      return
    case 'assistant':
      conversation.assistant(textContent(content, `${param}.content`), calls, param)
      return
    default:
      refuse(`${param}.role`, `${param}.role must be "system", "developer", "user" or "assistant", or "tool" in Chat Completions.`)
  }
}
