import { describe, expect, it } from 'vitest'
import { SubAgentTool } from '../../src/agents.ts'
import { Agent, type AgentEvent, defineTool } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { childOf, initialState, type RunState, reduce, restoredState } from '../../src/store.ts'

/** Ids of calls are the service's, and some let the model choose them. */
const ids = ['constructor', '__proto__', 'toString', 'hasOwnProperty']
const parameters = { type: 'object', properties: { task: { type: 'string' } } }
const work = defineTool({ name: 'work', description: 'Works.', parameters, execute: () => 'ok' })
const model = (id: string, name: string) => scripted([{ toolCalls: [{ id, name, arguments: { task: 'x' } }] }, { text: 'Done.' }])

async function statesOf(agent: Agent): Promise<RunState[]> {
  const states = [initialState()]
  agent.subscribe((event: AgentEvent) => states.push(reduce(states.at(-1) ?? initialState(), event)))
  await agent.prompt('x').result
  return states
}

describe.each(ids)('a call with the id %s', (id) => {
  it('tracks the call only after it starts', async () => {
    const agent = new Agent({ model: model(id, 'work'), tools: [work] })
    const states = await statesOf(agent)
    const seen = states.map(({ tools, children }) => [tools[id]?.status, children[id]])
    expect(seen[0]).toEqual([undefined, undefined])
    expect(seen.at(-1)).toEqual(['done', undefined])
    expect(states.every((state) => childOf(state, id) === undefined)).toBe(true)
    const restored = restoredState(agent.messages)
    expect(Object.keys(restored.tools)).toEqual([id])
    expect([restored.tools[id]?.status, restored.children[id]]).toEqual(['done', undefined])
  })

  it("shows the call's sub-agent", async () => {
    const inner = new SubAgentTool({ name: 'helper', description: 'Helps.', model: model(id, 'work'), tools: [work], forward: 'events' })
    const agent = new Agent({ model: model(id, 'helper'), tools: [inner] })
    const last = (await statesOf(agent)).at(-1) ?? initialState()
    expect([last.tools[id]?.status, childOf(last, id)?.status, childOf(last, id)?.tools[id]?.status]).toEqual(['done', 'completed', 'done'])
  })
})
