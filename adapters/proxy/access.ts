import type { Context, Env, MiddlewareHandler } from 'hono'
import { Refusal } from './refusal.ts'

/** Says who calls: a name, `true` for the one user there is, or anything else for nobody. */
export type Authorize<E extends Env = Env> = (c: Context<E>) => string | boolean | undefined | Promise<string | boolean | undefined>

const maxIdentity = 1024

/** A name, or nothing for the one user there is. Everybody else is refused. */
export async function identityOf<E extends Env>(c: Context<E>, authorize: Authorize<E>): Promise<string | undefined> {
  const said: unknown = await authorize(c)
  if (said === true) return undefined
  if (typeof said === 'string' && said !== '' && said.length <= maxIdentity && !/\p{Surrogate}/u.test(said)) return said
  throw new Refusal(
    401,
    'unauthorized',
    'This call is not allowed. Send the credentials that this proxy asks for, as the key of the model or otherwise.',
  )
}

/** A request, or what a handler of Hono is given. */
type Asking = Request | { readonly req: { readonly raw: Request } }

/**
 * The token that a call brings where its protocol has the key: what a factory was given as `apiKey`. It is yours to check; the proxy passes none on.
 *
 * `undefined` where there is none. `authorization` (with `Bearer`) counts before `x-api-key`, `x-goog-api-key` and `api-key`.
 */
export function callerToken(asking: Asking): string | undefined {
  const { headers } = 'req' in asking ? asking.req.raw : asking
  const bearer = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1]
  const token = bearer ?? headers.get('x-api-key') ?? headers.get('x-goog-api-key') ?? headers.get('api-key') ?? ''
  return token === '' ? undefined : token
}

const exposedHeaders = 'retry-after, retry-after-ms, x-should-retry, request-id, x-request-id, x-amzn-requestid, x-amzn-errortype'

/**
 * Lets pages of this server and of the listed origins in. Others are refused before anybody is asked who they are: a browser sends cookies along,
 * so being signed in does not mean that this page may spend tokens.
 */
export function originGuard(allowed: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    const origin = c.req.header('origin')
    if (origin === undefined || isSameOrigin(c, origin)) return next()
    if (!allowed.includes(origin)) {
      throw new Refusal(
        403,
        'foreignOrigin',
        `Pages of ${JSON.stringify(origin.slice(0, 100))} may not call this proxy. Add the origin to cors if they should.`,
      )
    }
    if (c.req.method === 'OPTIONS') return c.body(null, 204, preflight(origin, c.req.header('access-control-request-headers')))
    await next()
    c.header('access-control-allow-origin', origin)
    c.header('access-control-expose-headers', exposedHeaders)
    c.header('vary', 'Origin', { append: true })
  }
}

/** Any header may be sent: what is not known goes no further. */
function preflight(origin: string, wanted = 'content-type'): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': wanted,
    'access-control-max-age': '600',
    vary: 'Origin, Access-Control-Request-Headers',
  }
}

/** Browsers say so themselves where they can; behind a server that rewrites `Host` it is all there is. */
function isSameOrigin(c: Context, origin: string): boolean {
  if (c.req.header('sec-fetch-site') === 'same-origin') return true
  const host = c.req.header('host') ?? new URL(c.req.url).host
  return URL.canParse(origin) && new URL(origin).host === host
}
