import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RateLimits } from '../../src/contract/model/usage.ts'
import { Agent, type AgentEvent, type Model, ProviderError } from '../../src/index.ts'
import { fallback } from '../../src/models.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { fastRetry, ofType } from '../support/play.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

/** What the next answers are, in their order; the last for ever. */
let answers: { status: number; headers: Record<string, string> }[] = []
const words = [
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1 } })}\n\n`,
  'data: [DONE]\n\n',
].join('')
const server = createServer((request, response) => {
  request.resume()
  const [answer = { status: 200, headers: {} }] = answers.length > 1 ? answers.splice(0, 1) : answers
  const body = answer.status === 200 ? words : JSON.stringify({ error: { message: 'slow down' } })
  response.writeHead(answer.status, { 'content-type': answer.status === 200 ? 'text/event-stream' : 'application/json', ...answer.headers })
  response.end(body)
})
let baseUrl = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const models: Record<string, () => Model> = {
  openai: () => openai('gpt-4.1', { apiKey: 'k', baseUrl }),
  anthropic: () => anthropic('claude-sonnet-5', { apiKey: 'k', baseUrl }),
  google: () => google('gemini-3-pro', { apiKey: 'k', baseUrl }),
}
const date = 'Mon, 23 Nov 2026 12:00:00 GMT'

/** Headers as each service sends them, and what they mean. */
const table: [service: string, model: string, headers: Record<string, string>, limits: RateLimits | undefined][] = [
  [
    'OpenAI',
    'openai',
    {
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': '499',
      'x-ratelimit-reset-requests': '120ms',
      'x-ratelimit-limit-tokens': '30000',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '6m0s',
    },
    { requests: { limit: 500, remaining: 499, resetMs: 120 }, tokens: { limit: 30_000, remaining: 0, resetMs: 360_000 } },
  ],
  [
    'Anthropic',
    'anthropic',
    {
      date,
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2026-11-23T12:00:01Z',
      'anthropic-ratelimit-tokens-limit': '40000',
      'anthropic-ratelimit-tokens-remaining': '39000',
      'anthropic-ratelimit-tokens-reset': '2026-11-23T12:00:02Z',
      'anthropic-ratelimit-input-tokens-limit': '30000',
      'anthropic-ratelimit-input-tokens-remaining': '29000',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-23T11:59:00Z',
      'anthropic-ratelimit-output-tokens-remaining': '8000',
    },
    {
      requests: { limit: 50, remaining: 49, resetMs: 1000 },
      tokens: { limit: 40_000, remaining: 39_000, resetMs: 2000 },
      inputTokens: { limit: 30_000, remaining: 29_000, resetMs: 0 },
      outputTokens: { remaining: 8000 },
    },
  ],
  [
    'Groq',
    'openai',
    {
      'x-ratelimit-limit-requests': '14400',
      'x-ratelimit-remaining-requests': '14370',
      'x-ratelimit-reset-requests': '2m59.56s',
      'x-ratelimit-remaining-tokens': '17997',
      'x-ratelimit-reset-tokens': '7.66s',
    },
    { requests: { limit: 14_400, remaining: 14_370, resetMs: 179_560 }, tokens: { remaining: 17_997, resetMs: 7660 } },
  ],
  [
    'Cerebras',
    'openai',
    {
      'x-ratelimit-limit-requests-day': '1000000',
      'x-ratelimit-remaining-requests-day': '999987',
      'x-ratelimit-reset-requests-day': '33011.382867',
      'x-ratelimit-remaining-tokens-minute': '500',
    },
    { requests: { limit: 1_000_000, remaining: 999_987, resetMs: 33_011_383 }, tokens: { remaining: 500 } },
  ],
  [
    'OpenRouter',
    'openai',
    {
      date,
      'x-ratelimit-limit': '20',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Date.parse(date) + 30_000),
    },
    { requests: { limit: 20, remaining: 0, resetMs: 30_000 } },
  ],
  [
    'Azure',
    'openai',
    { 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '57' },
    { requests: { remaining: 3, resetMs: 57_000 } },
  ],
  [
    'Azure without figures',
    'openai',
    { 'x-ratelimit-limit-tokens': '-1', 'x-ratelimit-remaining-tokens': '-1', 'x-ratelimit-reset-tokens': '0' },
    undefined,
  ],
  ['invalid headers', 'openai', { 'x-ratelimit-remaining-requests': 'many', 'x-ratelimit-reset-requests': 'soon' }, undefined],
  ['Gemini', 'google', {}, undefined],
]

describe('rate-limit headers', () => {
  it.each(table)('reports limits on the error and in an event: %s', async (_, name, headers, limits) => {
    answers = [{ status: 429, headers }]
    const model = (models[name] as () => Model)()
    const { error, events } = await outcomeOf(model.provider, plainRequest(model.config, { credential: 'k' }))
    expect(ProviderError.isInstance(error)).toBe(true)
    expect((error as ProviderError).limits).toEqual(limits)
    const of = { provider: model.config.provider, model: model.config.id }
    expect(events).toEqual(limits === undefined ? [] : [{ type: 'rateLimits', of, limits }])
  })

  it('emits an event when limits arrive and when they change', async () => {
    const left = (remaining: number, reset: string) => ({
      status: 200,
      headers: { 'x-ratelimit-remaining-requests': String(remaining), 'x-ratelimit-reset-requests': reset },
    })
    const refused = { ...left(0, '1ms'), status: 429 }
    answers = [left(5, '1s'), left(5, '900ms'), refused, left(9, '1s'), { status: 200, headers: {} }]
    const agent = new Agent({ model: openai('gpt-4.1', { apiKey: 'k', baseUrl }), retry: fastRetry, logger: false })
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(event))
    for (let prompt = 0; prompt < 4; prompt += 1) expect((await agent.prompt('go').result).status).toBe('completed')
    const of = { provider: 'openai', model: 'gpt-4.1' }
    expect(ofType(events, 'rateLimits').map(({ of, limits, turnIndex }) => ({ of, limits, turnIndex }))).toEqual([
      { of, turnIndex: 0, limits: { requests: { remaining: 5, resetMs: 1000 } } },
      // Another run begins anew: nobody need have seen the last one.
      { of, turnIndex: 0, limits: { requests: { remaining: 5, resetMs: 900 } } },
      { of, turnIndex: 0, limits: { requests: { remaining: 0, resetMs: 1 } } },
      { of, turnIndex: 0, limits: { requests: { remaining: 9, resetMs: 1000 } } },
    ])
  })

  it('includes the limits in the error of the result and of each retry', async () => {
    const limits = { requests: { limit: 20, remaining: 0 } }
    answers = [{ status: 429, headers: { 'x-ratelimit-limit-requests': '20', 'x-ratelimit-remaining-requests': '0' } }]
    const retry = { ...fastRetry, maxRetries: 1 }
    const agent = new Agent({ model: openai('gpt-4.1', { apiKey: 'k', baseUrl }), retry, logger: false })
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(event))
    const { error } = await agent.prompt('go').result
    expect(error).toMatchObject({ code: 'rateLimited', limits })
    expect(ofType(events, 'providerRetry')).toMatchObject([{ error: { limits } }])
  })

  it.each([{ limits: { requests: { remaining: -1 } } }, { limits: 'many' }])('drops invalid limits from the result: %j', async (odd) => {
    const thrown = Object.assign(new ProviderError('rateLimited', 'Slow down.', { isRetryable: false }), odd)
    const agent = new Agent({
      model: scripted(() => {
        throw thrown
      }),
      logger: false,
    })
    expect((await agent.prompt('go').result).error).toEqual({ code: 'rateLimited', message: 'Slow down.' })
  })

  it('treats rate-limit events as no output when falling back', async () => {
    answers = [
      { status: 503, headers: { 'x-ratelimit-remaining-requests': '7' } },
      { status: 200, headers: {} },
    ]
    const two = ['a', 'b'].map((id) => openai(id, { apiKey: 'k', baseUrl }))
    const result = await new Agent({ model: fallback(two), retry: false, logger: false }).prompt('go').result
    expect(result.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    answers = [{ status: 429, headers: { 'x-ratelimit-remaining-requests': '0', 'retry-after': '7200' } }]
    const model = fallback(two)
    const { error } = await outcomeOf(model.provider, plainRequest(model.config))
    expect((error as ProviderError).limits).toEqual({ requests: { remaining: 0 } })
  })
})
