import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ExecutionBudget } from '../../src/context/execution-budget.ts'
import { type CompactionStrategy, emptyUsage } from '../../src/context.ts'
import { type AgentOptions, type AgentTool, type RunResult, textOf, type Usage } from '../../src/index.ts'
import { type AgentContext, agentLoop, type LoopConfig } from '../../src/loop.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults } from '../support/grammar.ts'
import { longHistory } from '../support/long-history.ts'
import { ofType, play, tool } from '../support/play.ts'

const free = { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
const rates = { ...free, inputPerMillion: 1000, outputPerMillion: 1000 }
const usage = (input: number, output = 0): Usage => ({ ...emptyUsage(), input, output })
const calls = (name: string, tokens: number) => ({ toolCalls: [{ name, arguments: {} }], usage: { input: tokens } })
const unlimited = { maxTurns: 1e6, maxTotalTokens: 1e9, maxDurationMs: 1e9 }

afterEach(() => void vi.useRealTimers())

/** A tool that runs a loop of its own on the budget of the run that calls it. */
function nested(script: Script, results: RunResult[], config: Partial<LoopConfig> = {}): AgentTool {
  return tool('nested', async (_, { budget, signal }) => {
    const context: AgentContext = { systemPrompt: '', messages: [], tools: [tool('step', () => 'ok')] }
    const model = scripted(script, { config: { cost: rates } })
    const result = await agentLoop('do it', context, { model, ...config }, { emit: () => undefined, signal, budget })
    results.push(result)
    return result.status
  })
}

async function limited(script: Script, options: Partial<AgentOptions>) {
  const played = await play(script, options)
  expect(grammarFaults(played.events)).toEqual([])
  const notice = played.agent.messages.at(-1)
  return {
    ...played,
    notice: notice?.role === 'user' ? textOf(notice.content) : undefined,
    turns: ofType(played.events, 'turnStart').length,
  }
}

describe('execution limits', () => {
  it.each<[string, Partial<typeof unlimited & { maxCost: number }>, number, string]>([
    ['turns, at equality (execution_limits)', { maxTurns: 3 }, 3, '[Agent stopped: Max turns reached (3/3)]'],
    ['tokens', { maxTotalTokens: 200 }, 2, '[Agent stopped: Max tokens reached (200/200)]'],
    ['cost (budget_enforcement_stops_loop)', { maxCost: 0.1 }, 1, '[Agent stopped: Max cost reached ($0.1000/$0.1000)]'],
  ])('stops before the next turn: %s', async (_, limit, turns, text) => {
    const model = scripted(() => calls('step', 100), { config: { cost: rates } })
    const played = await limited([], { model, tools: [tool('step', () => 'ok')], limits: { ...unlimited, ...limit } })
    expect(played.turns).toBe(turns)
    expect(played.notice).toBe(text)
    expect(played.result.status).toBe('limit')
    expect(played.events.at(-1)).toMatchObject({ type: 'agentEnd', status: 'limit' })
  })

  it('stops between turns once the run exceeds maxDurationMs', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const slow = tool('step', () => {
      vi.advanceTimersByTime(4000)
      return 'ok'
    })
    const played = await limited(() => calls('step', 1), { tools: [slow], limits: { ...unlimited, maxDurationMs: 10_000 } })
    expect(played.turns).toBe(3)
    expect(played.notice).toBe('[Agent stopped: Max duration reached (12s/10s)]')
  })

  it('reports the first limit reached, in the order turns, tokens, time, cost', () => {
    const all = { maxTurns: 0, maxTotalTokens: 0, maxDurationMs: 0, maxCost: 0.1 }
    const budget = (limits: Partial<typeof all>) => {
      const made = new ExecutionBudget({ ...unlimited, ...limits })
      made.charge(usage(1000), rates)
      return made.exceeded()
    }
    expect(budget(all)).toMatch(/^Max turns/)
    expect(budget({ ...all, maxTurns: 1 })).toMatch(/^Max tokens/)
    expect(budget({ maxDurationMs: 0, maxCost: 0.1 })).toMatch(/^Max duration/)
    expect(budget({ maxCost: 0.1 })).toMatch(/^Max cost/)
    expect(budget({})).toBeUndefined()
  })

  it('resets its counters for the next prompt', async () => {
    const { agent, notice } = await limited(() => calls('step', 1), { tools: [tool('step', () => 'ok')], limits: { maxTurns: 1 } })
    expect(notice).toContain('Max turns')
    expect((await agent.prompt('on').result).messages.filter(({ role }) => role === 'assistant')).toHaveLength(1)
  })

  it('completes a run that uses exactly its limits', async () => {
    const { result } = await limited([{ text: 'done', usage: { input: 500 } }], { limits: { maxTurns: 1, maxTotalTokens: 500 } })
    expect(result.status).toBe('completed')
  })
})

describe('the budget tree', () => {
  it('charges a child to all of its ancestors', () => {
    const top = new ExecutionBudget({ ...unlimited, maxTotalTokens: 100 })
    const middle = new ExecutionBudget(unlimited, top)
    const leaf = new ExecutionBudget(false, middle)
    leaf.charge(usage(60, 40), free)
    expect(leaf.exceeded()).toBe('Max tokens reached (100/100)')
    expect(middle.exceeded()).toBe('Max tokens reached (100/100)')
    expect(new ExecutionBudget(undefined, top).exceeded()).toBe('Max tokens reached (100/100)')
  })

  it('limits turns per loop and lets a child set a smaller budget', () => {
    const top = new ExecutionBudget(unlimited)
    const leaf = new ExecutionBudget({ ...unlimited, maxTurns: 1, maxTotalTokens: 10 }, top)
    leaf.recordTurn()
    expect(leaf.exceeded()).toBe('Max turns reached (1/1)')
    leaf.charge(usage(10), free)
    expect(top.exceeded()).toBeUndefined()
  })

  it("limits a child's overspend to one call beyond the parent limit", () => {
    const spending = fc.array(fc.record({ child: fc.nat(3), tokens: fc.integer({ min: 1, max: 50 }) }), { maxLength: 40 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), spending, (max, spent) => {
        const top = new ExecutionBudget({ ...unlimited, maxTotalTokens: max })
        const children = [0, 1, 2, 3].map(
          (n) => new ExecutionBudget(n % 2 === 0 ? unlimited : false, n < 2 ? top : new ExecutionBudget(false, top)),
        )
        let total = 0
        for (const { child, tokens } of spent) {
          const budget = children[child]
          if (budget === undefined) continue
          expect(budget.exceeded() === undefined).toBe(total < max)
          if (budget.exceeded() !== undefined) continue
          budget.charge(usage(tokens), free)
          total += tokens
        }
        expect(total).toBeLessThan(max + 50)
      }),
    )
  })

  it.each<[string, NonNullable<AgentOptions['limits']>, string]>([
    ['tokens', { ...unlimited, maxTotalTokens: 500 }, '[Agent stopped: Max tokens reached (500/500)]'],
    ['cost', { ...unlimited, maxCost: 0.5 }, '[Agent stopped: Max cost reached ($0.5000/$0.5000)]'],
  ])('ends a nested loop and then its parent run at the limit: %s', async (_, limits, text) => {
    const results: RunResult[] = []
    const model = scripted([calls('nested', 100), { text: 'never' }], { config: { cost: rates } })
    const played = await limited([], { model, tools: [nested(() => calls('step', 100), results)], limits })
    expect(results).toMatchObject([{ status: 'limit', usage: { input: 400 } }])
    expect(results[0]?.messages.at(-1)).toMatchObject({ content: [{ text }] })
    expect(played.notice).toBe(text)
    expect(played.turns).toBe(1)
    // What a child used is charged, not counted as the run's own.
    expect(played.result.usage.input).toBe(100)
  })

  it('applies the parent limit to two concurrent loops without limits of their own', async () => {
    const results: RunResult[] = []
    const two = { toolCalls: [1, 2].map((n) => ({ name: 'nested', arguments: { n } })), usage: { input: 100 } }
    const tools = [nested(() => calls('step', 100), results, { limits: false })]
    await limited([two], { tools, limits: { ...unlimited, maxTotalTokens: 1000 } })
    expect(results.map(({ status }) => status)).toEqual(['limit', 'limit'])
    const spent = results.reduce((sum, result) => sum + result.usage.input, 100)
    expect(spent).toBeGreaterThanOrEqual(1000)
    expect(spent).toBeLessThan(1000 + 2 * 100)
  })

  it("limits a nested loop to the parent's remaining time", async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const results: RunResult[] = []
    const child = (): Script => () => {
      vi.advanceTimersByTime(3000)
      return calls('step', 1)
    }
    const played = await limited([calls('nested', 1)], {
      tools: [nested(child(), results)],
      limits: { ...unlimited, maxDurationMs: 10_000 },
    })
    expect(results).toMatchObject([{ status: 'limit' }])
    expect(played.notice).toBe('[Agent stopped: Max duration reached (12s/10s)]')
  })

  it('continues the parent run when a child reaches its own limit', async () => {
    const results: RunResult[] = []
    const tools = [nested(() => calls('step', 10), results, { limits: { maxTurns: 2 } })]
    const { result } = await limited([calls('nested', 1), { text: 'done' }], { tools, limits: { ...unlimited, maxTurns: 2 } })
    expect(results).toMatchObject([{ status: 'limit' }])
    expect(result).toMatchObject({ status: 'completed', text: 'done' })
  })

  it('charges the model calls of a compaction to the run', async () => {
    const strategy: CompactionStrategy = {
      keepCompacted: ({ budget }) => {
        budget.charge(usage(900), free)
        return []
      },
    }
    const played = await limited([calls('step', 50), { text: 'never' }], {
      messages: longHistory(20, 100),
      tools: [tool('step', () => 'ok')],
      contextConfig: { maxContextTokens: 1000, systemPromptTokens: 0, compaction: { keepRecentTurns: 3, strategy } },
      limits: { ...unlimited, maxTotalTokens: 950 },
    })
    expect(played.notice).toBe('[Agent stopped: Max tokens reached (950/950)]')
  })
})
