import { afterAll, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { endpointAgent } from '../../../testing/index.ts'
import { serve } from '../../harness/serve.ts'
import { meet } from '../../support/three-clients.ts'

const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: ({ sessionId }) => endpointAgent(sessionId) })
const server = await serve(createAgentApp({ sessions, authorize: 'loopbackOnly' }).fetch)
afterAll(async () => {
  await sessions.close()
  await server[Symbol.asyncDispose]()
})

it('joins one run of a Node host from AI SDK, AG-UI and phi clients', async () => {
  await expect(meet({ url: server.url, fetch, sessionId: `meet-${crypto.randomUUID()}` })).resolves.toBeUndefined()
})
