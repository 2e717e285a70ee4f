import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { memorySessionStore } from '../../src/session/index.ts'
import { addTool, fixtureModel, wires } from '../harness/fixture-model.ts'

describe('restore', () => {
  it.each(wires)('%s: the second prompt sees the whole history', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'text')
    const agent = new Agent({ model })
    await agent.prompt('The word is aardvark.').result
    await agent.prompt('Which word?').result
    const second = (await requests())[1]
    for (const said of ['The word is aardvark.', 'Hello, world.', 'Which word?']) expect(second).toContain(said)
  })

  it.each(wires)('%s: another agent goes on where the first stopped', async (wire) => {
    const { tool } = addTool()
    const before = new Agent({ model: fixtureModel(wire, 'tool').model, tools: [tool] })
    await before.prompt('What is 2 + 3?').result

    const { model, requests } = fixtureModel(wire, 'text')
    const after = new Agent({ model, tools: [tool] })
    after.restoreMessages(before.saveMessages())
    expect(after.messages).toEqual(before.messages)
    expect(await after.prompt('And now?').text()).toBe('Hello, world.')
    const [request] = await requests()
    for (const said of ['What is 2 + 3?', 'sum 5', 'The tool said: ', 'And now?']) expect(request).toContain(said)
  })
})

describe('store', () => {
  it('keeps a conversation as it was saved', async () => {
    const agent = new Agent({ model: fixtureModel('anthropic', 'text').model })
    await agent.prompt('Say hello.').result
    const store = memorySessionStore()
    const { agentId, sessionId } = agent
    await store.save({ agentId, sessionId, messages: [...agent.messages] })
    agent.clearMessages()
    const stored = await store.load(sessionId)
    expect(stored?.messages.map((message) => message.role)).toEqual(['user', 'assistant'])
    const again = new Agent({ model: fixtureModel('openai', 'text').model, messages: stored?.messages ?? [], agentId, sessionId })
    expect(await again.prompt('Once more.').text()).toBe('Hello, world.')
    expect([await store.listIds(), await store.load('another')]).toEqual([[sessionId], undefined])
  })
})
