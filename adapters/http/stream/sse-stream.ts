import { timerMs } from '../../../src/base/timer.ts'
import type { EventSource } from './event-source.ts'
import type { FrameWriter } from './frame-writer.ts'
import { RunFrames } from './run-frames.ts'

const encoder = new TextEncoder()
const ping = encoder.encode(':\n\n')

/** Milliseconds between pings where nothing else is said. */
export const defaultPingMs = 15_000

/** Versions of shared state that may wait for a client to take them; then the newest is told with the next ping. */
const mostUntaken = 8

/** How events are streamed. */
export interface SseStreamOptions {
  writer: FrameWriter
  /** Milliseconds between pings. */
  pingMs: number
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
 * - Versions of shared state are told beside the events, at once. A client that takes none of them is told the newest once it does.
 * - It ends where the run waits for a person and all events until then are written, if the protocol wants that; the run waits on.
 * - No timer and no reader outlives the stream, however it ends.
 * - When the events cannot be read on, or one cannot be written as JSON, the writer says so in the last frames. The reader is let go, and
 *   `onCancel` is called: this client gets nothing more of the run.
 */
export function sseStream(source: EventSource, options: SseStreamOptions): ReadableStream<Uint8Array> {
  const frames = new RunFrames(source, options.writer)
  let timer: ReturnType<typeof setInterval> | undefined
  let isOpen = true
  let breakOff = (): void => undefined
  const { signal, writer } = options
  /** The newest version of shared state that the client has not taken. */
  let untold = ''
  let stopListening = (): void => undefined
  const close = () => {
    clearInterval(timer)
    stopListening()
    signal?.removeEventListener('abort', breakOff)
    if (isOpen) options.onClose?.()
    isOpen = false
  }
  const tellState = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (untold !== '') controller.enqueue(encoder.encode(untold))
    untold = ''
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const sendPing = () => {
        if ((controller.desiredSize ?? 0) <= 0) return
        if (untold === '') controller.enqueue(ping)
        else tellState(controller)
      }
      timer = setInterval(sendPing, timerMs(options.pingMs))
      const onVersion = (version: number): void => {
        untold = writer.state?.(version) ?? ''
        // As nobody asks for more while an event is waited for, it is not left to who asks.
        if ((controller.desiredSize ?? 0) > -mostUntaken) tellState(controller)
      }
      stopListening = source.onState?.(onVersion) ?? stopListening
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
      tellState(controller)
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
