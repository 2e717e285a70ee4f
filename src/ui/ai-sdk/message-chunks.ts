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
 * Encodes one model message as chunks: its deltas as they arrive, and at its end what was not streamed.
 *
 * **Contract**
 * - A streamed call ends with its whole input, so that repaired arguments replace the streamed text.
 * - `calls` belongs to the encoder, which updates it later.
 */
export class MessageChunks extends MessageFold {
  /** The step of the message. */
  step = 0
  readonly #calls: CallChunks
  readonly #send: (chunk: UiChunk) => void
  /** Names of the tools of streamed calls: calls that the finished message lacks were cut off. */
  readonly #streamed = new Map<string, string>()
  /** Provider-executed calls as last shown, with their steps. */
  readonly #services = new Map<string, { block: ServiceToolContent; step: number }>()
  /** The current image, which may get finer. The protocol cannot replace one, so it is sent when something else follows. */
  #media: { contentIndex: number; block: ImageContent | FileContent } | undefined
  #shownMedia = new Set<number>()

  constructor(calls: CallChunks, send: (chunk: UiChunk) => void) {
    super()
    this.#calls = calls
    this.#send = send
  }

  /** Continues open provider-executed calls of a previous response. */
  resume(open: Iterable<ServiceToolContent>): void {
    for (const block of open) this.#services.set(block.id, { block, step: this.step })
  }

  override begin(messageId: string): void {
    super.begin(messageId)
    this.#streamed.clear()
    this.#clearMedia()
  }

  /** Retracts what the open step has shown. */
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

  /** The block of `contentIndex` grows: the previous image is complete. */
  #follow(contentIndex: number): void {
    const before = this.#media
    if (before !== undefined && before.contentIndex !== contentIndex) this.#showMedia(before.contentIndex, before.block)
  }

  /** Shows a final image or file, and a transcript of audio. Once per block. */
  #showMedia(contentIndex: number, block: ImageContent | FileContent): void {
    this.#media = undefined
    if (this.#shownMedia.has(contentIndex)) return
    this.#shownMedia.add(contentIndex)
    for (const part of fileParts(block)) this.#send(fileChunk(part))
    for (const { text } of transcriptPart(block))
      for (const chunk of wholeText('text', blockId(this.step, contentIndex), text)) this.#send(chunk)
  }

  /** Shows what is new of a provider-executed call. */
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

  /** Ends the stream while the run waits: an open call looks finished, because the client would otherwise never send a decision. */
  holdBack(): void {
    this.#calls.holdBack()
    for (const { block } of this.#services.values()) {
      if (block.status !== 'running' || this.#calls.get(block.id) !== undefined) continue
      this.#send({ type: 'tool-output-available', toolCallId: block.id, output: waitsText, dynamic: true, providerExecuted: true })
    }
  }
}
