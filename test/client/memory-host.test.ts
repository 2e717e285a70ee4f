import { afterAll } from 'vitest'
import { bearer, createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { memorySessionStore } from '../../src/index.ts'
import { endpointAgent } from '../../testing/index.ts'
import { serve } from '../harness/serve.ts'
import { runs } from '../support/runs.ts'
import { faultCases } from './fault-cases.ts'

const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: ({ sessionId }) => endpointAgent(sessionId) })
const app = createAgentApp({ sessions, authorize: bearer('ada-secret') })
const server = await serve((request) => app.fetch(request))
afterAll(async () => {
  await sessions.close()
  await server[Symbol.asyncDispose]()
})

faultCases('sessions in memory', () => new URL(server.url), runs(60, 1000))
