import OpenAI from 'openai'
import { defineTool } from 'phi-core'
import { scripted } from 'phi-core/testing'
import { expect, it } from 'vitest'
import { askAgent } from '../../examples/recipes/servers/openai-client.ts'
import { openAiApp } from '../../examples/recipes/servers/openai-endpoint.ts'

it('lets the official OpenAI client approve and deny tool calls', async () => {
  const order = defineTool({
    name: 'order',
    description: 'Orders bread.',
    parameters: { type: 'object', properties: { loaves: { type: 'integer' } } },
    needsApproval: true,
    execute: ({ loaves }) => `${String(loaves)} ordered`,
  })
  const calls = [1, 2].map((loaves) => ({ toolCalls: [{ name: 'order', arguments: { loaves } }] }))
  const app = openAiApp(scripted([...calls, { text: 'As you wish.' }]), [order], 'long-secret')
  const client = new OpenAI({
    apiKey: 'long-secret',
    baseURL: 'http://127.0.0.1/v1',
    fetch: async (url, init) => app.request(String(url), init as RequestInit),
  })
  const asked: string[] = []
  const text = await askAgent(client, 'Some bread.', (tool, args) => asked.push(`${tool} ${args}`) < 2)
  expect([text, asked]).toEqual(['As you wish.', ['order {"loaves":1}', 'order {"loaves":2}']])
})
