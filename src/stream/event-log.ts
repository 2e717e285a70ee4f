import { ConfigError } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import { EventBuffer } from './event-buffer.ts'
import { EventListeners } from './event-listeners.ts'
import { EventReader, type ReaderOwner } from './event-reader.ts'

const defaultReplayBytes = 4 * 1024 * 1024

/** How an event log is made. */
export interface EventLogOptions {
  /** Bytes of events kept for readers that come later, as an estimate. Default 4 MiB (4,194,304). */
  replayBytes?: number
  /** Gets what a listener throws. */
  onListenerError: (error: unknown) => void
}

/**
 * The one queue of a run: everything it reports, for any number of listeners and readers.
 *
 * **Contract**
 * - Events are appended with growing `seq` and never changed. `append` costs no promise and no closure.
 * - Listeners hear every event as it is appended. Readers get it when they ask, of deltas an equal one; each sees all events after its
 *   cursor, in order.
 * - Beyond `replayBytes` older deltas of one block are joined (`fromSeq` to `seq`), of tool updates only the newest per call stays, and
 *   the oldest events that all readers have are forgotten. A reader therefore costs at most the text it has not read.
 * - A joined event never repeats text a reader already has: a cursor inside one has expired.
 *
 * Source: docs/reference/events.md
 */
export class EventLog {
  readonly #buffer: EventBuffer
  readonly #listeners: EventListeners
  readonly #readers = new Set<EventReader>()
  /** Of the readers, those that may show a question to somebody. */
  readonly #attentive = new Set<EventReader>()
  readonly #waiting = new Set<EventReader>()
  readonly #owner: ReaderOwner = {
    wait: (reader) => {
      this.#waiting.add(reader)
    },
    detach: (reader) => {
      this.#readers.delete(reader)
      this.#attentive.delete(reader)
      this.#waiting.delete(reader)
    },
  }

  /** Throws `ConfigError` `invalidOption` when `replayBytes` is negative or no number. */
  constructor(options: EventLogOptions) {
    const { replayBytes = defaultReplayBytes, onListenerError } = options
    if (!(replayBytes >= 0)) throw new ConfigError('invalidOption', `replayBytes is ${replayBytes}. Pass a number of bytes from 0.`)
    this.#buffer = new EventBuffer(replayBytes)
    this.#listeners = new EventListeners(onListenerError)
  }

  /** The oldest cursor that `read` still accepts: reading after it gives everything remembered. */
  get oldest(): number {
    return this.#buffer.oldest
  }

  /** Whether anybody listens or reads now who sees questions. */
  get isAttended(): boolean {
    return this.#attentive.size > 0 || !this.#listeners.isEmpty
  }

  /** Whether nobody listens, and all readers that see questions have taken the events up to `seq` and ask for more. */
  isPassed(seq: number): boolean {
    return (
      this.#attentive.size > 0 &&
      this.#listeners.isEmpty &&
      [...this.#attentive].every((reader) => reader.cursor >= seq && this.#waiting.has(reader))
    )
  }

  /** Adds an event, amortised O(1). After `close` it does nothing, so that `agentEnd` stays the last. */
  append(event: AgentEvent): void {
    if (this.#buffer.isClosed) return
    this.#buffer.append(event)
    if (this.#waiting.size > 0) this.#wake()
    if (this.#buffer.isFull) this.#compact()
    this.#listeners.dispatch(event)
  }

  /** Nothing follows: readers end once they have read what is there, with `failure` where one is the reason. Idempotent. */
  close(failure?: Error): void {
    this.#buffer.close(failure)
    this.#wake()
  }

  /**
   * Calls `listener` synchronously with each event from now on; returns how to stop. What it throws goes to `onListenerError` and disturbs
   * nobody.
   */
  subscribe(listener: (event: AgentEvent) => void): () => void {
    return this.#listeners.add(listener)
  }

  /**
   * Reads the events after the cursor `after` (default 0: all), then the live ones, until the log is closed.
   *
   * **Contract**
   * - Throws at once: `CursorExpiredError` when some of those events are forgotten or `after` lies inside a joined event, `ConfigError`
   *   `invalidOption` when it is not a whole number from 0.
   * - The reader is attached from this call until it has read to the end or is returned, and can be iterated once.
   * - `seesQuestions` (default true): whether whoever reads could answer one. A reader that takes the text alone does not.
   */
  read(options: { after?: number; seesQuestions?: boolean } = {}): EventReader {
    const { after = 0, seesQuestions = true } = options
    this.#buffer.check(after)
    const reader = new EventReader(this.#buffer, this.#owner, after)
    this.#readers.add(reader)
    if (seesQuestions) this.#attentive.add(reader)
    return reader
  }

  /** Once per batch: a reader that was given one event waits again only after it has taken the rest. */
  #wake(): void {
    const readers = [...this.#waiting]
    this.#waiting.clear()
    for (const reader of readers) reader.wake()
  }

  #compact(): void {
    const cursors = Array.from(this.#readers, (reader) => reader.cursor)
    this.#buffer.compact(cursors.sort((a, b) => a - b))
  }
}
