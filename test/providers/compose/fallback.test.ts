import { describe, expect, it } from 'vitest'
import { Agent } from '../../../src/index.ts'
import { fallback, rotateKeys, route, withMiddleware } from '../../../src/models.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import { google } from '../../../src/providers/google/index.ts'
import { openai } from '../../../src/providers/openai.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { add, fastRetry, ofType } from '../../support/play.ts'

/** A service that answers its calls in turn, the last one for ever. */
function service(...answers: readonly (() => Response | Promise<Response>)[]) {
  const sent: { headers: Headers; body: string }[] = []
  const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
    sent.push({ headers: new Headers(init?.headers), body: String(init?.body) })
    return (answers[Math.min(sent.length, answers.length) - 1] ?? down)()
  }
  return { sent, fetch: fetch as typeof globalThis.fetch }
}

const down = () => Promise.reject(new TypeError('fetch failed'))
const status =
  (code: number, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ error: { message: `status ${code}` } }, { status: code, headers })
const sse = (...chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
const type = { 'content-type': 'text/event-stream' }
const words = (text: string) => () =>
  new Response(
    `${sse({ choices: [{ index: 0, delta: { content: text } }] }, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 10, completion_tokens: 5 } })}data: [DONE]\n\n`,
    { headers: type },
  )
/** Says something, and breaks off. */
const cut = () => () => new Response(sse({ choices: [{ index: 0, delta: { content: 'Half' } }] }), { headers: type })

async function played(model: Parameters<typeof fallback>[0][number], options: object = {}) {
  const agent = new Agent({ model, retry: fastRetry, logger: false, ...options })
  const events: Parameters<typeof grammarFaults>[0][number][] = []
  agent.subscribe((event) => events.push(event))
  const result = await agent.prompt('go').result
  expect(grammarFaults(events)).toEqual([])
  return { agent, events, result }
}

const failures = {
  network: down,
  overloaded: status(529),
  unavailable: status(503),
  limited: status(429),
  key: status(401),
  gone: status(404),
  refused: status(400),
}

/** The first model of each protocol; the second always answers. */
const firsts = {
  anthropic: (fetch: typeof globalThis.fetch) => anthropic('claude-sonnet-5', { apiKey: 'key-one', fetch }),
  chat: (fetch: typeof globalThis.fetch) => openai('gpt-4.1', { apiKey: 'key-one', fetch }),
  responses: (fetch: typeof globalThis.fetch) => openaiResponses('gpt-5.1', { apiKey: 'key-one', fetch }),
  google: (fetch: typeof globalThis.fetch) => google('gemini-3-pro', { apiKey: 'key-one', fetch }),
  bedrock: (fetch: typeof globalThis.fetch) => bedrock('anthropic.claude-sonnet-4-6', { apiKey: 'key-one', fetch }),
}

describe('fallback', () => {
  it.each(Object.keys(firsts).flatMap((wire) => Object.keys(failures).map((failure) => [wire, failure] as const)))(
    '%s, %s: falls back immediately, with only one event visible',
    async (wire, failure) => {
      const first = service(failures[failure as keyof typeof failures])
      const second = service(words('From the second.'))
      const model = fallback([
        firsts[wire as keyof typeof firsts](first.fetch),
        openai('gpt-4o', { apiKey: 'key-two', fetch: second.fetch }),
      ])
      const { events, result } = await played(model)
      expect(result).toMatchObject({ status: 'completed', text: 'From the second.' })
      expect(result.messages.at(-1)).toMatchObject({ model: 'gpt-4o', provider: 'openai' })
      expect(ofType(events, 'modelFallback')).toEqual([
        expect.objectContaining({
          turnIndex: 0,
          to: { provider: 'openai', model: 'gpt-4o' },
          error: expect.objectContaining({ code: expect.any(String) }),
        }),
      ])
      expect(ofType(events, 'providerRetry')).toEqual([])
      expect(first.sent).toHaveLength(1)
      expect(second.sent[0]?.headers.get('authorization')).toBe('Bearer key-two')
      expect(JSON.stringify(events)).not.toContain('key-')
    },
  )

  it('closes the failed message after output, then calls the other model', async () => {
    const first = service(cut())
    const second = service(words('Whole.'))
    const { events, result, agent } = await played(
      fallback([openai('a', { apiKey: 'k', fetch: first.fetch }), openai('b', { apiKey: 'k', fetch: second.fetch })]),
    )
    expect(result).toMatchObject({ status: 'completed', text: 'Whole.' })
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant'])
    expect(agent.messages[1]).toMatchObject({ stopReason: 'error', model: 'a' })
    expect(ofType(events, 'providerRetry')).toEqual([expect.objectContaining({ afterOutput: true })])
    expect(ofType(events, 'modelFallback')).toHaveLength(1)
    expect(second.sent[0]?.body).not.toContain('Half')
  })

  it('calls a failed model last until its cool-down ends', async () => {
    const first = service(status(503), words('First.'))
    const second = service(words('Second.'))
    const models = [openai('a', { apiKey: 'k', fetch: first.fetch }), openai('b', { apiKey: 'k', fetch: second.fetch })]
    const model = fallback(models, { coolDownMs: 60_000 })
    await played(model)
    const { events } = await played(model)
    expect([first.sent.length, second.sent.length]).toEqual([1, 2])
    expect(ofType(events, 'modelFallback')[0]).not.toHaveProperty('error')
    await played(fallback(models, { coolDownMs: 0 }))
    expect(first.sent).toHaveLength(2)
  })

  it('ends the run with the last error if all models fail, with its retry rules', async () => {
    const [first, second] = [service(status(401)), service(status(503))]
    const { result } = await played(
      fallback([openai('a', { apiKey: 'k', fetch: first.fetch }), openai('b', { apiKey: 'k', fetch: second.fetch })]),
    )
    expect(result).toMatchObject({ status: 'error', error: { code: 'api' } })
    expect(second.sent).toHaveLength(4)
  })

  it.each([
    ['codes', ['network'] as const],
    ['a function', (error: { code: string }) => error.code === 'network'],
  ])('lets %s decide when to fall back', async (_name, on) => {
    const second = service(words('Second.'))
    const make = (answer: () => Response | Promise<Response>) =>
      fallback([openai('a', { apiKey: 'k', fetch: service(answer).fetch }), openai('b', { apiKey: 'k', fetch: second.fetch })], { on })
    expect((await played(make(down))).result.status).toBe('completed')
    expect((await played(make(status(400)))).result).toMatchObject({ status: 'error' })
  })

  it('calls no other model after an abort', async () => {
    const controller = new AbortController()
    const first = service(() => new Promise<Response>(() => controller.abort()))
    const second = service(words('Second.'))
    const agent = new Agent({
      model: fallback([openai('a', { apiKey: 'k', fetch: first.fetch }), openai('b', { apiKey: 'k', fetch: second.fetch })]),
    })
    const result = await agent.prompt('go', { signal: controller.signal }).result
    expect(result.status).toBe('aborted')
    expect(second.sent).toHaveLength(0)
  })

  it("applies the responding model's price and budget", async () => {
    const cost = (perMillion: number) => ({
      inputPerMillion: perMillion,
      outputPerMillion: 0,
      cacheReadPerMillion: 0,
      cacheWritePerMillion: 0,
    })
    const a = openai('a', { apiKey: 'k', fetch: service(down).fetch, cost: cost(1) })
    const b = openai('b', { apiKey: 'k', fetch: service(words('B.')).fetch, cost: cost(100_000) })
    const { result } = await played(fallback([a, b]), { tools: [add], limits: { maxCost: 10 }, stopWhen: () => true })
    expect(result.status).toBe('completed')
    const spent: number[] = []
    const again = new Agent({ model: fallback([a, b]), hooks: { prepareTurn: ({ costUsd }) => void spent.push(costUsd) } })
    again.followUp('and?')
    await again.prompt('go').result
    expect(spent).toEqual([0, 1])
  })

  it('uses the smallest context window, and requires a key for every model', () => {
    const a = openai('a', { apiKey: 'k', contextWindow: 100 })
    expect(fallback([a, openai('b', { apiKey: 'k', contextWindow: 50 })]).config.contextWindow).toBe(50)
    expect(() => new Agent({ model: fallback([a, openai('b')]) })).toThrow(/key of model "b"/)
    expect(() => fallback([])).toThrow(/at least one model/)
    expect(() => fallback([a], { retries: 3 } as never)).toThrow(/retries/)
    expect(() => fallback(['gpt'] as never)).toThrow(/models\[0\]/)
  })

  it("sends a model's reasoning to no other model", async () => {
    const thought = { type: 'thinking' as const, thinking: 'Secret plan.', signature: 'sig' }
    const second = service(words('Second.'))
    const model = fallback([
      anthropic('claude-sonnet-5', { apiKey: 'k', fetch: service(down).fetch }),
      openai('b', { apiKey: 'k', fetch: second.fetch }),
    ])
    const assistant = {
      role: 'assistant' as const,
      content: [thought, { type: 'text' as const, text: 'Hi.' }],
      model: 'claude-sonnet-5',
      provider: 'anthropic',
    }
    await played(model, { messages: [{ role: 'user', content: 'hello' }, assistant] })
    expect(second.sent[0]?.body).not.toContain('Secret plan')
  })

  it('refreshes a credential provider once, like any model', async () => {
    let invalidated = 0
    const apiKey = {
      current: () => `key-${invalidated}`,
      invalidate: () => {
        invalidated += 1
      },
    }
    const first = service(status(401), words('With a new key.'))
    const { result } = await played(fallback([openai('a', { apiKey, fetch: first.fetch }), scripted([])]))
    expect(result.text).toBe('With a new key.')
    expect(first.sent.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer key-0', 'Bearer key-1'])
  })
})

describe('route', () => {
  it('chooses a model for each request', async () => {
    const [small, large] = [scripted([{ text: 'Small.' }]), scripted([{ text: 'Large.' }])]
    const agent = new Agent({ model: route(({ messages }) => (messages.length > 1 ? large : small), { like: small }) })
    expect(await agent.prompt('go').text()).toBe('Small.')
    expect(await agent.prompt('more').text()).toBe('Large.')
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no route')
      },
      /no route/,
    ],
    ['returns no model', () => 'gpt' as never, /route\(\)/],
  ])('fails the call and names the choice if the function %s', async (_name, choose, message) => {
    const { result } = await played(route(choose))
    expect(result).toMatchObject({ status: 'error', error: { message: expect.stringMatching(message) } })
  })
})

describe('rotateKeys', () => {
  it.each([401, 429])('rotates a key that gets %i and lets it cool down', async (code) => {
    const { sent, fetch } = service(status(code), words('Ok.'), words('Again.'))
    const model = rotateKeys(openai('a', { fetch }), ['key-one', 'key-two'])
    const { events, result } = await played(model)
    await played(model)
    expect(result.status).toBe('completed')
    expect(sent.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer key-one', 'Bearer key-two', 'Bearer key-two'])
    expect(JSON.stringify([events, model])).not.toContain('key-one')
  })

  it('fails the call without showing a key if all keys are rejected', async () => {
    const { fetch } = service(status(401))
    const { result } = await played(rotateKeys(openai('a', { fetch }), ['key-one', 'key-two']))
    expect(result).toMatchObject({ status: 'error', error: { code: 'auth' } })
    expect(JSON.stringify(result)).not.toMatch(/key-(one|two)/)
    expect(() => rotateKeys(openai('a'), [])).toThrow(/needs keys/)
    expect(() => rotateKeys(openai('a'), ['a', ' '])).toThrow(/keys that are not empty/)
  })
})

describe('withMiddleware', () => {
  it('changes requests and responses without access to the key', async () => {
    const { sent, fetch } = service(words('hello'))
    const seen: unknown[] = []
    const model = withMiddleware(openai('a', { apiKey: 'key-one', fetch }), {
      request: (request) => {
        seen.push(request)
        return { ...request, systemPrompt: 'From the middleware.' }
      },
      response: (message) => ({ ...message, content: [{ type: 'text', text: 'HELLO' }] }),
    })
    const { result } = await played(model)
    expect(result.text).toBe('HELLO')
    expect(sent[0]?.body).toContain('From the middleware.')
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer key-one')
    expect(JSON.stringify(seen)).not.toContain('key-one')
  })

  it('names the middleware that throws', async () => {
    const { fetch } = service(words('hello'))
    const { result } = await played(
      withMiddleware(openai('a', { apiKey: 'k', fetch }), { response: () => Promise.reject(new Error('odd')) }),
    )
    expect(result).toMatchObject({ status: 'error', error: { message: expect.stringContaining('odd') } })
  })

  it.each([
    ['request', { request: () => undefined as never }, /middleware request/],
    ['response', { response: () => 'words' as never }, /middleware response/],
    ['messages', { request: (request: object) => ({ ...request, messages: 'none' }) as never }, /messages/],
  ])('fails the call if middleware returns no %s', async (_name, middleware, message) => {
    const { fetch } = service(words('hello'))
    const { result } = await played(withMiddleware(openai('a', { apiKey: 'k', fetch }), middleware))
    expect(result).toMatchObject({ status: 'error', error: { message: expect.stringMatching(message) } })
  })

  it('rejects an unknown option and names it', () => {
    const model = openai('a', { apiKey: 'k' })
    expect(() => withMiddleware(model, { request: 3 } as never)).toThrow(/^request is 3/)
    expect(() => withMiddleware(model, { requests: () => undefined } as never)).toThrow(/requests/)
    expect(() => withMiddleware(model, undefined as never)).toThrow(/invalid|is undefined|options/)
    expect(() => route(() => model, { likes: model } as never)).toThrow(/likes/)
    expect(() => route(() => model, { like: 'gpt' } as never)).toThrow(/like is "gpt"/)
    expect(() => rotateKeys(model, 'key' as never)).toThrow(/keys is "?/)
    expect(() => rotateKeys(model, ['a-key'], { coolDown: 3 } as never)).toThrow(/coolDownMs/)
  })

  it('keeps the keys of concurrent calls separate', async () => {
    const seen: string[] = []
    const fetch: typeof globalThis.fetch = async (_url, init) => {
      const key = new Headers(init?.headers).get('authorization') ?? ''
      seen.push(key)
      return key.endsWith('one') ? status(429)() : words('Ok.')()
    }
    const model = rotateKeys(openai('a', { fetch }), ['key-number-one', 'key-number-two'])
    const results = await Promise.all([1, 2, 3, 4].map(() => played(model)))
    expect(results.map(({ result }) => result.text)).toEqual(['Ok.', 'Ok.', 'Ok.', 'Ok.'])
    expect(seen.filter((key) => key.endsWith('two'))).toHaveLength(4)
    expect(JSON.stringify(results.map(({ events }) => events))).not.toContain('key-number')
  })
})
