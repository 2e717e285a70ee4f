import { describe, expect, it } from 'vitest'
import { cacheHitRate, combineUsage, emptyUsage } from '../../src/context.ts'
import { estimatedCost, type Usage } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'

const usage: Usage = { input: 100, output: 20, reasoning: 5, cacheRead: 800, cacheWrite: 100, totalTokens: 1020 }

describe('combineUsage', () => {
  it('adds each field without changing its arguments', () => {
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

  it('equals the other usage if one is empty', () => {
    expect(combineUsage(emptyUsage(), usage)).toEqual(usage)
    expect(emptyUsage()).not.toBe(emptyUsage())
  })
})

describe('estimatedCost', () => {
  const cost = { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 }

  it('multiplies by rates per million, counting reasoning only as output', () => {
    expect(estimatedCost(usage, cost)).toBeCloseTo((100 * 3 + 20 * 15 + 800 * 0.3 + 100 * 3.75) / 1e6, 12)
    expect(estimatedCost({ ...usage, reasoning: 0 }, cost)).toBe(estimatedCost(usage, cost))
  })

  it('includes tokens billed outside the response', () => {
    const beside = { input: 1000, output: 100, cacheRead: 50_000, cacheWrite: 0 }
    const alone = (1000 * 3 + 100 * 15 + 50_000 * 0.3) / 1e6
    const advised = { ...usage, beside }
    expect(estimatedCost(advised, cost)).toBeCloseTo(estimatedCost(usage, cost) + alone, 12)
    expect(combineUsage(combineUsage(advised, usage), advised)).toMatchObject({
      ...{ input: 300, totalTokens: 3060 },
      beside: { input: 2000, output: 200, cacheRead: 100_000, cacheWrite: 0 },
    })
    expect(estimatedCost({ ...advised, reportedCost: 0.5 }, cost)).toBe(0.5)
  })

  it('returns 0 without rates (cost_config_default)', () => {
    expect(estimatedCost(usage, anthropic('claude-sonnet-4-6', {}).config.cost)).toBe(0)
  })

  describe('estimatedCost with long-prompt rates', () => {
    const long = { inputPerMillion: 6, outputPerMillion: 22.5, cacheReadPerMillion: 0.6, cacheWritePerMillion: 7.5 }
    const longest = { inputPerMillion: 12, outputPerMillion: 45, cacheReadPerMillion: 1.2, cacheWritePerMillion: 15 }
    // In any order.
    const tiers = [
      { inputTokensAbove: 500_000, ...longest },
      { inputTokensAbove: 200_000, ...long },
    ]
    const tiered = { ...cost, tiers }
    const ofPrompt = (input: number, rest: Partial<Usage> = {}): Usage => ({ ...emptyUsage(), input, ...rest })

    it('applies the higher rates to the whole call above the threshold', () => {
      expect(estimatedCost(ofPrompt(200_000, { output: 1000 }), tiered)).toBeCloseTo(0.6 + 0.015, 12)
      expect(estimatedCost(ofPrompt(200_001, { output: 1000 }), tiered)).toBeCloseTo(1.200006 + 0.0225, 12)
      expect(estimatedCost(ofPrompt(600_000), tiered)).toBeCloseTo(7.2, 12)
    })

    it('counts cached tokens toward the threshold, but not output', () => {
      const cached = { cacheRead: 180_000, cacheWrite: 20_000 }
      expect(estimatedCost(ofPrompt(1000, cached), tiered)).toBeCloseTo(0.006 + 0.108 + 0.15, 12)
      expect(estimatedCost(ofPrompt(1000, { output: 300_000 }), tiered)).toBeCloseTo(0.003 + 4.5, 12)
    })

    it('prices a multi-request response by its longest prompt', () => {
      const several = ofPrompt(300_000, { output: 2000, contextTokens: 151_000 })
      expect(estimatedCost(several, tiered)).toBeCloseTo(0.9 + 0.03, 12)
      expect(estimatedCost({ ...several, contextTokens: 210_000 }, tiered)).toBeCloseTo(1.8 + 0.045, 12)
    })

    it('prefers the cost that the provider reports', () => {
      expect(estimatedCost(ofPrompt(300_000, { reportedCost: 0.25 }), tiered)).toBe(0.25)
    })
  })

  it('prices one-hour cache writes at 1.6 times the default unless configured', () => {
    const kept: Usage = { ...emptyUsage(), cacheWrite: 1000, cacheWrite1h: 600 }
    expect(estimatedCost(kept, cost)).toBeCloseTo((400 * 3.75 + 600 * 6) / 1e6, 12)
    expect(estimatedCost(kept, { ...cost, cacheWrite1hPerMillion: 10 })).toBeCloseTo((400 * 3.75 + 600 * 10) / 1e6, 12)
    const tier = { inputTokensAbove: 1000, ...cost, cacheWritePerMillion: 5 }
    expect(estimatedCost(kept, { ...cost, cacheWrite1hPerMillion: 10, tiers: [tier] })).toBeCloseTo((400 * 3.75 + 600 * 10) / 1e6, 12)
    expect(estimatedCost({ ...kept, input: 1 }, { ...cost, tiers: [tier] })).toBeCloseTo((3 + 400 * 5 + 600 * 8) / 1e6, 12)
  })
})

describe('cacheHitRate', () => {
  it('returns the cached share of the prompt, or 0 if empty (usage_cache_hit_rate)', () => {
    expect(cacheHitRate({ ...emptyUsage(), input: 100, cacheRead: 900 })).toBe(0.9)
    expect(cacheHitRate(usage)).toBe(0.8)
    expect(cacheHitRate(emptyUsage())).toBe(0)
  })
})
