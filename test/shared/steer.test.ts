import { describe, expect, it } from 'vitest'
import { Agent, type Receipt } from '../../src/index.ts'
import { addTool, fixtureModel, wires } from '../harness/fixture-model.ts'

describe('steer', () => {
  it.each(wires)('adds steering sent during a tool call to the next request: %s', async (wire) => {
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

  it.each(wires)('responds to a follow-up after the first response: %s', async (wire) => {
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

  it.each(wires)('withdraws a queued message only before its delivery: %s', async (wire) => {
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

  it.each(wires)('returns input queued after the end of the run: %s', async (wire) => {
    const run = new Agent({ model: fixtureModel(wire, 'text').model }).prompt('Say hello.')
    await run.result
    expect(await run.steer('Too late.').settled).toBe('returned')
    expect(run.followUp('Too late.').status).toBe('returned')
  })
})
