import { describe, expect, it } from 'vitest'
import { textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools.ts'
import { atRest, pageWorld, shown, versions } from './page-world.ts'

const theme = clientTool({ name: 'set_theme', description: 'Sets the theme', parameters: { type: 'object' } })
const size = clientTool({ name: 'set_size', description: 'Sets the size', parameters: { type: 'object' } })

/** Calls the page once, then says what it has heard. */
const model = (calls = ['set_theme']) =>
  scripted(({ messages }) => {
    if (messages.length === 1) return { toolCalls: calls.map((name) => ({ name, arguments: {} })) }
    return {
      text: `heard ${messages
        .slice(2)
        .map(({ content }) => textOf(content))
        .join(', ')}`,
    }
  })

describe.each(versions)('an AI SDK %d chat without automatic sending', (version) => {
  it('submits the result with the next message and receives one response', async () => {
    const world = await pageWorld(() => ({ model: model(), tools: [theme] }))
    const chat = world.chat(version, { sends: false, run: () => 'dark' })
    await chat.sendMessage({ text: 'make it dark' })
    await atRest(world, chat)
    await chat.sendMessage({ text: 'thanks' })
    await atRest(world, chat)
    await chat.sendMessage({ text: 'bye' })
    await atRest(world, chat)
    expect([chat.error, chat.messages.map(shown)]).toEqual([
      undefined,
      [
        ...['user: make it dark', 'assistant: <output-available>', 'user: thanks', 'assistant: heard dark, thanks'],
        ...['user: bye', 'assistant: heard dark, thanks, heard dark, thanks, bye'],
      ],
    ])
  })
})

describe('an AG-UI client that sends a result with a message', () => {
  it('submits the result with the next message and receives one response', async () => {
    const world = await pageWorld(() => ({ model: model(), tools: [theme] }))
    const agent = world.agent()
    agent.addMessage({ id: 'm1', role: 'user', content: 'make it dark' })
    await agent.runAgent()
    const [call] = agent.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    agent.addMessage({ id: 't1', role: 'tool', toolCallId: call?.id ?? '', content: 'dark' })
    agent.addMessage({ id: 'm2', role: 'user', content: 'thanks' })
    await agent.runAgent()
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'heard dark, thanks' })
  })

  it('receives an error while another call is pending, although the result is stored', async () => {
    const world = await pageWorld(() => ({ model: model(['set_theme', 'set_size']), tools: [theme, size] }))
    const agent = world.agent()
    agent.addMessage({ id: 'm1', role: 'user', content: 'make it dark and big' })
    await agent.runAgent()
    const [call] = agent.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    const result = { id: 't1', role: 'tool', toolCallId: call?.id, content: 'dark' }
    const messages = [...agent.messages, result, { id: 'm2', role: 'user', content: 'thanks' }]
    const refused = await world.post('/agui', {
      threadId: 's',
      runId: 'r2',
      messages,
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    })
    expect([refused.status, (await refused.json()).code]).toEqual([409, 'busy'])
    const { clientCalls } = await world.json('/sessions/s/client-calls')
    expect(clientCalls).toMatchObject([{ toolName: 'set_size' }])
  })
})
