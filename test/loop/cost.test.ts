import { describe, expect, it } from 'vitest'
import { Meter } from '../../adapters/node/cli/repl/meter.ts'
import { SubAgentTool } from '../../src/agents.ts'
import { Agent, type CostConfig, type Model } from '../../src/index.ts'
import { fallback, route } from '../../src/models.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { ofType } from '../support/play.ts'

const rates = (each: number) => ({ inputPerMillion: each, outputPerMillion: each, cacheReadPerMillion: each, cacheWritePerMillion: each })
/** Ten times as dear from 150 tokens of prompt on. */
const cost: CostConfig = { ...rates(10), tiers: [{ inputTokensAbove: 150, ...rates(100) }] }
const usage = (input: number, more = {}) => ({ input, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: input, ...more })
const call = (name: string) => ({ toolCalls: [{ name, arguments: { task: 'Look.' } }] })

async function costOf(model: Model, tools: SubAgentTool[] = []) {
  const run = new Agent({ model, tools, logger: false, retry: false }).prompt('go')
  const events = []
  for await (const event of run) events.push(event)
  const { costUsd } = await run.result
  expect(ofType(events, 'agentEnd')[0]?.costUsd).toBe(costUsd)
  return costUsd
}
const helper = (model: Model) => new SubAgentTool({ name: 'helper', description: 'Helps.', model, logger: false })

describe('costUsd of a result and of agentEnd', () => {
  it('sums each response at its own rates, including sub-agents', async () => {
    const child = scripted([{ text: 'Seen.', usage: usage(1000) }], { config: { cost: rates(1) } })
    const parent = scripted(
      [
        { ...call('helper'), usage: usage(100) },
        { text: 'Done.', usage: usage(100) },
      ],
      { config: { cost } },
    )
    expect(await costOf(parent, [helper(child)])).toBeCloseTo((100 * 10 + 100 * 10 + 1000 * 1) / 1e6, 12)
    expect(await costOf(scripted([{ text: 'Long.', usage: usage(200) }], { config: { cost } }))).toBeCloseTo((200 * 100) / 1e6, 12)
  })

  it("equals the Meter's cost, even over many short prompts", async () => {
    const meter = new Meter()
    const agent = new Agent({
      model: scripted(
        [
          { ...call('helper'), usage: usage(100) },
          { text: 'x', usage: usage(100) },
          { text: 'y', usage: usage(200) },
        ],
        { config: { cost } },
      ),
      tools: [helper(scripted([{ text: 'Seen.', usage: usage(5000) }], { config: { cost: rates(1) } }))],
      logger: false,
    })
    agent.subscribe((event) => meter.event(event))
    await agent.prompt('go').result
    expect([meter.cost(cost), meter.usage.input]).toEqual(['$0.0070', 5200])
    await agent.prompt('more').result
    expect([meter.cost(cost), meter.usage.input]).toEqual(['$0.0270', 5400])
  })

  it("prefers the provider's reported cost over the responding model's price", async () => {
    expect(await costOf(scripted([{ text: 'x', usage: usage(10, { reportedCost: 0.5 }) }]))).toBe(0.5)
    const named = (id: string, each: number) => ({ config: { id, provider: id, cost: rates(each) } })
    const first = scripted([{ fail: { code: 'auth', message: 'no' } }], named('a', 1000))
    const second = scripted([{ text: 'x', usage: usage(10) }], named('b', 1))
    expect(await costOf(fallback([first, second]))).toBeCloseTo(10 / 1e6, 12)
  })

  it.each([
    ['a fallback of a fallback', (a: Model, b: Model, c: Model) => fallback([fallback([a, b]), c])],
    ['a route to a fallback', (a: Model, b: Model) => route(() => fallback([a, b]), { like: a })],
    ['a fallback of a route', (a: Model, b: Model, c: Model) => fallback([a, route(() => b, { like: c })])],
    ['one id at two providers', (a: Model, b: Model) => fallback([a, { ...b, config: { ...b.config, id: a.config.id } }])],
  ])('uses the price of the responding model of %s', async (_name, made) => {
    const named = (id: string, each: number) => ({ config: { id, provider: id, cost: rates(each) } })
    const failing = scripted([{ fail: { code: 'auth', message: 'no' } }], named('a', 1000))
    const answering = scripted([{ text: 'x', usage: usage(10) }], named('b', 1))
    expect(await costOf(made(failing, answering, scripted([], named('c', 50))))).toBeCloseTo(10 / 1e6, 12)
  })

  it('is undefined if a price is missing and 0 without requests', async () => {
    expect(await costOf(scripted([{ text: 'x', usage: usage(10) }]))).toBeUndefined()
    const parent = scripted(
      [
        { ...call('helper'), usage: usage(1) },
        { text: 'x', usage: usage(1) },
      ],
      { config: { cost } },
    )
    expect(await costOf(parent, [helper(scripted([{ text: 'Seen.', usage: usage(10) }]))])).toBeUndefined()
    const refused = new Agent({ model: scripted([]), hooks: { beforeLoop: () => ({ allow: false, reason: 'no' }) }, logger: false })
    expect((await refused.prompt('go').result).costUsd).toBe(0)
  })
})

it('warns about a sub-agent model without prices when maxCost is set', async () => {
  const warned: unknown[] = []
  const logger = { warn: (event: string, { message }: { message?: unknown }) => void warned.push([event, message]) }
  const child = scripted([{ text: 'Seen.' }], { config: { cost: rates(0) } })
  const parent = scripted([call('helper'), { text: 'Done.' }], { config: { cost: rates(1) } })
  const tools = [new SubAgentTool({ name: 'helper', description: 'Helps.', model: child, logger })]
  const { status } = await new Agent({ model: parent, tools, limits: { maxCost: 1 }, logger }).prompt('go').result
  expect([status, ...warned]).toEqual(['completed', ['costNotCounted', expect.stringContaining('model "scripted" has no prices')]])
})
