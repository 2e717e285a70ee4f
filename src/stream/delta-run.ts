import type { MessageUpdateEvent, TextUpdateEvent } from '../contract/run/event.ts'

/** A delta without its text: two places in arrays and the head of its string, as measured in V8. */
const deltaBytes = 40
const charBytes = 2

/**
 * Deltas of one block that follow each other, without an event object for each: a million of them would keep the garbage collector busy.
 *
 * **Contract**: events are made when asked for and equal the ones added; the first one is that object itself.
 */
export class DeltaRun {
  readonly first: TextUpdateEvent
  /** Roughly how many bytes it keeps alive. */
  bytes: number
  readonly #texts: string[]
  /** `at` of each, in ms after the first: small integers need no object of their own. */
  readonly #delays: number[] = [0]

  /** `first`, like all that follow, covers no other: it has no `fromSeq`. */
  constructor(first: TextUpdateEvent) {
    this.first = first
    this.#texts = [first.delta.delta]
    this.bytes = deltaSize(first)
  }

  /** `seq` of the newest. */
  get seq(): number {
    return this.first.seq + this.#texts.length - 1
  }

  /** Adds `event` if it is the next of its block; returns whether it is. O(1). */
  add(event: TextUpdateEvent): boolean {
    const { first } = this
    if (event.seq !== first.seq + this.#texts.length || !isSameBlock(first, event)) return false
    this.#texts.push(event.delta.delta)
    this.#delays.push(event.at - first.at)
    this.bytes += deltaSize(event)
    return true
  }

  /** The first event after `cursor`, which lies before the newest. */
  after(cursor: number): MessageUpdateEvent {
    const seq = Math.max(cursor + 1, this.first.seq)
    return this.#event(seq, seq)
  }

  /**
   * One event for all, its text one flat string; more where one of `cursors` (ascending) parts them, so that a reader there gets each piece
   * of text exactly once.
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

  /** The event for those from `fromSeq` to `seq`. */
  #event(fromSeq: number, seq: number): MessageUpdateEvent {
    const { first } = this
    const last = seq - first.seq
    if (last === 0) return first
    const delta = this.#texts.slice(fromSeq - first.seq, last + 1).join('')
    const event = { ...first, seq, at: first.at + (this.#delays[last] ?? 0), delta: { ...first.delta, delta } }
    return fromSeq === seq ? event : { ...event, fromSeq }
  }
}

/** Whether the deltas of both belong to one block. */
function isSameBlock(a: TextUpdateEvent, b: TextUpdateEvent): boolean {
  return (
    a.messageId === b.messageId &&
    a.delta.type === b.delta.type &&
    a.delta.contentIndex === b.delta.contentIndex &&
    (a.delta.type !== 'toolCallDelta' || b.delta.type !== 'toolCallDelta' || a.delta.toolCallId === b.delta.toolCallId)
  )
}

/** Roughly how many bytes a delta in a run keeps alive. */
export function deltaSize(event: TextUpdateEvent): number {
  return deltaBytes + charBytes * event.delta.delta.length
}
