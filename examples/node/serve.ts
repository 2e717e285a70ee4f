import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'

/** What every web framework has: Hono's `app.fetch`, for one. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

/** A running server. Disposing it ends the answers that still stream. */
export interface Listening extends AsyncDisposable {
  url: string
}

/**
 * Serves a fetch handler with Node's own HTTP server, on loopback only. `port` 0 takes a free one.
 *
 * A client that goes away aborts `request.signal` and cancels the body; a slow one is waited for.
 */
export async function serve(handler: FetchHandler, port = 0): Promise<Listening> {
  const server = createServer((incoming, outgoing) => {
    answer(handler, incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return { url: `http://127.0.0.1:${bound}`, [Symbol.asyncDispose]: () => closeServer(server) }
}

async function answer(handler: FetchHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const response = await handler(toRequest(incoming, gone.signal))
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.flushHeaders()
  if (response.body === null) outgoing.end()
  else await pipeline(response.body, outgoing)
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const url = `http://${incoming.headers.host ?? '127.0.0.1'}${incoming.url ?? '/'}`
  const method = incoming.method ?? 'GET'
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) if (value !== undefined) headers.set(name, String(value))
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal })
  // Node's fetch takes any async iterable as a body; the type of `Request` is the browser's, which knows neither that nor `duplex`.
  const init = { method, headers, signal, body: incoming, duplex: 'half' }
  return new Request(url, init as unknown as RequestInit)
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
