import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/contract/errors.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { classifyError } from '../../src/providers/kit/errors/classify.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

async function failure({ config, provider }: Model, credential?: string): Promise<string> {
  const { error } = await outcomeOf(provider, plainRequest(config, credential === undefined ? {} : { credential }))
  return error instanceof Error ? error.message : 'no error'
}

/** Some engines quote the whole address. */
const quoting: typeof fetch = (input) => Promise.reject(new TypeError(`error sending request for url (${input})`))

describe('a URL in an error', () => {
  it('redacts a key in the query, URL-encoded or not', async () => {
    const key = 'AQ.canary+key/with=signs'
    const message = await failure(google('gemini-3.5-flash', { keyInQuery: true, fetch: quoting }), key)
    expect(message).toContain('error sending request')
    expect(message).not.toContain('canary')
  })

  it('redacts the query of baseUrl', async () => {
    const model = anthropic('claude-test', { baseUrl: 'https://proxy.example/v1?subscription=canary-0123456789', fetch: quoting })
    const message = await failure(model)
    expect(message).toContain('https://proxy.example/v1/messages')
    expect(message).not.toContain('canary')
  })

  it('redacts the query of an invalid URL', async () => {
    const { config, provider } = anthropic('claude-test', { apiKey: 'k' })
    const message = await failure({ config: { ...config, baseUrl: 'proxy.example/v1?subscription=canary-0123456789' }, provider })
    expect(message).toContain('"proxy.example/v1"')
    expect(message).not.toContain('canary')
  })
})

it('redacts a key at the end of a truncated quotation', () => {
  const credential = 'canary-'.repeat(10)
  const body = `${' '.repeat(1960)}${credential}`
  expect(classifyError({ service: 'X', status: 500, body, credential }).message).not.toContain('canary')
})

describe('a key sent to a foreign host', () => {
  it.each(['evil.example/', 'us-east-1.evil.example#', ''])(
    'rejects the region %j, which would send the key to a foreign host',
    (region) => {
      expect(() => bedrock('x.y', { region })).toThrow(ConfigError)
    },
  )

  it('rejects an ARN that would send the key to a foreign host', () => {
    const { baseUrl } = bedrock('arn:aws:bedrock:evil.example/#:1:inference-profile/x').config
    expect(new URL(baseUrl).host).toBe('bedrock-runtime.us-east-1.amazonaws.com')
  })

  it.each(['evil.example/', 'a@evil.example#', ''])('rejects the resource %j, which would send the key to a foreign host', (resource) => {
    expect(() => azure('d', { resource })).toThrow(ConfigError)
  })
})

const key = 'sk-canary-Ab3_0123456789/xyz'
const echo = `user:${key} in ${btoa(`user:${key}`)} and ${encodeURIComponent(encodeURIComponent(key))}`
const answered =
  (body: string, status = 200, type = 'text/event-stream'): typeof fetch =>
  async () =>
    new Response(body, { status, headers: { 'content-type': type } })
const factories = {
  anthropic,
  openai,
  openaiResponses,
  google,
  azure: (id: string, options: object) => azure(id, { resource: 'r', ...options }),
  bedrock,
}
const frames = (...events: unknown[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

/** All that a person may come to see of a call. */
async function seen(model: Model, credential = key): Promise<string> {
  const { message, error, events } = await outcomeOf(model.provider, plainRequest(model.config, { credential }))
  expect(message ?? error).toBeDefined()
  const thrown = error instanceof Error ? [error.message, error.stack, String(error.cause), JSON.stringify(error)] : []
  const partial = typeof error === 'object' && error !== null && 'partial' in error ? error.partial : undefined
  return JSON.stringify([message, thrown, partial, events])
}

function expectNoKey(text: string): void {
  expect(text).not.toContain('canary')
  expect(text).not.toContain(btoa(`user:${key}`).slice(8, 30))
  expect(text).not.toContain('0123456789%')
}

describe.each(Object.entries(factories))('an echo of the key: %s', (_name, make) => {
  it.each([400, 429, 500])('redacts an echoed key at status %i', async (status) => {
    const text = await seen(
      make('m', { fetch: answered(JSON.stringify({ error: { message: `Bad: ${echo}` } }), status, 'application/json') }),
    )
    expect(text).toContain('[redacted]')
    expectNoKey(text)
  })

  it.each([
    [401, 'Bad zebra'],
    [403, 'Bad key: zebra'],
    [403, 'This token is no zebra'],
  ])('omits the provider message at status %i: %s', async (status, message) => {
    const text = await seen(make('m', { fetch: answered(JSON.stringify({ error: { message } }), status) }))
    expect(text).toContain('rejected the API key')
    expect(text).not.toContain('zebra')
  })

  it('redacts an echoed key in invalid event data', async () => {
    expectNoKey(await seen(make('m', { fetch: answered(`data: ${echo}\n\n`) })))
  })

  it('redacts an echoed custom header value', async () => {
    const headers = { 'cf-aig-authorization': `Bearer ${key}`, authorization: `Basic ${btoa(`me:${key}`)}` }
    const body = JSON.stringify({ error: { message: `Bad: ${echo}` } })
    expectNoKey(await seen(make('m', { headers, fetch: answered(body, 500, 'application/json') }), 'another-0123456789'))
  })
})

describe('an echo of the key in a stop reason', () => {
  const cases: Record<string, Model> = {
    'Chat Completions': openai('m', { fetch: answered(frames({ choices: [{ index: 0, delta: { content: 'x' }, finish_reason: echo }] })) }),
    Gemini: google('m', { fetch: answered(frames({ candidates: [{ finishReason: 'OTHER', finishMessage: echo }] })) }),
    Anthropic: anthropic('m', {
      fetch: answered(frames({ type: 'message_start' }, { type: 'message_delta', delta: { stop_reason: echo } }, { type: 'message_stop' })),
    }),
    'the Responses API': openaiResponses('m', {
      fetch: answered(frames({ type: 'response.incomplete', response: { incomplete_details: { reason: echo } } })),
    }),
    'a content filter': openaiResponses('m', {
      fetch: answered(JSON.stringify({ error: { code: 'content_filter', message: echo } }), 400, 'application/json'),
    }),
  }
  it.each(Object.entries(cases))('redacts a key in a stop reason: %s', async (_name, model) => {
    const text = await seen(model)
    expect(text).toContain('[redacted]')
    expectNoKey(text)
  })
})
