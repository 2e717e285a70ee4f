import { type AgentEvent, PhiError } from '../../src/index.ts'
import { type SseOptions, toSse } from './to-sse.ts'

const encoder = new TextEncoder()
const ping = encoder.encode(':\n\n')
/** Platforms take no longer interval, in ms: they would fire at once, and again and again. */
const longestMs = 2_147_483_647

/** How events are streamed. */
export interface SseStreamOptions extends SseOptions {
  /** Milliseconds between pings. */
  pingMs: number
  /** Called when the client gets nothing more although the run goes on: it went away, or an event could not be written. */
  onCancel?: (reason: unknown) => void
}

/**
 * The events of a run as a byte stream of server-sent events.
 *
 * **Contract**
 * - An event is read only when the client has taken the one before: a slow client makes the run coalesce its deltas, not this stream grow.
 * - A comment is sent every `pingMs` milliseconds of a run, unless bytes are waiting already; proxies then keep an idle connection open.
 * - No timer and no reader outlives the stream, however it ends.
 * - When the events cannot be read on, or one cannot be written as JSON, the last frame is `event: error`, without an `id`. The reader is let go, and
 *   `onCancel` is called: this client gets nothing more of the run.
 */
export function sseStream(source: AsyncIterable<AgentEvent>, options: SseStreamOptions): ReadableStream<Uint8Array> {
  const events = source[Symbol.asyncIterator]()
  let timer: ReturnType<typeof setInterval> | undefined
  const stopPing = () => {
    if (timer !== undefined) clearInterval(timer)
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(
        () => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(ping)
        },
        Math.min(options.pingMs, longestMs),
      )
    },
    async pull(controller) {
      const frame = await nextFrame(events, options)
      if (frame.text !== undefined) controller.enqueue(encoder.encode(frame.text))
      if (!frame.isLast) return
      stopPing()
      controller.close()
      if (frame.error === undefined) return
      options.onCancel?.(frame.error)
      await events.return?.()
    },
    async cancel(reason) {
      stopPing()
      options.onCancel?.(reason)
      await events.return?.()
    },
  })
}

interface Frame {
  text?: string
  isLast: boolean
  /** Why it is the last before the run has ended. */
  error?: unknown
}

async function nextFrame(events: AsyncIterator<AgentEvent>, options: SseOptions): Promise<Frame> {
  try {
    // A pull that gave nothing would not be repeated: events that are withheld are passed over here.
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      const text = toSse(next.value, options)
      if (text !== '') return { text, isLast: false }
    }
    return { isLast: true }
  } catch (error) {
    const code = PhiError.isInstance(error) ? error.code : 'stream'
    return {
      text: `event: error\ndata: ${JSON.stringify({ code, message: error instanceof Error ? error.message : String(error) })}\n\n`,
      isLast: true,
      error,
    }
  }
}
