import type { AgentEvent } from '../contract/run/event.ts'
import type { EventBuffer } from './event-buffer.ts'

/** What a reader tells its log. */
export interface ReaderOwner {
  /** `reader` has nothing to give: call its `wake` at the next event or the end. */
  wait(reader: EventReader): void
  /** `reader` is done. Idempotent. */
  detach(reader: EventReader): void
}

type Settle = (result: IteratorResult<AgentEvent, undefined> | Promise<never>) => void

const done = Object.freeze({ done: true, value: undefined })

/**
 * One reader of an event log: an async iterator written by hand, because a generator costs more per event.
 *
 * **Contract**
 * - Yields each event after its cursor, in order, and ends when the log is closed and read to its end; where the log has failed, the end is a rejection, once.
 * - An event that is there resolves at once; calls of `next` that wait are answered in the order they were made.
 * - `return` detaches the reader and answers waiting calls with the end. It can be iterated once.
 */
export class EventReader implements AsyncIterableIterator<AgentEvent, undefined> {
  readonly #buffer: EventBuffer
  readonly #owner: ReaderOwner
  #cursor: number
  #isDone = false
  /** Calls of `next` without an event; while there are any, no event is left to give. */
  #waiting: Settle[] = []

  constructor(buffer: EventBuffer, owner: ReaderOwner, cursor: number) {
    this.#buffer = buffer
    this.#owner = owner
    this.#cursor = cursor
  }

  /** `seq` of the last event it gave, or where it began. */
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

  /** The next event, if it is there already: for who writes many at once. */
  ready(): AgentEvent | undefined {
    return this.#waiting.length === 0 ? this.#take() : undefined
  }

  return(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.#finish()
    return Promise.resolve(done)
  }

  /** Gives new events to waiting calls, or the end. */
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

  /** Everything was read. */
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
