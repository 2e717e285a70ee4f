// DATABASE_URL=… node examples/postgres/server.ts
// Before: `cp -r node_modules/phi-core/examples . && npm install hono pg`, or `npm run build` in a clone. It needs no key: the model is scripted.
//
// Start it any number of times, on any number of machines, behind any load balancer: each process can serve every session.

import { Pool } from 'pg'
import { defineTool } from 'phi-core'
import { bearer, createAgentApp } from 'phi-core/http'
import { serve } from 'phi-core/node'
import { listenWith, migrate, postgresLiveSessions } from 'phi-core/postgres'
import { scripted } from 'phi-core/testing'

const pool = new Pool({ connectionString: process.env.DATABASE_URL })
// After an error, the next query opens another connection.
pool.on('error', () => undefined)
await migrate({ pool })

const pay = defineTool({
  name: 'pay',
  description: 'Pays an amount.',
  parameters: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
  needsApproval: true,
  execute: ({ euros }) => `Paid ${euros} euros.`,
})
const model = scripted(({ messages }) =>
  messages.some(({ role }) => role === 'toolResult') ? { text: 'It is paid.' } : { toolCalls: [{ name: 'pay', arguments: { euros: 5 } }] },
)

const sessions = postgresLiveSessions({
  pool,
  listen: listenWith(pool),
  agent: () => ({ model, tools: [pay] }),
  leaseMs: Number(process.env.LEASE_MS ?? 10_000),
})
const token = process.env.ACCESS_TOKEN ?? crypto.randomUUID()
const server = await serve(createAgentApp({ sessions, authorize: bearer(token) }), { port: Number(process.env.PORT ?? 3000) })
console.log(`${server.url}/sessions`)
if (process.env.ACCESS_TOKEN === undefined) console.log(`Authorization: Bearer ${token}`)

process.once('SIGTERM', async () => {
  // The other processes resume unfinished runs.
  await sessions.drain({ deadlineMs: 20_000 })
  await server[Symbol.asyncDispose]()
  await sessions.close()
  await pool.end()
})
