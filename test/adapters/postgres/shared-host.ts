/**
 * One of several processes that share the sessions of a database, to be killed: it says where it listens. Its tool leaves a trace in the file `PAID` of each time
 * it is run. SIGTERM drains it. With `GATE`, its model writes its process id into the file `GATE.pid` when it begins, and says no more than one piece until the
 * file `GATE` exists.
 */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Pool } from 'pg'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { serve } from '../../../adapters/node/http/serve.ts'
import { toNodeHandler } from '../../../adapters/node/index.ts'
import { listenWith, postgresLiveSessions } from '../../../adapters/postgres/index.ts'
import { defineTool } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const { DATABASE_URL, PAID = '', LISTEN, PEERS, DELAY_MS = '5', CLOCK_MS = '0', TURNS = '6', LEASE_MS = '1000', GATE } = process.env
const turns = Number(TURNS)

// A machine whose clock goes wrong by so much.
const RightDate = Date
const wrongBy = Number(CLOCK_MS)
globalThis.Date = class extends RightDate {
  constructor(...args: [] | [number]) {
    super(args[0] ?? RightDate.now() + wrongBy)
  }
  static override now(): number {
    return RightDate.now() + wrongBy
  }
} as DateConstructor // Called without new, or with a text, nobody here does.

const payFor = (sessionId: string) =>
  defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: { type: 'object', properties: { turn: { type: 'number' } } },
    execute: ({ turn }) => {
      appendFileSync(PAID, `${sessionId} ${turn}\n`)
      return `paid ${turn}`
    },
  })

let pieces = 0
const passGate = async (path: string): Promise<void> => {
  if (pieces++ === 0) writeFileSync(`${path}.pid`, String(process.pid))
  else while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 20))
}

const model = scripted(
  ({ messages }) => {
    const turn = messages.filter(({ role }) => role === 'toolResult').length
    const text = ['turn ', `${turn} `, 'is ', 'on ', 'its ', 'way']
    return turn < turns ? { text, toolCalls: [{ id: `call-${turn}`, name: 'pay', arguments: { turn } }] } : { text: ['all ', 'done'] }
  },
  { delayMs: Number(DELAY_MS), ...(GATE !== undefined && { gate: () => passGate(GATE) }) },
)

// First: the others are told its address.
const inside = await serve((request) => sessions.forwarded(request), { port: 0 })
const pool = new Pool({ connectionString: DATABASE_URL, max: 6 })
pool.on('error', () => undefined)
const sessions = postgresLiveSessions({
  pool,
  agent: ({ sessionId }) => ({ model, tools: [payFor(sessionId)] }),
  leaseMs: Number(LEASE_MS),
  logger: process.env.LOG ? { warn: (code, details) => console.error(process.pid, code, JSON.stringify(details)) } : false,
  ...(PEERS === 'yes' && { peers: { url: inside.url, key: 'a key of processes that are tested' } }),
  ...(LISTEN === 'no' ? { pollMs: 50 } : { listen: listenWith(pool) }),
})
const server = createServer(toNodeHandler(createAgentApp({ sessions, authorize: 'loopbackOnly' }).fetch))
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`)
})
process.on('SIGTERM', async () => {
  await sessions.drain({ deadlineMs: 10_000 })
  await sessions.close()
  process.exit(0)
})
