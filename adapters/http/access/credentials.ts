import { timingSafeEqual } from 'hono/utils/buffer'

/** A request, or the context of a Hono handler. */
type Asking = Request | { readonly req: { readonly raw: Request } }

const minLength = 8

/** Strings that result from converting a missing secret. */
const noSecrets = ['undefined', '[object Object]']

/**
 * Returns a function that accepts requests with `Authorization: Bearer <secret>`. Pass it as `authorize` to `createAgentApp` or
 * `createWorker`, or call it in any middleware. Unlike Hono's `bearerAuth`, it sends no response and never accepts an empty token.
 *
 * **Contract**
 * - Rejects every request if the secret is unset, empty, shorter than 8 characters, or not printable ASCII. Ignores spaces and line breaks
 *   around the secret.
 * - Compares in constant time. Never throws.
 *
 * @example
 * ```ts
 * createAgentApp({ sessions, authorize: bearer(process.env.ACCESS_TOKEN) })
 * createWorker<Bindings>({ agent: () => new Agent({ model }), authorize: (env, request) => bearer(env.ACCESS_TOKEN)(request) })
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
 * Returns the token that a call contains instead of an API key: the `apiKey` that the caller passed to its factory. Verify the token in
 * `authorize`. The proxy does not forward tokens.
 *
 * Returns `undefined` if the call contains no token. Reads `authorization` (with `Bearer`) before `x-api-key`, `x-goog-api-key` and
 * `api-key`.
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
