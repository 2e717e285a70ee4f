import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { Agent, type AgentEvent, type AgentOptions, type Model } from '../../../src/index.ts'
import { fallback, limited, limiter, route } from '../../../src/models.ts'
import { patient } from '../../support/patience.ts'
import { fastRetry, gate, ofType, seen } from '../../support/play.ts'
import { type WireReply, WireServer } from '../../support/wire-server.ts'

const server = new WireServer()
beforeAll(() => server.start())
afterAll(() => server.stop())
afterEach(() => void vi.useRealTimers())

const refused = (status: number, headers: Record<string, string> = {}): WireReply => ({
  status,
  body: '{"error":{"message":"No."}}',
  headers,
})
const says = (text: string): WireReply => ({ turn: { text: [text] } })
const half: WireReply = { turn: { text: ['Half', 'x'.repeat(4000)] }, cut: { permille: 700, seed: 1 } }
const rates = (each: number) => ({ inputPerMillion: each, outputPerMillion: each, cacheReadPerMillion: each, cacheWritePerMillion: each })

/** One prompt on `model`, to its end. */
async function asked(model: Model, options: Partial<AgentOptions> = {}) {
  const events: AgentEvent[] = []
  const agent = new Agent({ model, retry: fastRetry, logger: false, ...options })
  agent.subscribe((event) => events.push(event))
  const result = await agent.prompt('go').result
  return { agent, events, result }
}

describe('a failed model', () => {
  it.each([
    ['for the default time', refused(500), 20_000],
    ['for the time in retry-after', refused(429, { 'retry-after': '45' }), 45_000],
    ['despite a retry-after of 0', refused(503, { 'retry-after': '0' }), 20_000],
  ])('lets a failed model cool down %s, then prefers it again', async (_name, failure, restMs) => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const first = server.service('openai', failure, says('First.'))
    const second = server.service('anthropic', says('Second.'))
    const model = fallback([first.model(), second.model()], { coolDownMs: 20_000 })
    const text = async () => (await asked(model)).result.text
    expect(await text()).toBe('Second.')
    vi.advanceTimersByTime(restMs - 1)
    expect(await text()).toBe('Second.')
    vi.advanceTimersByTime(1)
    expect(await text()).toBe('First.')
    expect([first.sent.length, second.sent.length]).toEqual([2, 2])
  })

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('boom')
      },
      'boom',
    ],
    [
      'rejects',
      async () => {
        throw new Error('boom')
      },
      'instead of true or false',
    ],
    ['is asynchronous', async () => false, 'instead of true or false'],
    ['returns undefined', () => undefined, 'instead of true or false'],
  ])('ends the call without a fallback if `on` %s', async (_name, on, words) => {
    const second = server.service('anthropic', says('Second.'))
    const model = fallback([server.service('openai', refused(500)).model(), second.model()], { on: on as () => boolean })
    const { result } = await asked(model, { retry: false })
    expect(result.error?.message).toMatch(new RegExp(`on .*${words}`))
    expect(second.sent).toHaveLength(0)
  })

  it('skips a model without a limiter slot until a slot is free', async () => {
    const first = server.service('openai', { ...says('First.') }, says('First again.'))
    const second = server.service('anthropic', says('Second.'))
    const shared = limiter({ concurrency: 1 })
    const model = fallback([limited(first.model(), shared, { maxWaitMs: 0 }), second.model()])
    const elsewhere = await shared.turn({ key: 'other', tokens: 1, priority: 'person', signal: new AbortController().signal })
    const { events, result } = await asked(model)
    expect(result.text).toBe('Second.')
    expect(ofType(events, 'modelFallback')).toMatchObject([{ error: { code: 'rateLimited', message: expect.stringContaining('limiter') } }])
    expect(first.sent).toHaveLength(0)
    elsewhere.end()
    expect((await asked(model)).result.text).toBe('First.')
    expect([shared.running, shared.waiting]).toEqual([0, 0])
  })

  it('tries cooling models, the soonest available first, if all others fail', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const first = server.service('openai', refused(429, { 'retry-after': '50' }), says('First.'))
    const second = server.service('google', refused(500), refused(401), says('Second.'))
    const model = fallback([first.model(), second.model()])
    expect((await asked(model, { retry: false })).result.status).toBe('error')
    expect((await asked(model)).result.text).toBe('First.')
    expect([first.sent.length, second.sent.length]).toEqual([2, 2])
    expect((await asked(model)).result.text).toBe('First.')
  })

  it('keeps a model available after an error about a single request', async () => {
    const second = server.service('openai', says('Second.'))
    const model = fallback([server.service('openai', refused(413), says('First.')).model(), second.model('b')], { on: () => true })
    expect((await asked(model)).result.text).toBe('Second.')
    expect((await asked(model)).result.text).toBe('First.')
  })
})

describe('a cost limit', () => {
  it("counts the responding model's price", async () => {
    const dear = server.service('openai', says('Dear.')).model('dear', { cost: rates(1_000_000) })
    const cheap = server.service('openai', refused(500)).model('cheap', { cost: rates(1) })
    const { result } = await asked(fallback([cheap, dear]), { limits: { maxCost: 1e6 } })
    expect(result.text).toBe('Dear.')
    const again = new Agent({ model: fallback([cheap, dear]), limits: { maxCost: 10 }, retry: fastRetry, logger: false })
    again.followUp('and?')
    expect(await again.prompt('go').result).toMatchObject({
      status: 'limit',
      limit: { name: 'maxCost' },
    })
  })

  it('counts the partial output of a failed model at its price', async () => {
    const dear = server.service('anthropic', half).model('dear', { cost: rates(1_000_000) })
    const cheap = server.service('openai', says('Cheap.'))
    const agent = new Agent({
      model: fallback([dear, cheap.model('cheap', { cost: rates(1) })]),
      limits: { maxCost: 10 },
      retry: fastRetry,
      logger: false,
    })
    agent.followUp('and?')
    expect(await agent.prompt('go').result).toMatchObject({ status: 'limit' })
    expect(cheap.sent.length).toBeLessThan(2)
  })

  it('requires prices for every model that may respond', () => {
    const priced = server.service('openai', says('A.')).model('a', { cost: rates(1) })
    const unpriced = server.service('openai', says('B.')).model('b')
    for (const model of [fallback([priced, unpriced]), limited(fallback([priced, fallback([priced, unpriced])]), limiter())]) {
      expect(() => new Agent({ model, limits: { maxCost: 1 } })).toThrow(/model "b" has no prices/)
    }
  })

  it('ends a run after route() chooses a model without prices', async () => {
    const priced = server.service('openai', says('A.')).model('a', { cost: rates(1) })
    const unpriced = server.service('openai', says('B.')).model('b')
    const agent = new Agent({ model: route(() => unpriced, { like: priced }), limits: { maxCost: 1 }, logger: false })
    agent.followUp('and?')
    const result = await agent.prompt('go').result
    expect(result).toMatchObject({
      status: 'limit',
      limit: { name: 'budget', reason: expect.stringMatching(/b has no prices/) },
    })
  })
})

describe('an abort', () => {
  const silent: WireReply = { silent: true }
  const waits: readonly (readonly [name: string, first: WireReply, second: WireReply, at: AgentEvent['type'] | 'sent'])[] = [
    ['before the first byte of the first model', silent, says('Second.'), 'sent'],
    ['before the first byte of the second model', refused(500), silent, 'modelFallback'],
    ['while the first model streams', { turn: { text: ['Half'] }, pause: 'forever' }, says('Second.'), 'messageUpdate'],
    ['while the second model streams', refused(500), { turn: { text: ['Half'] }, pause: 'forever' }, 'messageUpdate'],
    ['during the retry delay after output', half, says('Second.'), 'providerRetry'],
  ]
  it.each(waits)('calls no other model after an abort %s, and removes its listener', async (name, first, second, at) => {
    const controller = new AbortController()
    const services = [server.service('anthropic', first), server.service('openai', second)]
    const shared = limiter({ concurrency: 1 })
    const model = fallback(services.map((service) => limited(service.model(), shared)))
    const slow = { maxRetries: 3, initialDelayMs: 1e6, backoffMultiplier: 1, maxDelayMs: 1e6 }
    const agent = new Agent({ model, retry: slow, logger: false })
    agent.subscribe((event) => {
      if (event.type === at) controller.abort()
    })
    const run = agent.prompt('go', { signal: controller.signal })
    if (at === 'sent') await vi.waitFor(() => expect(services[0]?.sent).toHaveLength(1), patient)
    if (at === 'sent') controller.abort()
    const result = await run.result
    const sent = services.map((service) => service.sent.length)
    expect(result.status).toBe('aborted')
    expect(sent[0]).toBe(1)
    expect(sent[1]).toBeLessThanOrEqual(name.includes('second') ? 1 : 0)
    expect([shared.running, shared.waiting]).toEqual([0, 0])
  })

  it('calls no model if aborted while waiting for a key or a slot', async () => {
    const service = server.service('openai', says('Second.'))
    const { opened, open } = gate()
    const shared = limiter({ concurrency: 1 })
    const taken = await shared.turn({ key: 'other', tokens: 1, priority: 'person', signal: new AbortController().signal })
    const own = service.model()
    const keyless: Model = { ...own, credentials: { current: () => opened.then(() => 'key'), invalidate: () => undefined } }
    for (const model of [keyless, limited(own, shared)]) {
      const run = new Agent({ model: fallback([model, own]), logger: false }).prompt('go')
      await seen(run, 'turnStart')
      run.abort()
      expect((await run.result).status).toBe('aborted')
    }
    open()
    taken.end(0)
    expect(service.sent).toHaveLength(0)
    expect([shared.running, shared.waiting]).toEqual([0, 0])
  })
})

describe('fallback without retries', () => {
  it('calls the next model before any output, but ends the run after it', async () => {
    const second = server.service('openai', says('Second.'))
    const on = (reply: WireReply) => fallback([server.service('openai', reply).model('a'), second.model('b')])
    expect((await asked(on(refused(500)), { retry: false })).result.text).toBe('Second.')
    const { result, events } = await asked(on(half), { retry: false })
    expect([result.status, ofType(events, 'modelFallback').length]).toEqual(['error', 0])
  })
})
