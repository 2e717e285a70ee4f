import type { IncomingMessage, ServerResponse } from 'node:http'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFunction, required } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { isHost } from '../../http/internal.ts'
import { bodyOf } from './incoming-body.ts'

/** A fetch handler, such as Hono's `app.fetch`. The second argument contains Node's request and response. */
export type FetchHandler = (request: Request, env: NodeEnv) => Response | Promise<Response>

/** The part of Node's `IncomingMessage` that is used here, so that these types do not depend on `@types/node`. */
export interface NodeIncoming {
  readonly rawHeaders: string[]
  readonly socket: object
}

/** The part of Node's `ServerResponse` that is used here. */
export interface NodeOutgoing {
  readonly headersSent: boolean
  flushHeaders(): void
}

/** Node's request and response, as passed to a fetch handler. */
export interface NodeEnv {
  incoming: NodeIncoming
  outgoing: NodeOutgoing
}

/** A request handler for `http.createServer`, Express and Fastify's raw request. Errors go to `next`, if Express passes it. */
export type NodeHandler = (incoming: NodeIncoming, outgoing: NodeOutgoing, next?: (error: unknown) => void) => void

/**
 * Converts a fetch handler, such as `createAgentApp().fetch`, to a handler for Node's HTTP server, Express and Fastify.
 *
 * **Contract**
 * - Sends each response chunk immediately, and reads the next one when the client has received it (backpressure).
 * - A disconnect aborts `request.signal` and cancels the response body.
 * - Mount it before body parsers such as `express.json()`. A body that was already read causes status 500.
 * - Responds with 400 if the request cannot become a `Request` (invalid `Host`, `TRACE`).
 * - Passes handler errors to `next`. Without `next`, responds with 500 and does not reveal the error.
 * - The path excludes the mount path, as in Express.
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
        "toNodeHandler needs Node's request and response. With Fastify, pass request.raw and reply.raw.",
      )
    }
    answer(handler, incoming, outgoing).catch((error: unknown) => {
      if (next !== undefined && !outgoing.headersSent) next(error)
      else if (outgoing.headersSent) outgoing.destroy()
      else refuse(outgoing, 500, 'Internal server error.')
    })
  }
}

// Duck typing, because the classes of HTTP/2 differ.
const isIncoming = (value: NodeIncoming): value is IncomingMessage => 'rawHeaders' in value && 'readableDidRead' in value
const isOutgoing = (value: NodeOutgoing): value is ServerResponse => 'writeHead' in value && 'write' in value

async function answer(handler: FetchHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const disconnected = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) disconnected.abort(new DOMException('The client disconnected.', 'AbortError'))
  })
  if (incoming.readableDidRead) {
    throw new Error('The body of this request was already read. Mount toNodeHandler before body parsers such as express.json().')
  }
  const request = requestOf(incoming, disconnected.signal)
  if (request === undefined) return refuse(outgoing, 400, 'Invalid request.')
  const response = await handler(request, { incoming, outgoing })
  // A client may still send data after the response. The data is discarded.
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
  // Flush the headers, so that the client knows immediately that the run has started.
  outgoing.flushHeaders()
}

/** Streams a body to the client. Resolves when it is sent, or when the client has disconnected. */
async function send(body: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = body.getReader()
  let taken: (() => void) | undefined
  const isClosed = () => outgoing.destroyed || outgoing.writableEnded
  outgoing.on('drain', () => taken?.())
  outgoing.once('close', () => {
    taken?.()
    // Cancelling also ends a pending read.
    reader.cancel(new DOMException('The client disconnected.', 'AbortError')).catch(() => undefined)
  })
  for (let next = await reader.read(); !next.done && !isClosed(); next = await reader.read()) {
    if (outgoing.write(next.value)) continue
    await new Promise<void>((resolve) => {
      taken = resolve
      if (isClosed()) resolve()
    })
  }
  outgoing.end()
}

function refuse(outgoing: ServerResponse, status: number, text: string): void {
  outgoing.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}
