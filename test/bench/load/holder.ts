/** The process that has the session whose events another one reads. Says when it has it. */
import { Pool } from 'pg'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { serve } from '../../../adapters/node/http/serve.ts'
import { listenWith, postgresLiveSessions } from '../../../adapters/postgres/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const { DATABASE_URL, TENANT = '', LISTEN, KEY } = process.env
const pool = new Pool({ connectionString: DATABASE_URL })
pool.on('error', () => undefined)
// Twenty seconds at 50 deltas per second, after a first word.
const model = scripted(
  ({ messages }) => ({ text: messages.length > 1 ? Array.from({ length: 500 }, (_, at) => `word ${at} `) : 'Here.' }),
  { delayMs: 20 },
)
const inside = await serve((request) => sessions.forwarded(request), { port: 0 })
const sessions = postgresLiveSessions({
  pool,
  tenant: TENANT,
  ...(LISTEN === 'yes' && { listen: listenWith(pool) }),
  ...(KEY !== undefined && { peers: { url: inside.url, key: KEY } }),
  agent: () => ({ model }),
})
const app = createAgentApp({ sessions, authorize: () => true })
const begun = await app.request('/sessions/s/runs', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"prompt":"Begin."}',
})
await begun.text()
process.send?.('ready')
