/** A service on loopback that remembers exactly what it was asked, and the proxy in front of it, both over real HTTP. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { createModelProxy, type ModelProxyOptions, type Upstream } from '../../../../adapters/http/index.ts'
import type { CallReport } from '../../../../adapters/http/proxy/relayed-call.ts'
import { serve } from '../../../harness/serve.ts'

/** One request as it came in. */
export interface Seen {
  method: string
  /** Path and query, as on the wire. */
  target: string
  headers: IncomingMessage['headers']
  body: string
}

/** A running service. */
export interface FakeUpstream {
  url: string
  seen: Seen[]
  /** Connections whose answer has not ended. */
  open: Set<ServerResponse>
}

type Answering = (request: Seen, response: ServerResponse) => void | Promise<void>

/** A service that answers with `answer` until the test has ended. */
export async function fakeUpstream(answer: Answering): Promise<FakeUpstream> {
  const seen: Seen[] = []
  const open = new Set<ServerResponse>()
  const server = createServer(async (incoming, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    const body = (await buffer(incoming)).toString()
    const request = { method: incoming.method ?? '', target: incoming.url ?? '', headers: incoming.headers, body }
    seen.push(request)
    await answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${port}`, seen, open }
}

/** The key that must never leave the proxy. */
export const secret = 'sk-proxy-0123456789-abcdefghijklmnop'

/** A proxy with one upstream called `up`, everybody let in under the name in `x-user`, any model allowed, no budget: all to be overridden. */
export function proxyTo(upstream: Upstream, options: Partial<ModelProxyOptions> = {}) {
  const reports: CallReport[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const onCall = (report: CallReport): void => {
    reports.push(report)
    for (const { count, resolve } of waiting) if (reports.length >= count) resolve()
  }
  const app = createModelProxy({
    upstreams: { up: { apiKey: secret, ...upstream } },
    authorize: (c) => c.req.header('x-user') ?? 'somebody',
    allow: { up: ['*'] },
    budget: 'unlimited',
    onCall,
    ...options,
  })
  /** Resolves once so many calls are over. */
  const over = (count: number): Promise<void> =>
    reports.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve }))
  return { app, reports, over }
}

/** The proxy over HTTP, until the test has ended. */
export async function serving(app: { fetch: (request: Request) => Response | Promise<Response> }): Promise<string> {
  const server = await serve((request) => app.fetch(request))
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.url
}

/** A call of Chat Completions. */
export function chat(body: unknown = { model: 'm', messages: [] }, init: RequestInit = {}): RequestInit {
  const headers = { 'content-type': 'application/json', ...Object.fromEntries(new Headers(init.headers)) }
  return { method: 'POST', ...init, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }
}
