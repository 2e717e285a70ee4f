import type { Citation, Content } from '../../contract/message/content.ts'
import { type AssistantMessage, shownContent } from '../../contract/message/message.ts'
import type { StreamDelta } from '../../contract/model/request.ts'
import type { MessageUpdateEvent } from '../../contract/run/event.ts'
import { isCut } from './answers.ts'

type BlockKind = 'text' | 'reasoning' | 'call'

/** A growing block. */
export interface OpenBlock {
  readonly kind: BlockKind
  readonly messageId: string
  readonly contentIndex: number
  /** False if the block was open before, and another one grew in between. */
  readonly isNew: boolean
  /** The client's id of the block, set by `opened`. */
  id: string
}

/** Id and tool of a call with growing arguments. */
export type GrowingCall = Omit<Extract<StreamDelta, { type: 'toolCallDelta' }>, 'type' | 'contentIndex' | 'delta'>

/**
 * Folds a model message into transitions of its blocks, from its deltas and the finished message.
 *
 * **Contract**
 * - One block is open at a time. Each `opened` has its `closed`, unless `forget` was called in between.
 * - A message whose start was missed is sent whole at its end.
 * - Stores the sent length of each block, and no text.
 */
export abstract class MessageFold {
  #live: string | undefined
  #open: OpenBlock | undefined
  /** Sent characters of text and thinking, and of arguments, by block index. */
  #sentLengths: number[] = []
  #sentArgumentLengths: number[] = []

  /** Sends a fragment of the open block; never an empty one. */
  protected abstract grown(block: OpenBlock, delta: string): void
  protected opened?(block: OpenBlock, call: GrowingCall | undefined): void
  protected closed?(block: OpenBlock): void
  /** Sends a whole block; a later one may replace it. */
  protected shown?(block: Content, contentIndex: number): void
  protected cited?(citation: Citation, contentIndex: number): void
  /** Sends a block of the finished message, without its text or thinking, which was sent. No other block is open then. */
  protected completed?(block: Content, contentIndex: number, isUnfinished: boolean): void

  /** The id of the streaming message. */
  get live(): string | undefined {
    return this.#live
  }

  begin(messageId: string): void {
    this.close()
    this.#live = messageId
    this.#sentLengths = []
    this.#sentArgumentLengths = []
  }

  delta({ messageId, delta }: MessageUpdateEvent): void {
    if (this.#live !== messageId) return
    if (delta.type === 'block') this.shown?.(delta.block, delta.contentIndex)
    else if (delta.type === 'citation') this.cited?.(delta.citation, delta.contentIndex)
    else if (delta.type === 'toolCallDelta') this.#grow('call', delta.contentIndex, delta.delta, delta)
    else this.#grow(delta.type === 'text' ? 'text' : 'reasoning', delta.contentIndex, delta.delta)
  }

  /** Sends what of the finished message was not streamed. */
  complete(message: AssistantMessage): void {
    const isUnfinished = isCut(message)
    for (const [index, block] of this.contentOf(message).entries()) this.#complete(block, index, isUnfinished)
    this.close()
    this.#live = undefined
  }

  protected contentOf(message: AssistantMessage): readonly Content[] {
    return shownContent(message)
  }

  #complete(block: Content, index: number, isUnfinished: boolean): void {
    if (block.type === 'text') this.#grow('text', index, block.text.slice(this.#sentLengths[index] ?? 0))
    else if (block.type === 'thinking') this.#grow('reasoning', index, block.thinking.slice(this.#sentLengths[index] ?? 0))
    else this.close()
    this.completed?.(block, index, isUnfinished)
  }

  #grow(kind: BlockKind, contentIndex: number, delta: string, call?: GrowingCall): void {
    if (delta === '') return
    const lengths = kind === 'call' ? this.#sentArgumentLengths : this.#sentLengths
    const before = lengths[contentIndex]
    let block = this.#open
    if (block?.contentIndex !== contentIndex || block.kind !== kind) {
      this.close()
      block = { kind, messageId: this.#live ?? '', contentIndex, isNew: before === undefined, id: '' }
      this.#open = block
      this.opened?.(block, call)
    }
    lengths[contentIndex] = (before ?? 0) + delta.length
    this.grown(block, delta)
  }

  /** Returns whether arguments of the call at `contentIndex` were sent. */
  protected wasStreamed(contentIndex: number): boolean {
    return this.#sentArgumentLengths[contentIndex] !== undefined
  }

  close(): void {
    const block = this.#open
    if (block === undefined) return
    this.#open = undefined
    this.closed?.(block)
  }

  /** The client starts another stream: following content opens a block again. */
  forget(): void {
    this.#open = undefined
  }
}
