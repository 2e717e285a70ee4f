import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { addTool, eventsOf, fixtureModel, ofType, wires } from '../harness/fixture-model.ts'

describe('tools', () => {
  it.each(wires)('runs the tool and sends its result to the model: %s', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'tool')
    const { tool, executions } = addTool()
    const run = new Agent({ model, tools: [tool] }).prompt('What is 2 + 3?')
    const events = await eventsOf(run)
    expect(executions()).toBe(1)
    expect(ofType(events, 'toolExecutionEnd')).toMatchObject([{ toolName: 'add', isError: false }])
    expect(await run.text()).toBe('The tool said: sum 5.')
    expect(await requests()).toHaveLength(2)
  })

  it.each(wires)('rejects invalid arguments before the tool runs: %s', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'bad-tool')
    const { tool, executions } = addTool()
    const run = new Agent({ model, tools: [tool] }).prompt('What is two + 3?')
    const events = await eventsOf(run)
    expect(executions()).toBe(0)
    expect(ofType(events, 'toolExecutionEnd')).toMatchObject([{ toolName: 'add', isError: true }])
    expect((await requests()).at(-1)).toMatch(/number/)
    expect(await run.result).toMatchObject({ status: 'completed' })
  })
})

describe('approval', () => {
  it.each(wires)('runs an approved call: %s', async (wire) => {
    const { tool, executions } = addTool({ needsApproval: true })
    const run = new Agent({ model: fixtureModel(wire, 'tool').model, tools: [tool] }).prompt('What is 2 + 3?')
    const events = await eventsOf(run, (event) => {
      if (event.type !== 'approvalRequested') return
      expect(executions()).toBe(0)
      expect(event.args).toEqual({ a: 2, b: 3 })
      run.approve(event)
    })
    expect(executions()).toBe(1)
    expect(ofType(events, 'approvalResolved')).toMatchObject([{ toolName: 'add', approved: true }])
    expect(await run.text()).toBe('The tool said: sum 5.')
  })

  it.each(wires)('skips a denied call and sends the reason to the model: %s', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'tool')
    const { tool, executions } = addTool({ needsApproval: true })
    const run = new Agent({ model, tools: [tool] }).prompt('What is 2 + 3?')
    const events = await eventsOf(run, (event) => {
      if (event.type === 'approvalRequested') run.deny(event.toolCallId, 'not on a Sunday')
    })
    expect(executions()).toBe(0)
    expect(ofType(events, 'approvalResolved')).toMatchObject([{ approved: false, reason: 'not on a Sunday' }])
    expect((await requests()).at(-1)).toContain('not on a Sunday')
    expect(await run.result).toMatchObject({ status: 'completed' })
  })
})
