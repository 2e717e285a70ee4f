import type { Context, MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { logWarning } from '../../../src/base/log-warning.ts'
import type { Logger } from '../../../src/index.ts'
import { refuse } from './problem.ts'

/** Which pages of other origins may ask, and for what. */
export interface OriginRules {
  /** Origins, such as `https://app.example`. */
  allowed: readonly string[]
  methods: readonly string[]
  /** Headers that a page may send. Absent: any. */
  headers?: readonly string[]
  /** Headers of an answer that a page may read. */
  exposed: readonly string[]
  /** Learns of each origin that was refused, once: a browser tells nobody else why. */
  logger?: Logger | false | undefined
}

/** Origins that are told of. */
const mostTold = 20

/**
 * Lets pages of this server and of the listed origins in. A request that a foreign page makes is refused before anybody is asked who it is: a
 * browser sends cookies along, so being signed in does not mean that this page may speak.
 *
 * What a browser is told is Hono's `cors`, which refuses nobody. Its `csrf` refuses forms alone; this refuses any request of a foreign page.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function originGuard({ allowed, methods, headers, exposed, logger }: OriginRules): MiddlewareHandler {
  const toldOf = new Set<string>()
  const told = cors({
    origin: [...allowed],
    allowMethods: [...methods],
    ...(headers !== undefined && { allowHeaders: [...headers] }),
    exposeHeaders: [...exposed],
    maxAge: 600,
  })
  return async (c, next) => {
    const origin = c.req.header('origin')
    if (origin === undefined || isSameOrigin(c, origin)) return next()
    if (allowed.includes(origin)) return told(c, next)
    const shown = origin.slice(0, 100)
    const detail = `Pages of ${JSON.stringify(shown)} may not ask this server. Add the origin to cors on the server if they should.`
    if (!toldOf.has(shown) && toldOf.size < mostTold) {
      toldOf.add(shown)
      logWarning(logger, 'foreignOrigin', { message: detail })
    }
    refuse(403, 'foreignOrigin', detail)
  }
}

/** Browsers say so themselves where they can, and no page can in their place; behind a server that rewrites `Host` it is all there is. */
function isSameOrigin(c: Context, origin: string): boolean {
  if (c.req.header('sec-fetch-site') === 'same-origin') return true
  const host = c.req.header('host') ?? new URL(c.req.url).host
  return URL.canParse(origin) && new URL(origin).host === host
}
