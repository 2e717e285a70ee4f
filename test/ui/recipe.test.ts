import { HttpAgent } from '@ag-ui/client'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { expect, it } from 'vitest'
import { agUi, chat } from '../../examples/recipes/servers/ui-streams.ts'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const agent = () => new Agent({ model: scripted([{ thinking: 'hm', text: 'Hello there.' }]) })

it('serves an unmodified AI SDK chat', async () => {
  const own = agent()
  const fetch = (async (url: string, init: RequestInit) => chat(new Request(url, init), () => own)) as typeof globalThis.fetch
  const page = new Chat({ transport: new DefaultChatTransport({ api: 'http://127.0.0.1/chat', fetch }) })
  await page.sendMessage({ text: 'hi' })
  expect(page.error).toBeUndefined()
  expect(page.lastMessage?.parts.map(({ type }) => type)).toEqual(['step-start', 'reasoning', 'text'])
  expect((await chat(new Request('http://127.0.0.1', { method: 'POST', body: '{}' }), () => own)).status).toBe(400)
})

it('serves an unmodified AG-UI client', async () => {
  const own = agent()
  const client = new HttpAgent({ url: 'http://127.0.0.1/agui', fetch: (url, init) => agUi(new Request(url, init), () => own) })
  client.addMessage({ id: 'u', role: 'user', content: 'hi' })
  await client.runAgent()
  expect(client.messages.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'hi'],
    ['reasoning', 'hm'],
    ['assistant', 'Hello there.'],
  ])
  expect(own.messages[0]?.id).toBe('u')
})
