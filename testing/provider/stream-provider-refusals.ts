import type { ProviderErrorCode } from '../../src/contract/errors.ts'
import type { Model } from '../../src/types/model/model.ts'
import { type FaultFetch, type FaultScript, faultFetch } from '../fault-fetch.ts'
import type { TestRunner } from '../test-runner.ts'
import { callModel, errorOf, requestFor } from './provider-fixture.ts'

interface Subject {
  create: (fetch: FaultFetch) => Model
}

interface Refusal {
  what: string
  code: ProviderErrorCode
  isRetryable: boolean
  retryAfterMs?: number
  script: (key: string) => FaultScript
}

/** An error body in the providers' common format, which repeats the key. */
function body(key: string): string {
  return JSON.stringify({ error: { type: 'some_error', code: 'some_code', message: `The request with ${key} was refused` } })
}

const headers = { 'content-type': 'application/json', 'retry-after': '7' }

const refusals: readonly Refusal[] = [
  { what: 'HTTP 401', code: 'auth', isRetryable: false, script: (key) => ({ status: 401, body: body(key), headers }) },
  {
    what: 'HTTP 429',
    code: 'rateLimited',
    isRetryable: true,
    retryAfterMs: 7000,
    script: (key) => ({ status: 429, body: body(key), headers }),
  },
  { what: 'HTTP 500', code: 'api', isRetryable: true, script: (key) => ({ status: 500, body: body(key), headers }) },
  { what: 'HTTP 500 without a body', code: 'api', isRetryable: true, script: () => ({ status: 500 }) },
  { what: 'HTTP 502 from a proxy', code: 'api', isRetryable: true, script: () => ({ status: 502, body: '<h1>Bad gateway</h1>' }) },
  {
    what: 'a redirect, which is not followed',
    code: 'api',
    isRetryable: false,
    script: () => ({ status: 307, headers: { location: 'https://elsewhere.example/' } }),
  },
  { what: 'no connection', code: 'network', isRetryable: true, script: (key) => ({ networkError: `Failed to reach host?key=${key}` }) },
]

async function keyOf(model: Model): Promise<string> {
  return (await model.credentials?.current(new AbortController().signal)) ?? ''
}

/** Returns everything that could be printed about `error`. */
function printed(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? ''
  const own = Reflect.ownKeys(error).map((key) => String(Reflect.get(error, key)))
  const inner = error.cause === undefined || depth > 4 ? '' : printed(error.cause, depth + 1)
  return [String(error), error.stack, JSON.stringify(error), ...own, JSON.stringify(Reflect.get(error, 'partial')), inner].join('\n')
}

/** Tests without a fixture: rejections, and places where the key must not appear. */
export function refusalTests({ it, expect }: TestRunner, { create }: Subject): void {
  for (const { what, code, isRetryable, retryAfterMs, script } of refusals) {
    it(`fails with ${code} without exposing the key: ${what}`, async () => {
      const key = await keyOf(create(faultFetch({})))
      const fetch = faultFetch(script(key))
      const outcome = await callModel(create(fetch), what)
      const error = errorOf(outcome, what)
      expect([error.code, error.isRetryable, error.status]).toEqual([code, isRetryable, script(key).status])
      if (retryAfterMs !== undefined) expect(error.retryAfterMs).toBe(retryAfterMs)
      expect(error.message.length > 20).toBe(true)
      expect(key !== '' && printed(error).includes(key)).toBe(false)
      expect(outcome.events.length).toBe(0)
      expect([fetch.calls.length, fetch.openStreams]).toEqual([1, 0])
    })
  }

  it('does not let fetch follow redirects, because they would forward the key', async () => {
    const fetch = faultFetch({ status: 500 })
    await callModel(create(fetch), 'redirect')
    expect(fetch.calls.some((call) => call.redirect === 'follow')).toBe(false)
  })

  it('sends exactly what encode returns, and redacts the key in the output of encode', async () => {
    const fetch = faultFetch({ status: 500 })
    const model = create(fetch)
    const key = await keyOf(model)
    const encoded = await model.provider.encode(await requestFor(model))
    await callModel(model, 'encode')
    const [call] = fetch.calls
    expect([call?.url, call?.method]).toEqual([encoded.url, 'POST'])
    // Signed protocols put the time into headers. Header names must match, but values may differ.
    expect(Object.keys(encoded.headers).filter((name) => call?.headers.has(name) !== true)).toEqual([])
    expect(call?.body).toBe(encoded.body)
    const shown = JSON.stringify([encoded.body, encoded.redactedHeaders, encoded.warnings, model.config])
    expect(key !== '' && shown.includes(key)).toBe(false)
    expect(Object.keys(encoded.redactedHeaders).toSorted()).toEqual(Object.keys(encoded.headers).toSorted())
  })
}
