import { afterEach, describe, expect, it, vi } from 'vitest'
import { retryDelayMs } from '../../../src/base/timer.ts'
import { Agent, type RetryConfig } from '../../../src/index.ts'
import { defaultLimits, defaultRetry } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { fastRetry, ofType, play } from '../../support/play.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const chance = (value: number) => vi.spyOn(Math, 'random').mockReturnValue(value)

it('has the documented defaults for retries and limits', () => {
  expect(defaultRetry).toEqual({ maxRetries: 3, initialDelayMs: 1000, backoffMultiplier: 2, maxDelayMs: 30_000 })
  expect(defaultLimits).toEqual({ maxTurns: 50, maxTotalTokens: 1_000_000, maxDurationMs: 600_000 })
})

describe('the delay before a retry', () => {
  it.each([
    [0, [0, 0, 0, 0]],
    [0.5, [500, 1000, 2000, 4000]],
    [0.999999, [999, 1999, 3999, 7999]],
  ])('multiplies the backoff by the random value %d: %j', (value, waits) => {
    chance(value)
    expect([1, 2, 3, 4].map((attempt) => retryDelayMs(attempt, defaultRetry))).toEqual(waits)
  })

  it('caps the backoff before adding jitter and honors longer provider delays', () => {
    chance(0.999999)
    expect(retryDelayMs(9, defaultRetry)).toBe(29_999)
    chance(0)
    expect(retryDelayMs(1, defaultRetry, 45_000)).toBe(45_000)
    expect(retryDelayMs(1, defaultRetry, 60_001)).toBe(60_000)
    expect(retryDelayMs(9, defaultRetry, 0)).toBe(0)
  })

  it('distributes the retries of many agents evenly over the backoff', () => {
    let step = 0
    // Every hundredth part of the chances once: what becomes of them is the distribution itself.
    vi.spyOn(Math, 'random').mockImplementation(() => (step++ % 100) / 100)
    for (const [attempt, cap] of [
      [1, 1000],
      [3, 4000],
      [9, 30_000],
    ] as const) {
      const waits = Array.from({ length: 100 }, () => retryDelayMs(attempt, defaultRetry))
      const tenths = Array.from({ length: 10 }, (_, at) => waits.filter((ms) => Math.floor((ms / cap) * 10) === at).length)
      expect(tenths).toEqual(Array(10).fill(10))
    }
  })

  it.each<[Partial<RetryConfig> | undefined, number, number]>([
    [undefined, 500, 3],
    [{ maxRetries: 7 }, 500, 7],
    [{ initialDelayMs: 30 }, 15, 3],
    [{ initialDelayMs: 40_000 }, 15_000, 3],
    [{ initialDelayMs: 500, maxDelayMs: 100 }, 50, 3],
  ])("applies the run's retry options: %j", async (retry, delayMs, maxRetries) => {
    chance(0.5)
    const model = scripted([{ fail: { code: 'network', message: 'cut' } }])
    const run = new Agent({ model, ...(retry && { retry }) }).prompt('go')
    const seen: unknown[] = []
    run.subscribe((event) => {
      if (event.type !== 'providerRetry') return
      seen.push({ delayMs: event.delayMs, maxRetries: event.maxRetries })
      run.abort()
    })
    expect((await run.result).status).toBe('aborted')
    expect(seen).toEqual([{ delayMs, maxRetries }])
  })
})

describe('a providerRetry event', () => {
  it('reports attempt, maximum, delay, error, turn and whether output was emitted', async () => {
    const cut = { code: 'network' as const, message: 'cut' }
    const logged: unknown[] = []
    const call = { toolCalls: [{ name: 'none', arguments: {} }] }
    const { events, result } = await play(
      [call, { fail: cut }, { text: 'half', fail: { ...cut, code: 'rateLimited', afterText: true, retryAfterMs: 2 } }, { text: 'ok' }],
      { retry: { ...fastRetry, maxRetries: 5 }, logger: { warn: (event, fields) => logged.push({ event, ...fields }) } },
    )
    const shared = { type: 'providerRetry', turnIndex: 1, maxRetries: 5 }
    const base = {
      runId: result.runId,
      seq: expect.any(Number),
      at: expect.any(Number),
      sessionId: result.sessionId,
      loopId: result.loopId,
    }
    expect(ofType(events, 'providerRetry')).toEqual([
      { ...base, ...shared, attempt: 1, delayMs: 0, error: { code: 'network', message: 'cut' }, afterOutput: false },
      { ...base, ...shared, attempt: 2, delayMs: 2, error: { code: 'rateLimited', message: 'cut', retryAfterMs: 2 }, afterOutput: true },
    ])
    const { loopId } = result
    expect(logged).toEqual([
      { event: 'providerRetry', loopId, attempt: 1, maxRetries: 5, delayMs: 0, code: 'network', message: 'cut' },
      { event: 'providerRetry', loopId, attempt: 2, maxRetries: 5, delayMs: 2, code: 'rateLimited', message: 'cut', retryAfterMs: 2 },
    ])
  })
})
