import { type AgentEvent, type AgentRun, CursorExpiredError } from '../../../src/index.ts'
import type { Caller } from '../access/authorize.ts'
import { ProblemError, refuse } from '../access/problem.ts'
import { type FrameWriter, nativeFrames } from './frame-writer.ts'
import type { OpenStreams } from './open-streams.ts'
import { type SseStreamOptions, sseStream } from './sse-stream.ts'
import { type TellEvent, toldEvents } from './told-events.ts'

/** How the events of runs are streamed. */
export interface RunStreamOptions {
  /** Milliseconds between pings. */
  pingMs: number
  turnRequests: boolean
  streams: OpenStreams
}

/** The same for one session, and for whoever asks. */
interface AnsweredOptions extends RunStreamOptions {
  live: {
    caller: Caller
    goneElsewhere?: AbortSignal
    enter?(): () => void
    /** By whose names our own frames tell of large media. */
    media?: { inEvent: TellEvent }
  }
}

/** The events of `run` from its beginning, or after `cursor`. Refuses with 400 `invalidCursor` and 410 `cursorExpired`. */
export function runStream(run: AgentRun, cursor: string | undefined, options: AnsweredOptions): Response {
  return eventStream(cursor === undefined ? run : eventsAfter(run, cursorOf(cursor)), options)
}

/** What an answer does besides being read. */
interface AnswerOptions extends Pick<SseStreamOptions, 'onCancel' | 'onClose'> {
  /** Needed by protocols whose answers end where a run waits. */
  waits?: SseStreamOptions['waits']
  /** Default: our own frames. */
  writer?: FrameWriter
  /** What of an event is told, in protocols of others. Default: the event. */
  tell?: TellEvent | undefined
  headers?: Readonly<Record<string, string>>
}

/** Events as an answer of server-sent events. */
export function eventStream(events: AsyncIterable<AgentEvent>, options: AnsweredOptions, answer: AnswerOptions = {}): Response {
  const { pingMs, turnRequests, streams, live } = options
  const { media } = live
  // Clients of our own know how to ask for what is named.
  const byName = answer.writer === undefined && media !== undefined ? (event: AgentEvent) => media.inEvent(event) : undefined
  const tell = answer.tell ?? byName
  const told = tell === undefined ? events : toldEvents(events, tell)
  const { writer = nativeFrames({ turnRequests }), headers = sseHeaders, onCancel, onClose, waits = () => false } = answer
  const leave = streams.enter(live.caller)
  const disconnect = live.enter?.()
  const body = sseStream(told, {
    writer,
    pingMs,
    waits,
    ...(live.goneElsewhere !== undefined && { signal: live.goneElsewhere }),
    onClose: () => {
      leave()
      disconnect?.()
      onClose?.()
    },
    ...(onCancel !== undefined && { onCancel }),
  })
  return new Response(body, { headers })
}

/** What every answer of server-sent events says. */
export const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Proxies such as nginx would collect the whole answer first.
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
} as const

/** Whether `run` waits for a person, or for a page. */
export function waitsForPerson(run: AgentRun): () => boolean {
  return () => run.pendingApprovals().length + run.pendingClientCalls().length > 0
}

/** The number that a cursor is. */
export function cursorOf(text: string): number {
  if (!/^\d{1,15}$/.test(text))
    refuse(400, 'invalidCursor', `${JSON.stringify(text.slice(0, 40))} is no cursor. Send the last id you received.`)
  return Number(text)
}

/** The events of `run` after a cursor. Refuses with 410 `cursorExpired`. */
export function eventsAfter(run: AgentRun, after: number): AsyncIterable<AgentEvent> {
  try {
    return run.events({ after })
  } catch (error) {
    if (!(error instanceof CursorExpiredError)) throw error
    throw new ProblemError({ status: 410, code: 'cursorExpired', detail: error.message })
  }
}
