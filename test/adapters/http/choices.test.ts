import { afterEach, expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { remoteSession } from '../../../src/client/index.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../src/tools/index.ts'
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

function host(make: (id: string) => ReturnType<typeof model>) {
  const store = memorySessionStore()
  const start = () => {
    const agent = () => ({ model: make('fast'), tools: [where], choices: { models: { deep: make('deep') } } })
    const sessions = memoryLiveSessions({ store, agent, logger: false })
    closing.push(() => sessions.close())
    return { sessions, app: createAgentApp({ sessions, authorize: () => true }) }
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
it.each(bodies)('a message of %s chooses a model by name, and another name is refused', async (name, path, body) => {
  const withModel = (id: string) => (name === 'AG-UI' ? { ...body, forwardedProps: { model: id } } : { ...body, model: id })
  const refused = await host(talker).post(path, withModel('other'))
  expect([refused.status, (await refused.json()).code]).toEqual([403, 'choiceNotAllowed'])
  expect(await (await host(talker).post(path, withModel('deep'))).text()).toContain('deep speaks')
  expect(await (await host(talker).post(path, body)).text()).toContain('fast speaks')
})

it('a model that was chosen answers after a kill too, and the next message is for the usual one', async () => {
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
