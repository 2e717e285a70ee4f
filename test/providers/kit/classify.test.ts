import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { classifyError, isContextOverflowText } from '../../../src/providers/kit/errors/classify.ts'
import { others, overflows, rejectedKeys, transient } from './service-errors.ts'

const classify = (body: unknown, status?: number, headers?: Record<string, string>) =>
  classifyError({
    service: 'Acme',
    body,
    ...(status === undefined ? {} : { status }),
    ...(headers === undefined ? {} : { headers: new Headers(headers) }),
  })

describe('isContextOverflowText', () => {
  it.each([
    'prompt is too long: 213462 tokens > 200000 maximum',
    'Your input exceeds the context window of this model',
    'The input token count (1091639) exceeds the maximum number of tokens allowed (1048576).',
    'Input is too long for requested model.',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens",
    'Please reduce the length of the messages or completion',
    "This model's maximum context length is 128000 tokens.",
    "The input (1 tokens) is longer than the model's context length (2 tokens).",
    'Your request exceeded model token limit: 4 (requested: 5)',
    'Range of input length should be [1, 30720]',
    'invalid params, context window exceeds limit',
    'the request exceeds the available context size, try increasing it',
    'tokens to keep from the initial prompt is greater than the context length',
    'Your prompt exceeds the limit of 32768',
    'context length exceeded',
    'Error code: context_length_exceeded',
    'Too many tokens in prompt',
    'token limit exceeded',
    'PROMPT IS TOO LONG',
  ])('recognizes the overflow text %s', (text) => {
    expect(isContextOverflowText(text)).toBe(true)
  })

  it.each(['rate limit exceeded', 'invalid api key', 'temperature must be below 2', ''])('ignores the text %s', (text) => {
    expect(isContextOverflowText(text)).toBe(false)
  })
})

describe('classifyError', () => {
  it.each([
    ['throttling before overflow', { message: 'Too many tokens, please wait before trying again.' }, 429, 'rateLimited', true],
    [
      'an exhausted quota',
      { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } },
      429,
      'rateLimited',
      false,
    ],
    [
      'a bad key with status 400',
      { error: { code: 400, message: 'API key not valid.', details: [{ reason: 'API_KEY_INVALID' }] } },
      400,
      'auth',
      false,
    ],
    ['a missing key with status 400', { __type: 'MissingAuthenticationTokenException', message: 'No.' }, 400, 'auth', false],
    ['an error in a list', [{ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }], undefined, 'api', true],
    ['an error named like an exception', { __type: 'ThrottlingException', message: 'slow down' }, undefined, 'rateLimited', true],
    ['an error with a numeric code', { error: { code: 502, message: 'upstream' } }, undefined, 'api', true],
    [
      'an overflow inside a stream',
      { error: { code: 'context_length_exceeded', message: 'Too long' } },
      undefined,
      'contextOverflow',
      false,
    ],
    ['an unknown error inside a stream', { error: { message: 'something' } }, undefined, 'api', false],
    ['an error that is a string', { code: 'invalid-argument', error: 'bad thing' }, 400, 'api', false],
    ['classify_rate_limit', { error: { message: 'Rate limit reached' } }, 429, 'rateLimited', true],
    ['classify_auth_error, 401', { error: { message: 'Invalid API key' } }, 401, 'auth', false],
    ['classify_auth_error, 403', { error: { message: 'Forbidden' } }, 403, 'auth', false],
    ['classify_regular_api_error', { error: { message: 'unknown field "foo"' } }, 400, 'api', false],
    ['408', '', 408, 'api', true],
    ['409', '', 409, 'api', true],
    ['a blank 400', '', 400, 'api', false],
    ['a blank 413', '', 413, 'contextOverflow', false],
    ['null', null, 400, 'api', false],
  ])('classifies %s', (_name, body, status, code, isRetryable) => {
    expect(classify(body, status)).toMatchObject({ code, isRetryable })
  })

  it('treats an empty 400 as an overflow if the backend uses it so', () => {
    expect(classifyError({ service: 'Cerebras', body: '', status: 400, emptyBodyIsOverflow: true }).code).toBe('contextOverflow')
  })

  it('reads the retry delay of Google', () => {
    const body = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ '@type': 'RetryInfo', retryDelay: '34s' }] } }
    expect(classify(body, 429).retryAfterMs).toBe(34_000)
  })

  it.each([
    ['seconds', { 'retry-after': '1.5' }, 1500],
    ['a missing header', { 'retry-after': '0' }, 0],
    ['a past date', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
    ['milliseconds before seconds', { 'retry-after-ms': '20', 'retry-after': '7' }, 20],
    ['seconds if the milliseconds are invalid', { 'retry-after-ms': '-5', 'retry-after': '7' }, 7000],
    ['Azure milliseconds', { 'x-ms-retry-after-ms': '250', 'retry-after': '7' }, 250],
    ['seconds with a unit', { 'retry-after': '5s' }, 5000],
    ['a duplicate header', { 'retry-after': '5, 5' }, 5000],
    ['a duplicate header with different values', { 'retry-after': '5, 7s' }, 7000],
    ['duplicate milliseconds', { 'retry-after-ms': '20, 30' }, 30],
    ['a duplicate date', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT, Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
    ['only commas', { 'retry-after': ', ,' }, undefined],
    ['a list with an invalid number', { 'retry-after': '5, soon' }, undefined],
    ['unreadable text', { 'retry-after': 'soon' }, undefined],
    ['a blank header', { 'retry-after': ' ' }, undefined],
    ['a negative number', { 'retry-after': '-7' }, undefined],
    ['a number with text', { 'retry-after': '5 seconds' }, undefined],
    ['an implausible number', { 'retry-after': '1e308' }, undefined],
    ['a hexadecimal number', { 'retry-after': '0x10' }, undefined],
    ['too many digits', { 'retry-after': '9'.repeat(400) }, undefined],
    ['seconds beyond the maximum date', { 'retry-after': '9'.repeat(15) }, 999_999_999_999_999_000],
  ])('reads the retry delay: %s', (_name, headers, expected) => {
    expect(classify('', 503, headers).retryAfterMs).toBe(expected)
  })

  const date = 'Mon, 23 Nov 2026 10:00:00 GMT'
  it.each<[string, Record<string, string>, string, number | undefined]>([
    ["a date, relative to the provider's clock", { date, 'retry-after': 'Mon, 23 Nov 2026 10:00:30 GMT' }, '', 30_000],
    ['a Groq duration', {}, 'Rate limit reached. Please try again in 11.2s. Need more?', 11_200],
    ['a duration with minutes', {}, 'Please try again in 2m59.5s.', 179_500],
    ['a spelled-out duration', {}, 'Try again in 20 seconds.', 20_000],
    ['a duration in milliseconds', {}, 'Please try again in 250ms.', 250],
    ['the header before the text', { 'retry-after': '7' }, 'try again in 11.2s', 7000],
    ['text without a time', {}, 'Please try again later.', undefined],
    [
      'an exhausted limit',
      { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s', 'x-ratelimit-reset-requests': '2s' },
      '',
      360_000,
    ],
    ['the earliest of several limits', { 'x-ratelimit-reset-tokens': '6m0s', 'x-ratelimit-reset-requests': '12ms' }, '', 12],
    ['seconds', { 'x-ratelimit-reset-tokens': '4.5' }, '', 4500],
    ['endless hours', { 'x-ratelimit-reset': `${'9'.repeat(309)}h` }, '', 999_999_999_999_999 * 3_600_000],
    ['a timestamp', { date, 'anthropic-ratelimit-requests-reset': '2026-11-23T10:00:09Z' }, '', 9000],
    ['a timestamp in milliseconds', { date, 'x-ratelimit-reset': String(Date.parse(date) + 1500) }, '', 1500],
    ['a timestamp in seconds', { date, 'x-ratelimit-reset': String(Date.parse(date) / 1000 + 3) }, '', 3000],
    ['an unknown format', { 'x-ratelimit-reset-tokens': '-1' }, '', undefined],
  ])('reads the reset time of a rate limit: %s', (_name, headers, message, expected) => {
    expect(classify({ error: { message } }, 429, headers).retryAfterMs).toBe(expected)
  })

  it.each<[string, unknown, number | undefined, object]>([
    ['a GLM concurrency limit', { error: { code: '1302', message: 'concurrency' } }, 400, { code: 'rateLimited', isRetryable: true }],
    [
      'a GLM error with a numeric code',
      { error: { code: 1302, message: 'concurrency' } },
      undefined,
      { code: 'rateLimited', isRetryable: true },
    ],
    [
      'a MiniMax rate limit',
      { base_resp: { status_code: 1002, status_msg: 'rate limit' } },
      undefined,
      { code: 'rateLimited', isRetryable: true },
    ],
    ['a wrong MiniMax key', { base_resp: { status_code: 1004, status_msg: 'login' } }, undefined, { code: 'auth', isRetryable: false }],
    [
      'an exhausted MiniMax balance',
      { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
      undefined,
      { code: 'api', isRetryable: false },
    ],
    ['425', '', 425, { code: 'api', isRetryable: true }],
    ['407', '', 407, { code: 'auth', isRetryable: false, message: expect.stringContaining('proxy') }],
  ])('classifies %s', (_name, body, status, expected) => {
    expect(classify(body, status)).toMatchObject(expected)
  })

  it('reads an error sent in stream format', () => {
    const body = 'event: error\ndata: {"error":{"type":"overloaded_error","message":"the kitchen is closed"}}\n\n'
    expect(classify(body, 400).message).toBe('Acme reported an error (400): the kitchen is closed.')
    expect(classify(body)).toMatchObject({ status: 529, isRetryable: true })
  })

  it.each(['model_not_found', 'model-not-found', 'ModelNotFoundException', 'deployment_not_found', 'DeploymentNotFound'])(
    'explains a missing model from the error code alone: %s',
    (code) => {
      const error = classify({ error: { code, message: 'No.' } })
      expect(error).toMatchObject({ code: 'api', status: 404, isRetryable: false })
      expect(error.message).toMatch(/Check the model id and baseUrl\.$/)
    },
  )

  it('explains a rate limit and an overloaded provider', () => {
    expect(classify('', 429).message).toMatch(/rate limiting requests \(429\)\. Wait before you retry, send fewer requests/)
    expect(classify('', 529).message).toBe('Acme reported an error (529). The error is temporary. Retry later.')
  })

  it('suggests waiting only if waiting helps', () => {
    const headers = { 'retry-after': '7' }
    expect(classify('', 400, headers).retryAfterMs).toBeUndefined()
    expect(classify({ error: { code: 'insufficient_quota', message: 'spent' } }, 429, headers).retryAfterMs).toBeUndefined()
    expect(classify('', 429, { ...headers, 'x-should-retry': 'false' })).toMatchObject({ isRetryable: false })
    expect(classify('', 429, { ...headers, 'x-should-retry': 'false' }).retryAfterMs).toBeUndefined()
    expect(classify('', 400, { ...headers, 'x-should-retry': 'true' })).toMatchObject({ isRetryable: true, retryAfterMs: 7000 })
  })

  it('marks an exhausted quota as not retryable', () => {
    const body = { error: { code: 'insufficient_quota', message: 'spent' } }
    expect(classify(body, 429, { 'x-should-retry': 'true' }).isRetryable).toBe(false)
    expect(classify('', 402, { 'x-should-retry': 'true' }).isRetryable).toBe(false)
  })

  it('marks only transient errors as retryable', () => {
    const statuses = [400, 402, 404, 405, 408, 409, 410, 422, 429, 500, 501, 502, 503, 504, 529]
    expect(statuses.filter((status) => classify('', status).isRetryable)).toEqual([408, 409, 429, 500, 502, 503, 504, 529])
  })

  it('names the provider, the status and its message', () => {
    expect(classify({ error: { message: 'no such model' } }, 404).message).toMatch(/^Acme .*\(404\): no such model\. .*model id/)
  })
})

describe('recorded provider errors', () => {
  it.each(overflows)('classifies a context overflow: %s %i %j', (_service, status, body) => {
    expect(classify(textOf(body), status || undefined)).toMatchObject({ code: 'contextOverflow', isRetryable: false })
  })

  it.each(rejectedKeys)('classifies a wrong key: %s %i %j', (_service, status, body) => {
    expect(classify(textOf(body), status || undefined)).toMatchObject({ code: 'auth', isRetryable: false })
  })

  it.each(transient)('classifies a transient error: %s %i %j', (_service, status, body) => {
    const { code, isRetryable } = classify(textOf(body), status || undefined)
    expect(['api', 'rateLimited']).toContain(code)
    expect(isRetryable).toBe(true)
  })

  it.each(others)('classifies any other error: %s %i %j', (_service, status, body) => {
    expect(classify(textOf(body), status || undefined)).toMatchObject({ code: 'api', isRetryable: false })
  })

  it('quotes the original error that a router forwards', () => {
    const metadata = { raw: '{"error":{"message":"the kitchen is closed"}}', provider_name: 'Acme' }
    expect(classify({ error: { message: 'Provider returned error', code: 400, metadata } }, 400).message).toContain(
      'Provider returned error: Acme: the kitchen is closed.',
    )
  })
})

/** Bodies of HTTP are text, those inside a stream are parsed. */
function textOf(body: unknown): unknown {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

const recorded = new URL('../../../../shared/conformance/errors/http-errors.json', import.meta.url)
const isThere = existsSync(recorded)
if (!isThere) console.warn('SKIPPED: recorded error responses, because ../shared/conformance is absent')

interface Recorded {
  backend: string
  status: number
  headers: Record<string, string>
  body: string
  trueClass: string
}

describe.skipIf(!isThere)('recorded error responses', () => {
  const { errors }: { errors: Recorded[] } = isThere ? JSON.parse(readFileSync(recorded, 'utf8')) : { errors: [] }

  it('classifies every recorded error correctly', () => {
    const wrong = errors.filter(({ body, status, headers, backend, trueClass }) => {
      const emptyBodyIsOverflow = backend === 'cerebras' || backend === 'mistral'
      const { code } = classifyError({ service: backend, body, status, headers: new Headers(headers), emptyBodyIsOverflow })
      // The recordings go by status; these two are really about the key.
      if (/API_KEY_INVALID|Incorrect API key/.test(body)) return code !== 'auth'
      return code.toLowerCase() !== trueClass.replace(/[_-]/g, '').toLowerCase()
    })
    expect(wrong.map(({ backend, status, trueClass, body }) => `${backend} ${status} ${trueClass}: ${body.slice(0, 200)}`)).toEqual([])
  })
})

describe('an error for an unknown model', () => {
  it.each<[string, unknown]>([
    ['a code', { error: { type: 'server_error', code: 'model_not_found', message: 'no' } }],
    ['a code with a numeric status', { error: { code: 500, message: 'The model `gpt-5.2` does not exist' } }],
    ['a numeric code as a string', { error: { code: '500', message: 'litellm.NotFoundError: model qwen3.8 not found' } }],
    ['a message', { error: 'model "llama3" not found, try pulling it first' }],
    ['an Azure error name', { error: { code: 'DeploymentNotFound', type: 'api_error', message: 'The API deployment does not exist.' } }],
    ['an AWS error name', { __type: 'ResourceNotFoundException', message: 'gone' }],
  ])('marks an unknown-model error as not retryable inside a 200: %s', (_name, body) => {
    expect(classify(body)).toMatchObject({ code: 'api', isRetryable: false, status: 404 })
    expect(classify(body, 200)).toMatchObject({ code: 'api', isRetryable: false })
  })

  it.each<[string, unknown]>([
    ['is overloaded', { error: { code: 503, message: 'The model is overloaded. Please try again later.' } }],
    ['fails', { error: { type: 'server_error', message: 'The model produced invalid output' } }],
  ])('keeps an error retryable if the model %s', (_name, body) => {
    expect(classify(body)).toMatchObject({ code: 'api', isRetryable: true })
  })
})
