import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Agent } from '../../../src/index.ts'
import { limited, limiter } from '../../../src/models.ts'
import { fallback } from '../../../src/providers/compose/fallback.ts'
import type { LimiterTurn } from '../../../src/providers/compose/limiter.ts'
import { openai } from '../../../src/providers/openai.ts'
import { patient } from '../../support/patience.ts'

const signal = new AbortController().signal
const ask = (tokens = 1, model = 'm', fresh = tokens) => ({ key: 'a', tokens, fresh, model, priority: 'person' as const, signal })

/** Calls of one limiter without options, in virtual time: which have begun, and their turns. */
function calls() {
  const shared = limiter()
  const begun: string[] = []
  const turns: Record<string, LimiterTurn> = {}
  const call = async (name: string, ...of: Parameters<typeof ask>) => {
    void shared.turn({ ...ask(...of), key: name }).then((turn) => {
      begun.push(name)
      turns[name] = turn
    })
    await vi.advanceTimersByTimeAsync(0)
  }
  return { shared, begun, turns, call }
}

describe('rate limits stated by a provider', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('delays a call until the stated limit resets', async () => {
    const { begun, turns, call, shared } = calls()
    await call('a')
    turns.a?.report({ requests: { limit: 2, remaining: 1, resetMs: 5000 } })
    await call('b')
    await call('c')
    expect(begun).toEqual(['a', 'b'])
    await vi.advanceTimersByTimeAsync(4999)
    expect(begun).toEqual(['a', 'b'])
    await vi.advanceTimersByTimeAsync(1)
    expect(begun).toEqual(['a', 'b', 'c'])
    for (const turn of Object.values(turns)) turn.end(1)
    expect([shared.running, shared.waiting, vi.getTimerCount()]).toEqual([0, 0, 0])
  })

  it('deducts calls in flight from the stated limit', async () => {
    const { begun, turns, call } = calls()
    await call('a')
    await call('b')
    turns.a?.report({ requests: { limit: 9, remaining: 2, resetMs: 5000 } })
    await call('c')
    await call('d')
    expect(begun).toEqual(['a', 'b', 'c'])
    // The service had counted b: 1 is left, and c is not in it yet.
    turns.b?.report({ requests: { limit: 9, remaining: 2, resetMs: 5000 } })
    await vi.advanceTimersByTimeAsync(0)
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
  })

  it('excludes cached tokens, and runs an oversized call alone', async () => {
    const { begun, turns, call } = calls()
    await call('a')
    turns.a?.report({ tokens: { limit: 1000, remaining: 500, resetMs: 5000 } })
    await call('mostly cached', 900, 'm', 100)
    await call('too long', 450)
    expect(begun).toEqual(['a', 'mostly cached'])
    await vi.advanceTimersByTimeAsync(5000)
    expect(begun).toEqual(['a', 'mostly cached', 'too long'])
    turns['mostly cached']?.end(900)
    turns['too long']?.report({ inputTokens: { limit: 1000, remaining: 1000 }, tokens: { limit: 1000, remaining: 1000 } })
    await call('longer than any', 1e9)
    expect(begun).toContain('longer than any')
  })

  it('sends one probe call after the stated reset', async () => {
    const { begun, turns, call } = calls()
    await call('a')
    turns.a?.report({ tokens: { remaining: 100, resetMs: 1000 } })
    await call('b', 200)
    await call('c', 200)
    expect(begun).toEqual(['a'])
    await vi.advanceTimersByTimeAsync(1000)
    expect(begun).toEqual(['a', 'b'])
    turns.b?.report({ tokens: { remaining: 5000, resetMs: 1000 } })
    await vi.advanceTimersByTimeAsync(0)
    expect(begun).toEqual(['a', 'b', 'c'])
  })

  it('stops waiting for a provider that no longer states limits', async () => {
    const { begun, turns, call } = calls()
    await call('a')
    turns.a?.report({ requests: { remaining: 0, resetMs: 1000 } })
    for (const name of ['b', 'c', 'd']) await call(name)
    await vi.advanceTimersByTimeAsync(1000)
    expect(begun).toEqual(['a', 'b'])
    turns.b?.end()
    await vi.advanceTimersByTimeAsync(0)
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
  })

  it.each([
    ['a day', 86_400_000],
    ['an unstated time', undefined],
  ])('waits one minute for a limit that resets after %s', async (_name, resetMs) => {
    const { begun, turns, call } = calls()
    await call('a')
    turns.a?.report({ requests: { limit: 5, remaining: 0, ...(resetMs !== undefined && { resetMs }) } })
    await call('b')
    await vi.advanceTimersByTimeAsync(59_999)
    expect(begun).toEqual(['a'])
    await vi.advanceTimersByTimeAsync(1)
    expect(begun).toEqual(['a', 'b'])
  })

  it('applies the limit to one model, and keeps the order of other calls', async () => {
    const { begun, turns, call } = calls()
    await call('a')
    turns.a?.report({ requests: { limit: 5, remaining: 0, resetMs: 1000 } })
    await call('b')
    await call('c', 1, 'other')
    await call('d')
    expect(begun).toEqual(['a', 'c'])
    await vi.advanceTimersByTimeAsync(1000)
    expect(begun).toEqual(['a', 'c', 'b', 'd'])
  })

  it('ignores a limit reported after the turn ended', async () => {
    const { begun, turns, call } = calls()
    await call('a')
    turns.a?.end(1)
    turns.a?.report({ requests: { remaining: 0, resetMs: 1000 } })
    await call('b')
    expect(begun).toEqual(['a', 'b'])
  })

  it('clears its timer if a waiting caller aborts', async () => {
    const { turns, call, shared } = calls()
    await call('a')
    turns.a?.report({ requests: { limit: 5, remaining: 0, resetMs: 1000 } })
    const controller = new AbortController()
    const waits = shared.turn({ ...ask(), signal: controller.signal })
    expect(vi.getTimerCount()).toBe(1)
    controller.abort(new Error('gone'))
    await expect(waits).rejects.toThrow('gone')
    expect([vi.getTimerCount(), shared.waiting]).toEqual([0, 0])
  })

  it('reads response headers of its model, but not of a nested one', async () => {
    const sentAt: number[] = []
    const headers = { 'content-type': 'text/event-stream', 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '7s' }
    const body = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`
    const fetch: typeof globalThis.fetch = async () => {
      sentAt.push(performance.now())
      return new Response(body, { headers })
    }
    const own = openai('a', { apiKey: 'k', fetch })
    const ask = async (model: typeof own) => {
      sentAt.length = 0
      const results = [1, 2].map(() => new Agent({ model }).prompt('go').result)
      // Loading of the protocol takes real time.
      await vi.waitFor(() => expect(sentAt.length).toBeGreaterThan(0), patient)
      await vi.advanceTimersByTimeAsync(20_000)
      expect((await Promise.all(results)).map(({ text }) => text)).toEqual(['Hi.', 'Hi.'])
      return (sentAt[1] ?? 0) - (sentAt[0] ?? 0)
    }
    expect(await ask(limited(own, limiter({ concurrency: 1 })))).toBeGreaterThanOrEqual(7000)
    const other = openai('b', { apiKey: 'k', fetch })
    expect(await ask(limited({ ...fallback([other]), config: own.config }, limiter({ concurrency: 1 })))).toBeLessThan(7000)
  })
})
