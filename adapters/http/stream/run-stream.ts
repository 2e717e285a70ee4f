import { streamHeaders } from '../../../src/internal.ts'
import type { Caller } from '../access/authorize.ts'
import { refuse } from '../access/problem.ts'
import type { EventSource } from './event-source.ts'
import { type FrameWriter, nativeFrames } from './frame-writer.ts'
import type { OpenStreams } from './open-streams.ts'
import { type SseStreamOptions, sseStream } from './sse-stream.ts'

/** Options for event streams. */
export interface RunStreamOptions {
  /** Milliseconds between pings. */
  pingMs: number
  turnRequests: boolean
  streams: OpenStreams
}

/** Options that all responses share. */
interface AnsweredOptions extends RunStreamOptions {
  caller: Caller
}

/** Additional behavior of a response. */
interface AnswerOptions extends Pick<SseStreamOptions, 'onCancel'> {
  /** Frame writer. Default: the native protocol. */
  writer?: FrameWriter
  headers?: Readonly<Record<string, string>>
}

/** Responds with events as server-sent events. */
export function eventStream(source: EventSource, options: AnsweredOptions, answer: AnswerOptions = {}): Response {
  const { pingMs, turnRequests, streams, caller } = options
  const { writer = nativeFrames({ turnRequests }), headers = sseHeaders, onCancel } = answer
  const leave = streams.enter(caller)
  const disconnect = source.enter?.()
  const body = sseStream(source, {
    writer,
    pingMs,
    ...(source.takenOver !== undefined && { signal: source.takenOver }),
    onClose: () => {
      leave()
      disconnect?.()
    },
    ...(onCancel !== undefined && { onCancel }),
  })
  return new Response(body, { headers })
}

/** Headers of every event stream. */
export const sseHeaders = {
  ...streamHeaders,
  'content-type': 'text/event-stream; charset=utf-8',
  'x-content-type-options': 'nosniff',
} as const

/** Parses a cursor. */
export function cursorOf(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    refuse(400, 'invalidCursor', `Invalid cursor ${JSON.stringify(text.slice(0, 40))}. Send the last id you received.`)
  return Number(text)
}
