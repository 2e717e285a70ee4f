import { startTimer } from '../../../src/base/timer.ts'
import type { AgentEvent } from '../../../src/index.ts'
import type { EventSource } from './event-source.ts'
import type { FrameWriter } from './frame-writer.ts'
import type { ReadyEvents } from './mapped-events.ts'

/** Milliseconds without an event until a run that may be waiting for a user counts as waiting. */
const stillMs = 250

interface Frame {
  text: string
  isLast: boolean
  /** Reason why the stream ends before the run. */
  error?: unknown
}

/** Maximum characters of available events per chunk, about the size of a socket write. */
const pieceChars = 16 * 1024

/** Creates a response's frames on demand. Also used for responses that are not streamed. */
export class RunFrames {
  readonly #source: EventSource
  readonly #events: ReadyEvents
  readonly #writer: FrameWriter
  /** The pending read. */
  #next: Promise<IteratorResult<AgentEvent>> | undefined

  constructor(source: EventSource, writer: FrameWriter) {
    this.#source = source
    this.#events = source[Symbol.asyncIterator]()
    this.#writer = writer
  }

  async next(): Promise<Frame> {
    let text = ''
    try {
      // Skip withheld events here, because a pull without output is not repeated.
      for (;;) {
        if (text.length >= pieceChars) return { text, isLast: false }
        const ready = this.#next === undefined ? this.#events.ready?.() : undefined
        if (ready !== undefined) {
          text += this.#writer.write(ready)
          continue
        }
        // No event is available, and all requests and results are written.
        if (this.#writer.waiting === 'certain' && this.#source.isWaiting) return { text: text + this.#writer.suspend(), isLast: true }
        if (text !== '') return { text, isLast: false }
        const next = await this.#nextUnlessStill()
        if (next === undefined) return { text: this.#writer.suspend(), isLast: true }
        if (next.done === true) return { text: this.#writer.end(), isLast: true }
        text = this.#writer.write(next.value)
      }
    } catch (error) {
      return { text: text + this.#writer.fail(error), isLast: true, error }
    }
  }

  async leave(): Promise<void> {
    await this.#events.return?.()
  }

  /** Returns the next event, or `undefined` if none arrives for a while and the run waits for a user. */
  async #nextUnlessStill(): Promise<IteratorResult<AgentEvent> | undefined> {
    this.#next ??= this.#events.next()
    if (this.#writer.waiting !== 'no' && this.#source.isWaiting) {
      const isStill = await passes(stillMs, this.#next)
      if (isStill && this.#source.isWaiting) return undefined
    }
    const next = await this.#next
    this.#next = undefined
    return next
  }
}

/** Resolves with whether `ms` elapses before `work` settles. */
async function passes(ms: number, work: Promise<unknown>): Promise<boolean> {
  let stopTimer = (): void => undefined
  const passed = new Promise<boolean>((resolve) => {
    stopTimer = startTimer(ms, () => resolve(true))
  })
  try {
    return await Promise.race([work.then(() => false), passed])
  } finally {
    stopTimer()
  }
}
