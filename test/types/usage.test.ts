import { describe, expect, it } from 'vitest'
import { cacheHitRate, combineUsage, emptyUsage } from '../../src/context/index.ts'
import { estimatedCost, type Usage } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'

const usage: Usage = { input: 100, output: 20, reasoning: 5, cacheRead: 800, cacheWrite: 100, totalTokens: 1020 }

describe('combineUsage', () => {
  it('adds field by field and changes neither', () => {
    const before = structuredClone(usage)
    expect(combineUsage(usage, usage)).toEqual({
      input: 200,
      output: 40,
      reasoning: 10,
      cacheRead: 1600,
      cacheWrite: 200,
      totalTokens: 2040,
    })
    expect(usage).toEqual(before)
  })

  it('with an empty usage gives an equal one', () => {
    expect(combineUsage(emptyUsage(), usage)).toEqual(usage)
    expect(emptyUsage()).not.toBe(emptyUsage())
  })
})

describe('estimatedCost', () => {
  const cost = { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 }

  it('is USD at rates per million; reasoning is paid once, as output', () => {
    expect(estimatedCost(usage, cost)).toBeCloseTo((100 * 3 + 20 * 15 + 800 * 0.3 + 100 * 3.75) / 1e6, 12)
    expect(estimatedCost({ ...usage, reasoning: 0 }, cost)).toBe(estimatedCost(usage, cost))
  })

  it('cost_config_default: without rates it is 0, which means unknown', () => {
    expect(estimatedCost(usage, anthropic('claude-sonnet-4-6', {}).config.cost)).toBe(0)
  })
})

describe('usage_cache_hit_rate', () => {
  it('is the cached share of the whole prompt, 0 when there was none', () => {
    expect(cacheHitRate({ ...emptyUsage(), input: 100, cacheRead: 900 })).toBe(0.9)
    expect(cacheHitRate(usage)).toBe(0.8)
    expect(cacheHitRate(emptyUsage())).toBe(0)
  })
})
