import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import type { LoopHooks } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { addTool, eventsOf, fixtureModel, ofType, wires } from '../harness/fixture-model.ts'
import { grammarFaults } from '../support/grammar.ts'
import { play, tool } from '../support/play.ts'

describe('hooks', () => {
  it('awaits each hook and runs hooks in order', async () => {
    const order: string[] = []
    const note = (name: string) => async () => {
      for (let n = 0; n < 10; n += 1) await undefined
      order.push(name)
      return undefined
    }
    const names = ['beforeLoop', 'beforeTurn', 'beforeToolExecution', 'beforeToolExecutionUpdate', 'afterToolExecutionUpdate'] as const
    const after = ['afterToolExecution', 'afterTurn', 'afterLoop'] as const
    const hooks: LoopHooks = Object.fromEntries([...names, ...after].map((name) => [name, note(name)]))
    const work = tool('work', (_, ctx) => {
      ctx.update({ content: [{ type: 'text', text: 'half' }] })
      order.push('work')
      return 'done'
    })
    const { events } = await play([{ toolCalls: [{ name: 'work', arguments: {} }] }, { text: 'fine' }], { tools: [work], hooks })
    expect(order).toEqual([
      'beforeLoop',
      'beforeTurn',
      'beforeToolExecution',
      'work',
      'beforeToolExecutionUpdate',
      'afterToolExecutionUpdate',
      'afterToolExecution',
      'afterTurn',
      'beforeTurn',
      'afterTurn',
      'afterLoop',
    ])
    expect(grammarFaults(events)).toEqual([])
  })

  it.each(wires)('skips the call and informs the model if a hook rejects or fails: %s', async (wire) => {
    const refuse = [() => false, () => Promise.reject(new Error('broken'))]
    for (const beforeToolExecution of refuse) {
      const { model, requests } = fixtureModel(wire, 'tool')
      const { tool: add, executions } = addTool()
      const events = await eventsOf(new Agent({ model, tools: [add], hooks: { beforeToolExecution } }).prompt('What is 2 + 3?'))
      expect(executions()).toBe(0)
      expect(ofType(events, 'toolExecutionEnd')).toMatchObject([{ isError: true }])
      expect((await requests()).at(-1)).toContain('before_tool_execution')
      expect(grammarFaults(events)).toEqual([])
    }
  })

  it('requests approval from a hook and rejects input with a filter', async () => {
    const work = tool('work', () => 'done')
    const model = scripted([{ toolCalls: [{ name: 'work', arguments: {} }] }, { text: 'fine' }])
    const agent = new Agent({
      model,
      tools: [work],
      hooks: { beforeToolExecution: ({ requestApproval }) => requestApproval() },
      inputFilters: [async (text) => (text.includes('secret') ? { type: 'reject', reason: 'no secrets' } : { type: 'pass' })],
    })
    expect(await agent.prompt('a secret').result).toMatchObject({ status: 'rejected', rejection: 'no secrets' })
    const run = agent.prompt('go')
    const events = await eventsOf(run, (event) => {
      if (event.type === 'approvalRequested') run.approve(event)
    })
    expect(ofType(events, 'toolExecutionEnd')).toMatchObject([{ isError: false }])
  })
})
