import type { Env, Hono } from 'hono'
import type { Logger } from '../../../src/index.ts'
import type { LiveSessions, SessionFigures } from '../live/live-sessions.ts'
import type { OpenStreams } from '../stream/open-streams.ts'

/** A handled request. The app reports a stream at its first byte. */
export interface AnsweredRequest {
  method: string
  /** Route pattern, such as `/sessions/:id/runs`, with a bounded number of values. */
  route: string
  status: number
  /** Milliseconds until the response began. */
  durationMs: number
}

/** Metrics for this process. */
export interface AppFigures extends SessionFigures {
  /** Open streams. */
  openStreams: number
  /** Event loop delay in milliseconds. */
  lagMs: number
}

/**
 * Observes an app. `meterApp` from `phi-core/otel` turns the observations into metrics.
 *
 * **Contract**
 * - The app calls both methods synchronously and ignores their errors.
 *
 * Source: docs/guides/deploy.md
 */
export interface AppObserver {
  /** Called for each request. */
  request?(request: AnsweredRequest): void
  /** Called once, when the app is created. `figures` returns the current metrics. */
  begin?(figures: () => AppFigures): void
}

interface ObserveOptions {
  observers: readonly AppObserver[]
  logger: Logger | false | undefined
  /** Absent if the session host is created per request. */
  sessions: LiveSessions | undefined
  streams: OpenStreams
}

/** Notifies observers, and a logger with `info`, of every request. */
export function observeApp<E extends Env>(app: Hono<E>, { observers, logger, sessions, streams }: ObserveOptions): void {
  const none: SessionFigures = { sessions: 0, runs: 0, waiting: 0, queued: 0 }
  const figures = (): AppFigures => ({ ...(sessions?.figures?.() ?? none), openStreams: streams.inAll, lagMs: streams.lagMs })
  for (const observer of observers) quietly(() => observer.begin?.(figures))
  const info = logger === false ? undefined : logger?.info?.bind(logger)
  if (observers.length === 0 && info === undefined) return
  app.use(async (c, next) => {
    const at = performance.now()
    await next()
    const { status } = c.res
    const request = {
      method: c.req.method,
      route: routeOf(c.req.routePath, c.req.path, status),
      status,
      durationMs: performance.now() - at,
    }
    for (const observer of observers) quietly(() => observer.request?.(request))
    if (info !== undefined) quietly(() => info('request', { ...request, durationMs: Math.round(request.durationMs) }))
  })
}

/** Returns a request's route. For session routes, adds the path segment after the id if it is a known route. */
function routeOf(pattern: string, path: string, status: number): string {
  const at = pattern.indexOf('/:rest')
  if (at < 0) return pattern === '/*' ? '*' : pattern
  const [word = ''] = path.split('/').slice(pattern.slice(0, at).split('/').length)
  const known = /^[a-z-]{1,20}$/.test(word) && status !== 404 && status !== 401
  return `${pattern.slice(0, at)}${known ? `/${word}` : word === '' ? '' : '/*'}`
}

function quietly(tell: () => void): void {
  try {
    tell()
  } catch {
    // Ignore errors, because an observer must not affect the request.
  }
}
