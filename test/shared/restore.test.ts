import { describe, expect, it } from 'vitest'
import { Agent, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { parseMessages, serializeMessages } from '../../src/session.ts'
import { addTool, fixtureModel, wires } from '../harness/fixture-model.ts'

describe('restore', () => {
  it.each(wires)('sends the whole history with the second prompt: %s', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'text')
    const agent = new Agent({ model })
    await agent.prompt('The word is aardvark.').result
    await agent.prompt('Which word?').result
    const second = (await requests())[1]
    for (const text of ['The word is aardvark.', 'Hello, world.', 'Which word?']) expect(second).toContain(text)
  })

  it.each(wires)('continues the conversation in another agent: %s', async (wire) => {
    const { tool } = addTool()
    const before = new Agent({ model: fixtureModel(wire, 'tool').model, tools: [tool] })
    await before.prompt('What is 2 + 3?').result

    const { model, requests } = fixtureModel(wire, 'text')
    const after = new Agent({ model, tools: [tool] })
    after.replaceMessages(parseMessages(serializeMessages(before.messages)))
    expect(after.messages).toEqual(before.messages)
    expect(await after.prompt('And now?').text()).toBe('Hello, world.')
    const [request] = await requests()
    for (const text of ['What is 2 + 3?', 'sum 5', 'The tool said: ', 'And now?']) expect(request).toContain(text)
  })
})

describe('sessions', () => {
  it('records messages and continues in another agent', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: fixtureModel('anthropic', 'text').model, session: store })
    await agent.prompt('Say hello.').result
    await agent.close()
    const { model, requests } = fixtureModel('openai', 'text')
    const again = await resumeAgent(store, agent.sessionId, { model })
    expect(again.messages).toEqual(agent.messages)
    expect(await again.prompt('Once more.').text()).toBe('Hello, world.')
    const [request] = await requests()
    for (const said of ['Say hello.', 'Hello, world.', 'Once more.']) expect(request).toContain(said)
    const session = await store.load(agent.sessionId)
    expect(session.loops.map(({ status }) => status)).toEqual(['completed', 'completed'])
    expect(session.loops[0]?.childrenLoopIds).toEqual([session.loops[1]?.loopId])
    expect(await store.listForAgent(agent.agentId)).toEqual([agent.sessionId])
  })

  it('rejects the old writer after a takeover', async () => {
    const store = memorySessionStore()
    const first = new Agent({ model: fixtureModel('anthropic', 'text').model, session: store })
    await first.prompt('Say hello.').result
    const second = await resumeAgent(store, first.sessionId, { model: fixtureModel('anthropic', 'text').model })
    expect((await second.prompt('Again.').result).status).toBe('completed')
    expect((await first.prompt('Late.').result).error?.code).toBe('journal')
  })
})
