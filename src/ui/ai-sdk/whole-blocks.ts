import { isSameJson } from '../../base/json/json-value.ts'
import { type Content, type FileContent, type ImageContent, isMedia, type ServiceToolContent } from '../../contract/message/content.ts'
import { waitsText } from '../shared/answers.ts'
import { blockId, fileChunk, fileParts, outputChunk, transcriptPart, wholeText } from './parts.ts'
import { serviceCallOf, serviceStateOf } from './service-parts.ts'
import type { UiChunk } from './ui-message.ts'

/** Turns blocks that come whole into chunks: pictures, files, tools of the service. */
export class WholeBlocks {
  readonly #send: (chunk: UiChunk) => void
  /** Calls of the service, as they were shown last, and in which step. */
  readonly #tools = new Map<string, { block: ServiceToolContent; step: number }>()
  /** A picture may still get finer, and the protocol cannot replace one: it is shown when something else follows. */
  #media: { contentIndex: number; block: ImageContent | FileContent; step: number } | undefined
  #shownMedia = new Set<number>()

  constructor(send: (chunk: UiChunk) => void) {
    this.#send = send
  }

  /** Goes on with the calls that an answer before has left open. */
  resume(open: Iterable<ServiceToolContent>, step: number): void {
    for (const block of open) this.#tools.set(block.id, { block, step })
  }

  /** A new message begins. */
  begin(): void {
    this.#media = undefined
    this.#shownMedia = new Set()
  }

  /** What `step` has shown is taken back. */
  takeBack(step: number): void {
    this.begin()
    for (const [id, tool] of this.#tools) if (tool.step === step) this.#tools.delete(id)
  }

  /** A new answer begins. */
  clear(): void {
    this.begin()
    this.#tools.clear()
  }

  /** The block of `contentIndex` grows: the picture before it is whole. */
  follow(contentIndex: number): void {
    const before = this.#media
    if (before !== undefined && before.contentIndex !== contentIndex) this.media(before.contentIndex, before.block, before.step)
  }

  /** A block that has come, or stands in place of the one there was. */
  shown(contentIndex: number, block: Content, step: number): void {
    if (isMedia(block)) this.#media = { contentIndex, block, step }
    else if (block.type === 'serviceTool') this.tool(block, step, false)
  }

  /** A picture or a file as it stays, and the words of sound. Once for each block. */
  media(contentIndex: number, block: ImageContent | FileContent, step: number): void {
    this.#media = undefined
    if (this.#shownMedia.has(contentIndex)) return
    this.#shownMedia.add(contentIndex)
    for (const part of fileParts(block)) this.#send(fileChunk(part))
    for (const { text } of transcriptPart(block))
      for (const chunk of wholeText('text', blockId(step, contentIndex), text)) this.#send(chunk)
  }

  /** A call of the service, as far as it was not shown. `isCut`: its answer ended before it was whole. */
  tool(block: ServiceToolContent, step: number, isCut: boolean): void {
    const before = this.#tools.get(block.id)
    const isKnown = before !== undefined && (before.step === step || before.block.status === 'running')
    const isWritten = isKnown && isSameJson(before.block.input ?? {}, block.input ?? {})
    this.#tools.set(block.id, { block, step })
    const { toolCallId, toolName, input } = serviceCallOf(block)
    if (!isWritten) this.#send({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true, providerExecuted: true })
    const state = serviceStateOf(block, isCut)
    if (isWritten && isSameJson(state, serviceStateOf(before.block, false))) return
    const ending = outputChunk(toolCallId, state, { isOfService: true })
    if (ending !== undefined) this.#send(ending)
  }

  /** The response ends while the run waits: an open call looks answered, or the client would never send what a person decides. */
  holdBack(isAsked: (toolCallId: string) => boolean): void {
    for (const { block } of this.#tools.values()) {
      if (block.status !== 'running' || isAsked(block.id)) continue
      this.#send({ type: 'tool-output-available', toolCallId: block.id, output: waitsText, dynamic: true, providerExecuted: true })
    }
  }
}
