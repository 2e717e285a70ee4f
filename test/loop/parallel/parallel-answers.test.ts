import { describe, expect, it } from 'vitest'
import { emptyUsage } from '../../../src/contract/model/usage.ts'
import { type AgentContext, type Evaluation, type EvaluationStrategy, type LoopConfig, parallelLoop } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { fastRetry } from '../../support/play.ts'

const context = (): AgentContext => ({ systemPrompt: '', messages: [], tools: [] })

async function chosenBy(strategy: Partial<EvaluationStrategy>) {
  const warnings: { event: string; message?: unknown }[] = []
  const logger = { warn: (event: string, fields?: object) => void warnings.push({ event, ...fields }) }
  const configs: LoopConfig[] = ['a', 'b'].map((text) => ({ model: scripted([{ text }]), retry: fastRetry, logger }))
  const result = await parallelLoop({
    prompt: 'go',
    context: context(),
    configs,
    strategy: { name: 'mine', evaluate: () => ({ selectedIndex: 0, usage: emptyUsage() }), ...strategy },
    emit: () => undefined,
    signal: new AbortController().signal,
  })
  return { result, failures: warnings.filter(({ event }) => event === 'evaluationFailed').map(({ message }) => message) }
}

/** What plain JavaScript may return. */
const answering = (answer: unknown) => ({ evaluate: () => answer as Evaluation })

describe('an evaluation strategy that returns invalid values', () => {
  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [7, 'undefined'],
    [{ selectedIndex: 'length' }, 'branch length'],
    [{ selectedIndex: '1' }, 'branch 1'],
    [{ selectedIndex: -1 }, 'branch -1'],
    [{ selectedIndex: 0.5 }, 'branch 0.5'],
    [{ selectedIndex: Number.NaN }, 'branch NaN'],
    [{ selectedIndex: [1] }, 'branch an object'],
    [{ selectedIndex: 1, usage: { input: Number.NaN } }, 'usage.input is NaN'],
    [{ selectedIndex: 1, usage: { output: -5 } }, 'usage.output is -5'],
    [{ selectedIndex: 1, usage: { totalTokens: '9' } }, 'usage.totalTokens is 9'],
  ])('logs %o and selects the first branch', async (answer, words) => {
    const { result, failures } = await chosenBy(answering(answer))
    expect(result.selectedIndex).toBe(0)
    expect(failures).toEqual([expect.stringContaining(words)])
    expect(Object.values(result.totalUsage).every(Number.isFinite)).toBe(true)
  })

  it('selects a branch without reporting usage', async () => {
    const { result, failures } = await chosenBy(answering({ selectedIndex: 1 }))
    expect(failures).toEqual([])
    expect(result.selectedIndex).toBe(1)
  })

  it('logs a rejected promise from settled', async () => {
    const settled = (() => Promise.reject(new Error('late'))) as unknown as NonNullable<EvaluationStrategy['settled']>
    const { failures } = await chosenBy({ settled })
    expect(failures).toEqual(expect.arrayContaining([expect.stringContaining('late')]))
  })
})

describe('strategy usage', () => {
  it("counts the strategy's requests regardless of the usage it reports", async () => {
    const judge: LoopConfig = { model: scripted([{ text: '1', usage: { input: 40, output: 2 } }]) }
    const { result } = await chosenBy({
      evaluate: async ({ ask }) => {
        await ask('Which?', judge, '')
        return { selectedIndex: 1, usage: emptyUsage() }
      },
    })
    expect(result.evaluationUsage).toMatchObject({ input: 40, output: 2 })
    expect(result.totalUsage.input).toBeGreaterThanOrEqual(40)
  })
})
