import { describe, expect, it } from 'vitest'
import { textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools.ts'
import { tool } from '../../../support/play.ts'
import { atRest, pageWorld, shown, soon, typesIn, versions } from './page-world.ts'

const locate = clientTool({ name: 'locate', description: 'Says where the page is', parameters: { type: 'object' } })
const confirm = clientTool({ name: 'confirm', description: 'Asks the person', parameters: { type: 'object' } })
const lookUp = tool('look_up', () => 'found')

/** Makes these calls, then says what came of them. */
const calling = (...names: string[]) =>
  scripted(({ messages }) => {
    const results = messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
    return results.length > 0 ? { text: `got ${results.join(', ')}` } : { toolCalls: names.map((name) => ({ name, arguments: {} })) }
  })

describe('AG-UI clients', () => {
  it("submits server and client results together and accepts only the client's", async () => {
    const world = await pageWorld(() => ({ model: calling('look_up', 'locate', 'look_up'), tools: [lookUp, locate] }))
    const agent = world.agent()
    agent.addMessage({ id: 'm1', role: 'user', content: 'go' })
    await agent.runAgent()
    const done = new Set(agent.messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])))
    const calls = agent.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    const open = calls.find(({ id }) => !done.has(id))
    agent.addMessage({ id: 't1', role: 'tool', toolCallId: open?.id ?? '', content: 'Oslo' })
    await agent.runAgent()
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'got found, Oslo, found' })
  })

  it('submits the second result for a repeated tool call id', async () => {
    const model = scripted(({ messages }) => {
      const asked = messages.filter(({ role }) => role === 'toolResult').length
      return asked === 2 ? { text: 'done' } : { toolCalls: [{ id: 'call_0', name: 'locate', arguments: {} }] }
    })
    const world = await pageWorld(() => ({ model, tools: [locate] }))
    const agent = world.agent()
    agent.addMessage({ id: 'm1', role: 'user', content: 'go' })
    await agent.runAgent()
    for (const id of ['call_0', 'call_0#2']) {
      agent.addMessage({ id: `result of ${id}`, role: 'tool', toolCallId: id, content: 'Oslo' })
      await agent.runAgent()
    }
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'done' })
  })

  it('receives a complete response to a late result in any order', async () => {
    const world = await pageWorld(() => ({ model: calling('locate', 'confirm'), tools: [locate, confirm] }))
    const ask = (messages: object[]) =>
      world.post('/agui', { threadId: 's', runId: crypto.randomUUID(), messages, tools: [], context: [], state: {}, forwardedProps: {} })
    const said = { id: 'm1', role: 'user', content: 'go' }
    await (await ask([said])).text()
    const { clientCalls } = await world.json('/sessions/s/client-calls')
    const result = (at: number) => ({ id: `t${at}`, role: 'tool', toolCallId: clientCalls[at].toolCallId, content: 'Oslo' })
    for (const results of [[result(0)], [result(0)], [result(0), result(1)], [result(1)], [result(0), result(1)]]) {
      const types = await typesIn(await ask([said, ...results]))
      expect([types[0], types.at(-1)]).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    }
    await (await ask([{ id: 'm2', role: 'user', content: 'and now?' }])).text()
    const types = await typesIn(await ask([said, result(0)]))
    expect([types[0], types.at(-1)]).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
  })
})

describe.each(versions)('AI SDK %d chats', (version) => {
  it('accepts a result although another call has timed out', async () => {
    const impatient = clientTool({ name: 'locate', description: 'Says where', parameters: { type: 'object' }, timeoutMs: 1 })
    const world = await pageWorld(() => ({ model: calling('locate', 'confirm'), tools: [impatient, confirm] }))
    const chat = world.chat(version, { tools: [] })
    await chat.sendMessage({ text: 'go' })
    await soon(async () => expect((await world.json('/sessions/s/client-calls')).clientCalls).toHaveLength(1))
    for (const { type, toolCallId = '' } of chat.messages.at(-1)?.parts ?? [])
      if (type.startsWith('tool-')) void chat.addToolResult({ tool: type.slice(5), toolCallId, output: 'late' })
    await atRest(world, chat)
    expect(chat.messages.map(shown).at(-1)).toContain('got No client responded to the locate call within 1 ms.')
    expect([chat.error, chat.messages.map(shown).at(-1)?.endsWith(', late')]).toEqual([undefined, true])
  })

  it('sends its results although another tab submitted one', async () => {
    const world = await pageWorld(() => ({ model: calling('locate', 'confirm'), tools: [locate, confirm] }))
    const chat = world.chat(version, { tools: [] })
    await chat.sendMessage({ text: 'go' })
    const [{ toolCallId, argumentsHash }] = (await world.json('/sessions/s/client-calls')).clientCalls
    expect((await world.post(`/sessions/s/client-calls/${toolCallId}`, { argumentsHash, output: 'other tab' })).status).toBe(202)
    for (const { type, toolCallId: id = '' } of chat.messages.at(-1)?.parts ?? [])
      if (type.startsWith('tool-')) void chat.addToolResult({ tool: type.slice(5), toolCallId: id, output: 'this tab' })
    await atRest(world, chat)
    expect([chat.error, chat.messages.map(shown).at(-1)]).toEqual([
      undefined,
      'assistant: <output-available><output-available>got other tab, this tab',
    ])
  })

  it('shows the text between two client tool calls once', async () => {
    const model = scripted(({ messages }) => {
      const asked = messages.filter(({ role }) => role === 'toolResult').length
      return asked === 2 ? { text: 'done' } : { text: `step ${asked} `, toolCalls: [{ name: 'locate', arguments: {} }] }
    })
    const world = await pageWorld(() => ({ model, tools: [locate] }))
    const chat = world.chat(version, { tools: ['locate'], run: () => 'Oslo' })
    await chat.sendMessage({ text: 'go' })
    await atRest(world, chat)
    expect(chat.messages.map(shown).at(-1)).toBe('assistant: step 0 <output-available>step 1 <output-available>done')
  })
})
