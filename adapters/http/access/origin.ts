import type { Context, MiddlewareHandler } from 'hono'
import { refuse } from '../problem.ts'

/** Headers that a page may send, and read. */
const allowedHeaders = 'content-type, authorization, idempotency-key, last-event-id, x-vercel-ai-ui-message-stream, user-agent'
const exposedHeaders = 'retry-after, x-vercel-ai-ui-message-stream'

/**
 * Lets pages of this server and of the listed origins in. A request that a foreign page makes is refused before anybody is asked who it is: a
 * browser sends cookies along, so being signed in does not mean that this page may speak.
 *
 * Source: docs/http-and-workers.md
 */
export function originGuard(allowed: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    const origin = c.req.header('origin')
    if (origin === undefined || isSameOrigin(c, origin)) return next()
    if (!allowed.includes(origin)) {
      refuse(
        403,
        'foreignOrigin',
        `Pages of ${shown(origin)} may not ask this server. Add the origin to cors on the server if they should.`,
      )
    }
    if (c.req.method === 'OPTIONS') return c.body(null, 204, preflight(origin))
    await next()
    c.header('access-control-allow-origin', origin)
    c.header('access-control-expose-headers', exposedHeaders)
    c.header('vary', 'Origin', { append: true })
  }
}

function preflight(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-allow-headers': allowedHeaders,
    'access-control-max-age': '600',
    vary: 'Origin',
  }
}

function isSameOrigin(c: Context, origin: string): boolean {
  const host = c.req.header('host') ?? new URL(c.req.url).host
  return URL.canParse(origin) && new URL(origin).host === host
}

function shown(origin: string): string {
  return JSON.stringify(origin.slice(0, 100))
}
