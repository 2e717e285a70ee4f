import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent as HttpAgent, request } from 'node:http'
import { fileURLToPath } from 'node:url'

/** What so many streams cost the process that serves them. */
export interface StreamCost {
  /** Of one core. */
  cpu: number
  /** Microseconds. */
  cpuPerFrame: number
  /** Of the event loop, 99th percentile. */
  lagMs: number
  /** Deltas that were sent. */
  perSecond: number
  rssMb: number
}

/** What the server tells when it is asked. */
export interface ServerFigures {
  cpuMs: number
  lagMs: number
  rssMb: number
}

/** Serves `runs` at once with our endpoint, then with a bare one. */
export async function streamCosts(runs: number): Promise<{ ours: StreamCost; bare: StreamCost }> {
  return { ours: await costOf('ours', runs), bare: await costOf('bare', runs) }
}

async function costOf(kind: 'ours' | 'bare', runs: number): Promise<StreamCost> {
  const server = fork(fileURLToPath(new URL('stream-server.ts', import.meta.url)), { env: { ...process.env, KIND: kind } })
  const agent = new HttpAgent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const ask = async (what: 'begin' | 'end'): Promise<ServerFigures> => {
    server.send(what)
    const [figures]: ServerFigures[] = await once(server, 'message')
    if (figures === undefined) throw new Error('The server has said nothing.')
    return figures
  }
  try {
    const [port]: number[] = await once(server, 'message')
    // What is compiled and opened once is not theirs.
    await Promise.all(Array.from({ length: 20 }, (_, at) => framesOf(agent, port ?? 0, `warm-${at}`)))
    await ask('begin')
    const from = performance.now()
    const frames = await Promise.all(Array.from({ length: runs }, (_, at) => framesOf(agent, port ?? 0, `s${at}`)))
    const seconds = (performance.now() - from) / 1000
    const { cpuMs, lagMs, rssMb } = await ask('end')
    const all = frames.reduce((sum, each) => sum + each, 0)
    return { cpu: cpuMs / 1000 / seconds, cpuPerFrame: (cpuMs * 1000) / all, lagMs, perSecond: all / seconds, rssMb }
  } finally {
    agent.destroy()
    server.kill()
    await once(server, 'exit')
  }
}

/** Begins a run, reads it to its end; resolves with the frames that came. Whatever a client would do with them is not done here: it costs this process. */
function framesOf(agent: HttpAgent, port: number, sessionId: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const asked = request({ agent, port, host: '127.0.0.1', method: 'POST', path: `/sessions/${sessionId}/runs`, headers }, (answer) => {
      let frames = 0
      answer.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf('\n\n'); at >= 0; at = chunk.indexOf('\n\n', at + 2)) frames += 1
      })
      answer.on('end', () => resolve(frames))
      answer.on('error', reject)
    })
    asked.on('error', reject)
    asked.end('{"prompt":"Go."}')
  })
}
