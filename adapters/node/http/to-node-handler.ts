import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFunction, required } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { isHost } from '../../http/internal.ts'
import { bodyOf } from './incoming-body.ts'

/** What every web framework has: Hono's `app.fetch`, for one. The second argument tells it the socket of the client. */
export type FetchHandler = (request: Request, env: NodeEnv) => Response | Promise<Response>

/** Node's `IncomingMessage`, as far as it is named here: this package's types need none of Node's. */
export interface NodeIncoming {
  readonly rawHeaders: string[]
  readonly socket: object
}

/** Node's `ServerResponse`, as far as it is named here. */
export interface NodeOutgoing {
  readonly headersSent: boolean
  flushHeaders(): void
}

/** The two ends of Node's server, as a fetch handler gets them. */
export interface NodeEnv {
  incoming: NodeIncoming
  outgoing: NodeOutgoing
}

/** What `http.createServer`, Express and Fastify's raw request take. `next` is Express': it is told what the handler throws. */
export type NodeHandler = (incoming: NodeIncoming, outgoing: NodeOutgoing, next?: (error: unknown) => void) => void

/**
 * A fetch handler, such as the `fetch` of `createAgentApp`, as a handler of Node's own HTTP server, of Express and of Fastify.
 *
 * **Contract**
 * - A piece of the answer leaves when it is there; the next is asked for once the client has taken it.
 * - A client that goes away aborts `request.signal` and cancels the body of the answer.
 * - Mount it before anything that reads bodies, such as `express.json()`: what was read before is not there any more, and is answered with 500.
 * - A request that no `Request` can be (a `Host` that is none, `TRACE`) is answered with 400. An error of the handler goes to `next`, and is
 *   otherwise answered with 500, without saying what it was.
 * - The path is what is left of it behind the mount, as in Express.
 *
 * Source: docs/guides/serve-over-http.md
 *
 * @example
 * ```ts
 * createServer(toNodeHandler(app.fetch)).listen(3000)
 * ```
 */
export function toNodeHandler(handler: FetchHandler): NodeHandler {
  checkOptions(handler, required(aFunction), 'handler')
  return (incoming, outgoing, next) => {
    if (!isIncoming(incoming) || !isOutgoing(outgoing)) {
      throw new ConfigError(
        'invalidOption',
        'toNodeHandler takes the request and the response of a server of Node: of Fastify the raw ones.',
      )
    }
    answer(handler, incoming, outgoing).catch((error: unknown) => {
      if (next !== undefined && !outgoing.headersSent) next(error)
      else if (outgoing.headersSent) outgoing.destroy()
      else refuse(outgoing, 500, 'The server could not answer.')
    })
  }
}

// By what they can do: those of HTTP/2 are of other classes.
const isIncoming = (value: NodeIncoming): value is IncomingMessage => 'rawHeaders' in value && 'readableDidRead' in value
const isOutgoing = (value: NodeOutgoing): value is ServerResponse => 'writeHead' in value && 'write' in value

async function answer(handler: FetchHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort(new DOMException('The client went away.', 'AbortError'))
  })
  if (incoming.readableDidRead) {
    throw new Error('The body of this request was read before. Mount toNodeHandler before whatever reads bodies, such as express.json().')
  }
  const request = requestOf(incoming, gone.signal)
  if (request === undefined) return refuse(outgoing, 400, 'This is no request that can be answered.')
  const response = await handler(request, { incoming, outgoing })
  // Whoever was too slow may go on sending: nothing of it is taken any more.
  if (response.status === 408 && incoming.httpVersionMajor === 1) outgoing.setHeader('connection', 'close')
  writeHead(response, outgoing)
  if (response.body === null) outgoing.end()
  else if (incoming.method === 'HEAD') {
    outgoing.end()
    await response.body.cancel()
  } else await send(response.body, outgoing)
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', url = '/', headers, socket, rawHeaders } = incoming
  const host = headers.host ?? '127.0.0.1'
  if (!isHost(host) || !url.startsWith('/')) return undefined
  const sent = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (!name.startsWith(':')) sent.append(name, rawHeaders[at + 1] ?? '')
  }
  const body = method === 'GET' || method === 'HEAD' ? {} : { body: bodyOf(incoming), duplex: 'half' }
  try {
    return new Request(`${'encrypted' in socket ? 'https' : 'http'}://${host}${url}`, { method, headers: sent, signal, ...body })
  } catch {
    return undefined
  }
}

function writeHead({ status, headers }: Response, outgoing: ServerResponse): void {
  for (const [name, value] of headers) if (name !== 'set-cookie') outgoing.setHeader(name, value)
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies)
  outgoing.writeHead(status)
  // A client that waits for a run learns at once that it has begun.
  outgoing.flushHeaders()
}

/** Sends a body as it comes. Resolves when the client has it, or has gone. */
async function send(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader()
  let taken: (() => void) | undefined
  const isGone = () => outgoing.destroyed || outgoing.writableEnded
  outgoing.on('drain', () => taken?.())
  outgoing.once('close', () => {
    taken?.()
    // Also a read that waits ends then.
    reader.cancel(new DOMException('The client went away.', 'AbortError')).catch(() => undefined)
  })
  for (let next = await reader.read(); !next.done && !isGone(); next = await reader.read()) {
    if (outgoing.write(next.value)) continue
    await new Promise<void>((resolve) => {
      taken = resolve
      if (isGone()) resolve()
    })
  }
  outgoing.end()
}

function refuse(outgoing: ServerResponse, status: number, text: string): void {
  outgoing.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}
