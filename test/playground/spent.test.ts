import { expect, it } from 'vitest'
import { spentAt, spentOn } from '../../playground/src/state/log/spent.ts'
import { Agent, type CostConfig, type Usage } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { initialState, reduce, restoredState } from '../../src/store.ts'

const rates = (each: number) => ({ inputPerMillion: each, outputPerMillion: each, cacheReadPerMillion: each, cacheWritePerMillion: each })
/** Ten times as dear from 150 tokens of prompt on. */
const tiered: CostConfig = { ...rates(1), tiers: [{ inputTokensAbove: 150, ...rates(10) }] }
const free = rates(0)

async function conversation(usages: readonly Partial<Usage>[]) {
  const agent = new Agent({ model: scripted(usages.map((usage) => ({ text: 'ok', usage: { output: 0, ...usage } }))) })
  let state = initialState()
  for (const _ of usages) for await (const event of agent.prompt('go')) state = reduce(state, event)
  return { state, agent }
}
const millionths = (dollars: number | undefined) => (dollars === undefined ? undefined : Math.round(dollars * 1e6))

it('prices each response by its own prompt, also after a reload', async () => {
  const { state, agent } = await conversation([{ input: 100 }, { input: 100 }, { input: 200 }])
  for (const each of [state, restoredState(agent.messages)]) {
    expect(millionths(spentOn(each, tiered))).toBe(100 + 100 + 2000)
    expect(millionths(spentAt(each, tiered, 'inputPerMillion'))).toBe(2200)
    expect(millionths(spentAt(each, tiered, 'outputPerMillion'))).toBe(0)
  }
})

it("prefers each response's reported cost", async () => {
  const { state } = await conversation([{ input: 100, reportedCost: 0.5 }, { input: 100 }])
  expect(spentOn(state, rates(1))).toBeCloseTo(0.5001, 9)
  expect(spentOn((await conversation([{ input: 100, reportedCost: 0.5 }])).state, free)).toBe(0.5)
})

it('includes reverted messages, and returns undefined without prices', async () => {
  const { state } = await conversation([{ input: 100 }, { input: 100 }])
  expect(millionths(spentOn({ ...state, messages: state.messages.slice(0, 2) }, rates(1)))).toBe(200)
  expect(spentOn(state, free)).toBeUndefined()
  expect(spentAt(state, free, 'inputPerMillion')).toBeUndefined()
})
