import type { MessageUpdateEvent, TextUpdateEvent } from '../contract/run/event.ts'

/** Bytes of a delta without its text: two array slots and a string header, as measured in V8. */
const deltaBytes = 40
const charBytes = 2

/**
 * Stores consecutive deltas of one block without an event object for each delta, to reduce garbage collection.
 *
 * **Contract**: events are created on demand and equal the added events. The first event is the same object.
 */
export class DeltaRun {
  readonly first: TextUpdateEvent
  /** Estimated bytes retained in memory. */
  bytes: number
  readonly #texts: string[]
  /** `at` of each event, in milliseconds after the first: small integers need no heap object. */
  readonly #delays: number[] = [0]

  /** `first` must not be a merged event: it has no `fromSeq`. */
  constructor(first: TextUpdateEvent) {
    this.first = first
    this.#texts = [first.delta.delta]
    this.bytes = deltaSize(first)
  }

  /** `seq` of the newest event. */
  get seq(): number {
    return this.first.seq + this.#texts.length - 1
  }

  /** Adds `event` if it continues the block. Returns whether it did. O(1). */
  add(event: TextUpdateEvent): boolean {
    const { first } = this
    if (event.seq !== first.seq + this.#texts.length || !isSameBlock(first, event)) return false
    this.#texts.push(event.delta.delta)
    this.#delays.push(event.at - first.at)
    this.bytes += deltaSize(event)
    return true
  }

  /** Returns the first event after `cursor`, which must precede the newest. */
  after(cursor: number): MessageUpdateEvent {
    const seq = Math.max(cursor + 1, this.first.seq)
    return this.#event(seq, seq)
  }

  /**
   * Merges all deltas into one event with one flat string. Splits it at `cursors` (ascending), so that each reader gets every piece of text
   * exactly once.
   */
  join(cursors: readonly number[]): MessageUpdateEvent[] {
    const ends = cursors.filter((cursor) => cursor >= this.first.seq && cursor < this.seq)
    let from = this.first.seq
    return [...new Set(ends).add(this.seq)].map((end) => {
      const event = this.#event(from, end)
      from = end + 1
      return event
    })
  }

  /** Creates the event for `fromSeq` to `seq`. */
  #event(fromSeq: number, seq: number): MessageUpdateEvent {
    const { first } = this
    const last = seq - first.seq
    if (last === 0) return first
    const delta = this.#texts.slice(fromSeq - first.seq, last + 1).join('')
    const event = { ...first, seq, at: first.at + (this.#delays[last] ?? 0), delta: { ...first.delta, delta } }
    return fromSeq === seq ? event : { ...event, fromSeq }
  }
}

/** Returns whether both deltas belong to one block. */
function isSameBlock(a: TextUpdateEvent, b: TextUpdateEvent): boolean {
  return (
    a.messageId === b.messageId &&
    a.delta.type === b.delta.type &&
    a.delta.contentIndex === b.delta.contentIndex &&
    (a.delta.type !== 'toolCallDelta' || b.delta.type !== 'toolCallDelta' || a.delta.toolCallId === b.delta.toolCallId)
  )
}

/** Estimates the bytes that a delta in a run keeps alive. */
export function deltaSize(event: TextUpdateEvent): number {
  return deltaBytes + charBytes * event.delta.delta.length
}
