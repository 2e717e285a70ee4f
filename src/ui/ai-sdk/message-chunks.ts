import { isSameJson } from '../../base/json/json-value.ts'
import { type Content, type FileContent, type ImageContent, isMedia, type ServiceToolContent } from '../../contract/message/content.ts'
import type { AssistantMessage } from '../../contract/message/message.ts'
import { waitsText } from '../shared/answers.ts'
import { type GrowingCall, MessageFold, type OpenBlock } from '../shared/message-fold.ts'
import type { CallChunks } from './call-chunks.ts'
import { blockId, fileChunk, fileParts, outputChunk, transcriptPart, wholeText } from './parts.ts'
import { serviceCallOf, serviceStateOf, sourceParts } from './service-parts.ts'
import type { UiChunk } from './ui-message.ts'

/**
 * Encodes one model message as chunks: deltas as they arrive, and the remaining content when the message is complete.
 *
 * **Contract**
 * - A streamed call ends with the complete input, so that repaired arguments replace the streamed text.
 * - `calls` belongs to the encoder, which updates it later.
 */
export class MessageChunks extends MessageFold {
  /** Step number of the message. */
  step = 0
  readonly #calls: CallChunks
  readonly #send: (chunk: UiChunk) => void
  /** Tool names of streamed calls, by id. Calls missing from the finished message were truncated. */
  readonly #streamed = new Map<string, string>()
  /** Provider-executed calls as last sent, with their steps. */
  readonly #services = new Map<string, { block: ServiceToolContent; step: number }>()
  /** The current image, which may still be refined. Sent when another block follows, because the protocol cannot replace an image. */
  #media: { contentIndex: number; block: ImageContent | FileContent } | undefined
  #shownMedia = new Set<number>()

  constructor(calls: CallChunks, send: (chunk: UiChunk) => void) {
    super()
    this.#calls = calls
    this.#send = send
  }

  /** Restores the open provider-executed calls of a previous response. */
  resume(open: Iterable<ServiceToolContent>): void {
    for (const block of open) this.#services.set(block.id, { block, step: this.step })
  }

  override begin(messageId: string): void {
    super.begin(messageId)
    this.#streamed.clear()
    this.#clearMedia()
  }

  /** Retracts the output of the open step. */
  takeBack(): void {
    this.close()
    this.#clearMedia()
    for (const [id, { step }] of this.#services) if (step === this.step) this.#services.delete(id)
  }

  /** Starts a new response. */
  clear(): void {
    this.step = 0
    this.#clearMedia()
    this.#services.clear()
  }

  #clearMedia(): void {
    this.#media = undefined
    this.#shownMedia = new Set()
  }

  protected override opened(block: OpenBlock, call: GrowingCall | undefined): void {
    this.#follow(block.contentIndex)
    block.id = call?.toolCallId ?? blockId(this.step, block.contentIndex)
    if (block.kind !== 'call') this.#send({ type: `${block.kind}-start`, id: block.id })
    else if (call !== undefined && !this.#streamed.has(block.id)) {
      this.#streamed.set(block.id, call.toolName)
      this.#calls.begun(block.id, call.toolName)
    }
  }

  protected override grown({ kind, id }: OpenBlock, delta: string): void {
    if (kind === 'call') this.#send({ type: 'tool-input-delta', toolCallId: id, inputTextDelta: delta })
    else this.#send({ type: `${kind}-delta`, id, delta })
  }

  protected override closed({ kind, id }: OpenBlock): void {
    if (kind !== 'call') this.#send({ type: `${kind}-end`, id })
  }

  protected override shown(block: Content, contentIndex: number): void {
    this.#follow(contentIndex)
    this.close()
    if (isMedia(block)) this.#media = { contentIndex, block }
    else if (block.type === 'serviceTool') this.#service(block, false)
  }

  protected override completed(block: Content, contentIndex: number, isUnfinished: boolean): void {
    if (isMedia(block)) this.#showMedia(contentIndex, block)
    else if (block.type === 'serviceTool') this.#service(block, isUnfinished)
    else if (block.type === 'toolCall') {
      this.#streamed.delete(block.id)
      this.#calls.show(block, isUnfinished)
    }
  }

  override complete(message: AssistantMessage): void {
    super.complete(message)
    for (const part of sourceParts(message.content, this.step)) this.#send(part)
    for (const [toolCallId, toolName] of this.#streamed) this.#calls.notRun(toolCallId, toolName)
    this.#streamed.clear()
  }

  /** Sends the previous image if another block grows. */
  #follow(contentIndex: number): void {
    const before = this.#media
    if (before !== undefined && before.contentIndex !== contentIndex) this.#showMedia(before.contentIndex, before.block)
  }

  /** Sends a final image or file, and the transcript of audio. At most once per block. */
  #showMedia(contentIndex: number, block: ImageContent | FileContent): void {
    this.#media = undefined
    if (this.#shownMedia.has(contentIndex)) return
    this.#shownMedia.add(contentIndex)
    for (const part of fileParts(block)) this.#send(fileChunk(part))
    for (const { text } of transcriptPart(block))
      for (const chunk of wholeText('text', blockId(this.step, contentIndex), text)) this.#send(chunk)
  }

  /** Sends the changes of a provider-executed call. */
  #service(block: ServiceToolContent, isUnfinished: boolean): void {
    const { step } = this
    const before = this.#services.get(block.id)
    const isKnown = before !== undefined && (before.step === step || before.block.status === 'running')
    const isWritten = isKnown && isSameJson(before.block.input ?? {}, block.input ?? {})
    this.#services.set(block.id, { block, step })
    const { toolCallId, toolName, input } = serviceCallOf(block)
    if (!isWritten) this.#send({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true, providerExecuted: true })
    const state = serviceStateOf(block, isUnfinished)
    if (isWritten && isSameJson(state, serviceStateOf(before.block, false))) return
    const ending = outputChunk(toolCallId, state, { isOfService: true })
    if (ending !== undefined) this.#send(ending)
  }

  /** Ends the stream of a waiting run. Marks open calls as finished, because `useChat` sends decisions only if no call is open. */
  holdBack(): void {
    this.#calls.holdBack()
    for (const { block } of this.#services.values()) {
      if (block.status !== 'running' || this.#calls.get(block.id) !== undefined) continue
      this.#send({ type: 'tool-output-available', toolCallId: block.id, output: waitsText, dynamic: true, providerExecuted: true })
    }
  }
}
