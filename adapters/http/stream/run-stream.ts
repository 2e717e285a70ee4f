import { type AgentEvent, type AgentRun, CursorExpired } from '../../../src/index.ts'
import { ProblemError, refuse } from '../problem.ts'
import type { OpenStreams } from './open-streams.ts'
import { sseStream } from './sse-stream.ts'

/** How the events of runs are streamed. */
export interface RunStreamOptions {
  /** Milliseconds between pings. */
  pingMs: number
  turnRequests: boolean
  streams: OpenStreams
}

/** The events of `run` from its beginning, or after `cursor`. Refuses with 400 `invalidCursor` and 410 `cursorExpired`. */
export function runStream(run: AgentRun, cursor: string | undefined, options: RunStreamOptions): Response {
  return eventStream(cursor === undefined ? run : eventsAfter(run, cursor), options)
}

/** Events as server-sent events. `onCancel` hears when the client gets nothing more although they go on. */
export function eventStream(
  events: AsyncIterable<AgentEvent>,
  { pingMs, turnRequests, streams, onCancel }: RunStreamOptions & { onCancel?: (reason: unknown) => void },
): Response {
  const onClose = streams.enter()
  return new Response(sseStream(events, { pingMs, turnRequests, onClose, ...(onCancel !== undefined && { onCancel }) }), { headers: sseHeaders })
}

/** What every answer of server-sent events says. */
export const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Proxies such as nginx would collect the whole answer first.
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
} as const

function eventsAfter(run: AgentRun, cursor: string): AsyncIterable<AgentEvent> {
  if (!/^\d{1,15}$/.test(cursor)) refuse(400, 'invalidCursor', 'Last-Event-ID is no cursor. Send the last id you received.')
  try {
    return run.events({ after: Number(cursor) })
  } catch (error) {
    if (!(error instanceof CursorExpired)) throw error
    throw new ProblemError({ status: 410, code: 'cursorExpired', detail: error.message })
  }
}
