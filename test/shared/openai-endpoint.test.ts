import { afterAll, describe, expect, it } from 'vitest'
import { bearer, createOpenAiApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { Agent, defineTool, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const deploy = defineTool({
  name: 'deploy',
  description: 'Puts it into service.',
  parameters: { type: 'object', properties: {} },
  needsApproval: true,
  execute: () => 'done',
})
const model = scripted(({ messages }) =>
  messages.at(-1)?.role === 'user' && messages.length === 1
    ? { text: 'Wait.', toolCalls: [{ name: 'deploy', arguments: {} }] }
    : { text: 'Done.' },
)
const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools: [deploy] }) })
afterAll(() => sessions.close())
const app = createOpenAiApp({
  agents: { helper: { agent: () => new Agent({ model, tools: [deploy] }), sessions } },
  authorize: bearer('ada-secret'),
})

/** Without a server in between, so that it runs where none can listen. */
async function ask(path: string, body: object): Promise<Response> {
  const headers = { authorization: 'Bearer ada-secret', 'content-type': 'application/json' }
  return app.fetch(new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify({ model: 'helper', ...body }) }))
}

describe('agents as OpenAI models', () => {
  it('responds to a chat completion with and without streaming', async () => {
    const messages = [{ role: 'user', content: 'Deploy.' }]
    const { choices } = await (await ask('/v1/chat/completions', { messages })).json()
    expect(choices[0].message.content).toBe('Wait.\n\nDone.')
    const text = await (await ask('/v1/chat/completions', { messages, stream: true })).text()
    const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: {'))
    const content = frames.map((frame) => JSON.parse(frame.slice(6)).choices[0]?.delta.content ?? '').join('')
    expect([content, text.endsWith('data: [DONE]\n\n')]).toEqual(['Wait.\n\nDone.', true])
  })

  it('requests approval in a conversation and continues with the decision', async () => {
    const first = await (await ask('/v1/responses', { input: 'Deploy.' })).json()
    expect(first.output.map(({ type }: { type: string }) => type)).toEqual(['message', 'mcp_approval_request'])
    const input = [{ type: 'mcp_approval_response', approval_request_id: first.output[1].id, approve: true }]
    const second = await (await ask('/v1/responses', { previous_response_id: first.id, input })).json()
    expect(second.output.map(({ content }: { content: { text: string }[] }) => content[0]?.text)).toEqual(['Done.'])
  })
})
