import { describe, expect, it } from 'vitest'
import { ExecutionBudget } from '../../src/context/execution-budget.ts'
import { emptyUsage } from '../../src/context.ts'
import type { CostTier } from '../../src/contract/model/usage.ts'
import { Agent, type CostConfig, ProviderError } from '../../src/index.ts'
import { createBudget } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import type { StreamProvider } from '../../src/providers.ts'
import { grammarFaults } from '../support/grammar.ts'
import { add, ofType, play } from '../support/play.ts'

const endless = () => ({ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }], usage: { input: 600, output: 100 } })
const rates = { inputPerMillion: 1000, outputPerMillion: 1000, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }

describe('execution limits', () => {
  it.each([
    ['turns', { maxTurns: 2 }, 2, '[Agent stopped: Max turns reached (2/2)]'],
    ['tokens', { maxTotalTokens: 1000 }, 2, '[Agent stopped: Max tokens reached (1400/1000)]'],
    ['duration', { maxDurationMs: 0 }, 0, '[Agent stopped: Max duration reached (0s/0s)]'],
  ])('stops at %s and appends the documented notice', async (_, changed, turns, text) => {
    const { agent, events, result } = await play(endless, { tools: [add], limits: changed })
    expect(ofType(events, 'turnStart')).toHaveLength(turns)
    expect(result.status).toBe('limit')
    expect(agent.messages.at(-1)).toMatchObject({ role: 'user', content: [{ type: 'text', text }] })
    expect(grammarFaults(events)).toEqual([])
  })

  it('stops after the turn that exceeds the cost limit', async () => {
    const model = scripted(endless, { config: { cost: rates } })
    const { events, result } = await play([], { model, tools: [add], limits: { maxCost: 0.5 } })
    expect(ofType(events, 'turnStart')).toHaveLength(1)
    expect(result.status).toBe('limit')
  })

  it('applies long-prompt rates to the cost limit', async () => {
    const long = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }], usage: { input: 200_001, output: 1000 } }
    const short = { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 }
    const tiers = [
      { inputTokensAbove: 200_000, inputPerMillion: 6, outputPerMillion: 22.5, cacheReadPerMillion: 0.6, cacheWritePerMillion: 7.5 },
    ]
    // 0.615 at the rates of short prompts, 1.2225 at those of long ones.
    const asked = async (cost: CostConfig) => {
      const model = scripted([long, long, { text: 'done' }], { config: { cost } })
      return (await play([], { model, tools: [add], limits: { maxCost: 1 } })).result
    }
    expect(await asked({ ...short, tiers })).toMatchObject({
      status: 'limit',
      limit: { name: 'maxCost', used: expect.closeTo(1.222506, 9) },
    })
    expect(await asked(short)).toMatchObject({ status: 'limit', limit: { used: expect.closeTo(1.230006, 9) } })
  })

  it.each<[string, CostTier, RegExp]>([
    ['rate', { inputTokensAbove: 10, ...rates, outputPerMillion: Number.NaN }, /outputPerMillion is NaN/],
    ['threshold', { inputTokensAbove: Number.NaN, ...rates, outputPerMillion: -1 }, /outputPerMillion is -1/],
  ])('ends the run with an error if the %s of a price tier is invalid', (_, tier, words) => {
    const budget = new ExecutionBudget({ maxCost: 1 })
    expect(() => budget.charge({ ...emptyUsage(), input: 20 }, { ...rates, tiers: [tier] })).toThrow(words)
    expect(budget.exceeded()).toMatch(/Cannot compute the cost/)
  })

  it('rejects a cost limit for a model without prices', () => {
    const model = scripted([{ text: 'free' }])
    const unpriced = expect.objectContaining({
      code: 'invalidOption',
      message: expect.stringMatching(
        /^limits\.maxCost is 1, but the model "scripted" has no prices. Pass catalogue of phi-core\/models, or cost, to its factory/,
      ),
    })
    expect(() => new Agent({ model, limits: { maxCost: 1 } })).toThrow(unpriced)
    const agent = new Agent({ model })
    expect(() => agent.configure({ limits: { maxCost: 1 } })).toThrow(unpriced)
    expect(() => agent.prompt('x', { budget: createBudget({ maxCost: 1 }) })).toThrow(/^budget limits the cost, but the model "scripted"/)
    expect(() => new Agent({ model, limits: { maxCost: 1 }, contextManagement: false })).not.toThrow()
    expect(agent.messages).toEqual([])
  })

  it('removes all limits with contextManagement: false', async () => {
    const script = [...Array.from({ length: 60 }, endless), { text: 'at last' }]
    const { result } = await play(script, { tools: [add], contextManagement: false })
    expect(result.text).toBe('at last')
  })

  it('limits a run to 50 turns by default', async () => {
    const { events, result } = await play(endless, { tools: [add] })
    expect(ofType(events, 'turnStart')).toHaveLength(50)
    expect(result.status).toBe('limit')
  })

  it('counts the usage of failed attempts toward the token limit', async () => {
    const partial = { text: 'half', fail: { code: 'network' as const, message: 'cut', afterText: true } }
    const spent: StreamProvider['stream'] = async (request, emit, signal) => {
      const message = await played.provider.stream(request, emit, signal).catch((error) => {
        if (ProviderError.isInstance(error) && error.partial) error.partial.usage = { ...emptyUsage(), input: 1000 }
        throw error
      })
      return message
    }
    const played = scripted([partial, { ...endless(), usage: {} }, { text: 'never' }])
    const model = { config: played.config, provider: { api: 'scripted' as const, encode: played.provider.encode, stream: spent } }
    const { events, result } = await play([], { model, tools: [add], limits: { maxTotalTokens: 1000 } })
    expect(result.status).toBe('limit')
    expect(result.usage.input).toBe(1000)
    expect(ofType(events, 'turnStart')).toHaveLength(1)
  })

  it('excludes cached tokens from the input count', () => {
    const budget = new ExecutionBudget({ maxTotalTokens: 100 })
    budget.charge({ ...emptyUsage(), input: 40, output: 59, cacheRead: 10_000 }, rates)
    expect(budget.exceeded()).toBeUndefined()
    budget.charge({ ...emptyUsage(), output: 1 }, rates)
    expect(budget.exceeded()).toBe('Max tokens reached (100/100)')
  })
})
