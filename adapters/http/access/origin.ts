import type { Context, MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { logWarning } from '../../../src/base/log-warning.ts'
import type { Logger } from '../../../src/index.ts'
import { refuse } from './problem.ts'

/** CORS rules of an app. */
export interface OriginRules {
  /** Origins, such as `https://app.example`. */
  allowed: readonly string[]
  methods: readonly string[]
  /** Request headers that a page may send. Default: any. */
  headers?: readonly string[]
  /** Response headers that a page may read. */
  exposed: readonly string[]
  /** Receives each refused origin once, because a browser reports the reason only to its user. */
  logger?: Logger | false | undefined
}

/** Refused origins that are logged. */
const maxLogged = 20

/**
 * Accepts requests of pages of this server and of the listed origins. Refuses other pages before authentication: the browser
 * sends cookies along, so a signed-in user does not vouch for the page.
 *
 * Response headers are those of Hono's `cors`, which refuses nothing. Hono's `csrf` refuses forms only; this refuses every
 * request of another origin.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function originGuard({ allowed, methods, headers, exposed, logger }: OriginRules): MiddlewareHandler {
  const logged = new Set<string>()
  const corsHandler = cors({
    origin: [...allowed],
    allowMethods: [...methods],
    ...(headers !== undefined && { allowHeaders: [...headers] }),
    exposeHeaders: [...exposed],
    maxAge: 600,
  })
  return async (c, next) => {
    const origin = c.req.header('origin')
    if (origin === undefined || isSameOrigin(c, origin)) return next()
    if (allowed.includes(origin)) return corsHandler(c, next)
    const shown = origin.slice(0, 100)
    const detail = `Pages of ${JSON.stringify(shown)} may not ask this server. Add the origin to cors on the server if they should.`
    if (!logged.has(shown) && logged.size < maxLogged) {
      logged.add(shown)
      logWarning(logger, 'foreignOrigin', { message: detail })
    }
    refuse(403, 'foreignOrigin', detail)
  }
}

/**
 * Uses `Sec-Fetch-Site` if the browser sends it, because pages cannot forge it. It also works behind a proxy that rewrites
 * `Host`.
 */
function isSameOrigin(c: Context, origin: string): boolean {
  if (c.req.header('sec-fetch-site') === 'same-origin') return true
  const host = c.req.header('host') ?? new URL(c.req.url).host
  return URL.canParse(origin) && new URL(origin).host === host
}
