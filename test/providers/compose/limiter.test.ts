import { describe, expect, it } from 'vitest'
import { Agent } from '../../../src/index.ts'
import { type Limiter, limited, limiter, rotateKeys } from '../../../src/models.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { StreamProvider } from '../../../src/types/model/provider.ts'
import { gate } from '../../support/play.ts'

const never = new AbortController().signal
const ask = (key: string, more: { tokens?: number; priority?: 'person' | 'background'; signal?: AbortSignal } = {}) => ({
  key,
  tokens: 1,
  priority: 'person' as const,
  signal: never,
  ...more,
})
/** Turns and aborts of promises that are there already. */
const settled = async () => {
  for (let task = 0; task < 20; task += 1) await undefined
}

describe('a limiter', () => {
  it('limits concurrency, alternates conversations and prefers end users', async () => {
    const turns = limiter({ concurrency: 1 })
    const order: string[] = []
    const ends: (() => void)[] = []
    const go = (name: string, key: string, priority: 'person' | 'background' = 'person') =>
      void turns.turn(ask(key, { priority })).then((turn) => {
        order.push(name)
        ends.push(() => turn.end(1))
      })
    go('a1', 'a')
    go('a2', 'a')
    go('a3', 'a')
    go('night', 'n', 'background')
    go('b1', 'b')
    go('c1', 'c')
    await settled()
    for (let at = 0; at < 6; at += 1) {
      expect(turns.running).toBe(1)
      ends[at]?.()
      await settled()
    }
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'night'])
    expect([turns.running, turns.waiting]).toEqual([0, 0])
  })

  it('removes a waiting caller that aborts, without delaying others', async () => {
    const turns = limiter({ concurrency: 1 })
    const turn = await turns.turn(ask('a'))
    const controller = new AbortController()
    const left = turns.turn(ask('b', { signal: controller.signal }))
    const next = turns.turn(ask('c'))
    controller.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    expect(turns.waiting).toBe(1)
    turn.end(1)
    ;(await next).end(1)
    expect([turns.running, turns.waiting]).toEqual([0, 0])
    await expect(turns.turn(ask('d', { signal: controller.signal }))).rejects.toThrow('gone')
  })

  it("waits up to the model's limit, then fails as a retryable rate limit", async () => {
    const shared = limiter({ concurrency: 1 })
    const turn = await shared.turn(ask('a'))
    const service = scripted([{ text: 'At last.' }])
    const model = limited(service, shared, { maxWaitMs: 5 })
    const failed = await new Agent({ model, retry: false, logger: false }).prompt('Hi.').result
    expect(failed).toMatchObject({ status: 'error', error: { code: 'rateLimited', message: expect.stringContaining('maxWaitMs') } })
    expect([service.provider.requests.length, shared.waiting]).toEqual([0, 0])
    const run = new Agent({ model, retry: { initialDelayMs: 0 }, logger: false }).prompt('Hi.')
    run.subscribe((event) => event.type === 'providerRetry' && turn.end())
    expect(await run.text()).toBe('At last.')
    expect([shared.running, shared.waiting]).toEqual([0, 0])
  })

  it('rotates no key if a caller gets no turn', async () => {
    const shared = limiter({ concurrency: 1 })
    const turn = await shared.turn(ask('a'))
    const asked: (string | undefined)[] = []
    const service = scripted(() => ({ text: 'ok' }))
    const provider: StreamProvider = {
      api: service.provider.api,
      encode: (request) => service.provider.encode(request),
      stream: (request, emit, signal) => {
        asked.push(request.credential)
        return limited(service, shared, { maxWaitMs: 0 }).provider.stream(request, emit, signal)
      },
    }
    const model = rotateKeys({ ...service, provider }, ['first-key', 'second-key'])
    const go = () => new Agent({ model, retry: false, logger: false }).prompt('Hi.').result
    expect((await go()).error?.code).toBe('rateLimited')
    turn.end()
    expect((await go()).text).toBe('ok')
    expect(asked).toEqual(['first-key', 'first-key'])
  })

  it('reports an aborted wait as aborted, however long the wait', async () => {
    const shared = limiter({ concurrency: 1 })
    await shared.turn(ask('a'))
    const run = new Agent({ model: limited(scripted([]), shared, { maxWaitMs: 60_000 }), logger: false }).prompt('Hi.')
    await expect.poll(() => shared.waiting).toBe(1)
    run.abort()
    expect((await run.result).status).toBe('aborted')
    expect(shared.waiting).toBe(0)
  })

  it('limits calls and tokens per interval', async () => {
    const turns = limiter({ requests: 2, perMs: 40 })
    const began: number[] = []
    const start = performance.now()
    for (let call = 0; call < 5; call += 1) {
      const turn = await turns.turn(ask('a'))
      began.push(performance.now() - start)
      turn.end(1)
    }
    expect(began[1]).toBeLessThan(40)
    expect(began[2]).toBeGreaterThanOrEqual(39)
    expect(began[4]).toBeGreaterThanOrEqual(78)
    const tokens = limiter({ tokens: 100, perMs: 40 })
    const first = await tokens.turn(ask('a', { tokens: 60 }))
    const since = performance.now()
    await tokens.turn(ask('a', { tokens: 60 }))
    expect(performance.now() - since).toBeGreaterThanOrEqual(30)
    first.end(60)
    // More than there ever is: alone, but not for ever.
    const large = await tokens.turn(ask('b', { tokens: 1e9 }))
    large.end(1)
  })

  it('serves a thousand agents in turns without leaking state', async () => {
    const shared = limiter({ concurrency: 10 })
    let [running, most] = [0, 0]
    const model = scripted(({ messages }) => ({ text: `${messages.length}` }), {
      gate: async () => {
        running += 1
        most = Math.max(most, running)
        await undefined
        running -= 1
      },
    })
    const agents = Array.from({ length: 1000 }, () => new Agent({ model: limited(model, shared), logger: false }))
    const results = await Promise.all(agents.map((agent) => agent.prompt('go').result))
    expect(results.every(({ status }) => status === 'completed')).toBe(true)
    expect(most).toBeLessThanOrEqual(10)
    expect([shared.running, shared.waiting]).toEqual([0, 0])
  })

  it('ends the turn of a failed or aborted call', async () => {
    const shared = limiter({ concurrency: 1 })
    const failing = limited(scripted([{ fail: { code: 'auth', message: 'no' } }]), shared)
    expect((await new Agent({ model: failing, logger: false }).prompt('go').result).status).toBe('error')
    const { opened, open } = gate()
    const slow = limited(scripted([{ text: 'slow' }], { gate: () => opened }), shared)
    const run = new Agent({ model: slow }).prompt('go')
    const waits = new Agent({ model: limited(scripted([{ text: 'ok' }]), shared) }).prompt('go')
    await settled()
    run.abort()
    expect((await waits.result).text).toBe('ok')
    open()
    await run.result
    expect([shared.running, shared.waiting]).toEqual([0, 0])
  })

  it('counts the whole prompt, or an estimate if no usage is reported', async () => {
    const usages = [{ input: 10, output: 5, cacheRead: 9000, cacheWrite: 1000 }, {}]
    const counted: (number | undefined)[] = []
    const asked: number[] = []
    const watching: Limiter = {
      waiting: 0,
      running: 0,
      hold: () => undefined,
      turn: async ({ tokens }) => {
        asked.push(tokens)
        return { report: () => undefined, end: (used) => void counted.push(used) }
      },
    }
    const script = [...usages.map((usage) => ({ text: 'ok', usage })), { fail: { code: 'auth' as const, message: 'no' } }]
    const agent = new Agent({ model: limited(scripted(script), watching), logger: false })
    for (let call = 0; call < 3; call += 1) await agent.prompt('go').result
    expect(counted).toEqual([10_015, undefined, undefined])
    expect(asked).toEqual([1000, 10_015, 10_015])
  })

  it('counts a paused response once', async () => {
    const usage = { input: 100, output: 5, cacheRead: 0, cacheWrite: 0 }
    const counted: (number | undefined)[] = []
    const asked: number[] = []
    const watching: Limiter = {
      waiting: 0,
      running: 0,
      hold: () => undefined,
      turn: async ({ tokens }) => {
        asked.push(tokens)
        return { report: () => undefined, end: (used) => void counted.push(used) }
      },
    }
    const script = [
      { text: 'Half,', stopReason: 'paused' as const, usage },
      { text: ' whole.', usage },
      { text: 'ok', usage },
    ]
    const agent = new Agent({ model: limited(scripted(script), watching), logger: false })
    await agent.prompt('go').result
    await agent.prompt('go').result
    expect(counted).toEqual([105, 105, 105])
    expect(asked).toEqual([1000, 105, 105])
  })

  it('delays all calls if the provider requires one to wait', async () => {
    const held: number[] = []
    const shared = limiter({ concurrency: 5 })
    const watching: Limiter = { waiting: 0, running: 0, turn: (ask) => shared.turn(ask), hold: (ms) => held.push(ms) }
    const model = limited(scripted([{ fail: { code: 'rateLimited', message: 'slow down', retryAfterMs: 2000 } }]), watching)
    await new Agent({ model, retry: false, logger: false }).prompt('go').result
    expect(held).toEqual([2000])
    shared.hold(30)
    const since = performance.now()
    ;(await shared.turn(ask('a'))).end(1)
    expect(performance.now() - since).toBeGreaterThanOrEqual(29)
  })

  it('rejects an invalid limit', () => {
    expect(() => limiter({ concurrency: 0 })).toThrow(/concurrency/)
    expect(() => limiter({ request: 3 } as never)).toThrow(/requests/)
  })
})
