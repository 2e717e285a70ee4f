import type { Context, Env } from 'hono'
import { isRedirect } from '../../../src/base/http-answer.ts'
import { bedrockAuthHeaders, maxErrorBody } from '../../../src/internal.ts'
import { mergeHeaders, secretsIn, withoutSecret } from '../../../src/providers.ts'
import { refuse } from '../access/problem.ts'
import { type PathCall, protocols } from './protocols.ts'
import { keyFor, type ReadyUpstream } from './upstream.ts'

/** An accepted call. */
export interface Outgoing<E extends Env = Env> {
  upstream: ReadyUpstream<E>
  c: Context<E>
  path: PathCall
  body: string
  fetch: typeof fetch
  /** Aborts on timeout, with a `ProblemError` as its reason. */
  signal: AbortSignal
}

/** The provider's response, and the secrets to remove from it. */
export interface Answer {
  response: Response
  secrets: readonly string[]
}

/** Matches content types that browsers do not execute. The proxy forwards all other types as plain bytes. */
const knownTypes = /^(application\/(json|problem\+json|x-ndjson|vnd\.amazon\.eventstream)|text\/(event-stream|plain))\s*(;|$)/i
/** Response headers to forward. Excludes cookies and the rate limits of the key's account. */
export const passedHeaders = [
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'request-id',
  'x-request-id',
  'x-amzn-requestid',
  'x-amzn-errortype',
  'apim-request-id',
]

/**
 * Sends a call with the server's URL, key and headers, and the listed client headers.
 *
 * **Contract**
 * - Never follows redirects. Refreshes a rejected key once. Throws `ProblemError`.
 */
export async function forward<E extends Env>(call: Outgoing<E>): Promise<Answer> {
  const first = await attempt(call)
  const { key } = call.upstream
  const { status } = first.response
  if ((status !== 401 && status !== 403) || typeof key !== 'object' || 'isStatic' in key) return first
  first.response.body?.cancel().catch(() => undefined)
  await key.invalidate()
  return attempt(call)
}

async function attempt<E extends Env>(call: Outgoing<E>): Promise<Answer> {
  const { upstream, c, path, body, signal } = call
  const { api, baseUrl, name } = upstream
  const url = protocols[api].url(baseUrl, path)
  const key = await keyFor(upstream, c, signal)
  const headers = await headersOf(call, url, key)
  const secrets = [...new Set([...(key === undefined ? [] : [key, ...key.split(':')]), ...secretsIn(url, headers)])]
  // Use a local variable, because fetch must not be called as a method of another object.
  const send = call.fetch
  const response = await answerTo(call, () => send(url, { method: 'POST', headers, body, redirect: 'manual', signal }))
  const { status } = response
  const isElsewhere = isRedirect(response)
  if (!isElsewhere && (status < 300 || status >= 400)) return { response, secrets }
  response.body?.cancel().catch(() => undefined)
  if (!isElsewhere)
    refuse(502, 'upstreamUnreachable', `${name} responded with ${status}, which is not a valid response. Check its baseUrl.`)
  refuse(502, 'upstreamRedirected', `${name} redirected the call. Redirects are refused because they would forward the key.`)
}

/** Returns the headers to send: client headers, configured headers, then the key. The last value wins. */
async function headersOf<E extends Env>(
  { upstream, c, body }: Outgoing<E>,
  url: string,
  key: string | undefined,
): Promise<Record<string, string>> {
  const { api, baseUrl, keyPlace, region } = upstream
  const passed: Record<string, string> = {}
  for (const name of upstream.passes) {
    const value = c.req.header(name)
    if (value !== undefined) passed[name] = value
  }
  const accept = c.req.header('accept')
  // Request an uncompressed response: a compressed response arrives in large blocks, and the proxy would have to decompress it.
  const own = { ...(accept !== undefined && { accept }), 'content-type': 'application/json', 'accept-encoding': 'identity' }
  const headers = mergeHeaders(mergeHeaders(passed, own), upstream.headers)
  if (key === undefined) return headers
  const placed = protocols[api].key
  return mergeHeaders(
    headers,
    placed === undefined ? await bedrockAuthHeaders({ url, headers, body }, key, region) : placed(key, keyPlace, baseUrl),
  )
}

/** Sends the call. Does not forward engine errors, which may contain the URL. */
async function answerTo<E extends Env>({ signal, upstream }: Outgoing<E>, send: () => Promise<Response>): Promise<Response> {
  let response: Response
  try {
    signal.throwIfAborted()
    response = await send()
  } catch {
    signal.throwIfAborted()
    refuse(502, 'upstreamUnreachable', `Cannot reach ${upstream.name}. Retry later.`, 5000)
  }
  // The response arrived after an abort, so discard it.
  if (signal.aborted) response.body?.cancel().catch(() => undefined)
  return response
}

/** Waits for `promise` until `signal` aborts, even if the called code ignores the signal. */
export async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let onAbort = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort)
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Returns the response headers to forward to the client. */
export function responseHeaders(from: Headers, secrets: readonly string[]): Headers {
  const type = from.get('content-type') ?? 'application/octet-stream'
  const headers = new Headers({
    'content-type': knownTypes.test(type) ? type : 'application/octet-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Without it, nginx and other proxies buffer the whole response.
    'x-accel-buffering': 'no',
  })
  for (const name of passedHeaders) {
    const value = from.get(name)
    if (value !== null) headers.set(name, withoutSecret(value, secrets))
  }
  return headers
}

/** Returns up to 64 KiB of an error body with the key redacted, because providers echo rejected data. */
export async function errorBody({ response, secrets }: Answer, signal: AbortSignal): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const stop = (): void => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', stop)
  const utf8 = new TextDecoder()
  let text = ''
  try {
    while (text.length < maxErrorBody) {
      const { done, value } = await reader.read()
      if (done) break
      text += utf8.decode(value, { stream: true })
    }
  } catch {
    // The connection broke, but the status is sufficient.
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
  return withoutSecret(text.slice(0, maxErrorBody), secrets)
}
