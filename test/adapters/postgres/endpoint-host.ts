/**
 * One of several processes that serve the agent of `agentEndpointSuite` over the sessions of a database: it says where it listens, and tells its parent the notices.
 * `PEERS`: they reach each other over HTTP, else through the database.
 */
import { createServer, type RequestListener, type Server } from 'node:http'
import { Pool } from 'pg'
import { createAgentApp, createOpenAiApp, type SessionNotice } from '../../../adapters/http/index.ts'
import { toNodeHandler } from '../../../adapters/node/index.ts'
import { listenWith, postgresLiveSessions, postgresSchedules } from '../../../adapters/postgres/index.ts'
import { endpointAgent } from '../../../testing/index.ts'
import { userOf } from '../../support/endpoint-users.ts'
import { addressOf } from './round-robin.ts'

const { DATABASE_URL, TENANT = '', PEERS } = process.env

const listening = async (answer: RequestListener): Promise<Server> => {
  const server = createServer(answer)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return server
}

// Its address is known before the sessions that it is for.
const inside = await listening((incoming, outgoing) => toNodeHandler(sessions.forwarded)(incoming, outgoing))
const pool = new Pool({ connectionString: DATABASE_URL, max: 6 })
pool.on('error', () => undefined)
const tell = (notice: SessionNotice): void => void process.send?.(notice)
const sessions = postgresLiveSessions({
  pool,
  tenant: TENANT,
  agent: ({ sessionId }) => endpointAgent(sessionId),
  schedules: postgresSchedules({ pool, tenant: TENANT }),
  onWaiting: tell,
  onEnd: tell,
  listen: listenWith(pool),
  ...(PEERS === 'yes' && { peers: { url: addressOf(inside), key: 'a key of processes that are tested' } }),
})
const openAi = createOpenAiApp({ agents: { helper: { sessions } }, authorize: userOf })
const outside = await listening(toNodeHandler(createAgentApp({ sessions, imports: true, authorize: userOf }).route('/', openAi).fetch))
console.log(addressOf(outside))
