import { ConfigError, CursorExpired } from '../types/errors.ts'
import type { AgentEvent } from '../types/event.ts'
import { coalesce } from './coalesce.ts'
import { eventSize } from './event-size.ts'

/** Coalesced text per event is this share of the budget, within reason for one event. */
const textShare = 64
const minTextChars = 1024
/** Slack per remembered event before compacting again, in bytes: keeps the cost of looking at all of them in proportion. */
const slackPerEvent = 64

/**
 * The remembered events of a run, in order, within a budget of bytes.
 *
 * **Contract**
 * - `append` is O(1). When `isFull`, its owner calls `compact` with the cursors of all readers; that is amortised O(1) per byte appended.
 * - The newest half of the budget is never coalesced. Older events are, and while they still exceed the budget, the oldest that every
 *   reader has are forgotten.
 * - Positions are valid until `generation` changes; a cursor (`seq`) finds its position again with `indexAfter`.
 */
export class EventBuffer {
  readonly #budget: number
  #events: AgentEvent[] = []
  #sizes: number[] = []
  #bytes = 0
  #threshold: number
  #oldest = 0
  #generation = 0
  #isClosed = false
  /** `seq` of the newest update of each tool call, while it is remembered. */
  readonly #latestUpdate = new Map<string, number>()

  /** `budget` in bytes, 0 or more. */
  constructor(budget: number) {
    this.#budget = budget
    this.#threshold = budget
  }

  /** The oldest cursor that still works. */
  get oldest(): number {
    return this.#oldest
  }

  /** Changes when positions do. */
  get generation(): number {
    return this.#generation
  }

  get isFull(): boolean {
    return this.#bytes > this.#threshold
  }

  /** No more events will be appended. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  close(): void {
    this.#isClosed = true
  }

  append(event: AgentEvent): void {
    const size = eventSize(event)
    if (event.type === 'toolExecutionUpdate') this.#latestUpdate.set(event.toolCallId, event.seq)
    this.#events.push(event)
    this.#sizes.push(size)
    this.#bytes += size
  }

  at(index: number): AgentEvent | undefined {
    return this.#events[index]
  }

  /** Position of the first event after `cursor`. */
  indexAfter(cursor: number): number {
    let low = 0
    let high = this.#events.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const event = this.#events[middle]
      if (event !== undefined && event.seq <= cursor) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Throws `CursorExpired` unless everything after `cursor` is remembered, `ConfigError` when it is no cursor at all. */
  check(cursor: number): void {
    if (!Number.isSafeInteger(cursor) || cursor < 0) {
      throw new ConfigError('invalidOption', `The cursor ${cursor} is not a whole number from 0. Pass the seq of the last event you have.`)
    }
    const next = this.at(this.indexAfter(cursor))
    const isInside = next?.type === 'messageUpdate' && next.fromSeq !== undefined && next.fromSeq <= cursor
    if (cursor < this.#oldest || isInside) throw new CursorExpired(cursor, this.#oldest)
  }

  /** Makes room. `cursors` holds the last `seq` of each reader, ascending. */
  compact(cursors: readonly number[]): void {
    const recent = this.#startOfRecent()
    const older = coalesce(this.#events.slice(0, recent), {
      cursors,
      maxChars: Math.max(minTextChars, Math.floor(this.#budget / textShare)),
      isSuperseded: (update) => this.#latestUpdate.get(update.toolCallId) !== update.seq,
    })
    this.#replaceOlder(recent, older)
    this.#forget(cursors[0] ?? Number.POSITIVE_INFINITY)
    this.#threshold = Math.max(this.#budget, this.#bytes + Math.max(this.#budget / 4, this.#events.length * slackPerEvent))
    this.#generation++
  }

  /** Position where the newest half of the budget begins. */
  #startOfRecent(): number {
    let start = this.#events.length
    for (let bytes = 0; start > 0; start--) {
      bytes += this.#sizes[start - 1] ?? 0
      if (bytes > this.#budget / 2) break
    }
    return start
  }

  /** Puts `older`, which has some of the first `count` events in the same order, in their place. */
  #replaceOlder(count: number, older: readonly AgentEvent[]): void {
    const sizes: number[] = []
    let from = 0
    for (const event of older) {
      if (event.type === 'messageUpdate') {
        sizes.push(eventSize(event))
        continue
      }
      // Not measured again: a live message may have grown, and a big one takes time.
      while (this.#events[from] !== event) from++
      sizes.push(this.#sizes[from] ?? 0)
    }
    this.#events = older.concat(this.#events.slice(count))
    this.#sizes = sizes.concat(this.#sizes.slice(count))
    this.#bytes = this.#sizes.reduce((sum, size) => sum + size, 0)
  }

  /** Drops the oldest events down to three quarters of the budget, none that a reader at `cursor` has yet to get. */
  #forget(cursor: number): void {
    let count = 0
    for (const event of this.#events) {
      if (this.#bytes <= (this.#budget * 3) / 4 || event.seq > cursor) break
      this.#bytes -= this.#sizes[count++] ?? 0
      this.#oldest = event.seq
      if (event.type === 'toolExecutionUpdate') this.#latestUpdate.delete(event.toolCallId)
    }
    if (count === 0) return
    this.#events = this.#events.slice(count)
    this.#sizes = this.#sizes.slice(count)
  }
}
