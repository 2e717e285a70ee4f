import { describe, expect, it } from 'vitest'
import { textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools.ts'
import { atRest, pageWorld, shown, versions } from './page-world.ts'

const copy = clientTool({ name: 'copy', description: 'Copies the page', parameters: { type: 'object' }, maxResultChars: 300 })
const size = clientTool({ name: 'size', description: 'Measures the page', parameters: { type: 'object' } })
const unshown = 'The tool ran, but its result cannot be shown: The result of call "c0" is too long: 1002 characters of JSON'

/** Calls both tools of the page once, then says what it has heard. */
const shop = () =>
  pageWorld(() => ({
    tools: [copy, size],
    model: scripted(({ messages }) => {
      const results = messages.filter(({ role }) => role === 'toolResult')
      if (results.length === 0) return { toolCalls: ['copy', 'size'].map((name, at) => ({ id: `c${at}`, name, arguments: {} })) }
      return {
        text: results.map((each) => `${textOf(each.content)}${each.role === 'toolResult' && each.isError ? ' (failed)' : ''}`).join('|'),
      }
    }),
  }))

describe.each(versions)('a client result over the size limit in a chat of AI SDK %d', (version) => {
  it('continues and tells the model that the tool ran', async () => {
    const world = await shop()
    const chat = world.chat(version, { tools: ['copy', 'size'], run: (_, { toolName }) => (toolName === 'copy' ? 'x'.repeat(1000) : '7') })
    await chat.sendMessage({ text: 'go' })
    await atRest(world, chat)
    expect([chat.error, shown(chat.messages.at(-1) ?? { id: '', role: '', parts: [] })]).toEqual([
      undefined,
      expect.stringContaining(unshown),
    ])
    expect(shown(chat.messages.at(-1) ?? { id: '', role: '', parts: [] })).toMatch(/\|7$/)
  })

  it('accepts the next message', async () => {
    const world = await shop()
    const chat = world.chat(version, { sends: false, tools: ['copy', 'size'], run: () => 'x'.repeat(1000) })
    await chat.sendMessage({ text: 'go' })
    await atRest(world, chat)
    await chat.sendMessage({ text: 'and now?' })
    await atRest(world, chat)
    expect([chat.error, world.statuses]).toEqual([undefined, [200, 200]])
  })
})

it('continues for an AG-UI client with an oversized result or error', async () => {
  for (const failure of [{ content: 'x'.repeat(1000) }, { content: '', error: 'x'.repeat(1000) }]) {
    const world = await shop()
    const agent = world.agent()
    agent.addMessage({ id: 'm1', role: 'user', content: 'go' })
    await agent.runAgent()
    agent.addMessage({ id: 't0', role: 'tool', toolCallId: 'c0', ...failure })
    agent.addMessage({ id: 't1', role: 'tool', toolCallId: 'c1', content: '7' })
    await agent.runAgent()
    const heard = 'error' in failure ? 'Failed. (failed)|7' : expect.stringContaining(unshown)
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: heard })
  }
})

it('accepts a null result from an AG-UI client', async () => {
  const world = await shop()
  const agent = world.agent()
  agent.addMessage({ id: 'm1', role: 'user', content: 'go' })
  await agent.runAgent()
  for (const id of ['c0', 'c1']) agent.addMessage({ id: `t${id}`, role: 'tool', toolCallId: id, content: 'null' })
  await agent.runAgent()
  expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'null|null' })
})

it('accepts a null result from a chat', async () => {
  const world = await shop()
  const user = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
  const ask = async (...messages: object[]) => (await world.post('/chat', { id: 's', trigger: 'submit-message', messages })).text()
  await ask(user)
  const parts = ['copy', 'size'].map((name, at) => ({
    type: `tool-${name}`,
    toolCallId: `c${at}`,
    state: 'output-available',
    input: {},
    output: null,
  }))
  expect(await ask(user, { id: 'a1', role: 'assistant', parts })).toContain('null|null')
})
