import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { allMessages, createStore, smoothText } from '../../src/store.ts'
import { addTool, fixtureModel, wires } from '../harness/fixture-model.ts'

describe('UI store', () => {
  it.each(wires)('reflects a run with a tool: %s', async (wire) => {
    const { tool } = addTool()
    const run = new Agent({ model: fixtureModel(wire, 'tool').model, tools: [tool] }).prompt('What is 2 + 3?')
    const store = createStore()
    const statuses = new Set<string>()
    store.subscribe(() => statuses.add(store.getSnapshot().status))
    await store.follow(run)
    await Promise.resolve() // the last batch is published in a microtask
    const state = store.getSnapshot()
    expect(statuses).toContain('completed')
    expect(Object.values(state.tools)).toMatchObject([{ toolName: 'add', status: 'done', args: { a: 2, b: 3 } }])
    expect(allMessages(state).at(-1)?.blocks).toEqual([{ type: 'text', text: await run.text() }])
  })

  it.each(['word', 'line'] as const)('ends with all text when it is smooth: %s', async (unit) => {
    const run = new Agent({ model: fixtureModel('anthropic', 'tool').model, tools: [addTool().tool] }).prompt('What is 2 + 3?')
    const store = createStore(undefined, { smooth: smoothText(unit) })
    const texts = new Set<string>()
    store.subscribe(() => {
      const block = store.getSnapshot().live?.blocks.at(-1)
      if (block?.type === 'text') texts.add(block.text)
    })
    await store.follow(run)
    await Promise.resolve()
    const text = await run.text()
    expect(allMessages(store.getSnapshot()).at(-1)?.blocks).toEqual([{ type: 'text', text }])
    expect(texts.size).toBeGreaterThan(0)
  })
})
