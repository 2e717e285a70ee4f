import type { Context, Env, Hono } from 'hono'
import { startTimer } from '../../../src/base/timer.ts'
import { type Problem, problemResponse, soonMs } from '../access/problem.ts'
import type { LiveSessions } from '../live/live-sessions.ts'

/** Milliseconds until the store must respond. */
const answerMs = 2000
/** Milliseconds to cache a result, so that frequent checks query the store at most once a second. */
const freshMs = 1000

const notReady: Problem = {
  status: 503,
  code: 'unavailable',
  detail: 'This server accepts no requests: it is shutting down, overloaded, or cannot reach its store.',
  retryAfterMs: soonMs,
}

/**
 * Adds `GET /healthz` (the process responds) and `GET /readyz` (the process accepts requests) for load balancers. Both require no
 * authentication and expose no user data.
 */
export function addHealth<E extends Env>(app: Hono<E>, sessions: ((c: Context<E>) => LiveSessions) | undefined): void {
  const checks = new WeakMap<LiveSessions, { at: number; isReady: Promise<boolean> }>()
  const isReady = (host: LiveSessions): Promise<boolean> => {
    const last = checks.get(host)
    if (last !== undefined && performance.now() - last.at < freshMs) return last.isReady
    const check = { at: performance.now(), isReady: readyWithinTimeout(host) }
    checks.set(host, check)
    return check.isReady
  }
  app.get('/healthz', (c) => c.json({ status: 'ok' }, 200, noStore))
  app.get('/readyz', async (c) =>
    sessions === undefined || (await isReady(sessions(c))) ? c.json({ status: 'ok' }, 200, noStore) : problemResponse(notReady),
  )
}

const noStore = { 'cache-control': 'no-store' }

function readyWithinTimeout(host: LiveSessions): Promise<boolean> {
  return new Promise((resolve) => {
    const stopTimer = startTimer(answerMs, () => resolve(false))
    const answer = async () => (await host.isReady?.()) ?? true
    answer()
      .catch(() => false)
      .then((ready) => {
        stopTimer()
        resolve(ready)
      })
  })
}
