import { type Content, isMedia, type ServiceToolContent } from '../../contract/message/content.ts'
import { type AssistantMessage, shownContent } from '../../contract/message/message.ts'
import type { StreamDelta } from '../../contract/model/request.ts'
import { isCut } from '../shared/answers.ts'
import type { CallChunks } from './call-chunks.ts'
import { GrowingBlock } from './growing-block.ts'
import { sourceParts } from './service-parts.ts'
import type { UiChunk } from './ui-message.ts'
import { WholeBlocks } from './whole-blocks.ts'

/**
 * Turns one message of the model into chunks: its deltas as they come, and at its end what was not streamed.
 *
 * **Contract**
 * - A streamed call ends with its whole input, so that a repair of its arguments replaces the text that was streamed.
 * - Nothing of the text is kept. `calls` belongs to the encoder, which tells it what happens to a call later.
 */
export class MessageChunks {
  readonly #calls: CallChunks
  readonly #send: (chunk: UiChunk) => void
  readonly #whole: WholeBlocks
  readonly #growing: GrowingBlock

  constructor(calls: CallChunks, send: (chunk: UiChunk) => void) {
    this.#calls = calls
    this.#send = send
    this.#whole = new WholeBlocks(send)
    this.#growing = new GrowingBlock(send)
  }

  /** Goes on with the hosted calls that an answer before has left open. */
  resume(open: Iterable<ServiceToolContent>, step: number): void {
    this.#whole.resume(open, step)
  }

  /** A message begins: nothing of it was shown. */
  begin(): void {
    this.#growing.begin()
    this.#calls.clear()
    this.#whole.begin()
  }

  /** A new answer begins. */
  clear(): void {
    this.#calls.clear()
    this.#whole.clear()
  }

  /** Shows a piece of the message. */
  delta(delta: StreamDelta, step: number): void {
    if (delta.type === 'citation') return // Sources are shown at the end of the message.
    this.#whole.follow(delta.contentIndex)
    if (delta.type === 'block') {
      this.#growing.close()
      this.#whole.shown(delta.contentIndex, delta.block, step)
      return
    }
    if (delta.delta === '') return
    if (delta.type === 'toolCallDelta') {
      this.#growing.close()
      this.#calls.delta(delta)
    } else this.#growing.grow(delta.type === 'text' ? 'text' : 'reasoning', delta.contentIndex, delta.delta, step)
  }

  /** Shows of the finished message what was not streamed. */
  complete(message: AssistantMessage, step: number): void {
    const isUnfinished = isCut(message)
    for (const [index, block] of shownContent(message).entries()) this.#block(block, index, { step, isUnfinished })
    this.#growing.close()
    for (const part of sourceParts(message.content, step)) this.#send(part)
    this.#calls.messageEnded()
  }

  #block(block: Content, index: number, { step, isUnfinished }: { step: number; isUnfinished: boolean }): void {
    if (block.type === 'text' || block.type === 'thinking') {
      if (block.type === 'text') this.#growing.complete('text', index, block.text, step)
      else this.#growing.complete('reasoning', index, block.thinking, step)
      return
    }
    this.#growing.close()
    if (isMedia(block)) this.#whole.media(index, block, step)
    if (block.type === 'serviceTool') {
      this.#whole.tool(block, step, isUnfinished)
      if (block.needsApproval && block.status === 'running' && !isUnfinished) this.#calls.ofService(block)
    }
    if (block.type === 'toolCall') this.#calls.written(block, isUnfinished)
  }

  /** What `step` has shown is taken back. */
  takeBack(step: number): void {
    this.#growing.close()
    this.#calls.clear()
    this.#whole.takeBack(step)
  }

  /** Closes the block that grows. */
  close(): void {
    this.#growing.close()
  }

  /** The client has what came so far: another block is opened for what follows. */
  forget(): void {
    this.#growing.forget()
  }

  /** The response ends while the run waits: an open call looks answered. */
  holdBack(): void {
    this.#calls.holdBack()
    this.#whole.holdBack((toolCallId) => this.#calls.has(toolCallId))
  }
}
