import { timingSafeEqual } from 'hono/utils/buffer'

/** A request, or what a handler of Hono is given. */
type Asking = Request | { readonly req: { readonly raw: Request } }

const minLength = 8

/** What `String` makes of a secret that is not there. */
const noSecrets = ['undefined', '[object Object]']

/**
 * Whether a request sends `secret` as `Authorization: Bearer …`: the answer to `authorize` of `createAgentApp` and `createWorker`, and of any
 * middleware. Hono's `bearerAuth` answers by itself, and takes a token that is empty.
 *
 * **Contract**
 * - A secret that is unset, empty, or no secret (shorter than 8 characters, not printable ASCII) lets nobody in. Spaces and line breaks around
 *   it are not part of it.
 * - The comparison takes the same time for every wrong token. Never throws.
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
 * The token that a call brings where its protocol has the key: what a factory was given as `apiKey`. It is yours to check; the proxy passes none on.
 *
 * `undefined` where there is none. `authorization` (with `Bearer`) counts before `x-api-key`, `x-goog-api-key` and `api-key`.
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
