import { ConfigError, CursorExpiredError } from '../contract/errors.ts'
import { type AgentEvent, isTextUpdate, type TextUpdateEvent } from '../contract/run/event.ts'
import { DeltaRun, deltaSize } from './delta-run.ts'
import { eventSize } from './event-size.ts'
import { ProgressRun } from './progress-run.ts'

/** Share of the budget after which a run of deltas or status lines becomes one event, and a minimum size. */
const runShare = 64
const minRunBytes = 4096
/** Slack in bytes per item before the next compaction, so that scanning costs stay proportional. */
const slackPerItem = 64

type KeptItem = AgentEvent | DeltaRun | ProgressRun

/**
 * A run's retained events, in order, within a budget of bytes.
 *
 * **Contract**
 * - `append` is O(1). When `isFull`, the owner calls `compact` with the cursors of all readers. Compaction costs amortised O(1) per byte
 *   appended.
 * - Deltas, and status lines for slow readers, are stored in packed form and recreated on read, equal to the original. All other events are
 *   the same objects.
 * - The newest half of the budget is never merged. Older events are merged. If they still exceed the budget, the oldest events that every
 *   reader has received are dropped.
 */
export class EventBuffer {
  readonly #budget: number
  readonly #runBytes: number
  /** Events, and deltas in runs. */
  #items: KeptItem[] = []
  #bytes = 0
  #threshold: number
  #oldest = 0
  #isClosed = false
  #failure: Error | undefined
  /** `seq` of the newest update of each tool call, and of the newest status line in child loops, which replaces earlier ones. */
  readonly #latest = new Map<string, number>()

  /** `budget` in bytes, 0 or more. */
  constructor(budget: number) {
    this.#budget = budget
    this.#runBytes = Math.max(minRunBytes, budget / runShare)
    this.#threshold = budget
  }

  /** Oldest valid cursor. */
  get oldest(): number {
    return this.#oldest
  }

  get isFull(): boolean {
    return this.#bytes > this.#threshold
  }

  /** No more events will be appended. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  close(failure?: Error): void {
    if (!this.#isClosed) this.#failure = failure
    this.#isClosed = true
  }

  /** Error that ended the run's events, if any. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Target size of `compact`, in bytes. */
  get #lowMark(): number {
    return (this.#budget * 3) / 4
  }

  append(event: AgentEvent): void {
    if (event.type === 'messageUpdate' && event.fromSeq === undefined && isTextUpdate(event)) this.#appendDelta(event)
    else this.#appendOther(event)
  }

  /** Returns the first event after `cursor`. */
  after(cursor: number): AgentEvent | undefined {
    let low = 0
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const item = this.#items[middle]
      if (item !== undefined && item.seq <= cursor) low = middle + 1
      else high = middle
    }
    const item = this.#items[low]
    return item instanceof DeltaRun || item instanceof ProgressRun ? item.after(cursor) : item
  }

  /** Throws `CursorExpiredError` if events after `cursor` were dropped, and `ConfigError` if `cursor` is invalid. */
  check(cursor: number): void {
    if (!Number.isSafeInteger(cursor) || cursor < 0) {
      throw new ConfigError(
        'invalidOption',
        `Invalid cursor ${cursor}: it must be an integer from 0. Pass the seq of the last event you received.`,
      )
    }
    const next = this.after(cursor)
    const isInside = next?.type === 'messageUpdate' && next.fromSeq !== undefined && next.fromSeq <= cursor
    if (cursor < this.#oldest || isInside) throw new CursorExpiredError(cursor, this.#oldest)
  }

  /** Frees memory. `cursors` holds the last `seq` of each reader, ascending. */
  compact(cursors: readonly number[]): void {
    const recent = this.#startOfRecent()
    const older = this.#items.slice(0, recent).flatMap((item) => {
      if (item instanceof DeltaRun) return item.join(cursors)
      return item instanceof ProgressRun || !this.#isSuperseded(item) ? item : []
    })
    this.#items = [...older, ...this.#items.slice(recent)]
    this.#bytes = this.#items.reduce((sum, item) => sum + sizeOf(item), 0)
    this.#forget(cursors[0] ?? Number.POSITIVE_INFINITY)
    if (this.#bytes > this.#lowMark) this.#packLines()
    this.#threshold = Math.max(this.#budget, this.#bytes + Math.max(this.#budget / 4, this.#items.length * slackPerItem))
  }

  #appendDelta(event: TextUpdateEvent): void {
    this.#bytes += deltaSize(event)
    const last = this.#items.at(-1)
    if (last instanceof DeltaRun && last.bytes < this.#runBytes && last.add(event)) return
    this.#items.push(new DeltaRun(event))
  }

  #appendOther(event: AgentEvent): void {
    this.#items.push(event)
    this.#bytes += eventSize(event)
    const stream = latestOf(event)
    if (stream !== undefined) this.#latest.set(stream, event.seq)
  }

  /** Packs status lines that precede the newest half of the budget and that a reader has not received yet. There may be many. */
  #packLines(): void {
    const recent = this.#startOfRecent()
    const older: KeptItem[] = []
    for (const item of this.#items.slice(0, recent)) {
      const last = older.at(-1)
      if (item instanceof DeltaRun || item instanceof ProgressRun || item.type !== 'progressMessage') older.push(item)
      else if (!(last instanceof ProgressRun && last.bytes < this.#runBytes && last.add(item))) older.push(new ProgressRun(item))
    }
    for (const item of older) if (item instanceof ProgressRun) item.pack()
    this.#items = [...older, ...this.#items.slice(recent)]
    this.#bytes = this.#items.reduce((sum, item) => sum + sizeOf(item), 0)
  }

  /** Returns whether a newer event replaces this one. A child loop's deltas are also in its `messageEnd`. */
  #isSuperseded(event: AgentEvent): boolean {
    if (event.type === 'childEvent' && event.event.type === 'messageUpdate') return true
    const stream = latestOf(event)
    return stream !== undefined && this.#latest.get(stream) !== event.seq
  }

  /** Returns the index where the newest half of the budget starts. Always includes the last item, which may be a growing run. */
  #startOfRecent(): number {
    let start = this.#items.length - 1
    for (let bytes = sizeOf(this.#items[start]); start > 0 && bytes < this.#budget / 2; ) bytes += sizeOf(this.#items[--start])
    return start
  }

  /** Drops the oldest events down to three quarters of the budget, but none after `cursor`. */
  #forget(cursor: number): void {
    let count = 0
    for (const item of this.#items) {
      if (this.#bytes <= this.#lowMark || item.seq > cursor) break
      this.#bytes -= sizeOf(item)
      count++
      this.#oldest = item.seq
    }
    this.#items = this.#items.slice(count)
  }
}

/**
 * Returns the key under which a newer event replaces this one: updates of a call, a block replaced as a whole, and status lines in child
 * loops.
 */
function latestOf(event: AgentEvent): string | undefined {
  if (event.type === 'toolExecutionUpdate') return event.toolCallId
  if (event.type === 'messageUpdate') return event.delta.type === 'block' ? `${event.messageId} ${event.delta.contentIndex}` : undefined
  if (event.type !== 'childEvent') return undefined
  const inner = event.event.type === 'progressMessage' ? `${event.event.toolCallId} line` : latestOf(event.event)
  return inner === undefined ? undefined : `${event.toolCallId} ${event.event.loopId} ${inner}`
}

function sizeOf(item: KeptItem | undefined): number {
  if (item === undefined) return 0
  return item instanceof DeltaRun || item instanceof ProgressRun ? item.bytes : eventSize(item)
}
