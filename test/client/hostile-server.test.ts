import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RemoteSession, remoteSession } from '../../src/client/index.ts'

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
const longRefusal: Answer = (request, response) => {
  refusal(request, response)
  const more = (): void => {
    while (response.write(' '.repeat(64 * 1024)));
  }
  response.on('drain', more)
  more()
}

describe('a run on a server that is not what it should be ends with an error', () => {
  it.each<[string, string, Answer]>([
    ['a refusal without an end', 'stalled', refusal],
    ['a refusal that is too long', 'unexpectedAnswer', longRefusal],
    ['the same beginning with each connection', 'connectionLost', stream(start)],
    ['a delta for a place that no message has', 'unexpectedAnswer', stream(start, begun, hugeIndex)],
    ['a delta for half a place', 'unexpectedAnswer', stream(start, begun, { ...hugeIndex, delta: { contentIndex: 0.5 } } as never)],
    ['events of another session', 'unexpectedAnswer', stream({ ...start, sessionId: 'other' } as never)],
  ])('%s', async (_, code, answer) => {
    const { url, asked } = await serving(answer)
    const { status, error } = await sessionAt(url).prompt('Go.').result
    expect([status, error?.code]).toEqual(['error', code === 'stalled' ? 'connectionLost' : code])
    if (code === 'stalled') expect(error?.message).toContain('Nothing came')
    expect(asked.length).toBeLessThanOrEqual(5)
  })
})

it.each([
  ['entries that are none', { messages: [null], approvals: [] }],
  ['calls that are none', { messages: [], approvals: [5] }],
  ['queued prompts that are none', { messages: [], approvals: [], queued: ['x'] }],
])('a history with %s is refused as no session', async (_, value) => {
  const { url } = await serving(json(value))
  await expect(sessionAt(url).load()).rejects.toMatchObject({ code: 'unexpectedAnswer' })
})

it('a redirect is followed nowhere: whoever it leads to is told nothing', async () => {
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
