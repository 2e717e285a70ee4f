import { isRedirect, readBytes, retryAfterIn } from '../../base/http-answer.ts'
import { parsedJson } from '../../base/json/json-value.ts'
import { fieldIn } from '../../contract/json.ts'
import { RemoteError, type RemoteErrorOptions } from '../remote-error.ts'

/** Retryable statuses from proxies and from busy or starting servers. */
const passing = new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524])
/** Codes of temporary server problems, in addition to status 503. Retries are safe, because requests are idempotent. */
const passingProblems = new Set(['deadlineExceeded', 'bodyTooSlow', 'tooManyStreams', 'tooManySessions'])

/** Maximum bytes to read of an error body. The server's error bodies are smaller. */
const maxRefusal = 64 * 1024

/**
 * Returns the error for a rejected request, from the server's problem response or a proxy's status. Rejects if the connection breaks first.
 */
export async function refusalOf(response: Response, method: string, signal: AbortSignal): Promise<RemoteError> {
  const { status, headers } = response
  if (isRedirect(response)) return redirected(response)
  if (headers.get('content-type')?.startsWith('application/problem+json') !== true)
    return unexpectedAnswer(response, 'an answer of this server')
  const { code, detail, loopId, continuedBy } = await problemIn(response, signal)
  if (code === undefined) return unexpectedAnswer(response, 'a problem')
  // Do not retry a run that the server can never start.
  const isRetryable = status === 503 || passingProblems.has(code) || (status === 500 && method === 'GET')
  return new RemoteError(code, detail ?? `The server responded with ${status} ${code}.`, {
    ...known(response),
    isRetryable,
    ...(loopId !== undefined && { loopId }),
    ...(continuedBy !== undefined && { continuedBy }),
  })
}

/** Creates the error for an unexpected response. Includes only status and content type, because the content may be anything. */
export async function unexpectedAnswer(response: Response, wanted: string): Promise<RemoteError> {
  const { status, headers, ok } = response
  await response.body?.cancel().catch(() => undefined)
  const type = headers.get('content-type')?.split(';')[0] ?? 'no content-type'
  const came = `The response is ${status} with ${type}, not ${wanted}.`
  return new RemoteError('unexpectedAnswer', `${came} ${adviceFor(status, type)}`, {
    ...known(response),
    isRetryable: ok || passing.has(status),
  })
}

/** Does not follow redirects, because the target would receive the headers and the input. */
async function redirected(response: Response): Promise<RemoteError> {
  await response.body?.cancel().catch(() => undefined)
  const advice = 'Pass the redirect target as url, and check whether a proxy requires sign-in.'
  return new RemoteError('unexpectedAnswer', `The response is a redirect, which the client does not follow. ${advice}`, known(response))
}

function adviceFor(status: number, type: string): string {
  if (status >= 500) return 'A proxy could not reach the server. Check that it runs.'
  if (type !== 'text/html') return 'Check url and any proxy between client and server.'
  return 'A web page was returned. Check url, whether a proxy requires sign-in, and whether the server returns a page for unknown paths.'
}

function known({ status, headers }: Response): RemoteErrorOptions {
  const retryAfterMs = retryAfterIn(headers.get('retry-after'), Date.now())
  return retryAfterMs === undefined ? { status } : { status, retryAfterMs }
}

type Problem = Record<'code' | 'detail' | 'loopId' | 'continuedBy', string | undefined>

async function problemIn(response: Response, signal: AbortSignal): Promise<Problem> {
  const { bytes } = await readBytes(response, maxRefusal, signal).catch((cause: unknown) => {
    throw new RemoteError('connectionLost', 'The connection was lost before the server sent the reason for its refusal.', {
      isRetryable: true,
      cause,
    })
  })
  const parsedBody = parsedJson(new TextDecoder().decode(bytes))
  const textAt = (name: string) => {
    const value: unknown = fieldIn(parsedBody, name)
    return typeof value === 'string' ? value : undefined
  }
  return { code: textAt('code'), detail: textAt('detail'), loopId: textAt('loopId'), continuedBy: textAt('continuedBy') }
}
