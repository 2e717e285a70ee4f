import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Charge, type ModelProxyOptions, memoryCounter, type Upstream } from '../../../../adapters/http/index.ts'
import type { BudgetRule } from '../../../../adapters/http/proxy/model-proxy.ts'
import { chat, type FakeUpstream, fakeUpstream, proxyTo } from './fake-upstream.ts'

const upstreamOf = (service: FakeUpstream): Upstream => ({ api: 'openAiCompletions', baseUrl: `${service.url}/v1` })
const usage = { prompt_tokens: 600, completion_tokens: 400, total_tokens: 1000 }
const path = '/up/chat/completions'
const minute = 60_000

/** Answers at once with a thousand tokens. */
const thousand = () =>
  fakeUpstream((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ usage })))

async function limited(budget: BudgetRule, rest: Partial<ModelProxyOptions> = {}, upstream: Partial<Upstream> = {}) {
  const service = await thousand()
  const { app, reports, over } = proxyTo({ ...upstreamOf(service), ...upstream }, { budget, ...rest })
  const ask = async (user = 'ann', body: unknown = undefined): Promise<Response> => {
    const response = await app.request(path, chat(body, { headers: { 'x-user': user } }))
    await response.clone().text()
    return response
  }
  return { ask, service, reports, over }
}

/** One request a minute, of one model. */
async function allowingOne() {
  const service = await thousand()
  const { app } = proxyTo(upstreamOf(service), { allow: { up: ['cheap'] }, budget: { windows: [{ ms: minute, requests: 1 }] } })
  return { app, service }
}

/** Midnight in UTC, so that windows begin now. */
const start = Date.UTC(2026, 0, 1)
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: start })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('proxy budgets', () => {
  it('limits requests per identity and time window', async () => {
    const { ask, service } = await limited({ windows: [{ ms: minute, requests: 2 }] })
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200])
    vi.setSystemTime(start + 20_500)
    const refused = await ask()
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('40')
    expect(await refused.json()).toMatchObject({ code: 'overBudget', detail: expect.stringContaining('2 requests per 60 s') })
    expect((await ask('bob')).status).toBe(200)
    vi.setSystemTime(start + minute)
    expect((await ask()).status).toBe(200)
    expect(service.seen).toHaveLength(4)
  })

  it('does not count requests that the proxy rejects', async () => {
    const { app, service } = await allowingOne()
    const call = async (model: string) => {
      const response = await app.request(path, chat({ model, messages: [] }))
      await response.text()
      return response.status
    }
    expect([await call('other'), await call('other'), await call('cheap'), await call('other'), await call('cheap')]).toEqual([
      404, 404, 200, 429, 429,
    ])
    expect(service.seen).toHaveLength(1)
  })

  it('counts the tokens reported by the provider and returns the longest wait', async () => {
    const { ask } = await limited({
      windows: [
        { ms: minute, tokens: 1500 },
        { ms: 60 * minute, tokens: 2500 },
      ],
    })
    expect([(await ask()).status, (await ask()).status, (await ask()).status]).toEqual([200, 200, 429])
    vi.setSystemTime(start + minute)
    expect((await ask()).status).toBe(200)
    vi.setSystemTime(start + 2 * minute)
    const refused = await ask()
    expect(refused.headers.get('retry-after')).toBe(String(58 * 60))
  })

  it('counts USD by price and rejects a model without a price', async () => {
    const cost = { inputPerMillion: 1000, outputPerMillion: 1000, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
    const { ask, reports } = await limited({ windows: [{ ms: minute, usd: 1.5 }] }, {}, { prices: { 'm*': cost } })
    const unknown = await ask('ann', { model: 'other' })
    expect(unknown.status).toBe(404)
    expect(await unknown.json()).toMatchObject({ code: 'priceUnknown' })
    expect([(await ask()).status, (await ask()).status, (await ask()).status]).toEqual([200, 200, 429])
    expect(reports.map(({ usd }) => usd)).toEqual([1, 1])
  })

  it('limits the bytes of responses', async () => {
    const { ask } = await limited({ windows: [{ ms: minute, bytes: 100 }] })
    expect([(await ask()).status, (await ask()).status, (await ask()).status]).toEqual([200, 200, 429])
  })

  it('applies a limit per identity and responds with 500 if it is invalid', async () => {
    const budget: BudgetRule = (identity) => {
      if (identity === 'odd') return { windows: [{ ms: 1 }] } as never
      return identity === 'boss' ? 'unlimited' : { windows: [{ ms: minute, requests: 0 }] }
    }
    const { ask } = await limited(budget)
    expect((await ask()).status).toBe(429)
    for (let n = 0; n < 20; n++) expect((await ask('boss')).status).toBe(200)
    expect((await ask('odd')).status).toBe(500)
  })

  it('does not charge rejected calls and separates unusual identities', async () => {
    const { ask } = await limited({ windows: [{ ms: minute, requests: 1 }] })
    expect((await ask('a')).status).toBe(200)
    for (let n = 0; n < 5; n++) expect((await ask('a')).status).toBe(429)
    for (const name of ['a:1', '1:a', '__proto__', 'constructor', ':a']) {
      expect((await ask(name)).status, name).toBe(200)
      expect((await ask(name)).status, name).toBe(429)
    }
  })

  it('uses a custom counter and rejects calls if it fails', async () => {
    const { add } = memoryCounter()
    const shared: Charge[][] = []
    let isBroken = false
    const counter = {
      add: async (charges: readonly Charge[], identity: string) => {
        if (isBroken) throw new Error('no storage')
        shared.push([...charges])
        return add(charges, identity)
      },
    }
    const [one, other] = [
      await limited({ windows: [{ ms: minute, requests: 1 }] }, { counter }),
      await limited({ windows: [{ ms: minute, requests: 1 }] }, { counter }),
    ]
    expect((await one.ask()).status).toBe(200)
    expect((await other.ask()).status).toBe(429)
    expect(shared[0]).toEqual([
      { key: 'open:ann', amount: 1, expiresAt: expect.any(Number) },
      { key: `requests:60000:${start / minute}:ann`, amount: 1, expiresAt: start + minute },
    ])
    isBroken = true
    const refused = await one.ask('bob')
    expect(refused.status).toBe(503)
    expect(await refused.text()).not.toContain('storage')
    expect(one.service.seen).toHaveLength(1)
  })
})

describe('concurrent proxy calls', () => {
  it('enforces the limit and frees a slot on disconnect, completion or error', async () => {
    const service = await fakeUpstream(
      (_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {}\n\n'),
    )
    const { app, over } = proxyTo(upstreamOf(service), { budget: { concurrent: 2 } })
    const ask = (body?: unknown) => app.request(path, chat(body))
    const [first, second] = [await ask(), await ask()]
    const third = await ask()
    expect(third.status).toBe(429)
    expect(await third.json()).toMatchObject({ code: 'tooManyStreams' })
    await first.body?.cancel()
    await over(1)
    expect((await ask('no json')).status).toBe(400)
    expect((await ask({})).status).toBe(400)
    const fourth = await ask()
    expect(fourth.status).toBe(200)
    expect((await ask()).status).toBe(429)
    await Promise.all([second.body?.cancel(), fourth.body?.cancel()])
    await over(3)
    expect((await ask()).status).toBe(200)
  })

  it('expires a slot that is never released', () => {
    const counter = memoryCounter()
    const open = { key: 'open:ann', amount: 1, expiresAt: start + minute }
    expect(counter.add([open], 'ann')).toEqual([1])
    expect(counter.add([open, { ...open, amount: 0 }], 'ann')).toEqual([2, 2])
    vi.setSystemTime(start + minute)
    expect(counter.add([{ ...open, amount: 0 }], 'ann')).toEqual([0])
  })
})
