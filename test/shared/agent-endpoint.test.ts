import { afterAll, describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions, memorySchedules } from '../../adapters/http/index.ts'
import { memorySessionStore } from '../../src/index.ts'
import { type AskEndpoint, agentEndpointSuite, endpointAgent } from '../../testing/index.ts'
import { signed, userOf } from '../support/endpoint-users.ts'
import { NoticeBoard } from '../support/notice-board.ts'

const board = new NoticeBoard()
const sessions = memoryLiveSessions({
  store: memorySessionStore(),
  agent: ({ sessionId }) => endpointAgent(sessionId),
  onWaiting: board.tell,
  onEnd: board.tell,
  schedules: memorySchedules(),
})
afterAll(() => sessions.close())

const app = createAgentApp({
  sessions,
  imports: true,
  authorize: userOf,
})

/** Without a server in between, so that it runs where none can listen. */
const ask: AskEndpoint = async (path, init = {}, user = 'ada') =>
  app.fetch(new Request(new URL(path, 'http://localhost'), signed(init, user)))

agentEndpointSuite(
  { describe, it, expect },
  { schedules: true, name: 'sessions in memory', ask, notices: (sessionId, type) => board.told(sessionId, type) },
)
