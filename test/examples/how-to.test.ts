import { expect, it } from 'vitest'
import { afterReload, again, askAbout, askFor, askWith, changed, nameChat } from '../../examples/recipes/testing/how-to.ts'
import { Agent, defineTool, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

it('names a chat, regenerates a response and edits a message', async () => {
  const store = memorySessionStore()
  const agent = new Agent({ model: scripted([{ text: 'Four.' }, { text: '4.' }, { text: 'Six.' }]), session: store })
  await agent.prompt('2 + 2?').result
  expect(await nameChat(agent, scripted([{ text: ' Small sums ' }]))).toBe('Small sums')
  expect((await store.list()).sessions[0]?.title).toBe('Small sums')
  expect(await again(agent)).toBe('4.')
  const asked = agent.messages.find(({ role }) => role === 'user')
  expect(await changed(agent, asked !== undefined && 'id' in asked ? String(asked.id) : '', '3 + 3?')).toBe('Six.')
  expect(agent.messages).toHaveLength(2)
})

it('sends a file selected by the user', async () => {
  const agent = new Agent({ model: scripted([{ text: 'A note.' }]) })
  const file = new File(['Remember the milk.'], 'note.txt', { type: 'text/plain' })
  expect(await askAbout(agent, file, 'What is it?')).toBe('A note.')
  expect(agent.messages[0]).toMatchObject({
    content: [
      { type: 'file', name: 'note.txt' },
      { type: 'text', text: 'What is it?' },
    ],
  })
})

it('requests a pending approval again after a reload', async () => {
  const store = memorySessionStore()
  const pay = defineTool({ name: 'pay', description: 'Pays.', parameters: { type: 'object' }, needsApproval: true, execute: () => 'paid' })
  const model = scripted([{ toolCalls: [{ name: 'pay', arguments: {} }] }, { text: 'Done.' }])
  const agent = new Agent({ model, session: store, sessionId: 's', tools: [pay], approvalTimeoutMs: 1 })
  expect((await agent.prompt('Pay.').result).status).toBe('paused')
  await agent.close()
  const text = await afterReload(store, 's', scripted([{ text: 'It was refused.' }]), () => false)
  expect(text).toBe('It was refused.')
})

it('stops at a cost limit and uses the model selected by the user', async () => {
  const cost = { inputPerMillion: 1_000_000, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
  const look = { toolCalls: [{ name: 'none', arguments: {} }], usage: { input: 10 } }
  expect(await askFor(scripted([look, look], { config: { cost } }), 'Hm?', 5)).toContain('Stopped:')
  const agent = new Agent({ model: scripted([]) })
  const models = { deep: scripted([{ text: 'Deep.' }]) }
  expect(await askWith(agent, models, 'deep', 'Hm?').text()).toBe('Deep.')
  expect(() => askWith(agent, models, 'other', 'Hm?')).toThrow('no model "other"')
})
