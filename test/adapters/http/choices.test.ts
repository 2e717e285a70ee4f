import { HttpAgent } from '@ag-ui/client'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { remoteSession } from '../../../src/client.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { type ScriptedModel, scripted } from '../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../src/tools.ts'
import { patient } from '../../support/patience.ts'
import { seen } from '../../support/play.ts'

const where = clientTool({ name: 'where', description: 'Where the page is.', parameters: { type: 'object', properties: {} } })
/** Says which model it is, after it has asked the page. */
const model = (id: string) =>
  scripted(
    ({ messages }) =>
      messages.at(-1)?.role === 'toolResult' ? { text: `${id} speaks` } : { toolCalls: [{ name: 'where', arguments: {} }] },
    { id },
  )
const talker = (id: string) => scripted(() => ({ text: `${id} speaks` }), { id })

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function host(make: (id: string) => ScriptedModel) {
  const store = memorySessionStore()
  const start = () => {
    const agent = () => ({ model: make('fast'), tools: [where], choices: { models: { deep: make('deep') } } })
    const sessions = memoryLiveSessions({ store, agent, logger: false })
    closing.push(() => sessions.close())
    return { sessions, app: createAgentApp({ sessions, authorize: () => true, clientSettings: ['temperature'] }) }
  }
  let current = start()
  const post = (path: string, body: object) =>
    current.app.request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  return {
    post,
    fetch: async (request: Request) => current.app.fetch(request),
    kill() {
      current = start()
      void current.sessions.recover()
    },
  }
}

const said = { id: 'm1', role: 'user' }
const bodies: [string, string, object][] = [
  ['useChat', '/sessions/s/chat', { id: 's', trigger: 'submit-message', messages: [{ ...said, parts: [{ type: 'text', text: 'go' }] }] }],
  ['AG-UI', '/sessions/s/agui', { threadId: 's', runId: 'r', messages: [{ ...said, content: 'go' }], tools: [], context: [], state: {} }],
]
it.each(bodies)('selects a model by name for %s and rejects an unknown name', async (name, path, body) => {
  const withModel = (id: string) => (name === 'AG-UI' ? { ...body, forwardedProps: { model: id } } : { ...body, model: id })
  const refused = await host(talker).post(path, withModel('other'))
  expect([refused.status, (await refused.json()).code]).toEqual([403, 'choiceNotAllowed'])
  expect(await (await host(talker).post(path, withModel('deep'))).text()).toContain('deep speaks')
  expect(await (await host(talker).post(path, body)).text()).toContain('fast speaks')
})

/** A model that says which one it is, and how warm it was asked to be. */
const telling = (id: string) => scripted(({ temperature }) => ({ text: `${id} at ${temperature ?? 'no temperature'}` }), { id })

describe('messages with a selected model and settings', () => {
  const settings = { model: 'deep', temperature: 0.3 }
  const wire = { model: 'deep', settings: { temperature: 0.3 } }
  const url = 'http://localhost/sessions/s'

  it('keeps model and settings when a remote session regenerates or edits the message', async () => {
    const { fetch } = host(telling)
    const session = remoteSession({ url: 'http://localhost', sessionId: 's', fetch, logger: false })
    closing.push(() => session.close())
    expect(await session.prompt('go', settings).text()).toBe('deep at 0.3')
    expect(await session.prompt('on').text()).toBe('fast at no temperature')
    const [said] = session.messages
    expect(await session.regenerate({ messageId: said?.id ?? '' }).text()).toBe('deep at 0.3')
    expect(await session.editAndResend(said?.id ?? '', 'go there').text()).toBe('deep at 0.3')
    expect(await session.editAndResend(session.messages[0]?.id ?? '', 'go back', { temperature: 0.9 }).text()).toBe('deep at 0.9')
    expect(await session.prompt('on').text()).toBe('fast at no temperature')
  })

  it('keeps model and settings when useChat regenerates or edits the message', async () => {
    const server = host(telling)
    const transport = new DefaultChatTransport({
      api: `${url}/chat`,
      fetch: async (input, init) => server.fetch(new Request(input, init)),
    })
    const chat = new Chat({ id: 's', transport })
    const told = () => chat.lastMessage?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    await chat.sendMessage({ text: 'go' }, { body: wire })
    expect(told()).toBe('deep at 0.3')
    await chat.regenerate()
    expect(told()).toBe('deep at 0.3')
    server.kill()
    await chat.regenerate()
    expect(told()).toBe('deep at 0.3')
    await chat.sendMessage({ text: 'go there', messageId: chat.messages[0]?.id ?? '' })
    expect(told()).toBe('deep at 0.3')
    await chat.regenerate({ body: { model: 'deep', settings: { temperature: 0.9 } } })
    expect(told()).toBe('deep at 0.9')
  })

  it('keeps model and settings when an AG-UI client edits the message', async () => {
    const { fetch } = host(telling)
    const client = new HttpAgent({ url: `${url}/agui`, threadId: 's', fetch: async (input, init) => fetch(new Request(input, init)) })
    client.setMessages([{ id: 'm1', role: 'user', content: 'go' }])
    await client.runAgent({ forwardedProps: wire })
    expect(client.messages.at(-1)?.content).toBe('deep at 0.3')
    client.setMessages([{ id: 'm1', role: 'user', content: 'go there' }])
    await client.runAgent()
    expect(client.messages.at(-1)?.content).toBe('deep at 0.3')
  })
})

it('keeps a selected model after a crash but not for the next message', async () => {
  const server = host(model)
  const session = remoteSession({ url: 'http://localhost', sessionId: 's', fetch: server.fetch, logger: false })
  closing.push(() => session.close())
  await seen(session.prompt('go', { model: 'deep' }), 'clientCallRequested')
  session.close()
  server.kill()
  const again = remoteSession({ url: 'http://localhost', sessionId: 's', fetch: server.fetch, logger: false })
  closing.push(() => again.close())
  again.tools({ where: () => 'here' })
  await again.load()
  await vi.waitFor(() => expect(again.messages.at(-1)).toMatchObject({ content: [{ text: 'deep speaks' }] }), patient)
  expect(await again.prompt('go on').text()).toBe('fast speaks')
})
