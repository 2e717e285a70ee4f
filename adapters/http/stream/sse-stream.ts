import { timerMs } from '../../../src/base/timer.ts'
import type { EventSource } from './event-source.ts'
import type { FrameWriter } from './frame-writer.ts'
import { RunFrames } from './run-frames.ts'

const encoder = new TextEncoder()
const ping = encoder.encode(':\n\n')

/** Milliseconds between pings of an idle stream. */
export const defaultPingMs = 15_000

/** Maximum unsent versions of shared state. Beyond it, the stream sends only the newest version, with the next ping. */
const mostUntaken = 8

/** Options for an SSE stream. */
export interface SseStreamOptions {
  writer: FrameWriter
  /** Milliseconds between pings. */
  pingMs: number
  /** Aborts the stream, so that the reader reconnects. */
  signal?: AbortSignal
  /** Called if the stream ends before the run, because the client disconnected or an event could not be written. */
  onCancel?: (reason: unknown) => void
  /** Called once, when the stream has ended or was cancelled. */
  onClose?: () => void
}

/**
 * Creates a byte stream of server-sent events from a run's events.
 *
 * **Contract**
 * - Reads at most 16 KiB of events at a time, and only after the client has received the previous events. For a slow client, the run merges
 *   deltas instead of growing a buffer.
 * - Sends a comment every `pingMs` milliseconds unless bytes are pending, which keeps idle connections through proxies open.
 * - Sends versions of shared state immediately, independent of events. A slow client receives only the newest version.
 * - If the protocol requires it, ends when the run is waiting for a user and all events are written. The run continues to wait.
 * - Releases all timers and readers with the stream, regardless of how it ends.
 * - If events cannot be read, or an event cannot be written as JSON, the last frames report the error. Releases the reader and calls
 *   `onCancel`.
 */
export function sseStream(source: EventSource, options: SseStreamOptions): ReadableStream<Uint8Array> {
  const frames = new RunFrames(source, options.writer)
  let timer: ReturnType<typeof setInterval> | undefined
  let isOpen = true
  let breakOff = (): void => undefined
  const { signal, writer } = options
  /** Newest unsent version of shared state. */
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
        // The client does not pull while an event is pending, so send the state without a pull.
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
      // The stream may have been cancelled in the meantime.
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
