import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import { google } from '../../../src/providers/google/index.ts'
import { answering, utf8 } from '../bytes.ts'
import { canary, request, streamed } from './call.ts'

const googleError = (code: number, status: string, message: string, details: object[] = []) => ({
  error: { code, message, status, details },
})
const detail = (type: string, fields: object) => ({ '@type': `type.googleapis.com/google.rpc.${type}`, ...fields })
const quota = (quotaId: string) => detail('QuotaFailure', { violations: [{ quotaId, quotaMetric: 'generate_content_requests' }] })
const retryInfo = detail('RetryInfo', { retryDelay: '34s' })
const tooLong = 'The input token count (1091639) exceeds the maximum number of tokens allowed (1048576).'
const badKey = detail('ErrorInfo', { reason: 'API_KEY_INVALID', domain: 'googleapis.com' })

async function failure(fetch: typeof globalThis.fetch): Promise<ProviderError> {
  const { error } = await streamed(fetch)
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${inspect(error)}`)
  return error
}

const refusing =
  (status: number, body: unknown): typeof fetch =>
  async () =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

const cases: [string, number, object, object][] = [
  ['an invalid key', 400, googleError(400, 'INVALID_ARGUMENT', 'API key not valid.', [badKey]), { code: 'auth', isRetryable: false }],
  ['a missing token', 401, googleError(401, 'UNAUTHENTICATED', 'Invalid credentials.'), { code: 'auth', isRetryable: false }],
  ['a missing permission', 403, googleError(403, 'PERMISSION_DENIED', 'Denied.'), { code: 'auth', isRetryable: false }],
  ['an invalid argument', 400, googleError(400, 'INVALID_ARGUMENT', 'Bad temperature.'), { code: 'api', isRetryable: false }],
  [
    'an unsupported location',
    400,
    googleError(400, 'FAILED_PRECONDITION', 'User location is not supported.'),
    { code: 'api', isRetryable: false },
  ],
  ['an unknown model', 404, googleError(404, 'NOT_FOUND', 'models/x is not found.'), { code: 'api', isRetryable: false }],
  ['a long prompt', 400, googleError(400, 'INVALID_ARGUMENT', tooLong), { code: 'contextOverflow', isRetryable: false }],
  [
    'an exhausted quota per minute',
    429,
    googleError(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', [quota('RequestsPerMinutePerProjectPerModel'), retryInfo]),
    { code: 'rateLimited', isRetryable: true, retryAfterMs: 34_000 },
  ],
  [
    'an exhausted quota per day',
    429,
    googleError(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', [quota('GenerateRequestsPerDayPerProjectPerModel-FreeTier'), retryInfo]),
    { code: 'rateLimited', isRetryable: false },
  ],
  ['an overloaded model', 503, googleError(503, 'UNAVAILABLE', 'The model is overloaded.'), { code: 'api', isRetryable: true }],
  ['an internal error', 500, googleError(500, 'INTERNAL', 'Internal error.'), { code: 'api', isRetryable: true }],
  ['an exceeded deadline', 504, googleError(504, 'DEADLINE_EXCEEDED', 'Too late.'), { code: 'api', isRetryable: true }],
]

describe('an error over HTTP, in a list or inside the stream', () => {
  it.each(cases)('classifies %s', async (_name, status, body, expected) => {
    const bytes = utf8(`data: ${JSON.stringify(body)}\r\n\r\n`)
    const listed = utf8(`data: ${JSON.stringify([body])}\r\n\r\n`)
    for (const fetch of [refusing(status, body), refusing(status, [body]), answering([bytes]), answering([listed])]) {
      const error = await failure(fetch)
      expect({ ...error, code: error.code, isRetryable: error.isRetryable }).toMatchObject(expected)
      expect(error.retryAfterMs).toBe('retryAfterMs' in expected ? expected.retryAfterMs : undefined)
    }
  })
})

describe('an unreadable response', () => {
  it.each(['{broken', 'null', '3', '"text"', '[]'])('fails with a network error: %s', async (data) => {
    expect(await failure(answering([utf8(`data: ${data}\n\n`)]))).toMatchObject({ code: 'network', isRetryable: true })
  })

  it('reports the content of a response without events', async () => {
    const fetch: typeof globalThis.fetch = async () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } })
    expect((await failure(fetch)).message).toMatch(/web page \(text\/html\).*Check baseUrl/)
  })
})

describe('the API key', () => {
  const echo = googleError(400, 'INVALID_ARGUMENT', `API key ${canary} not valid.`)
  const leaky: [string, typeof fetch][] = [
    ['an echoed key', refusing(400, echo)],
    ['a runtime error that quotes the URL', () => Promise.reject(new TypeError(`failed: https://x/?key=${canary}`))],
    ['an error inside the stream', answering([utf8(`data: ${JSON.stringify(echo)}\n\n`)])],
    ['a damaged frame', answering([utf8(`data: {${canary}\n\n`)])],
  ]

  it.each(leaky)('keeps the API key out of the error: %s', async (_name, fetch) => {
    for (const keyInQuery of [false, true]) {
      const { provider } = google('gemini-test', { fetch, keyInQuery })
      const call = provider.stream(request('gemini-test'), () => undefined, new AbortController().signal)
      const error: unknown = await call.catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ProviderError)
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(canary)
      expect(`${JSON.stringify(error)}${String(error)}`).not.toContain(canary)
    }
  })

  it.each(['', 'two\nlines', 'naïve'])('rejects an invalid header value as key before sending: %j', async (credential) => {
    const { provider } = google('gemini-test', { fetch: () => Promise.reject(new Error('sent')) })
    const sent = provider.stream(request('gemini-test', { credential }), () => undefined, new AbortController().signal)
    await expect(sent).rejects.toMatchObject({ code: 'other', message: expect.stringContaining('API key') })
  })
})
