import { getEventListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Limiter, type LimiterOptions, limiter } from '../../../src/models.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** One who asks once: how long after the one before, in which conversation, how long the call takes, and when he leaves. */
const someAsker = fc.record({
  afterMs: fc.constantFrom(0, 0, 0, 1),
  key: fc.nat(30),
  priority: fc.constantFrom('person' as const, 'person' as const, 'background' as const),
  tokens: fc.nat(40),
  forMs: fc.nat(20),
  leavesAfterMs: fc.option(fc.nat(400), { freq: 3, nil: Infinity }),
})
type Asker = typeof someAsker extends fc.Arbitrary<infer Value> ? Value : never

const limits = { concurrency: fc.integer({ min: 1, max: 12 }), requests: fc.integer({ min: 1, max: 200 }), tokens: fc.integer({ min: 20 }) }
const someLimits = fc.record({ ...limits, perMs: fc.constant(100) }, { requiredKeys: ['perMs'] })

interface Happened {
  type: 'asked' | 'begun' | 'left'
  who: number
  at: number
}

/** What happens when all of them use one limiter, in virtual time, until nothing is left to happen. */
async function played(shared: Limiter, askers: readonly Asker[]): Promise<{ happened: Happened[]; signals: AbortSignal[] }> {
  const happened: Happened[] = []
  const signals: AbortSignal[] = []
  for (const [who, { afterMs, key, priority, tokens, forMs, leavesAfterMs }] of askers.entries()) {
    // What has begun is told of before the next one asks.
    await vi.advanceTimersByTimeAsync(afterMs)
    const controller = new AbortController()
    signals.push(controller.signal)
    const note = (type: Happened['type']) => happened.push({ type, who, at: performance.now() })
    note('asked')
    if (leavesAfterMs < Infinity) setTimeout(() => controller.abort(), leavesAfterMs)
    shared.turn({ key: `${key}`, priority, tokens, signal: controller.signal }).then(
      (turn) => {
        note('begun')
        setTimeout(() => turn.end(tokens), forMs)
      },
      () => note('left'),
    )
  }
  while (vi.getTimerCount() > 0) await vi.advanceTimersToNextTimerAsync()
  return { happened, signals }
}

/** What is wrong with the order in which they began: people first, conversations in turns, within one the first first. */
function orderFaults(happened: readonly Happened[], askers: readonly Asker[]): string[] {
  const faults: string[] = []
  /** Who waits, by conversation, people's and others apart. */
  const waiting = new Map<string, number[]>()
  /** Conversations that have waited ever since this one began. */
  const passedOver = new Map<string, Set<string>>()
  for (const { type, who } of happened) {
    const { priority, key } = askers[who] as Asker
    const name = `${priority} ${key}`
    const own = waiting.get(name) ?? []
    if (type === 'asked') {
      waiting.set(name, [...own, who])
      continue
    }
    if (type === 'begun') {
      if (priority === 'background' && [...waiting.keys()].some((each) => each.startsWith('person')))
        faults.push(`${who} began before a person`)
      if (own[0] !== who) faults.push(`${who} began before ${own[0]} of its conversation`)
      for (const each of passedOver.get(name) ?? []) faults.push(`${name} began again before ${each}`)
      passedOver.set(name, new Set([...waiting.keys()].filter((each) => each !== name && each.startsWith(priority))))
    }
    const rest = own.filter((each) => each !== who)
    if (rest.length > 0) waiting.set(name, rest)
    else waiting.delete(name)
    if (type === 'begun' || rest.length === 0) for (const others of passedOver.values()) others.delete(name)
  }
  return faults
}

/** Which calls began although so many, or so many tokens, had begun within the time. */
function windowFaults(
  happened: readonly Happened[],
  askers: readonly Asker[],
  { requests = Infinity, tokens = Infinity, perMs = 0 }: LimiterOptions,
): string[] {
  const begun = happened.filter(({ type }) => type === 'begun')
  return begun.flatMap(({ at, who }, index) => {
    const within = begun.slice(0, index + 1).filter((each) => each.at > at - perMs)
    const sum = within.reduce((total, each) => total + Math.min(askers[each.who]?.tokens ?? 0, tokens), 0)
    return within.length > requests || sum > tokens ? [`${who}: ${within.length} calls, ${sum} tokens`] : []
  })
}

describe('a limiter under load', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  it.each([
    ['a thousand', 1000, 6],
    ['a few', 40, 150],
  ])('preserves order, turns and limits for %s callers', async (_name, count, numRuns) => {
    const some = fc.array(someAsker, { minLength: count, maxLength: count, size: 'max' })
    const property = fc.asyncProperty(some, someLimits, async (askers, options) => {
      const shared = limiter(options)
      const { happened, signals } = await played(shared, askers)
      expect(orderFaults(happened, askers)).toEqual([])
      expect(windowFaults(happened, askers, options)).toEqual([])
      expect(happened.filter(({ type }) => type !== 'asked')).toHaveLength(count)
      expect([shared.running, shared.waiting, vi.getTimerCount()]).toEqual([0, 0, 0])
      expect(signals.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([])
    })
    await fc.assert(property, { numRuns })
  })

  it('keeps no reference to finished or cancelled callers', async () => {
    const shared = limiter({ concurrency: 3, requests: 500, perMs: 100 })
    const askers = fc.sample(someAsker, { numRuns: 1000, seed: 1 })
    const kept = (await played(shared, askers)).signals.map((signal) => new WeakRef(signal))
    await vi.advanceTimersByTimeAsync(1)
    collect()
    expect(kept.filter((each) => each.deref() !== undefined).length).toBeLessThan(10)
    expect(shared.waiting).toBe(0)
  })
})
