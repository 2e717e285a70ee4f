import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { emptyUsage } from '../../src/context.ts'
import { Agent, estimatedCost, userMessage } from '../../src/index.ts'
import { createBudget } from '../../src/loop.ts'
import { catalogue } from '../../src/models/catalogue.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { openai, openaiCompatible } from '../../src/providers/openai.ts'

const apiKey = 'k'
afterEach(() => vi.restoreAllMocks())

describe('the catalogue', () => {
  it('lists models with valid limits and prices', () => {
    const all = catalogue.list()
    expect(all.length).toBeGreaterThan(100)
    expect(catalogue.asOf).toMatch(/^\d{4}-\d\d-\d\d$/)
    for (const entry of all) {
      expect(entry.id).toMatch(/^\S+$/)
      expect(entry.contextWindow, entry.id).toBeGreaterThan(1000)
      expect(entry.maxOutputTokens, entry.id).toBeGreaterThan(0)
      const { tiers = [], ...rates } = entry.cost
      const thresholds = tiers.map(({ inputTokensAbove }) => inputTokensAbove)
      expect(
        thresholds.every((tokens) => tokens >= 1000),
        entry.id,
      ).toBe(true)
      for (const each of [rates, ...tiers.map(({ inputTokensAbove: _, ...tier }) => tier)]) {
        expect(Object.keys(each)).toHaveLength(4)
        for (const rate of Object.values(each)) expect(typeof rate === 'number' && rate >= 0 && rate < 2000, entry.id).toBe(true)
      }
      expect(() => openai(entry.id, { apiKey, baseUrl: 'http://127.0.0.1:9', cost: entry.cost }), entry.id).not.toThrow()
    }
    expect(new Set(all.map(({ provider, id }) => `${provider} ${id}`)).size).toBe(all.length)
  })

  it('takes at most 10 kB with gzip', () => {
    expect(gzipSync(readFileSync('src/models/catalogue-data.ts')).length).toBeLessThan(10_000)
  })

  it('finds Bedrock models with a region prefix, and no unknown model', () => {
    const llama = catalogue.list('bedrock').find(({ id }) => id.startsWith('meta.'))
    expect(catalogue.find('bedrock', `us.${llama?.id}`)).toBe(llama)
    const [plain, everywhere] = ['openai.gpt-6-sol', 'global.openai.gpt-6-sol'].map(
      (id) => catalogue.find('bedrock', id)?.cost.inputPerMillion,
    )
    expect([plain, everywhere]).toEqual([2.2, 2])
    expect(catalogue.find('anthropic', 'claude-unheard-of')).toBeUndefined()
    expect(catalogue.find('__proto__', 'x')).toBeUndefined()
  })
})

describe('a factory with a catalogue', () => {
  it('sets the context window and prices, so a cost limit works', () => {
    const entry = catalogue.find('anthropic', 'claude-opus-4-8')
    const { config } = anthropic('claude-opus-4-8', { apiKey, catalogue })
    expect(config).toMatchObject({ contextWindow: entry?.contextWindow, cost: entry?.cost })
    expect(() => new Agent({ model: anthropic('claude-opus-4-8', { apiKey, catalogue }), limits: { maxCost: 1 } })).not.toThrow()
    expect(() => new Agent({ model: anthropic('claude-opus-4-8', { apiKey }), limits: { maxCost: 1 } })).toThrow(/no prices/)
    expect(bedrock(`us.${catalogue.list('bedrock')[0]?.id}`, { apiKey, catalogue }).config.contextWindow).toBe(
      catalogue.list('bedrock')[0]?.contextWindow,
    )
  })

  it('applies long-prompt rates to a cost limit', async () => {
    const { config } = openai('gpt-5.4', { apiKey, catalogue })
    const usage = { ...emptyUsage(), input: 272_000, output: 1000 }
    expect(estimatedCost(usage, config.cost)).toBeCloseTo(0.68 + 0.015, 9)
    expect(estimatedCost({ ...usage, input: 272_001 }, config.cost)).toBeCloseTo(1.360005 + 0.0225, 9)
    const budget = createBudget({ maxCost: 1 })
    budget.charge({ ...usage, input: 272_001 }, config.cost)
    expect(budget.exceeded()).toMatch(/^Max cost reached/)
  })

  it('finds a model under each provider name that a factory uses', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const hosted = azure('gpt-5.1', { apiKey, resource: 'r', catalogue })
    expect(hosted.config.cost).toEqual(openai('gpt-5.1', { apiKey, catalogue }).config.cost)
    const renamed = azure('my-deployment', { apiKey, resource: 'r', catalogue, underlyingModel: 'gpt-5.1' })
    expect(renamed.config).toMatchObject({ cost: hosted.config.cost, contextWindow: hosted.config.contextWindow })
    const kimi = openaiCompatible('kimi-k2.6', { backend: 'kimi', apiKey, catalogue })
    expect(kimi.config.cost).toEqual(openaiCompatible('kimi-k2.6', { backend: 'moonshot', apiKey, catalogue }).config.cost)
    expect(warn).not.toHaveBeenCalled()
  })

  it.each([
    ['xai', 'grok-4.5'],
    ['moonshot', 'kimi-k2.6'],
    ['minimax', 'MiniMax-M3'],
  ] as const)('omits for %s an output limit that only repeats the maximum of %s', async (backend, id) => {
    const { config, provider } = openaiCompatible(id, { backend, apiKey, catalogue })
    const messages = [userMessage('Hi')]
    const request = {
      model: config,
      systemPrompt: '',
      messages,
      tools: [],
      thinking: 'off' as const,
      cache: { type: 'auto' as const },
      credential: apiKey,
    }
    expect((await provider.encode?.(request))?.body).not.toContain('max_tokens')
    expect(config.maxTokens).toBe(catalogue.find(backend, id)?.maxOutputTokens)
    const limited = openaiCompatible(id, { backend, apiKey, catalogue, maxTokens: 500 })
    expect((await limited.provider.encode?.({ ...request, model: limited.config }))?.body).toContain('"max_tokens":500')
  })

  it('prefers explicit options over catalogue values', () => {
    const cost = { inputPerMillion: 9, outputPerMillion: 9, cacheReadPerMillion: 9, cacheWritePerMillion: 9 }
    expect(openai('gpt-5.1', { apiKey, catalogue, cost, contextWindow: 5000 }).config).toMatchObject({ cost, contextWindow: 5000 })
  })

  it('warns once about an unknown model', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    openai('gpt-unheard-of-1', { apiKey, catalogue })
    openai('gpt-unheard-of-1', { apiKey, catalogue })
    expect(warn).toHaveBeenCalledTimes(1)
    expect(warn.mock.calls[0]?.[0]).toContain('gpt-unheard-of-1')
  })
})
