import type { AgentEvent } from '../contract/run/event.ts'
import type { EventBuffer } from './event-buffer.ts'

/** Callbacks of a reader to its log. */
export interface ReaderOwner {
  /** `reader` has no event: call its `wake` at the next event or the end. */
  wait(reader: EventReader): void
  /** `reader` is finished. Idempotent. */
  detach(reader: EventReader): void
}

type Settle = (result: IteratorResult<AgentEvent, undefined> | Promise<never>) => void

const done = Object.freeze({ done: true, value: undefined })

/**
 * Reads an event log. This is a hand-written async iterator, because a generator costs more per event.
 *
 * **Contract**
 * - Yields each event after its cursor, in order. Ends when a closed log is read to its end. A failed log rejects once.
 * - Available events resolve immediately. Pending `next` calls resolve in call order.
 * - `return` detaches the reader and ends pending calls. The reader can be iterated once.
 */
export class EventReader implements AsyncIterableIterator<AgentEvent, undefined> {
  readonly #buffer: EventBuffer
  readonly #owner: ReaderOwner
  #cursor: number
  #isDone = false
  /** Pending `next` calls. Non-empty only if no event is available. */
  #waiting: Settle[] = []

  constructor(buffer: EventBuffer, owner: ReaderOwner, cursor: number) {
    this.#buffer = buffer
    this.#owner = owner
    this.#cursor = cursor
  }

  /** `seq` of the last yielded event, or the start. */
  get cursor(): number {
    return this.#cursor
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    const event = this.#take()
    if (event !== undefined) return Promise.resolve({ done: false, value: event })
    if (this.#isDone) return Promise.resolve(done)
    return new Promise((settle) => {
      this.#waiting.push(settle)
      if (this.#buffer.isClosed) this.#end()
      else this.#owner.wait(this)
    })
  }

  /** Returns the next event if available, for callers that write batches. */
  ready(): AgentEvent | undefined {
    return this.#waiting.length === 0 ? this.#take() : undefined
  }

  return(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.#finish()
    return Promise.resolve(done)
  }

  /** Resolves pending calls with new events, or with the end. */
  wake(): void {
    let given = 0
    for (const settle of this.#waiting) {
      const event = this.#take()
      if (event === undefined) break
      given++
      settle({ done: false, value: event })
    }
    this.#waiting.splice(0, given)
    if (this.#waiting.length === 0) return
    if (this.#buffer.isClosed) this.#end()
    else this.#owner.wait(this)
  }

  #take(): AgentEvent | undefined {
    if (this.#isDone) return undefined
    const event = this.#buffer.after(this.#cursor)
    if (event === undefined) return undefined
    this.#cursor = event.seq
    return event
  }

  /** All events have been read. */
  #end(): void {
    const { failure } = this.#buffer
    if (failure !== undefined) this.#waiting.shift()?.(Promise.reject(failure))
    this.#finish()
  }

  #finish(): void {
    this.#isDone = true
    this.#owner.detach(this)
    const waiting = this.#waiting
    this.#waiting = []
    for (const settle of waiting) settle(done)
  }
}
