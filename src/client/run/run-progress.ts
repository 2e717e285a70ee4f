import type { Content } from '../../contract/message/content.ts'
import { type AgentMessage, type AssistantMessage, isLlmMessage, type LlmMessage } from '../../contract/message/message.ts'
import type { StreamDelta, TextDelta } from '../../contract/model/request.ts'
import { combineUsage, emptyUsage, type Usage } from '../../contract/model/usage.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { EventBase } from '../../contract/run/run-facts.ts'
import type { TurnStartEvent } from '../../contract/run/turn-event.ts'
import type { LoopRecord } from '../../contract/session/session.ts'

/** An event without the common fields. */
export type EventBody = AgentEvent extends infer Each ? (Each extends AgentEvent ? Omit<Each, keyof EventBase> : never) : never

/**
 * A run's progress: its messages, and unfinished messages, turns and calls.
 *
 * **Contract**: processing a delta costs O(delta length).
 */
export class RunProgress {
  readonly #messages = new Map<string, AgentMessage>()
  readonly #ended = new Map<string, AgentMessage>()
  readonly #openTools = new Map<string, string>()
  #openMessage: string | undefined
  #openTurn: TurnStartEvent | undefined
  #usage = emptyUsage()

  /** Processes one event. */
  add(event: AgentEvent): void {
    switch (event.type) {
      case 'messageUpdate': {
        const message = this.#messages.get(event.messageId)
        if (message?.role === 'assistant') grow(message, event.delta)
        return
      }
      case 'messageStart':
        this.#messages.set(event.messageId, event.message)
        this.#openMessage = event.messageId
        return
      case 'messageEnd':
        this.#messages.set(event.messageId, event.message)
        this.#ended.set(event.messageId, event.message)
        if (this.#openMessage === event.messageId) this.#openMessage = undefined
        return
      case 'toolExecutionStart':
        this.#openTools.set(event.toolCallId, event.toolName)
        return
      case 'toolExecutionEnd':
        this.#openTools.delete(event.toolCallId)
        return
      case 'turnStart':
        this.#openTurn = event
        return
      case 'turnEnd':
        this.#openTurn = undefined
        this.#usage = combineUsage(this.#usage, event.usage)
    }
  }

  message(id: string): AgentMessage | undefined {
    return this.#messages.get(id)
  }

  /** Complete messages, in order. */
  get messages(): AgentMessage[] {
    return [...this.#ended.values()]
  }

  /** Usage of finished turns. */
  get usage(): Usage {
    return this.#usage
  }

  /** Returns whether `event` is a duplicate: a second start of an unfinished item, or a second end of a finished item. */
  isDuplicate(event: AgentEvent): boolean {
    if (event.type === 'toolExecutionEnd') return event.outcome !== undefined && !this.#openTools.has(event.toolCallId)
    return event.type === 'toolExecutionStart' && this.#openTools.has(event.toolCallId)
  }

  /** Returns the events in a loop's record that this run has not emitted yet. */
  missing({ messages }: Pick<LoopRecord, 'messages'>): EventBody[] {
    return messages.flatMap((message) => (this.#ended.has(message.id) ? [] : this.#eventsOf(message)))
  }

  /** Returns the end events of an interrupted message and its turn. */
  cutOff(): EventBody[] {
    const open = this.#openMessage === undefined ? undefined : this.#messages.get(this.#openMessage)
    const failed: AgentMessage | undefined =
      open?.role === 'assistant'
        ? { ...open, stopReason: 'error', errorMessage: 'The server lost this response before it was complete.' }
        : undefined
    const bodies: EventBody[] = failed === undefined ? [] : [{ type: 'messageEnd', messageId: failed.id, message: failed }]
    const last = failed ?? this.messages.findLast((message) => message.role === 'assistant')
    if (this.#openTurn !== undefined && last !== undefined && isLlmMessage(last)) bodies.push(endOf(this.#openTurn, last))
    return bodies
  }

  #eventsOf(message: AgentMessage): EventBody[] {
    const bodies: EventBody[] = []
    if (message.role === 'toolResult' && this.#openTools.has(message.toolCallId)) {
      const { toolCallId, toolName, content, isError, outcome } = message
      const ended = { toolCallId, toolName, result: { content }, isError }
      bodies.push({ type: 'toolExecutionEnd', ...ended, ...(outcome !== undefined && { outcome }) })
    }
    if (!this.#messages.has(message.id)) bodies.push({ type: 'messageStart', messageId: message.id, message })
    return [...bodies, { type: 'messageEnd', messageId: message.id, message }]
  }
}

function endOf({ turnIndex }: TurnStartEvent, message: LlmMessage): EventBody {
  const usage = message.role === 'assistant' ? message.usage : emptyUsage()
  return { type: 'turnEnd', turnIndex, message, usage, toolResults: [] }
}

/** Appends a delta to a streaming message in O(delta length). Call arguments are set when the message ends. */
function grow({ content }: AssistantMessage, delta: StreamDelta): void {
  // Insert an empty text block as a placeholder for a block that is never streamed, such as an image or redacted thinking.
  while (content.length < delta.contentIndex) content.push({ type: 'text', text: '' })
  const block = content[delta.contentIndex]
  if (delta.type === 'text' && block?.type === 'text') block.text += delta.delta
  else if (delta.type === 'thinking' && block?.type === 'thinking') block.thinking += delta.delta
  else if (delta.type === 'block') content[delta.contentIndex] = delta.block
  else if (delta.type === 'citation') cite(content, delta)
  else if (delta.type !== 'toolCallDelta' || block?.type !== 'toolCall') content[delta.contentIndex] = begun(delta)
}

function cite(content: Content[], { contentIndex, citation }: Extract<StreamDelta, { type: 'citation' }>): void {
  const block = content[contentIndex] ?? { type: 'text', text: '' }
  content[contentIndex] = block
  if (block.type !== 'text') return
  block.citations ??= []
  block.citations.push(citation)
}

function begun(delta: TextDelta): Content {
  if (delta.type === 'text') return { type: 'text', text: delta.delta }
  if (delta.type === 'thinking') return { type: 'thinking', thinking: delta.delta }
  return { type: 'toolCall', id: delta.toolCallId, name: delta.toolName, arguments: {} }
}
