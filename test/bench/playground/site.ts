/** The playground as it is built, served as a host would serve it, with a model beside it that answers at a steady pace. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { openai } from '../../harness/server/openai.ts'

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' }

/** Builds the playground into `folder`. */
export async function buildPlayground(folder: string): Promise<void> {
  await build({ root: 'playground', configFile: 'vite.config.ts', logLevel: 'warn', build: { outDir: folder } })
}

/** A file that was sent. */
export interface Sent {
  path: string
  /** With gzip, without headers. */
  bytes: number
}

/** A site that listens on loopback. */
export interface Site {
  url: string
  /** What was sent, in order. */
  sent: Sent[]
  close(): Promise<void>
}

/** What the model at `/v1` says to everything, in pieces. */
export interface PacedAnswer {
  pieces: readonly string[]
  perSecond: number
}

/** Serves what `buildPlayground` has put into `folder`. */
export async function serveSite(folder: string, answer?: PacedAnswer): Promise<Site> {
  const files = readFiles(folder)
  const sent: Sent[] = []
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (answer !== undefined && pathname === '/v1/chat/completions') return void stream(answer, response)
    const file = files.get(pathname)
    if (file === undefined) return void response.writeHead(404).end()
    sent.push({ path: pathname, bytes: file.body.length })
    response.writeHead(200, { 'content-type': file.type, 'content-encoding': 'gzip', 'cache-control': 'no-cache' }).end(file.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port, so it is no path
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, sent, close }
}

function readFiles(folder: string): Map<string, { type: string; body: Buffer }> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in types)
  const files = names.map((name): [string, { type: string; body: Buffer }] => {
    return [`/${name}`, { type: types[extname(name)] ?? '', body: gzipSync(readFileSync(join(folder, name))) }]
  })
  return new Map([...files, ...files.flatMap(([path, file]): typeof files => (path === '/index.html' ? [['/', file]] : []))])
}

/** Sends what is due by the clock: a timer that comes late does not slow the model down. */
function stream({ pieces, perSecond }: PacedAnswer, response: ServerResponse): void {
  const frames = openai.frames({ text: [...pieces] })
  const start = performance.now()
  let next = 0
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const timer = setInterval(() => {
    const due = Math.min(frames.length, Math.ceil(((performance.now() - start) / 1000) * perSecond))
    if (due > next) response.write(frames.slice(next, due).join(''))
    next = due
    if (next === frames.length) response.end()
  }, 1000 / perSecond)
  response.on('close', () => clearInterval(timer))
}
