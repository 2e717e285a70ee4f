import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RemoteSession, remoteSession } from '../../src/client.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

const event = (more: object) => ({ runId: 'r', seq: 1, at: 1, sessionId: 's', loopId: 'l', ...more })
const start = event({ type: 'agentStart', agentId: 'a', configSnapshot: {} })
const frame = (told: { seq: number }) => `id: ${told.seq}\ndata: ${JSON.stringify(told)}\n\n`
const stream =
  (...told: { seq: number }[]): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(told.map(frame).join(''))
  }
const json =
  (value: unknown): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }

/** Where a server listens that answers so, and what it was asked. */
async function serving(answer: Answer): Promise<{ url: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request.resume())
    answer(request, response)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, asked }
}

function sessionAt(url: string): RemoteSession {
  const session = remoteSession({
    ...{ url, sessionId: 's', headers: { 'x-api-key': 'secret' }, logger: false },
    reconnect: { maxRetries: 2, initialDelayMs: 1, maxDelayMs: 1, idleTimeoutMs: 200 },
  })
  onTestFinished(() => session.close())
  return session
}

const hugeIndex = event({ type: 'messageUpdate', messageId: 'm', seq: 3, delta: { type: 'text', contentIndex: 4e9, delta: 'x' } })
const begun = event({ type: 'messageStart', messageId: 'm', seq: 2, message: { id: 'm', role: 'assistant', content: [] } })
const refusal: Answer = (_, response) => {
  response.writeHead(400, { 'content-type': 'application/problem+json' }).write('{"code":')
}
const comments: Answer = (request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const timer = setInterval(() => response.write(':\n\n'), 20)
  request.on('close', () => clearInterval(timer))
  response.on('close', () => clearInterval(timer))
}
const longRefusal: Answer = (request, response) => {
  refusal(request, response)
  const more = (): void => {
    while (response.write(' '.repeat(64 * 1024)));
  }
  response.on('drain', more)
  more()
}

describe('a run on a faulty server', () => {
  it.each<[string, string, Answer]>([
    ['an endless error response', 'stalled', refusal],
    ['only comments', 'stalled', comments],
    ['an oversized error response', 'unexpectedAnswer', longRefusal],
    ['the same start at each connection', 'connectionLost', stream(start)],
    ['a delta with an unknown block index', 'unexpectedAnswer', stream(start, begun, hugeIndex)],
    [
      'a delta with a fractional block index',
      'unexpectedAnswer',
      stream(start, begun, { ...hugeIndex, delta: { contentIndex: 0.5 } } as never),
    ],
    ['events of another session', 'unexpectedAnswer', stream({ ...start, sessionId: 'other' } as never)],
  ])('ends with an error: %s', async (_, code, answer) => {
    const { url, asked } = await serving(answer)
    const { status, error } = await sessionAt(url).prompt('Go.').result
    expect([status, error?.code]).toEqual(['error', code === 'stalled' ? 'connectionLost' : code])
    if (code === 'stalled') expect(error?.message).toContain('was silent')
    expect(asked.length).toBeLessThanOrEqual(5)
  })
})

it.each([
  ['invalid entries', { messages: [null], approvals: [] }],
  ['invalid calls', { messages: [], approvals: [5] }],
  ['invalid queued prompts', { messages: [], approvals: [], queued: ['x'] }],
])('rejects a history with %s', async (_, value) => {
  const { url } = await serving(json(value))
  await expect(sessionAt(url).load()).rejects.toMatchObject({ code: 'unexpectedAnswer' })
})

it('waits for a silent run while the server sends keep-alives', async () => {
  const text = { type: 'text', text: 'Done.' }
  const answer = event({ type: 'messageEnd', seq: 2, messageId: 'm', message: { id: 'm', role: 'assistant', content: [text] } })
  const end = event({ type: 'agentEnd', seq: 3, status: 'completed', messages: [], usage: {} })
  const { url } = await serving((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frame(start))
    let left = 20
    const timer = setInterval(() => {
      if (left-- > 0) return response.write(':\n\n')
      clearInterval(timer)
      return response.end(frame(answer) + frame(end))
    }, 20)
    response.on('close', () => clearInterval(timer))
  })
  expect((await sessionAt(url).prompt('Go.').result).status).toBe('completed')
})

it('omits header values and URLs from errors', async () => {
  const secret = 'sk-0123456789'
  const refusedAt = async (options: object) => {
    try {
      const session = remoteSession({ url: 'http://127.0.0.1:1', sessionId: 's', logger: false, ...options })
      const { error } = await session.prompt('Go.').result
      return error
    } catch (error) {
      return error
    }
  }
  const wrong = [
    { headers: { authorization: `Bearer ${secret}\n` } },
    { headers: async () => ({ authorization: `Bearer ${secret}\n` }) },
    { headers: async () => secret },
    { url: `http://me:${secret}@127.0.0.1:1` },
    { url: '/agent' },
  ]
  for (const options of wrong) {
    const error = await refusedAt(options)
    expect(error).toMatchObject({ code: 'invalidOption' })
    expect(JSON.stringify([error, String(error)])).not.toContain(secret)
  }
})

it('logs no warning when a session is closed', async () => {
  const { url } = await serving((_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n'))
  const warned: string[] = []
  const session = remoteSession({ url, sessionId: 's', logger: { warn: (event) => void warned.push(event) } })
  session.subscribe(() => undefined)
  const { result } = session.prompt('Go.')
  await new Promise((resolve) => setImmediate(resolve))
  session.close()
  expect((await result).error?.code).toBe('closed')
  await new Promise((resolve) => setImmediate(resolve))
  expect(warned).toEqual([])
})

it('refuses to follow redirects', async () => {
  const elsewhere = await serving(stream(start))
  const { url, asked } = await serving((_, response) => {
    response.writeHead(307, { location: elsewhere.url }).end()
  })
  const session = sessionAt(url)
  const { error } = await session.prompt('Go.').result
  expect([error?.code, error?.message]).toEqual(['unexpectedAnswer', expect.stringContaining('redirect')])
  await expect(session.load()).rejects.toMatchObject({ code: 'unexpectedAnswer' })
  expect([asked.length, elsewhere.asked.length]).toEqual([2, 0])
})
