import { describe, expect, it } from 'vitest'
import { Agent, type Receipt } from '../../src/index.ts'
import { addTool, fixtureModel, wires } from '../harness/fixture-model.ts'

describe('steer', () => {
  it.each(wires)('%s: a message given while a tool runs is in the next request', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'tool')
    const receipts: Receipt[] = []
    const { tool } = addTool({ whileRunning: () => receipts.push(run.steer('Be brief.')) })
    const run = new Agent({ model, tools: [tool] }).prompt('What is 2 + 3?')
    await run.result
    expect(receipts.map((receipt) => receipt.status)).toEqual(['delivered'])
    expect(await receipts[0]?.settled).toBe('delivered')
    const [first, second] = await requests()
    expect(first).not.toContain('Be brief.')
    expect(second).toContain('Be brief.')
  })

  it.each(wires)('%s: a follow-up is answered after the answer', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'text')
    const agent = new Agent({ model })
    const run = agent.prompt('Say hello.')
    const receipt = run.followUp('And once more.')
    const { status } = await run.result
    expect([status, await receipt.settled]).toEqual(['completed', 'delivered'])
    const [first, second] = await requests()
    expect(first).not.toContain('And once more.')
    expect(second).toContain('And once more.')
    expect(agent.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })

  it.each(wires)('%s: what is taken back while it waits is not said; too late, it is', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'text')
    const run = new Agent({ model }).prompt('Say hello.')
    const [kept, dropped] = [run.followUp('And once more.'), run.followUp('Never mind.')]
    dropped.withdraw()
    const { returned } = await run.result
    kept.withdraw()
    expect([kept.status, dropped.status, await dropped.settled, returned]).toEqual(['delivered', 'returned', 'returned', []])
    const [, second] = await requests()
    expect(second).toContain('And once more.')
    expect(second).not.toContain('Never mind.')
  })

  it.each(wires)('%s: after the end, what was meant for the run comes back', async (wire) => {
    const run = new Agent({ model: fixtureModel(wire, 'text').model }).prompt('Say hello.')
    await run.result
    expect(await run.steer('Too late.').settled).toBe('returned')
    expect(run.followUp('Too late.').status).toBe('returned')
  })
})
