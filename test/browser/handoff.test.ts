import { afterAll, it } from 'vitest'
import { indexedDbSessionStore } from '../../adapters/browser/index.ts'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { memorySessionStore } from '../../src/index.ts'
import { endpointAgent } from '../../testing/index.ts'
import { thereAndBack } from '../support/handoff.ts'

const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: ({ sessionId }) => endpointAgent(sessionId) })
afterAll(() => sessions.close())
const app = createAgentApp({ sessions, imports: true, authorize: () => true })

it('moves a session from a browser to a server and back', async () => {
  const fetch = async (input: RequestInfo | URL, init?: RequestInit) => app.fetch(new Request(input, init))
  await thereAndBack(indexedDbSessionStore({ name: `handoff-${crypto.randomUUID()}` }), { url: 'http://localhost', fetch })
})
