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

/** Role of the caller's instructions: a user message, or an addition to the system prompt. */
export type InstructionsPlace = 'asUser' | 'append'

/** Options for parsing a request. */
export interface ReadOptions {
  /** Handling of system and developer messages, and of `instructions`. Default: `asUser`. */
  callerInstructions?: InstructionsPlace
  /** Whether the server stores the conversation, so that results may come without their calls. Default: as the request says. */
  isKept?: boolean
}

/** One message of a caller, with its id. */
export type CallerMessage = (UserMessage | AssistantMessage | ToolResultMessage) & { id: string }

/** Common content of both of OpenAI's request formats. */
export interface CallerRequest {
  /** The name of the agent. */
  model: string
  isStreamed: boolean
  /** The conversation according to the caller. Its assistant messages are unverified. */
  messages: CallerMessage[]
  /** The new messages: those after the last response. For a stored conversation, the server knows the earlier ones. */
  newest: CallerMessage[]
  /** Additional system prompt, if the server allows it. */
  instructions: string
  tools: CallerTool[]
  settings: CallerSetting[]
  responseFormat?: ResponseFormat
}

/** Parses a conversation. Rejects results without a call, and calls without a result, as OpenAI does. */
export class CallerConversation {
  readonly messages: CallerMessage[] = []
  readonly #place: InstructionsPlace
  readonly #instructions: string[] = []
  /** Index of the first new message. */
  #newestAt = 0
  /** A result whose call the server must know. */
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

  /** Messages before this index have a response. */
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

  /** Adds an assistant's text, and its calls of the caller's tools. Parts of one response are consecutive. */
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

  /** Rejects a conversation that no model could answer. `param` is its field; `isKept`: the server stores it. */
  end(param: string, isKept: boolean): void {
    if (this.#orphan !== undefined && !isKept) refuse(this.#orphan, `${this.#orphan} answers no call that stands before it.`)
    const [unanswered] = this.#open.keys()
    if (unanswered !== undefined) refuse(param, `The call ${JSON.stringify(unanswered.slice(0, 100))} has no result.`)
    if (this.messages.length === 0) refuse(param, `${param} is empty.`)
    if (this.messages.at(-1)?.role === 'assistant') refuse(param, `${param} ends with an assistant. End it with a user or a tool.`)
  }
}

function answer(content: Content[]): AssistantMessage & { id: string } {
  const stopReason = content.some(({ type }) => type === 'toolCall') ? 'toolUse' : 'stop'
  const unknown = 'unknown'
  return { role: 'assistant', content, stopReason, model: unknown, provider: unknown, usage: emptyUsage(), timestamp: now(), id: newId() }
}

/** Adds a message by role; `calls` are those of an assistant. Rejects an unknown role. */
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
      refuse(`${param}.role`, `${param}.role must be "system", "developer", "user", "assistant", or where results are messages "tool".`)
  }
}
