import { once } from 'node:events'
import { createServer, Agent as KeepAlive, type RequestListener, request, type Server } from 'node:http'
import { connect } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAgentApp } from '../../../../adapters/http/index.ts'
import { type FetchHandler, toNodeHandler } from '../../../../adapters/node/index.ts'
import { Agent } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { allEvents, eventsOf } from '../../../../testing/endpoint/endpoint-client.ts'
import { patient } from '../../../support/patience.ts'

/** What serves a handler under `/api`. */
const mounts = {
  node: async (handler: FetchHandler) => toNodeHandler(handler),
  express: async (handler: FetchHandler) => {
    const app = express()
    app.use(toNodeHandler(handler))
    return app
  },
  fastify: async (handler: FetchHandler) => {
    const app = fastify()
    const serve = toNodeHandler(handler)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _body, done) => done(null))
    app.all('/*', (request, reply) => serve(request.raw, reply.hijack().raw))
    await app.ready()
    return app.routing.bind(app)
  },
} satisfies Record<string, (handler: FetchHandler) => Promise<RequestListener>>

async function listening(listener: RequestListener): Promise<{ url: string; server: Server }> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, server }
}

/** A model that says `one `, and the rest when it may. */
function waiting() {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let pieces = 0
  const model = scripted(() => ({ text: ['one ', 'two'] }), { gate: () => (pieces++ === 0 ? Promise.resolve() : opened) })
  const agents: Agent[] = []
  const agent = () => {
    const made = new Agent({ model })
    agents.push(made)
    return made
  }
  const app = createAgentApp({ agent, authorize: 'loopbackOnly', maxBodyBytes: 1000 })
  return { open, agents, handler: new Hono().route('/api', app).fetch }
}

const prompt = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"hi"}' }

describe.each(['node', 'express', 'fastify'] as const)('toNodeHandler in %s', (name) => {
  const serve = async (handler: FetchHandler) => listening(await mounts[name](handler))

  it('sends each chunk on arrival', async () => {
    const { open, handler } = waiting()
    const { url } = await serve(handler)
    let said = ''
    for await (const event of eventsOf(await fetch(`${url}/api/runs`, prompt))) {
      if (event.type !== 'messageUpdate' || event.delta.type !== 'text') continue
      said += event.delta.delta
      // Without this the rest would never come.
      if (said === 'one ') open()
    }
    expect(said).toBe('one two')
  })

  it('aborts the run when the client disconnects', async () => {
    const { agents, handler } = waiting()
    const { url } = await serve(handler)
    for await (const event of eventsOf(await fetch(`${url}/api/runs`, prompt))) if (event.type === 'messageUpdate') break
    await vi.waitFor(() => expect(agents[0]?.isStreaming).toBe(false), patient)
    expect(agents[0]?.messages.at(-1)).toMatchObject({ role: 'assistant', stopReason: 'aborted' })
  })

  it('sends error responses and keeps the connection open', async () => {
    const { open, handler } = waiting()
    open()
    const { url, server } = await serve(handler)
    const connections = vi.fn()
    server.on('connection', connections)
    const agent = new KeepAlive({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const ask = (body: string, headers: Record<string, string> = {}, path = '/api/runs') =>
      new Promise<number | undefined>((resolve, reject) => {
        const sent = request(url + path, { agent, method: 'POST', headers: { 'content-type': 'application/json', ...headers } })
        sent.once('error', reject)
        sent.once('response', (response) => response.resume().once('end', () => resolve(response.statusCode)))
        sent.end(body)
      })
    const large = JSON.stringify({ prompt: 'x'.repeat(3 << 20) })
    expect(await ask(large)).toBe(413)
    expect(await ask(large, { 'transfer-encoding': 'chunked' })).toBe(413)
    expect(await ask('{"prompt":')).toBe(400)
    expect(await ask('hi', { 'content-type': 'text/plain' })).toBe(415)
    expect(await ask('{}', {}, '/api/nothing')).toBe(404)
    expect(await ask(prompt.body)).toBe(200)
    expect(connections).toHaveBeenCalledTimes(1)
  })

  it('reads the response only as fast as the client', async () => {
    const piece = new Uint8Array(64 * 1024)
    let given = 0
    const cancelled = vi.fn()
    const endless = () =>
      new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            given += 1
            controller.enqueue(piece)
          },
          cancel: cancelled,
        },
        { highWaterMark: 0 },
      )
    const { url } = await serve(() => new Response(endless()))
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await once(socket, 'readable')
    // What the kernel holds for both ends is some MiB.
    let before = -1
    await vi.waitFor(
      () => {
        const isStill = given === before
        before = given
        expect(isStill).toBe(true)
      },
      { ...patient, interval: 200 },
    )
    expect(given * piece.length).toBeLessThan(32 << 20)
    socket.destroy()
    await vi.waitFor(() => expect(cancelled).toHaveBeenCalledTimes(1), patient)
  })

  it('forwards repeated headers, HEAD requests and responses without a body', async () => {
    const { url } = await serve((incoming) => {
      const headers = new Headers({ 'x-seen': incoming.headers.get('x-twice') ?? '' })
      headers.append('set-cookie', 'a=1')
      headers.append('set-cookie', 'b=2')
      return new Response(incoming.method === 'HEAD' ? 'never sent' : null, { status: incoming.method === 'HEAD' ? 200 : 204, headers })
    })
    const answer = await fetch(url, {
      headers: [
        ['x-twice', '1'],
        ['x-twice', '2'],
      ],
    })
    expect([answer.status, answer.headers.getSetCookie(), answer.headers.get('x-seen')]).toEqual([204, ['a=1', 'b=2'], '1, 2'])
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(200)
  })

  it('rejects invalid hosts and does not read a host from the path', async () => {
    const seen: string[] = []
    const { url } = await serve((incoming) => {
      seen.push(incoming.url)
      return new Response('ok')
    })
    const raw = async (head: string): Promise<string> => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.end(`${head}\r\nconnection: close\r\n\r\n`)
      let text = ''
      for await (const chunk of socket) text += chunk
      return text.split('\r\n')[0] ?? ''
    }
    expect(await raw('GET //evil.example/x HTTP/1.1\r\nhost: localhost')).toContain('200')
    for (const head of [
      'GET /real HTTP/1.1\r\nhost: localhost/sessions/x?',
      'GET /real HTTP/1.1\r\nhost: user@localhost',
      'GET http://evil.example/x HTTP/1.1\r\nhost: localhost',
      'TRACE / HTTP/1.1\r\nhost: localhost',
    ])
      expect([head, /40[045]/.test(await raw(head))]).toEqual([head, true])
    expect(seen).toEqual(['http://localhost//evil.example/x'])
  })
})

it('hides the message of a thrown error and passes the error to Express', async () => {
  const thrower: FetchHandler = () => {
    throw new Error('hunter2')
  }
  const bare = await listening(toNodeHandler(thrower))
  const answer = await fetch(bare.url)
  expect([answer.status, (await answer.text()).includes('hunter2')]).toEqual([500, false])
  const told = vi.fn()
  const app = express()
  app.use(toNodeHandler(thrower))
  app.use((error: Error, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    told(error.message)
    response.sendStatus(418)
  })
  expect([(await fetch((await listening(app)).url)).status, told.mock.calls]).toEqual([418, [['hunter2']]])
})

it('rejects a body that another middleware already read and explains a fix', async () => {
  const told = vi.fn()
  const app = express()
  app.use(express.json())
  app.use(toNodeHandler(waiting().handler))
  app.use((error: Error, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    told(error.message)
    response.sendStatus(500)
  })
  expect((await fetch(`${(await listening(app)).url}/api/runs`, prompt)).status).toBe(500)
  expect(told.mock.calls[0]?.[0]).toContain('before body parsers')
})

it("closes the connection if a client's body never arrives", async () => {
  const app = createAgentApp({ agent: () => new Agent({ model: scripted([]) }), authorize: 'loopbackOnly', bodyTimeoutMs: 20 })
  const { url } = await listening(toNodeHandler(app.fetch))
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  const head = ['POST /runs HTTP/1.1', 'host: 127.0.0.1', 'content-type: application/json', 'content-length: 100000', '', '{']
  socket.write(head.join('\r\n'))
  const drip = setInterval(() => socket.write(' '), 5)
  onTestFinished(() => clearInterval(drip))
  let said = ''
  socket.on('data', (bytes) => {
    said += String(bytes)
  })
  // What it sends too late may fail first; `once` would reject with that.
  await new Promise((done) => socket.once('close', done))
  expect(said).toContain('408')
})

it('stops waiting when a client disconnects during its body', async () => {
  const failed = vi.fn()
  const { url } = await listening(
    toNodeHandler((incoming) =>
      incoming.text().then(
        () => new Response('read'),
        (error: Error) => {
          failed(error.name)
          return new Response('failed')
        },
      ),
    ),
  )
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nhalf')
  await once(socket, 'connect')
  socket.destroy()
  await vi.waitFor(() => expect(failed).toHaveBeenCalledWith('AbortError'), patient)
})

it('serves concurrent requests, and sequential ones on each connection', async () => {
  const model = scripted(() => ({ text: 'hello' }))
  const app = createAgentApp({ agent: () => new Agent({ model }), authorize: 'loopbackOnly' })
  const { url } = await listening(toNodeHandler(app.fetch))
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(Array.from({ length: 40 }, () => fetch(`${url}/runs`, prompt)))
    const ends = await Promise.all(answers.map(async (answer) => (await allEvents(answer)).at(-1)?.type))
    expect(new Set(ends)).toEqual(new Set(['agentEnd']))
  }
})
