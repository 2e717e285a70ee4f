import type { Context, Env } from 'hono'
import { isRedirect } from '../../../src/base/http-answer.ts'
import { bedrockAuthHeaders, maxErrorBody } from '../../../src/internal.ts'
import { mergeHeaders, secretsIn, withoutSecret } from '../../../src/providers.ts'
import { refuse } from '../access/problem.ts'
import { type PathCall, protocols } from './protocols.ts'
import { keyFor, type ReadyUpstream } from './upstream.ts'

/** A call that may be made. */
export interface Outgoing<E extends Env = Env> {
  upstream: ReadyUpstream<E>
  c: Context<E>
  path: PathCall
  body: string
  fetch: typeof fetch
  /** Aborts with a `ProblemError` as its reason where time is up. */
  signal: AbortSignal
}

/** What the service answered, and what of it must not be passed on. */
export interface Answer {
  response: Response
  secrets: readonly string[]
}

/** Answers that a page of this origin could not be made to run; all others are passed as bytes without a meaning. */
const knownTypes = /^(application\/(json|problem\+json|x-ndjson|vnd\.amazon\.eventstream)|text\/(event-stream|plain))\s*(;|$)/i
/** Limits of the account that holds the key are nobody's business, and cookies least. */
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
 * Makes a call of the server's own: its address, its key, its headers; of the client's only those that are listed.
 *
 * **Contract**: never follows a redirect. A key that was rejected is asked for once more, where a provider gives them. Throws `ProblemError`.
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
  // A local, because fetch must not be called as a method of another object.
  const send = call.fetch
  const response = await answerTo(call, () => send(url, { method: 'POST', headers, body, redirect: 'manual', signal }))
  const { status } = response
  const isElsewhere = isRedirect(response)
  if (!isElsewhere && (status < 300 || status >= 400)) return { response, secrets }
  response.body?.cancel().catch(() => undefined)
  if (!isElsewhere) refuse(502, 'upstreamUnreachable', `${name} answered ${status}, which is no answer to a call. Check its baseUrl.`)
  refuse(502, 'upstreamRedirected', `${name} redirected the call. Redirects are refused, because the key would go along.`)
}

/** Client's, then ours, then the key: what comes later counts. */
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
  // Compressed answers would have to be unpacked, and are held back until they fill a block.
  const own = { ...(accept !== undefined && { accept }), 'content-type': 'application/json', 'accept-encoding': 'identity' }
  const headers = mergeHeaders(mergeHeaders(passed, own), upstream.headers)
  if (key === undefined) return headers
  const placed = protocols[api].key
  return mergeHeaders(
    headers,
    placed === undefined ? await bedrockAuthHeaders({ url, headers, body }, key, region) : placed(key, keyPlace, baseUrl),
  )
}

/** What the service answers. What the engine says when it does not may hold the address or more. */
async function answerTo<E extends Env>({ signal, upstream }: Outgoing<E>, send: () => Promise<Response>): Promise<Response> {
  let response: Response
  try {
    signal.throwIfAborted()
    response = await send()
  } catch {
    signal.throwIfAborted()
    refuse(502, 'upstreamUnreachable', `${upstream.name} could not be reached. Try again later.`, 5000)
  }
  // In spite of an abort: it is nobody's.
  if (signal.aborted) response.body?.cancel().catch(() => undefined)
  return response
}

/** `promise`, waited for until `signal` aborts: keys and answers may come from code that does not listen to it. */
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

/** The headers of an answer that a client may see. */
export function responseHeaders(from: Headers, secrets: readonly string[]): Headers {
  const type = from.get('content-type') ?? 'application/octet-stream'
  const headers = new Headers({
    'content-type': knownTypes.test(type) ? type : 'application/octet-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Proxies such as nginx would collect the whole answer first.
    'x-accel-buffering': 'no',
  })
  for (const name of passedHeaders) {
    const value = from.get(name)
    if (value !== null) headers.set(name, withoutSecret(value, secrets))
  }
  return headers
}

/** The text of an error, at most 64 KiB of it, without the key: services echo what they reject. */
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
    // A broken connection: the status says enough.
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
  return withoutSecret(text.slice(0, maxErrorBody), secrets)
}
