import type { Content } from '../../../contract/message/content.ts'
import { type AssistantMessage, now } from '../../../contract/message/message.ts'
import type { ModelConfig } from '../../../contract/model/model-config.ts'
import { emptyUsage } from '../../../contract/model/usage.ts'
import type { BlockKey } from './slots.ts'

/** Returns a response of `model` without content. */
export function emptyAnswer(model: ModelConfig): AssistantMessage {
  return {
    role: 'assistant',
    content: [],
    stopReason: 'stop',
    model: model.id,
    provider: model.provider,
    usage: emptyUsage(),
    timestamp: now(),
  }
}

/** Kinds of block that may begin before their first fragment comes. */
export type BegunKind = 'text' | 'thinking'

/**
 * Blocks that have begun and have no content yet. They take their place before any block that begins later, so that interleaved blocks keep the
 * order in which they began.
 */
export class BegunBlocks {
  readonly #waiting = new Map<BlockKey, BegunKind>()
  readonly #placed = new Set<Content>()

  /** How many wait for their first fragment. */
  get size(): number {
    return this.#waiting.size
  }

  /** A block begins. */
  add(key: BlockKey, kind: BegunKind): void {
    this.#waiting.set(key, kind)
  }

  /** The block of `key` has content, or has ended without any. */
  delete(key: BlockKey): void {
    this.#waiting.delete(key)
  }

  /** The block of `from` is known as `to` from now on. */
  rename(from: BlockKey, to: BlockKey): void {
    const before = [...this.#waiting]
    this.#waiting.clear()
    for (const [key, kind] of before) this.#waiting.set(key === from ? to : key, kind)
  }

  /** Takes out the blocks that began before `key`, which has its first fragment now. */
  before(key: BlockKey): [BlockKey, BegunKind][] {
    const earlier: [BlockKey, BegunKind][] = []
    for (const entry of this.#waiting) {
      if (entry[0] === key) break
      earlier.push(entry)
    }
    for (const [taken] of earlier) this.#waiting.delete(taken)
    this.#waiting.delete(key)
    return earlier
  }

  /** Remembers an empty block that holds a place. */
  placed(block: Content): void {
    this.#placed.add(block)
  }

  /** Returns `content` in which places that stayed empty are empty texts: every other block keeps its index, and no request has them. */
  settled(content: Content[]): Content[] {
    if (this.#placed.size === 0) return content
    return content.map((block) => (this.#placed.has(block) && isEmpty(block) ? { type: 'text', text: '' } : block))
  }
}

function isEmpty(block: Content): boolean {
  return block.type === 'thinking' && block.thinking === '' && block.signature === undefined && block.providerState === undefined
}
