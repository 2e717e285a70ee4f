import { describe, expect, it } from 'vitest'
import { ExecutionBudget } from '../../../src/context/execution-budget.ts'
import { emptyUsage } from '../../../src/contract/model/usage.ts'
import type { AgentEvent } from '../../../src/index.ts'
import { type AgentContext, type EvaluationStrategy, type LoopConfig, llmJudge, parallelLoop, pickFirst } from '../../../src/loop.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { add, fastRetry, ofType, tool } from '../../support/play.ts'

const hangs = tool('hang', () => new Promise<string>(() => undefined))
const context = (): AgentContext => ({ systemPrompt: '', messages: [], tools: [add, hangs] })
const config = (script: Script, more: Partial<LoopConfig> = {}): LoopConfig => ({ model: scripted(script), retry: fastRetry, ...more })
const callOf = (name: string) => ({ toolCalls: [{ name, arguments: { a: 1, b: 2 } }] })
const first: EvaluationStrategy = { name: 'first', evaluate: () => ({ selectedIndex: 0, usage: emptyUsage() }) }

/** A signal that counts its listeners. */
function countedSignal() {
  const controller = new AbortController()
  const { signal } = controller
  let listeners = 0
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  const known = new Set<unknown>()
  signal.addEventListener = (type: string, listener: EventListenerOrEventListenerObject, options?: AddEventListenerOptions | boolean) => {
    known.add(listener)
    listeners = known.size
    add(type, listener, options)
  }
  signal.removeEventListener = (type: string, listener: EventListenerOrEventListenerObject) => {
    known.delete(listener)
    listeners = known.size
    remove(type, listener)
  }
  return { signal, abort: () => controller.abort(), listeners: () => listeners }
}

/** Each loop's events, those of the whole apart. */
function loopsOf(events: readonly AgentEvent[]): AgentEvent[][] {
  const ids = new Set(events.slice(1, -1).map(({ loopId }) => loopId))
  return [...ids].map((id) => events.filter(({ loopId }) => loopId === id))
}

describe('losing branches', () => {
  it('aborts all losers when pickFirst selects a branch', async () => {
    const events: AgentEvent[] = []
    const { signal, listeners } = countedSignal()
    const result = await parallelLoop({
      prompt: 'go',
      context: context(),
      configs: [config([{ text: 'quick' }]), config([callOf('hang'), { text: 'never' }]), config([callOf('hang'), { text: 'never' }])],
      strategy: pickFirst,
      emit: (event) => events.push(event),
      signal,
    })
    expect(result.result).toMatchObject({ status: 'completed', text: 'quick' })
    expect(result.outcomes.map((outcome) => outcome.result.status)).toEqual(['aborted', 'aborted'])
    for (const loop of loopsOf(events)) expect(grammarFaults(loop)).toEqual([])
    expect(events.at(-1)?.type).toBe('parallelLoopEnd')
    expect(listeners()).toBe(0)
  })

  it('lets a strategy select a running branch early, without a second evaluation', async () => {
    const asked: number[][] = []
    const strategy: EvaluationStrategy = {
      name: 'second as soon as any ends',
      settled: (_outcome, settledSoFar, branchCount) => {
        asked.push([...settledSoFar.map(({ index }) => index), branchCount])
        return 1
      },
      evaluate: () => Promise.reject(new Error('not needed')),
    }
    const result = await parallelLoop({
      prompt: 'go',
      context: context(),
      configs: [config([{ text: 'quick' }]), config([callOf('add'), { text: 'slow' }]), config([callOf('hang')])],
      strategy,
      emit: () => undefined,
      signal: new AbortController().signal,
    })
    expect(result).toMatchObject({ selectedIndex: 1, result: { text: 'slow', status: 'completed' } })
    expect(result.outcomes.map((outcome) => outcome.result.status)).toEqual(['completed', 'aborted'])
    expect(asked).toEqual([[0, 3]])
  })
})

describe('abort of a parallel loop', () => {
  it('ends all branches at any event and emits parallelLoopEnd last', async () => {
    for (let at = 1; at < 80; at += 1) {
      const events: AgentEvent[] = []
      const { signal, abort, listeners } = countedSignal()
      const result = await parallelLoop({
        prompt: 'go',
        context: context(),
        configs: [config([callOf('add'), { text: 'first' }]), config([{ text: 'begun', ...callOf('add') }, { text: 'second' }])],
        strategy: llmJudge({ config: config([{ text: 'It is 2' }]) }),
        emit: (event) => {
          if (events.push(event) === at) abort()
        },
        signal,
      })
      expect(events.at(-1)?.type).toBe('parallelLoopEnd')
      expect(ofType(events, 'parallelLoopEnd')).toHaveLength(1)
      for (const loop of loopsOf(events)) expect(grammarFaults(loop)).toEqual([])
      expect(listeners()).toBe(0)
      const statuses = [result.result, ...result.outcomes.map((outcome) => outcome.result)].map(({ status }) => status)
      if (!statuses.includes('completed')) expect(result.selectedIndex).toBe(0)
      if (events.length < at) expect(result.selectedIndex).toBe(1)
    }
  })

  it('ends every branch immediately if aborted before the start', async () => {
    const model = scripted([{ text: 'never' }])
    const { selectedIndex, result } = await parallelLoop({
      prompt: 'go',
      context: context(),
      configs: [{ model }, { model }],
      strategy: first,
      emit: () => undefined,
      signal: AbortSignal.abort(),
    })
    expect([selectedIndex, result.status]).toEqual([0, 'aborted'])
    expect(model.provider.requests).toEqual([])
  })

  it('stops waiting for a hanging strategy and drops late events of detached loops', async () => {
    const controller = new AbortController()
    const events: AgentEvent[] = []
    let late: (() => Promise<unknown>) | undefined
    const strategy: EvaluationStrategy = {
      name: 'deaf',
      evaluate: ({ ask, progress }) => {
        late = () => {
          progress({ toolCallId: 'x', toolName: 'x', text: 'late' })
          return ask('late?', config([{ text: 'late' }]), '')
        }
        ask('who?', config([{ text: 'x'.repeat(100) }], {}), '').catch(() => undefined)
        return new Promise(() => undefined)
      },
    }
    const result = await parallelLoop({
      prompt: 'go',
      context: context(),
      configs: [config([{ text: 'a' }]), config([{ text: 'b' }])],
      strategy,
      emit: (event) => {
        events.push(event)
        if (event.type === 'messageUpdate' && events.filter(({ type }) => type === 'agentStart').length === 3) controller.abort()
      },
      signal: controller.signal,
    })
    expect(result.selectedIndex).toBe(0)
    expect(events.at(-1)?.type).toBe('parallelLoopEnd')
    expect(loopsOf(events)).toHaveLength(3)
    for (const loop of loopsOf(events)) expect(grammarFaults(loop)).toEqual([])
    const { length } = events
    await late?.()
    expect(events).toHaveLength(length)
  })
})

describe('budgets of a parallel loop', () => {
  it('applies one budget to all branches and the judge', async () => {
    const budget = new ExecutionBudget({ maxTotalTokens: 100 })
    const spend = (output: number) =>
      config([
        { ...callOf('add'), usage: { output } },
        { text: 'done', usage: { output } },
      ])
    const judge = scripted([{ text: '2' }])
    const { result, outcomes, totalUsage } = await parallelLoop({
      prompt: 'go',
      context: context(),
      configs: [spend(60), spend(60)],
      strategy: llmJudge({ config: { model: judge } }),
      emit: () => undefined,
      signal: new AbortController().signal,
      budget,
    })
    expect([result, ...outcomes.map((outcome) => outcome.result)].map(({ status }) => status)).toEqual(['limit', 'limit'])
    expect(budget.exceeded()).toBe('Max tokens reached (120/100)')
    expect(totalUsage.output).toBe(120)
    expect(judge.provider.requests).toEqual([])
  })

  it('charges the judge to the shared budget', async () => {
    const budget = new ExecutionBudget({ maxTotalTokens: 12 })
    const run = (usage: number) =>
      parallelLoop({
        prompt: 'go',
        context: context(),
        configs: [config([{ text: 'a', usage: { output: 1 } }]), config([{ text: 'b', usage: { output: 1 } }])],
        strategy: llmJudge({ config: config([{ text: '2', usage: { input: usage } }]) }),
        emit: () => undefined,
        signal: new AbortController().signal,
        budget,
      })
    expect((await run(10)).evaluationUsage.totalTokens).toBe(10)
    expect(budget.exceeded()).toBe('Max tokens reached (12/12)')
  })

  it("counts the judge's provider-reported cost", async () => {
    const { evaluationUsage } = await parallelLoop({
      prompt: 'go',
      context: context(),
      configs: [config([{ text: 'a' }]), config([{ text: 'b' }])],
      strategy: llmJudge({ config: config([{ text: '2', usage: { input: 10, reportedCost: 0.5, cacheWrite1h: 3, searches: 2 } }]) }),
      emit: () => undefined,
      signal: new AbortController().signal,
    })
    expect(evaluationUsage).toMatchObject({ input: 10, reportedCost: 0.5, cacheWrite1h: 3, searches: 2 })
  })

  it("applies a configuration's own limits to its branch", async () => {
    const script = [callOf('add'), callOf('add'), { text: 'done' }]
    const { result, outcomes } = await parallelLoop({
      prompt: 'go',
      context: context(),
      configs: [config(script, { limits: { maxTurns: 1 } }), config(script)],
      strategy: { name: 'second', evaluate: () => ({ selectedIndex: 1, usage: emptyUsage() }) },
      emit: () => undefined,
      signal: new AbortController().signal,
    })
    expect(result.status).toBe('completed')
    expect(outcomes[0]?.result.status).toBe('limit')
  })
})
