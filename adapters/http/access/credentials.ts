import { timingSafeEqual } from 'hono/utils/buffer'

/** A request, or the context of a Hono handler. */
type Asking = Request | { readonly req: { readonly raw: Request } }

const minLength = 8

/** Results of `String` for a missing secret. */
const noSecrets = ['undefined', '[object Object]']

/**
 * Returns a check that accepts requests with `Authorization: Bearer <secret>`. Use it for `authorize` of `createAgentApp` and
 * `createWorker`, or in any middleware. Unlike Hono's `bearerAuth`, it sends no response and never accepts an empty token.
 *
 * **Contract**
 * - Refuses every request if the secret is unset, empty, shorter than 8 characters, or not printable ASCII. Ignores spaces and
 *   line breaks around it.
 * - Compares in constant time. Never throws.
 *
 * @example
 * ```ts
 * createAgentApp({ agent, authorize: bearer(process.env.ACCESS_TOKEN) })
 * createWorker<Bindings>({ agent, authorize: (env, request) => bearer(env.ACCESS_TOKEN)(request) })
 * ```
 */
export function bearer(secret: string | undefined): (asking: Asking) => Promise<boolean> {
  const expected = usable(secret)
  return async (asking) => {
    const sent = /^bearer +(.+)$/i.exec(headersOf(asking).get('authorization') ?? '')?.[1]
    return expected !== undefined && sent !== undefined && timingSafeEqual(sent, expected)
  }
}

function usable(secret: string | undefined): string | undefined {
  if (typeof secret !== 'string') return undefined
  const trimmed = secret.trim()
  const isOne = trimmed.length >= minLength && /^[\x20-\x7e]+$/.test(trimmed) && !noSecrets.includes(trimmed)
  return isOne ? trimmed : undefined
}

/**
 * Returns the token that a call carries in place of an API key: the `apiKey` of the factory that sends the call. Check it
 * yourself; the proxy forwards no token.
 *
 * Returns `undefined` if there is none. Reads `authorization` (with `Bearer`) before `x-api-key`, `x-goog-api-key` and `api-key`.
 *
 * Source: docs/guides/keys-and-proxies.md
 */
export function callerToken(asking: Asking): string | undefined {
  const headers = headersOf(asking)
  const bearer = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1]
  const token = bearer ?? headers.get('x-api-key') ?? headers.get('x-goog-api-key') ?? headers.get('api-key') ?? ''
  return token === '' ? undefined : token
}

function headersOf(asking: Asking): Headers {
  return 'req' in asking ? asking.req.raw.headers : asking.headers
}
