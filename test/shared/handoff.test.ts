import { afterAll, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { memorySessionStore } from '../../src/index.ts'
import { endpointAgent } from '../../testing/index.ts'
import { thereAndBack } from '../support/handoff.ts'

const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: ({ sessionId }) => endpointAgent(sessionId) })
afterAll(() => sessions.close())
const app = createAgentApp({ sessions, imports: true, authorize: () => true })

it('transfers a session with a pending call to a server and back', async () => {
  const fetch = async (input: RequestInfo | URL, init?: RequestInit) => app.fetch(new Request(input, init))
  await thereAndBack(memorySessionStore(), { url: 'http://localhost', fetch })
  expect((await app.request('http://localhost/sessions')).status).toBe(200)
})
