import { isRedirect, readBytes, retryAfterIn } from '../../base/http-answer.ts'
import { parsedJson } from '../../base/json/json-value.ts'
import { fieldIn } from '../../contract/json.ts'
import { RemoteError, type RemoteErrorOptions } from '../remote-error.ts'

/** Statuses of proxies and of busy or starting servers: a retry may succeed. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524])
/** Temporary problems of the server, including every 503. A retry is safe, because requests are idempotent. */
const passingProblems = new Set(['deadlineExceeded', 'bodyTooSlow', 'tooManyStreams', 'tooManySessions'])

/** Maximum bytes of an error body; ours are smaller. */
const maxRefusal = 64 * 1024

/** Returns why a request was rejected, from the server's problem or the status of a proxy. Rejects if the connection breaks first. */
export async function refusalOf(response: Response, method: string, signal: AbortSignal): Promise<RemoteError> {
  const { status, headers } = response
  if (isRedirect(response)) return redirected(response)
  if (headers.get('content-type')?.startsWith('application/problem+json') !== true)
    return unexpectedAnswer(response, 'an answer of this server')
  const { code, detail, loopId, continuedBy } = await problemIn(response, signal)
  if (code === undefined) return unexpectedAnswer(response, 'a problem')
  // A run that the server can never start is an immediate error.
  const isRetryable = status === 503 || passingProblems.has(code) || (status === 500 && method === 'GET')
  return new RemoteError(code, detail ?? `The server refused with ${status} ${code}.`, {
    ...known(response),
    isRetryable,
    ...(loopId !== undefined && { loopId }),
    ...(continuedBy !== undefined && { continuedBy }),
  })
}

/** Creates the error for a response of another kind or server. It names only the kind, because the content may be anything. */
export async function unexpectedAnswer(response: Response, wanted: string): Promise<RemoteError> {
  const { status, headers, ok } = response
  await response.body?.cancel().catch(() => undefined)
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content-type'
  const came = `The answer is ${status} with ${type}, not ${wanted}.`
  return new RemoteError('unexpectedAnswer', `${came} ${adviceFor(status, type)}`, {
    ...known(response),
    isRetryable: ok || passing.has(status),
  })
}

/** Redirects are not followed: the target would get the headers and the input. */
async function redirected(response: Response): Promise<RemoteError> {
  await response.body?.cancel().catch(() => undefined)
  const advice = 'Give the address that it leads to as url, and check whether a proxy asks people to sign in first.'
  return new RemoteError('unexpectedAnswer', `The answer is a redirect, and none is followed. ${advice}`, known(response))
}

function adviceFor(status: number, type: string): string {
  if (status >= 500) return 'A proxy could not reach the server. Check that it runs.'
  if (type !== 'text/html') return 'Check url, and what stands between here and the server.'
  return 'That is a web page: check url, whether a proxy asks people to sign in first, and whether a page is served for unknown paths.'
}

function known({ status, headers }: Response): RemoteErrorOptions {
  const retryAfterMs = retryAfterIn(headers.get('retry-after'), Date.now())
  return retryAfterMs === undefined ? { status } : { status, retryAfterMs }
}

type Problem = Record<'code' | 'detail' | 'loopId' | 'continuedBy', string | undefined>

async function problemIn(response: Response, signal: AbortSignal): Promise<Problem> {
  const { bytes } = await readBytes(response, maxRefusal, signal).catch((cause: unknown) => {
    throw new RemoteError('connectionLost', 'The connection broke before the server had said why it refused.', { isRetryable: true, cause })
  })
  const parsedBody = parsedJson(new TextDecoder().decode(bytes))
  const textAt = (name: string) => {
    const value: unknown = fieldIn(parsedBody, name)
    return typeof value === 'string' ? value : undefined
  }
  return { code: textAt('code'), detail: textAt('detail'), loopId: textAt('loopId'), continuedBy: textAt('continuedBy') }
}
