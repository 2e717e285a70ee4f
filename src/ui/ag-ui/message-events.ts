import type { Content, ServiceToolContent } from '../../contract/message/content.ts'
import { type AssistantMessage, shownContent } from '../../contract/message/message.ts'
import type { StreamDelta } from '../../contract/model/request.ts'
import { isCut } from '../shared/answers.ts'
import type { AgUiContentEvent } from './ag-ui-event.ts'
import { activitiesOf, argumentsText, type CallIds, notRun, reasoningId, serviceResultOf } from './to-ag-ui-messages.ts'

/** The block that grows: a text, a thought or a call. */
interface OpenBlock {
  type: 'text' | 'reasoning' | 'call'
  contentIndex: number
  /** Of the message, the thought or the call. */
  id: string
}

/** Turns an answer of a model into events, as its deltas come or whole at its end. One block is open at a time. */
export class MessageEvents {
  readonly #ids: CallIds
  readonly #send: (event: AgUiContentEvent) => void
  /** The answer that is streamed, and how much of each of its blocks was shown. */
  #live: { id: string; shown: number[]; calls: string[] } | undefined
  #block: OpenBlock | undefined

  constructor(ids: CallIds, send: (event: AgUiContentEvent) => void) {
    this.#ids = ids
    this.#send = send
  }

  get isStreaming(): boolean {
    return this.#live !== undefined
  }

  begin(id: string): void {
    this.close()
    this.#live = { id, shown: [], calls: [] }
  }

  delta(messageId: string, delta: StreamDelta): void {
    // Of a message whose beginning was missed: it is shown whole at its end.
    if (this.#live?.id !== messageId) return
    if (delta.type === 'block' && delta.block.type === 'serviceTool') this.#service(messageId, delta.block, delta.contentIndex, false)
    if (delta.type === 'citation' || delta.type === 'block') return // Shown whole, at the end of the message.
    if (delta.delta === '') return
    if (delta.type === 'toolCallDelta') this.#openCall(messageId, delta.contentIndex, delta.toolCallId, delta.toolName)
    else if (this.#block?.contentIndex !== delta.contentIndex)
      this.#open(delta.type === 'text' ? 'text' : 'reasoning', messageId, delta.contentIndex)
    this.#grow(delta.contentIndex, delta.delta)
  }

  /**
   * The message is whole. What was not streamed is shown; calls of an answer that was cut are answered. Whether arguments that were streamed are others now:
   * the protocol has no event that takes them back.
   */
  end(messageId: string, message: AssistantMessage): boolean {
    if (this.#live?.id !== messageId) this.begin(messageId)
    const shown = this.#live?.shown ?? []
    const isChanged = shownContent(message).some(
      (block, index) => block.type === 'toolCall' && block.repairedFrom !== undefined && shown[index] !== undefined,
    )
    for (const [index, block] of shownContent(message).entries()) this.#complete(messageId, block, index)
    this.close()
    const calls = this.#live?.calls ?? []
    this.#live = undefined
    for (const { id, role: _activity, ...activity } of activitiesOf(messageId, message.content))
      this.#send({ type: 'ACTIVITY_SNAPSHOT', messageId: id, ...activity, replace: true })
    for (const block of message.content) if (block.type === 'serviceTool') this.#serviceEnded(block, isCut(message))
    if (!isCut(message)) return isChanged
    for (const call of calls) {
      const { id, ...result } = notRun(call)
      this.#send({ type: 'TOOL_CALL_RESULT', messageId: id, ...result })
    }
    return isChanged
  }

  /** What a call of the service gave. */
  #serviceEnded(block: ServiceToolContent, isUnfinished: boolean): void {
    const result = serviceResultOf(this.#ids.service(block.id).id, block, isUnfinished)
    if (result !== undefined || block.needsApproval) this.#ids.serviceEnded(block.id)
    if (result === undefined) return
    const { id, ...shown } = result
    this.#send({ type: 'TOOL_CALL_RESULT', messageId: id, ...shown })
  }

  close(): void {
    const block = this.#block
    if (block === undefined) return
    this.#block = undefined
    const { id } = block
    if (block.type === 'call') this.#send({ type: 'TOOL_CALL_END', toolCallId: id })
    else if (block.type === 'text') this.#send({ type: 'TEXT_MESSAGE_END', messageId: id })
    else {
      this.#send({ type: 'REASONING_MESSAGE_END', messageId: id })
      this.#send({ type: 'REASONING_END', messageId: id })
    }
  }

  /** The client begins a new response: nothing is open in it. */
  forget(): void {
    this.#block = undefined
  }

  #complete(messageId: string, block: Content, index: number): void {
    const shown = this.#live?.shown[index] ?? 0
    if (block.type === 'toolCall') {
      if (shown > 0) return
      this.#openCall(messageId, index, block.id, block.name)
      this.#grow(index, argumentsText(block))
    } else if (block.type === 'serviceTool') {
      this.#service(messageId, block, index, true)
    } else if (block.type === 'text' || block.type === 'thinking') {
      const rest = (block.type === 'text' ? block.text : block.thinking).slice(shown)
      if (rest === '') return
      if (this.#block?.contentIndex !== index) this.#open(block.type === 'text' ? 'text' : 'reasoning', messageId, index)
      this.#grow(index, rest)
    }
  }

  /** A call of the service, once its input is known. `isWhole`: it does not change any more. */
  #service(messageId: string, block: ServiceToolContent, contentIndex: number, isWhole: boolean): void {
    if (block.input === undefined && block.status === 'running' && !isWhole) return
    const { id, isNew } = this.#ids.service(block.id)
    if (!isNew) return
    this.close()
    this.#block = { type: 'call', contentIndex, id }
    this.#send({ type: 'TOOL_CALL_START', toolCallId: id, toolCallName: block.name, parentMessageId: messageId })
    this.#grow(contentIndex, argumentsText(block))
    this.close()
  }

  #open(type: 'text' | 'reasoning', messageId: string, contentIndex: number): void {
    this.close()
    const id = type === 'text' ? messageId : reasoningId(messageId, contentIndex)
    this.#block = { type, contentIndex, id }
    if (type === 'text') this.#send({ type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' })
    else {
      this.#send({ type: 'REASONING_START', messageId: id })
      this.#send({ type: 'REASONING_MESSAGE_START', messageId: id, role: 'reasoning' })
    }
  }

  #openCall(messageId: string, contentIndex: number, toolCallId: string, toolCallName: string): void {
    if (this.#block?.contentIndex === contentIndex) return
    this.close()
    // A call whose pieces come in turns with others goes on under its id.
    const isNew = this.#live?.shown[contentIndex] === undefined
    const id = isNew ? this.#ids.next(toolCallId) : this.#ids.current(toolCallId)
    this.#block = { type: 'call', contentIndex, id }
    if (isNew) this.#live?.calls.push(id)
    this.#send({ type: 'TOOL_CALL_START', toolCallId: id, toolCallName, parentMessageId: messageId })
  }

  #grow(contentIndex: number, delta: string): void {
    const block = this.#block
    if (this.#live === undefined || block === undefined) return
    this.#live.shown[contentIndex] = (this.#live.shown[contentIndex] ?? 0) + delta.length
    if (block.type === 'call') this.#send({ type: 'TOOL_CALL_ARGS', toolCallId: block.id, delta })
    else this.#send({ type: block.type === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT', messageId: block.id, delta })
  }
}
