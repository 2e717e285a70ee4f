import { isObject } from '../../contract/json.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentEvent, MessageUpdateEvent } from '../../contract/run/event.ts'

/** Reference to a message that the connection already sent in the same loop. Unlike a message, it has no `role`. */
interface MessageRef {
  sent: string
}

/** Accumulated deltas of the current message, by block index. */
class GrownTexts {
  readonly #texts = new Map<number, string>()
  #messageId: string | undefined

  begin(messageId: string): void {
    this.#messageId = messageId
    this.#texts.clear()
  }

  add(messageId: string, { type, contentIndex, delta }: { type: string; contentIndex: number; delta: string }): void {
    if (type === 'toolCallDelta') return
    if (messageId !== this.#messageId) this.begin(messageId)
    this.#texts.set(contentIndex, (this.#texts.get(contentIndex) ?? '') + delta)
  }

  of(messageId: string, at: number): string | undefined {
    return messageId === this.#messageId ? this.#texts.get(at) : undefined
  }
}

/**
 * Tracks the messages that one connection has sent, for the encoder.
 *
 * **Contract**
 * - The first event with a message contains the complete message. Later events of the loop with the same message object
 *   contain `{ sent: id }` instead.
 * - The end of a response omits text that this connection sent as deltas. `grown` lists the indexes of these blocks.
 */
export class SentMessages {
  readonly #sent = new Map<string, AgentMessage>()
  readonly #grown = new GrownTexts()

  /** Records a sent delta. */
  add({ messageId, delta }: MessageUpdateEvent): void {
    if ('delta' in delta) this.#grown.add(messageId, delta)
  }

  /** Returns the event without data that was already sent. */
  shorten(event: AgentEvent): object {
    switch (event.type) {
      case 'messageStart':
        this.#grown.begin(event.messageId)
        // The final response differs from the started one, so only other roles are stored.
        if (event.message.role !== 'assistant') this.#sent.set(event.message.id, event.message)
        return event
      case 'messageEnd': {
        const { message } = event
        if (this.#sent.get(message.id) === message) return { ...event, message: { sent: message.id } }
        this.#sent.set(message.id, message)
        return message.role === 'assistant' ? { ...event, ...this.#withoutGrown(message) } : event
      }
      case 'turnEnd':
        return { ...event, message: this.#ref(event.message), toolResults: event.toolResults.map((each) => this.#ref(each)) }
      case 'agentEnd': {
        const messages = event.messages.map((each) => this.#ref(each))
        this.#sent.clear()
        return { ...event, messages }
      }
      default:
        return event
    }
  }

  #ref(message: AgentMessage): AgentMessage | MessageRef {
    return this.#sent.get(message.id) === message ? { sent: message.id } : message
  }

  #withoutGrown(message: Extract<AgentMessage, { role: 'assistant' }>): object {
    const grown: number[] = []
    const content = message.content.map((block, at) => {
      const blockText = block.type === 'text' ? block.text : block.type === 'thinking' ? block.thinking : undefined
      if (blockText === undefined || this.#grown.of(message.id, at) !== blockText) return block
      grown.push(at)
      return block.type === 'text' ? { ...block, text: '' } : { ...block, thinking: '' }
    })
    return grown.length === 0 ? {} : { message: { ...message, content }, grown }
  }
}

type Frame = Record<string, unknown>

/** Tracks received messages, for the decoder. Throws `broken` with a description of the missing data. */
export class ReadMessages {
  readonly #read = new Map<unknown, unknown>()
  readonly #grown = new GrownTexts()
  readonly #broken: (what: string) => Error

  constructor(broken: (what: string) => Error) {
    this.#broken = broken
  }

  /** Restores a frame's omitted parts. */
  restore(frame: Frame): Frame {
    const { type, messageId, message, delta } = frame
    if (type === 'messageUpdate') {
      if (typeof messageId === 'string' && isTextDelta(delta)) this.#grown.add(messageId, delta)
      return frame
    }
    if (type === 'messageStart') {
      if (typeof messageId === 'string') this.#grown.begin(messageId)
      this.#read.set(messageId, message)
      return frame
    }
    if (type === 'messageEnd') {
      const { grown, ...rest } = frame
      const whole = grown === undefined ? this.#deref(message) : this.#withGrown(String(messageId), message, grown)
      this.#read.set(messageId, whole)
      return { ...rest, message: whole }
    }
    if (type === 'turnEnd') return { ...frame, message: this.#deref(message), toolResults: this.#derefAll(frame.toolResults) }
    if (type !== 'agentEnd') return frame
    const messages = this.#derefAll(frame.messages)
    this.#read.clear()
    return { ...frame, messages }
  }

  #derefAll(messages: unknown): unknown {
    return Array.isArray(messages) ? messages.map((each) => this.#deref(each)) : messages
  }

  #deref(message: unknown): unknown {
    if (!isObject(message) || 'role' in message || !('sent' in message)) return message
    if (!this.#read.has(message.sent)) throw this.#broken('an earlier message is missing')
    return this.#read.get(message.sent)
  }

  #withGrown(messageId: string, message: unknown, grown: unknown): unknown {
    const blocks = isObject(message) ? message.content : undefined
    if (!isObject(message) || !Array.isArray(blocks) || !Array.isArray(grown)) throw this.#broken('a message is invalid')
    const content = blocks.map((block: unknown, at) => {
      if (!grown.includes(at) || !isObject(block)) return block
      const grownText = this.#grown.of(messageId, at)
      if (grownText === undefined) throw this.#broken('deltas of a message are missing')
      return block.type === 'thinking' ? { ...block, thinking: grownText } : { ...block, text: grownText }
    })
    return { ...message, content }
  }
}

function isTextDelta(delta: unknown): delta is { type: string; contentIndex: number; delta: string } {
  return isObject(delta) && typeof delta.delta === 'string' && typeof delta.contentIndex === 'number' && typeof delta.type === 'string'
}
