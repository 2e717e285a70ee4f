import type { Content, ServiceToolContent } from '../../contract/message/content.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import { isCut } from '../shared/answers.ts'
import { type GrowingCall, MessageFold, type OpenBlock } from '../shared/message-fold.ts'
import type { AgUiContentEvent } from './ag-ui-event.ts'
import { activitiesOf, argumentsText, type CallIds, notRun, reasoningId, resultEvent, serviceResultOf } from './to-ag-ui-messages.ts'

/** Encodes one model message: deltas as they arrive, or the whole message when it is complete. */
export class MessageEvents extends MessageFold {
  readonly #ids: CallIds
  readonly #send: (event: AgUiContentEvent) => void
  /** Ids of the message's encoded calls. */
  #calls: string[] = []
  /** Whether the finished message has different arguments than those streamed. The protocol has no event that replaces arguments. */
  isChanged = false

  constructor(ids: CallIds, send: (event: AgUiContentEvent) => void) {
    super()
    this.#ids = ids
    this.#send = send
  }

  override begin(messageId: string): void {
    super.begin(messageId)
    this.#calls = []
    this.isChanged = false
  }

  /** Encodes the parts that were not streamed. Adds results to the calls of a truncated message. */
  override complete(message: AssistantMessage): void {
    const messageId = this.live ?? ''
    super.complete(message)
    for (const { id, role: _activity, ...activity } of activitiesOf(messageId, message.content))
      this.#send({ type: 'ACTIVITY_SNAPSHOT', messageId: id, ...activity, replace: true })
    for (const block of message.content) if (block.type === 'serviceTool') this.#serviceEnded(block, isCut(message))
    if (isCut(message)) for (const call of this.#calls) this.#send(resultEvent(notRun(call)))
  }

  protected override opened(block: OpenBlock, call: GrowingCall | undefined): void {
    const { messageId } = block
    if (call !== undefined) {
      // A call with interleaved fragments keeps its id.
      block.id = block.isNew ? this.#callId(call.toolCallId) : this.#ids.current(call.toolCallId)
      this.#send({ type: 'TOOL_CALL_START', toolCallId: block.id, toolCallName: call.toolName, parentMessageId: messageId })
    } else if (block.kind === 'text') {
      block.id = messageId
      this.#send({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
    } else {
      block.id = reasoningId(messageId, block.contentIndex)
      this.#send({ type: 'REASONING_START', messageId: block.id })
      this.#send({ type: 'REASONING_MESSAGE_START', messageId: block.id, role: 'reasoning' })
    }
  }

  protected override grown({ kind, id }: OpenBlock, delta: string): void {
    if (kind === 'call') this.#send({ type: 'TOOL_CALL_ARGS', toolCallId: id, delta })
    else this.#send({ type: kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT', messageId: id, delta })
  }

  protected override closed({ kind, id }: OpenBlock): void {
    if (kind === 'call') this.#send({ type: 'TOOL_CALL_END', toolCallId: id })
    else if (kind === 'text') this.#send({ type: 'TEXT_MESSAGE_END', messageId: id })
    else {
      this.#send({ type: 'REASONING_MESSAGE_END', messageId: id })
      this.#send({ type: 'REASONING_END', messageId: id })
    }
  }

  /** Encodes a provider-executed call when its input is known. Other blocks are encoded at the end of the message. */
  protected override shown(block: Content): void {
    if (block.type === 'serviceTool' && (block.input !== undefined || block.status !== 'running')) this.#service(block)
  }

  protected override completed(block: Content, contentIndex: number): void {
    if (block.type === 'serviceTool') this.#service(block)
    else if (block.type !== 'toolCall') return
    else if (!this.wasStreamed(contentIndex)) this.#whole(this.#callId(block.id), block.name, argumentsText(block))
    else if (block.repairedFrom !== undefined) this.isChanged = true
  }

  #service(block: ServiceToolContent): void {
    const { id, isNew } = this.#ids.service(block.id)
    if (isNew) this.#whole(id, block.name, argumentsText(block))
  }

  #whole(toolCallId: string, toolCallName: string, delta: string): void {
    this.close()
    this.#send({ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId: this.live ?? '' })
    this.#send({ type: 'TOOL_CALL_ARGS', toolCallId, delta })
    this.#send({ type: 'TOOL_CALL_END', toolCallId })
  }

  #callId(toolCallId: string): string {
    const id = this.#ids.next(toolCallId)
    this.#calls.push(id)
    return id
  }

  /** Encodes the result of a provider-executed call. */
  #serviceEnded(block: ServiceToolContent, isUnfinished: boolean): void {
    const result = serviceResultOf(this.#ids.service(block.id).id, block, isUnfinished)
    if (result !== undefined || block.needsApproval) this.#ids.serviceEnded(block.id)
    if (result !== undefined) this.#send(resultEvent(result))
  }
}
