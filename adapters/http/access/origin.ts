import type { Context, MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { logWarning } from '../../../src/base/log-warning.ts'
import type { Logger } from '../../../src/index.ts'
import { refuse } from './problem.ts'

/** An app's CORS rules. */
export interface OriginRules {
  /** Origins, such as `https://app.example`. */
  allowed: readonly string[]
  methods: readonly string[]
  /** Request headers that a page may send. Default: any. */
  headers?: readonly string[]
  /** Response headers that a page may read. */
  exposed: readonly string[]
  /** Receives one warning per rejected origin. Otherwise, only the browser's console shows the reason. */
  logger?: Logger | false | undefined
}

/** Maximum number of rejected origins to log. */
const maxLogged = 20

/**
 * Accepts requests from pages on this server and the listed origins. Rejects other pages before authentication. Browsers attach cookies to
 * any page's requests, so a signed-in user does not prove that the page is trusted.
 *
 * Sets the same response headers as Hono's `cors`, which rejects no requests. Unlike Hono's `csrf`, which rejects only forms, it rejects
 * every request from another origin.
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
    const detail = `The origin ${JSON.stringify(shown)} is not allowed. To allow it, add it to cors on the server.`
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
