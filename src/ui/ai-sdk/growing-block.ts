import { blockId } from './parts.ts'
import type { UiChunk } from './ui-message.ts'

/** What of a message is written piece by piece. */
type Kind = 'text' | 'reasoning'

/** The block that grows. */
interface OpenBlock {
  kind: Kind
  contentIndex: number
  id: string
}

/**
 * Texts and thoughts while they are written.
 *
 * **Contract**
 * - One block is open at a time. Nothing of the text is kept, only how much of each block was shown.
 */
export class GrowingBlock {
  readonly #send: (chunk: UiChunk) => void
  #open: OpenBlock | undefined
  /** Characters, by the place of the block in its message. */
  #shown: number[] = []

  constructor(send: (chunk: UiChunk) => void) {
    this.#send = send
  }

  /** A message begins: nothing of it was shown. */
  begin(): void {
    this.#shown = []
  }

  grow(kind: Kind, contentIndex: number, delta: string, step: number): void {
    if (this.#open?.contentIndex !== contentIndex) {
      this.close()
      this.#open = { kind, contentIndex, id: blockId(step, contentIndex) }
      this.#send({ type: `${kind}-start`, id: this.#open.id })
    }
    this.#shown[contentIndex] = (this.#shown[contentIndex] ?? 0) + delta.length
    this.#send({ type: `${kind}-delta`, id: this.#open?.id ?? '', delta })
  }

  /** Shows what of the whole `text` was not streamed. */
  complete(kind: Kind, contentIndex: number, text: string, step: number): void {
    const rest = text.slice(this.#shown[contentIndex] ?? 0)
    if (rest !== '') this.grow(kind, contentIndex, rest, step)
  }

  close(): void {
    const block = this.#open
    if (block === undefined) return
    this.#open = undefined
    this.#send({ type: `${block.kind}-end`, id: block.id })
  }

  /** The client has what came so far: another block is opened for what follows. */
  forget(): void {
    this.#open = undefined
  }
}
