import { timerMs } from '../../../src/base/timer.ts'
import type { EventSource } from './event-source.ts'
import type { FrameWriter } from './frame-writer.ts'
import { RunFrames } from './run-frames.ts'

const encoder = new TextEncoder()
const ping = encoder.encode(':\n\n')

/** Milliseconds between pings of an idle stream. */
export const defaultPingMs = 15_000

/** Versions of shared state that may be unsent; beyond that only the newest is sent, with the next ping. */
const mostUntaken = 8

/** Options of an SSE stream. */
export interface SseStreamOptions {
  writer: FrameWriter
  /** Milliseconds between pings. */
  pingMs: number
  /** Breaks the stream off when it aborts, so that its reader reconnects. */
  signal?: AbortSignal
  /** Called if the stream ends before the run: the client disconnected, or an event could not be written. */
  onCancel?: (reason: unknown) => void
  /** Called once, when the stream has ended or was cancelled. */
  onClose?: () => void
}

/**
 * Creates a byte stream of server-sent events from the events of a run.
 *
 * **Contract**
 * - Reads events only when the client has taken the previous ones, 16 KiB of text at most: for a slow client the run coalesces
 *   its deltas, and no buffer grows.
 * - Sends a comment every `pingMs` milliseconds of a run, unless bytes are pending; this keeps idle connections through proxies
 *   open.
 * - Sends versions of shared state at once, independent of events. A client that is behind gets only the newest.
 * - Ends if the run waits for a user and all events are written, if the protocol requires that; the run keeps waiting.
 * - No timer and no reader outlives the stream, however it ends.
 * - If events cannot be read, or one cannot be written as JSON, the last frames say so. The reader is released, and `onCancel` is
 *   called.
 */
export function sseStream(source: EventSource, options: SseStreamOptions): ReadableStream<Uint8Array> {
  const frames = new RunFrames(source, options.writer)
  let timer: ReturnType<typeof setInterval> | undefined
  let isOpen = true
  let breakOff = (): void => undefined
  const { signal, writer } = options
  /** The newest unsent version of shared state. */
  let pendingText = ''
  let stopListening = (): void => undefined
  const close = () => {
    clearInterval(timer)
    stopListening()
    signal?.removeEventListener('abort', breakOff)
    if (isOpen) options.onClose?.()
    isOpen = false
  }
  const tellState = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (pendingText !== '') controller.enqueue(encoder.encode(pendingText))
    pendingText = ''
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const sendPing = () => {
        if ((controller.desiredSize ?? 0) <= 0) return
        if (pendingText === '') controller.enqueue(ping)
        else tellState(controller)
      }
      timer = setInterval(sendPing, timerMs(options.pingMs))
      const onVersion = (version: number): void => {
        pendingText = writer.state?.(version) ?? ''
        // While an event is pending the client does not pull, so the state is sent without a pull.
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
