import type { AgentEvent } from '../../../src/index.ts'
import { startTimer, timerMs } from '../../../src/internal.ts'
import type { FrameWriter } from './frame-writer.ts'

const encoder = new TextEncoder()
const ping = encoder.encode(':\n\n')

/** Milliseconds between pings where nothing else is said. */
export const defaultPingMs = 15_000

/** How long nothing must happen until a run that probably waits for a person is taken to wait. */
const stillMs = 250

/** How events are streamed. */
export interface SseStreamOptions {
  writer: FrameWriter
  /** Milliseconds between pings. */
  pingMs: number
  /** Whether the run waits for a person now. Events may tell of a request that was decided long ago. */
  waits: () => boolean
  /** Breaks the stream off when it aborts: who reads it has to connect again. */
  signal?: AbortSignal
  /** Called when the client gets nothing more although the run goes on: it went away, or an event could not be written. */
  onCancel?: (reason: unknown) => void
  /** Called once, when the stream has ended or was cancelled. */
  onClose?: () => void
}

/**
 * The events of a run as a byte stream of server-sent events.
 *
 * **Contract**
 * - Events are read only when the client has taken those before, 16 KiB of text at most: a slow client makes the run coalesce its deltas, not this
 *   stream grow.
 * - A comment is sent every `pingMs` milliseconds of a run, unless bytes are waiting already; proxies then keep an idle connection open.
 * - It ends where the run waits for a person and all events until then are written, if the protocol wants that; the run waits on.
 * - No timer and no reader outlives the stream, however it ends.
 * - When the events cannot be read on, or one cannot be written as JSON, the writer says so in the last frames. The reader is let go, and
 *   `onCancel` is called: this client gets nothing more of the run.
 */
export function sseStream(source: AsyncIterable<AgentEvent>, options: SseStreamOptions): ReadableStream<Uint8Array> {
  const frames = new Frames(source[Symbol.asyncIterator](), options)
  let timer: ReturnType<typeof setInterval> | undefined
  let isOpen = true
  let breakOff = (): void => undefined
  const { signal } = options
  const close = () => {
    clearInterval(timer)
    signal?.removeEventListener('abort', breakOff)
    if (isOpen) options.onClose?.()
    isOpen = false
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const sendPing = () => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(ping)
      }
      timer = setInterval(sendPing, timerMs(options.pingMs))
      breakOff = () => {
        if (!isOpen) return
        close()
        controller.error(signal?.reason)
        void frames.leave().catch(() => undefined)
      }
      signal?.addEventListener('abort', breakOff, { once: true })
      if (signal?.aborted) breakOff()
    },
    async pull(controller) {
      const { text, isLast, error } = await frames.next()
      // It may have been cancelled meanwhile.
      if (!isOpen) return
      if (text !== '') controller.enqueue(encoder.encode(text))
      if (!isLast) return
      close()
      controller.close()
      if (error !== undefined) options.onCancel?.(error)
      await frames.leave()
    },
    async cancel(reason) {
      close()
      options.onCancel?.(reason)
      await frames.leave()
    },
  })
}

interface Frame {
  text: string
  isLast: boolean
  /** Why it is the last before the run has ended. */
  error?: unknown
}

/** Events that may be there already: the reader of a run tells, so that many are written at once. */
interface Events extends AsyncIterator<AgentEvent> {
  ready?(): AgentEvent | undefined
}

/** So much text of events that are there is one piece of the stream: about what a socket takes at once. */
const pieceChars = 16 * 1024

/** The frames of one answer, as they are asked for. */
class Frames {
  readonly #events: Events
  readonly #writer: FrameWriter
  readonly #waits: () => boolean
  /** The event that is waited for. */
  #next: Promise<IteratorResult<AgentEvent>> | undefined

  constructor(events: Events, { writer, waits }: Pick<SseStreamOptions, 'writer' | 'waits'>) {
    this.#events = events
    this.#writer = writer
    this.#waits = waits
  }

  async next(): Promise<Frame> {
    let text = ''
    try {
      // A pull that gave nothing would not be repeated: events that are not shown are passed over here.
      for (;;) {
        if (text.length >= pieceChars) return { text, isLast: false }
        const ready = this.#next === undefined ? this.#events.ready?.() : undefined
        if (ready !== undefined) {
          text += this.#writer.write(ready)
          continue
        }
        // Nothing is ready: what was asked, and answered since, is written.
        if (this.#writer.waiting === 'certain' && this.#waits()) return { text: text + this.#writer.suspend(), isLast: true }
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

  /** The next event; undefined when none comes for a while and the run waits for a person. */
  async #nextUnlessStill(): Promise<IteratorResult<AgentEvent> | undefined> {
    this.#next ??= this.#events.next()
    if (this.#writer.waiting !== 'no' && this.#waits()) {
      const isStill = await passes(stillMs, this.#next)
      if (isStill && this.#waits()) return undefined
    }
    const next = await this.#next
    this.#next = undefined
    return next
  }
}

/** Whether so many milliseconds pass before `work` settles. */
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
