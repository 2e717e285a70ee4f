import { expect, it } from 'vitest'
import { Agent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { uiMessageEncoder } from '../../../src/ui/ai-sdk.ts'

const cost = { inputPerMillion: 2, outputPerMillion: 4, cacheReadPerMillion: 1, cacheWritePerMillion: 3 }

it.each([
  [cost, 2],
  [undefined, undefined],
])('reports the cost of the run at the end, if known', async (rates, totalCostUsd) => {
  const config = rates === undefined ? {} : { cost: rates }
  const agent = new Agent({ model: scripted([{ text: 'ok', usage: { input: 1_000_000, output: 0 } }], { config }) })
  const encoder = uiMessageEncoder()
  const chunks = []
  for await (const event of agent.prompt('go')) chunks.push(...encoder.encode(event))
  expect(chunks.at(-1)).toMatchObject({ type: 'finish', messageMetadata: { status: 'completed' } })
  expect(Object(Object(chunks.at(-1)).messageMetadata).totalCostUsd).toBe(totalCostUsd)
})
