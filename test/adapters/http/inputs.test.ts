import { afterEach, beforeEach, expect, it } from 'vitest'
import { bearer, createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { type RemoteSession, remoteSession } from '../../../src/client.ts'
import { memorySessionStore, textOf } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { seen, tool } from '../../support/play.ts'

const headers = { authorization: 'Bearer long-secret', 'content-type': 'application/json' }
const ask = tool('ask', async (_args, { requestInput }) => JSON.stringify(await requestInput?.({ message: 'Where?' })))
let sessions: ReturnType<typeof memoryLiveSessions>
let app: ReturnType<typeof createAgentApp>
let session: RemoteSession

beforeEach(() => {
  const model = () =>
    scripted(({ messages }) => {
      const last = messages.at(-1)
      return last?.role === 'toolResult' ? { text: textOf(last.content) } : { toolCalls: [{ name: 'ask', arguments: {} }] }
    })
  sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: model(), tools: [ask] }) })
  app = createAgentApp({ sessions, authorize: bearer('long-secret') })
  session = remoteSession({ url: 'http://localhost', sessionId: 'one', fetch: (request) => app.fetch(request), headers })
})
afterEach(async () => {
  session.close()
  await sessions.close()
})

it('submits a user input response from a web client', async () => {
  const run = session.prompt('go')
  await seen(run, 'inputRequested')
  const [pending] = run.pendingInputs()
  expect(pending).toMatchObject({ message: 'Where?', toolName: 'ask' })
  run.answer(pending ?? '', { action: 'accept', content: { city: 'Oslo' } })
  expect(await run.text()).toBe('{"action":"accept","content":{"city":"Oslo"}}')
  expect(run.pendingInputs()).toEqual([])
  expect(() => run.answer(pending ?? '', { action: 'decline' })).toThrow('No input request')
})

it('rejects an invalid response and an unknown request id', async () => {
  const run = session.prompt('go')
  await seen(run, 'inputRequested')
  const path = 'http://localhost/sessions/one/inputs'
  const post = async (id: string, body: object, given: Record<string, string> = headers) =>
    (await app.fetch(new Request(`${path}/${id}`, { method: 'POST', headers: given, body: JSON.stringify(body) }))).status
  const { inputs } = await (await app.fetch(new Request(path, { headers }))).json()
  const [{ inputId }] = inputs
  expect(await post(inputId, { action: 'accept' }, {})).toBe(401)
  for (const body of [{}, { action: 'yes' }, { action: 'accept', content: [] }, { action: 'accept', content: 1 }])
    expect(await post(inputId, body)).toBe(400)
  expect(await post('other', { action: 'accept' })).toBe(404)
  expect(await post(inputId, { action: 'decline' })).toBe(202)
  expect(await run.text()).toBe('{"action":"decline"}')
  expect(await post(inputId, { action: 'decline' })).toBe(404)
})
