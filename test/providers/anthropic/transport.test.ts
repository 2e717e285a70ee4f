import { getEventListeners } from 'node:events'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import { type AnthropicOptions, anthropic } from '../../../src/providers/anthropic/index.ts'
import { answering, bodyOf, fixture, utf8 } from '../bytes.ts'
import { canary, request, streamed } from './call.ts'

const text = fixture('anthropic/text.sse')
/** Ends between two frames, before the terminal event. */
const half = utf8(new TextDecoder().decode(text).split('event: content_block_stop')[0] ?? '')
const stream = { 'content-type': 'text/event-stream' }
const never = () => new Promise<Response>(() => undefined)

async function failure(fetch: typeof globalThis.fetch, options: AnthropicOptions = {}, signal?: AbortSignal): Promise<ProviderError> {
  const { error } = await streamed(fetch, options, signal)
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${inspect(error)}`)
  return error
}

function refusing(status: number, body: string, headers: Record<string, string> = {}): typeof fetch {
  return async () => new Response(body, { status, headers })
}

const errorBody = (type: string, message: string) => JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' })

describe('an HTTP error', () => {
  it.each([
    [401, errorBody('authentication_error', 'invalid x-api-key'), 'auth', false, /rejected the API key at https:\/\/\S+ \(401\)\. Check/],
    [403, errorBody('permission_error', 'not yours'), 'auth', false, /refused access at \S+ \(403\): not yours\. Check the key/],
    [402, errorBody('billing_error', 'no credit'), 'api', false, /billing/],
    [429, errorBody('rate_limit_error', 'too many tokens'), 'rateLimited', true, /rate limiting/],
    [429, JSON.stringify({ error: { message: 'x', error_code: 'enforced_spend_limit_reached' } }), 'rateLimited', false, /billing/],
    [400, errorBody('invalid_request_error', 'prompt is too long: 213462 tokens > 200000 maximum'), 'contextOverflow', false, /213462/],
    [
      400,
      errorBody('invalid_request_error', 'input length and `max_tokens` exceed context limit: 1 + 2 > 2'),
      'contextOverflow',
      false,
      /limit/,
    ],
    [413, '<html>Too large</html>', 'contextOverflow', false, /context window/],
    [400, errorBody('invalid_request_error', 'temperature: range: 0..1'), 'api', false, /0\.\.1/],
    [404, errorBody('not_found_error', 'model: claude-nope'), 'api', false, /model id and baseUrl/],
    [500, errorBody('api_error', 'Internal'), 'api', true, /Internal/],
    [529, errorBody('overloaded_error', 'Overloaded'), 'api', true, /Overloaded/],
    [502, '', 'api', true, /502/],
  ])('classifies %i %s', async (status, body, code, isRetryable, message) => {
    const error = await failure(refusing(status, body))
    expect(error).toMatchObject({ code, isRetryable, status })
    expect(error.message).toMatch(message)
    expect(error.partial).toBeUndefined()
  })

  it('reads the retry delay from response headers', async () => {
    expect((await failure(refusing(429, '', { 'retry-after': '7' }))).retryAfterMs).toBe(7000)
    expect((await failure(refusing(429, '', { 'retry-after': '7', 'retry-after-ms': '250' }))).retryAfterMs).toBe(250)
    const date = new Date(Date.now() + 60_000).toUTCString()
    expect((await failure(refusing(503, '', { 'retry-after': date }))).retryAfterMs).toBeGreaterThan(50_000)
  })

  it('follows the x-should-retry header', async () => {
    expect((await failure(refusing(500, '', { 'x-should-retry': 'false' }))).isRetryable).toBe(false)
    expect((await failure(refusing(400, '', { 'x-should-retry': 'true' }))).isRetryable).toBe(true)
  })

  it('rejects a JSON body with status 200 in place of a stream', async () => {
    const fetch: typeof globalThis.fetch = async () => Response.json({ error: { type: 'overloaded_error', message: 'Busy' } })
    expect(await failure(fetch)).toMatchObject({ code: 'api', isRetryable: true })
  })

  it('rejects a redirect, names its target and does not follow it', async () => {
    let redirect: string | undefined
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      redirect = init?.redirect
      return new Response(null, { status: 307, headers: { location: 'https://elsewhere.example' } })
    }
    expect(await failure(fetch)).toMatchObject({
      code: 'api',
      isRetryable: false,
      status: 307,
      message: expect.stringContaining('baseUrl'),
    })
    expect(redirect).toBe('manual')
  })

  it('quotes at most 500 characters of the body', async () => {
    expect((await failure(refusing(400, 'x'.repeat(100_000)))).message.length).toBeLessThan(600)
  })
})

describe('the connection', () => {
  it('reports a failed fetch as a network error with advice for browsers', async () => {
    const error = await failure(() => Promise.reject(new TypeError('Failed to fetch')))
    expect(error).toMatchObject({ code: 'network', isRetryable: true })
    expect(error.message).toMatch(/api\.anthropic\.com.*Failed to fetch.*baseUrl.*dangerouslyAllowBrowser/)
  })

  it('keeps partial output if the connection breaks', async () => {
    const error = await failure(answering([half], 'break'))
    expect(error).toMatchObject({ code: 'network', isRetryable: true })
    expect(error.partial?.content).toEqual([{ type: 'text', text: 'Grüße 🌍, wörld' }])
  })

  it.each(['hang', 'break'] as const)('ignores "%s" after the terminal event, and releases the connection', async (ending) => {
    vi.useFakeTimers()
    const controller = new AbortController()
    const body = bodyOf([text], ending)
    const { message } = await streamed(async () => new Response(body.stream, { headers: stream }), {}, controller.signal)
    expect(message?.stopReason).toBe('stop')
    await vi.advanceTimersByTimeAsync(2_000)
    expect(body.isCancelled() || ending === 'break').toBe(true)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  it('names the content type of an unexpected response', async () => {
    const fetch: typeof globalThis.fetch = async () => new Response('<feed/>', { headers: { 'content-type': 'application/xml' } })
    expect((await failure(fetch)).message).toMatch(/message_stop.*application\/xml.*baseUrl/)
  })
})

describe('an abort', () => {
  it('sends nothing if aborted before the call', async () => {
    const fetch = vi.fn(never)
    const error = await failure(fetch, {}, AbortSignal.abort(new Error('user left')))
    expect(error).toMatchObject({ code: 'cancelled', isRetryable: false })
    expect(error.message).toContain('user left')
    expect(fetch).not.toHaveBeenCalled()
  })

  it('ends the call even if fetch ignores the signal', async () => {
    const controller = new AbortController()
    const failed = failure(never, {}, controller.signal)
    controller.abort()
    expect(await failed).toMatchObject({ code: 'cancelled' })
  })

  it('ends a hanging stream, keeps partial output and removes the listener', async () => {
    const controller = new AbortController()
    const body = bodyOf([half], 'hang')
    const events: string[] = []
    const { provider } = anthropic('claude-test', { fetch: async () => new Response(body.stream, { headers: stream }) })
    const emit = (event: { type: string }) => {
      events.push(event.type)
      if (event.type === 'text') queueMicrotask(() => controller.abort())
    }
    const error: unknown = await provider.stream(request('claude-test'), emit, controller.signal).catch((thrown: unknown) => thrown)
    const before = events.length
    expect(error).toMatchObject({ code: 'cancelled' })
    expect(error instanceof ProviderError && error.partial).toMatchObject({ stopReason: 'aborted' })
    expect(body.isCancelled()).toBe(true)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    expect(events).toHaveLength(before)
  })

  it('recognizes an abort by its signal, whatever the engine throws', async () => {
    const controller = new AbortController()
    const fetch: typeof globalThis.fetch = (_url, init) =>
      new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(new TypeError('network error'))))
    const failed = failure(fetch, {}, controller.signal)
    controller.abort(new DOMException('took too long', 'TimeoutError'))
    expect((await failed).message).toContain('took too long')
  })

  it('removes the abort listener after success', async () => {
    const controller = new AbortController()
    await streamed(answering([text]), {}, controller.signal)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})

describe('stream timeouts', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    const left = vi.getTimerCount()
    vi.useRealTimers()
    expect(left).toBe(0)
  })

  /** A body that sends `bytes` every `everyMs`, for ever. */
  function dripping(bytes: Uint8Array, everyMs: number): typeof fetch {
    let timer: ReturnType<typeof setInterval>
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(half)
        timer = setInterval(() => controller.enqueue(bytes), everyMs)
      },
      cancel() {
        clearInterval(timer)
      },
    })
    return async () => new Response(body, { headers: stream })
  }

  const ping = utf8('event: ping\ndata: {"type": "ping"}\n\n')
  const content = utf8('data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"."}}\n\n')

  async function outcomeAt(ms: number, fetch: typeof globalThis.fetch, options: AnthropicOptions = {}) {
    const controller = new AbortController()
    let settled: unknown
    const call = streamed(fetch, options, controller.signal).then((outcome) => {
      settled = outcome.error
    })
    await vi.advanceTimersByTimeAsync(ms)
    const early = settled
    await vi.advanceTimersByTimeAsync(1100)
    const late = settled
    controller.abort()
    await call
    return { early, late }
  }

  it('reports 300 s without a byte as a network error', async () => {
    const { early, late } = await outcomeAt(299_900, answering([half], 'hang'))
    expect(early).toBeUndefined()
    expect(late).toMatchObject({ code: 'network', isRetryable: true, message: expect.stringContaining('300000') })
  })

  it('reports 600 s without a response as a network error', async () => {
    const { early, late } = await outcomeAt(599_900, never)
    expect(early).toBeUndefined()
    expect(late).toMatchObject({ code: 'network' })
  })

  it('reports 600 s with only pings as a network error', async () => {
    const { early, late } = await outcomeAt(599_900, dripping(ping, 20_000))
    expect(early).toBeUndefined()
    expect(late).toMatchObject({ code: 'network', message: expect.stringContaining('content') })
  })

  it('keeps a stream open while content arrives slowly', async () => {
    const { early, late } = await outcomeAt(3_600_000, dripping(content, 299_000))
    expect(early).toBeUndefined()
    expect(late).toBeUndefined()
  })

  it("applies the caller's timeouts", async () => {
    const { early, late } = await outcomeAt(900, answering([half], 'hang'), { idleTimeoutMs: 1000 })
    expect(early).toBeUndefined()
    expect(late).toMatchObject({ code: 'network' })
  })
})

describe('the API key', () => {
  const echo = JSON.stringify({ error: { type: 'authentication_error', message: `invalid key ${canary} given` } })
  const leaky: [string, typeof fetch][] = [
    ['an echoed key', refusing(401, echo)],
    ['a runtime error that quotes headers', () => Promise.reject(new TypeError(`bad header ${canary}`, { cause: new Error(canary) }))],
    ['an error inside the stream', answering([utf8(`event: error\ndata: ${echo.replace('{', '{"type":"error",')}\n\n`)])],
    ['a damaged event', answering([utf8(`data: {${canary}\n\n`)])],
    ['a broken body', answering([half], 'break')],
  ]

  it.each(leaky)('keeps the API key out of the error: %s', async (_name, fetch) => {
    const error = await failure(fetch)
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(canary)
    expect(`${JSON.stringify(error)}${error.message}${error.stack}`).not.toContain(canary)
  })

  it('sends the API key, and redacts it in the logged headers', async () => {
    const { provider } = anthropic('claude-test')
    const { headers, redactedHeaders, body } = await provider.encode(request('claude-test'))
    expect(headers['x-api-key']).toBe(canary)
    expect(JSON.stringify(redactedHeaders) + body).not.toContain(canary)
    expect(redactedHeaders['anthropic-version']).toBe('2023-06-01')
  })

  it.each(['', 'two\nlines', 'naïve'])('rejects an invalid header value as key before sending: %j', async (credential) => {
    const { provider } = anthropic('claude-test', { fetch: never })
    const sent = provider.stream(request('claude-test', { credential }), () => undefined, new AbortController().signal)
    await expect(sent).rejects.toMatchObject({ code: 'other', message: expect.stringContaining('API key') })
    await expect(sent).rejects.not.toThrow(credential === '' ? '""' : credential)
  })
})
