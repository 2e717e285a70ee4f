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
  /** False if the block was open before and another block grew in the meantime. */
  readonly isNew: boolean
  /** The client's id of the block, set by `opened`. */
  id: string
}

/** Id and tool name of a call whose arguments are streaming. */
export type GrowingCall = Omit<Extract<StreamDelta, { type: 'toolCallDelta' }>, 'type' | 'contentIndex' | 'delta'>

/**
 * Folds a model message's deltas and final form into block transitions.
 *
 * **Contract**
 * - One block is open at a time. `closed` follows each `opened`, unless `forget` was called in between.
 * - A message whose start was missed is sent as a whole when it is complete.
 * - Stores each block's sent length, but no text.
 */
export abstract class MessageFold {
  #live: string | undefined
  #open: OpenBlock | undefined
  /** Sent characters of text and thinking, and of arguments, by block index. */
  #sentLengths: number[] = []
  #sentArgumentLengths: number[] = []

  /** Sends a non-empty fragment of the open block. */
  protected abstract grown(block: OpenBlock, delta: string): void
  protected opened?(block: OpenBlock, call: GrowingCall | undefined): void
  protected closed?(block: OpenBlock): void
  /** Sends a complete block, which a later version may replace. */
  protected shown?(block: Content, contentIndex: number): void
  protected cited?(citation: Citation, contentIndex: number): void
  /** Completes a block of the finished message. Its text or thinking was already sent. No other block is open. */
  protected completed?(block: Content, contentIndex: number, isUnfinished: boolean): void

  /** Id of the streaming message. */
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

  /** Sends the parts of the finished message that were not streamed. */
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

  /** Starts a new stream, in which further content opens a block again. */
  forget(): void {
    this.#open = undefined
  }
}
