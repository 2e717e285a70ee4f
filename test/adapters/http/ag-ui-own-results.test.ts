import { HttpAgent } from '@ag-ui/client'
import { expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { defineTool, memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../src/tools.ts'

const parameters = { type: 'object' }

it('does not send an AG-UI client its own tool result again', async () => {
  const model = scripted([
    {
      toolCalls: [
        { name: 'page', arguments: {} },
        { name: 'server', arguments: {} },
      ],
    },
    { text: 'Done.' },
  ])
  const server = defineTool({ name: 'server', description: 'x', parameters, execute: () => 'from the server' })
  const tools = [server, clientTool({ name: 'page', description: 'x', parameters })]
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools }) })
  const app = createAgentApp({ sessions, authorize: () => true })
  const fetch = async (url: string | URL | Request, init?: RequestInit) => app.fetch(new Request(url, init))
  const client = new HttpAgent({ url: 'http://localhost/agui', threadId: 't1', fetch })
  client.addMessage({ id: 'u1-message', role: 'user', content: 'go' })
  await client.runAgent({})
  const done = new Set(client.messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])))
  const calls = client.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  const open = calls.find(({ id, function: { name } }) => name === 'page' && !done.has(id))
  expect(open).toBeDefined()
  client.addMessage({ id: 'own-result', role: 'tool', toolCallId: open?.id ?? '', content: 'from the page' })
  await client.runAgent({})
  const results = client.messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []))
  expect([...results].sort()).toEqual(['from the page', 'from the server'])
  expect(client.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Done.' })
})
