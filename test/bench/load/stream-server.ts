/** Streams an answer of 150 deltas at 50 per second to whoever asks: through our endpoint, or with Hono alone. Tells its figures to who has started it. */
import { createServer } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { toNodeHandler } from '../../../adapters/node/index.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { ServerFigures } from './streams.ts'

const deltas = 150
const everyMs = 20
const text = Array.from({ length: deltas }, (_, at) => `piece ${at} of it `)

function ours() {
  const model = scripted(() => ({ text }), { delayMs: everyMs })
  const limits = { maxSessions: 5000, maxSessionsPerCaller: 5000, maxOpenRuns: 5000 }
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model }), ...limits })
  return createAgentApp({ sessions, authorize: () => true, maxOpenStreams: 5000 })
}

function bare() {
  const app = new Hono()
  app.post('/sessions/:id/runs', (c) =>
    streamSSE(c, async (stream) => {
      for (const [at, piece] of text.entries()) {
        await stream.sleep(everyMs)
        await stream.writeSSE({ id: String(at), data: JSON.stringify({ delta: { delta: piece } }) })
      }
    }),
  )
  return app
}

const app = process.env.KIND === 'ours' ? ours() : bare()
const server = createServer(toNodeHandler(app.fetch))
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : 0)
})
const lag = monitorEventLoopDelay({ resolution: 10 })
let from = process.cpuUsage()
process.on('message', (what) => {
  if (what === 'begin') {
    from = process.cpuUsage()
    lag.reset()
    lag.enable()
  }
  const { user, system } = process.cpuUsage(from)
  const figures: ServerFigures = {
    cpuMs: (user + system) / 1000,
    // Its own period is in it.
    lagMs: Math.max(0, lag.percentile(99) / 1e6 - 10),
    rssMb: process.memoryUsage.rss() / 2 ** 20,
  }
  process.send?.(figures)
})
