import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Pool } from 'pg'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { listenWith, postgresLiveSessions } from '../../../adapters/postgres/index.ts'
import { eventDecoder } from '../../../src/client.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"Go."}' }

/** How events reach the process that is asked. */
export type EventWay = 'notifications' | 'polling every 50 ms' | 'HTTP'

const key = crypto.randomUUID()

/** Milliseconds from each event of a run in another process until a client of this one has it. The clock of the machine is the same for both. */
export async function eventDelays(databaseUrl: string, way: EventWay): Promise<number[]> {
  const tenant = `load-${way}`
  const isListening = way !== 'polling every 50 ms'
  const isHttp = way === 'HTTP'
  const env = { ...process.env, DATABASE_URL: databaseUrl, TENANT: tenant, LISTEN: isListening ? 'yes' : 'no', ...(isHttp && { KEY: key }) }
  const holder = fork(fileURLToPath(new URL('holder.ts', import.meta.url)), { env })
  await once(holder, 'message')
  const pool = new Pool({ connectionString: databaseUrl })
  const sessions = postgresLiveSessions({
    pool,
    tenant,
    ...(isListening && { listen: listenWith(pool) }),
    // Nobody passes anything on to this one.
    ...(isHttp && { peers: { url: 'http://127.0.0.1:9', key } }),
    agent: () => ({ model: scripted(() => ({ text: '' })) }),
  })
  const app = createAgentApp({ sessions, authorize: () => true })
  try {
    // The other process has begun its session: what is asked here is passed on.
    const answer = await app.request('/sessions/s/runs', post)
    return await delaysIn(answer)
  } finally {
    await sessions.close()
    await pool.end()
    holder.kill()
    await once(holder, 'exit')
  }
}

async function delaysIn(answer: Response): Promise<number[]> {
  const decoder = eventDecoder()
  const text = new TextDecoder()
  const delays: number[] = []
  let rest = ''
  for await (const chunk of answer.body ?? []) {
    const now = Date.now()
    const frames = (rest + text.decode(chunk, { stream: true })).split('\n\n')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const data = frame.split('\n').find((line) => line.startsWith('data: '))
      if (data === undefined) continue
      const event = decoder.decode(data.slice('data: '.length))
      // What comes before is the way of the request.
      if (event.type === 'messageUpdate') delays.push(now - event.at)
    }
  }
  return delays
}
