import { streamHeaders } from '../../../src/internal.ts'
import type { Caller } from '../access/authorize.ts'
import { refuse } from '../access/problem.ts'
import type { EventSource } from './event-source.ts'
import { type FrameWriter, nativeFrames } from './frame-writer.ts'
import type { OpenStreams } from './open-streams.ts'
import { type SseStreamOptions, sseStream } from './sse-stream.ts'

/** How the events of runs are streamed. */
export interface RunStreamOptions {
  /** Milliseconds between pings. */
  pingMs: number
  turnRequests: boolean
  streams: OpenStreams
}

/** The same for whoever asks. */
interface AnsweredOptions extends RunStreamOptions {
  caller: Caller
}

/** What an answer does besides being read. */
interface AnswerOptions extends Pick<SseStreamOptions, 'onCancel'> {
  /** Default: our own frames. */
  writer?: FrameWriter
  headers?: Readonly<Record<string, string>>
}

/** Events as an answer of server-sent events. */
export function eventStream(source: EventSource, options: AnsweredOptions, answer: AnswerOptions = {}): Response {
  const { pingMs, turnRequests, streams, caller } = options
  const { writer = nativeFrames({ turnRequests }), headers = sseHeaders, onCancel } = answer
  const leave = streams.enter(caller)
  const disconnect = source.enter?.()
  const body = sseStream(source, {
    writer,
    pingMs,
    ...(source.goneElsewhere !== undefined && { signal: source.goneElsewhere }),
    onClose: () => {
      leave()
      disconnect?.()
    },
    ...(onCancel !== undefined && { onCancel }),
  })
  return new Response(body, { headers })
}

/** What every answer of server-sent events says. */
export const sseHeaders = {
  ...streamHeaders,
  'content-type': 'text/event-stream; charset=utf-8',
  'x-content-type-options': 'nosniff',
} as const

/** The number that a cursor is. */
export function cursorOf(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    refuse(400, 'invalidCursor', `${JSON.stringify(text.slice(0, 40))} is no cursor. Send the last id you received.`)
  return Number(text)
}
