import { ConfigError } from '../contract/errors.ts'
import type { AgentEvent } from '../contract/run/event.ts'
import { EventBuffer } from './event-buffer.ts'
import { EventListeners } from './event-listeners.ts'
import { EventReader, type ReaderOwner } from './event-reader.ts'

const defaultReplayBytes = 4 * 1024 * 1024

/** Options for an event log. */
export interface EventLogOptions {
  /** Estimated bytes of events retained for late readers. Default: 4 MiB (4,194,304). */
  replayBytes?: number
  /** Receives errors thrown by listeners. */
  onListenerError: (error: unknown) => void
}

/**
 * A run's event queue, for any number of listeners and readers.
 *
 * **Contract**
 * - Events are appended with growing `seq` and never changed. `append` allocates no promise and no closure.
 * - Listeners receive every event as it is appended. Readers pull events. Each reader gets all events after its cursor, in order. Deltas
 *   are recreated, equal to the original.
 * - Beyond `replayBytes`, merges older deltas of a block (`fromSeq` to `seq`) and retains only the newest update per call. Drops the oldest
 *   events that all readers have received. A reader uses at most as much memory as the text that it has not read.
 * - A merged event never repeats text that a reader already has: a cursor inside one has expired.
 *
 * Source: docs/reference/events.md
 */
export class EventLog {
  readonly #buffer: EventBuffer
  readonly #listeners: EventListeners
  readonly #readers = new Set<EventReader>()
  /** Readers that may show requests to a user. */
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

  /** Throws `ConfigError` `invalidOption` if `replayBytes` is negative or not a number. */
  constructor(options: EventLogOptions) {
    const { replayBytes = defaultReplayBytes, onListenerError } = options
    if (!(replayBytes >= 0)) throw new ConfigError('invalidOption', `replayBytes is ${replayBytes}. Pass a number of bytes from 0.`)
    this.#buffer = new EventBuffer(replayBytes)
    this.#listeners = new EventListeners(onListenerError)
  }

  /** Oldest cursor that `read` accepts. Reading after it returns everything retained. */
  get oldest(): number {
    return this.#buffer.oldest
  }

  /** Whether a listener or reader can show requests now. */
  get isAttended(): boolean {
    return this.#attentive.size > 0 || !this.#listeners.isEmpty
  }

  /**
   * Returns whether there is no listener, and all readers that show requests have received the events up to `seq` and are waiting for more.
   */
  isPassed(seq: number): boolean {
    return (
      this.#attentive.size > 0 &&
      this.#listeners.isEmpty &&
      [...this.#attentive].every((reader) => reader.cursor >= seq && this.#waiting.has(reader))
    )
  }

  /** Appends an event, amortised O(1). Does nothing after `close`, so that `agentEnd` stays the last event. */
  append(event: AgentEvent): void {
    if (this.#buffer.isClosed) return
    this.#buffer.append(event)
    if (this.#waiting.size > 0) this.#wake()
    if (this.#buffer.isFull) this.#compact()
    this.#listeners.dispatch(event)
  }

  /** Closes the log: readers end after the retained events, with `failure` if given. Idempotent. */
  close(failure?: Error): void {
    this.#buffer.close(failure)
    this.#wake()
  }

  /**
   * Calls `listener` synchronously for each later event. Returns a function that unsubscribes. Errors are passed to `onListenerError` and
   * affect no other listener.
   */
  subscribe(listener: (event: AgentEvent) => void): () => void {
    return this.#listeners.add(listener)
  }

  /**
   * Reads the events after the cursor `after` (default 0: all), then live events, until the log is closed.
   *
   * **Contract**
   * - Throws immediately: `CursorExpiredError` if some of these events were dropped or `after` is inside a merged event, `ConfigError`
   *   `invalidOption` if it is not a whole number from 0.
   * - The reader stays attached until it has read everything or is returned. It can be iterated once.
   * - `seesQuestions` (default true): whether this reader can show requests to a user. A reader that shows only text cannot.
   */
  read(options: { after?: number; seesQuestions?: boolean } = {}): EventReader {
    const { after = 0, seesQuestions = true } = options
    this.#buffer.check(after)
    const reader = new EventReader(this.#buffer, this.#owner, after)
    this.#readers.add(reader)
    if (seesQuestions) this.#attentive.add(reader)
    return reader
  }

  /** Wakes once per batch: a reader waits again only after it has taken all events. */
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
