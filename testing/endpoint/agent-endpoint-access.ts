import type { JsonObject } from '../../src/contract/json.ts'
import type { TestRunner } from '../test-runner.ts'
import { type AskEndpoint, allEvents, type EndpointClient, eventsUntil, type User } from './endpoint-client.ts'

/** A request for a session, and the expected response if the session belongs to another user. A missing session gets the same response. */
interface Attempt {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  body?: JsonObject
  /** Default: 404. */
  foreign?: number
}

/** Every route for a session. `loopId` and `toolCallId` belong to another user. */
function attempts(sessionId: string, loopId: string, toolCallId: string): Attempt[] {
  const session = `/sessions/${sessionId}`
  const prompt = 'x'
  const decision = { approved: true, argumentsHash: 'f'.repeat(64) }
  const get = (path: string, foreign?: number): Attempt => ({ method: 'GET', path, ...(foreign !== undefined && { foreign }) })
  const post = (path: string, body: JsonObject = {}, foreign?: number): Attempt => ({
    method: 'POST',
    path,
    body,
    ...(foreign !== undefined && { foreign }),
  })
  return [
    get(session),
    get(`${session}/runs/${loopId}/events`),
    get(`${session}/runs/${loopId}/events?after=1`),
    get(`${session}/events?loopId=${loopId}`),
    get(`${session}/approvals`, 200),
    get(`${session}/inputs`, 200),
    post(`${session}/inputs/one`, { action: 'decline' }),
    get(`${session}/export`),
    get(`${session}/history`, 200),
    get(`${session}/history?loopId=${loopId}`),
    get(`${session}?events=false`),
    get(`${session}/blobs/${'0'.repeat(64)}`),
    get(`/chat/${sessionId}`, 200),
    get(`/chat/${sessionId}/stream`, 204),
    post(`${session}/continue`, {}, 409),
    ...['runs', 'send'].map((path) => post(`${session}/${path}`, { prompt, from: decodeURIComponent(loopId) })),
    ...['continue', 'regenerate', 'compact'].map((path) => post(`${session}/${path}`, { from: decodeURIComponent(loopId) })),
    { method: 'DELETE', path: `${session}/queue/${toolCallId}` },
    post(`${session}/stop`),
    post(`${session}/steer`, { prompt }, 409),
    post(`${session}/follow-up`, { prompt }, 409),
    post(`${session}/approvals/${toolCallId}`, decision),
    post(`${session}/approvals/${toolCallId}`, { approved: false }),
    post(`${session}/compact`),
    post(`${session}/regenerate`),
    post(`${session}/edit`, { messageId: 'm', prompt }),
    post(`${session}/branch`, { loopId, prompt }),
    post(`${session}/title`, { title: 'Mine' }),
    post(`/chat/${sessionId}/stop`),
    post(`/chat/${sessionId}/steer`, { prompt }, 409),
    { method: 'DELETE', path: session },
  ]
}

/** Requests that create a session. Any user may do this with an unused id. */
function beginnings(sessionId: string): Attempt[] {
  const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }
  return [
    { method: 'POST', path: `/sessions/${sessionId}/runs`, body: { prompt: 'Hi' } },
    { method: 'POST', path: '/chat', body: { id: sessionId, trigger: 'submit-message', messages: [message] } },
    { method: 'POST', path: '/agui', body: { threadId: sessionId, runId: 'r', messages: [{ id: 'm', role: 'user', content: 'Hi' }] } },
    { method: 'POST', path: `/sessions/${sessionId}/import`, body: {} },
    { method: 'GET', path: `/sessions/${sessionId}/events` },
    { method: 'GET', path: `/chat/${sessionId}/turns` },
    { method: 'GET', path: '/sessions' },
  ]
}

/** Tests access rules. Requests without a user get no access, and no user gets access to another user's data. */
export function accessTests({ it, expect }: TestRunner, clientOf: (kind: string) => EndpointClient, ask: AskEndpoint): void {
  const send = ({ method, path, body }: Attempt, user: User) =>
    ask(path, { method, ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }) }, user)
  const statusOf = async (attempt: Attempt, user: User) => {
    const { status, body } = await send(attempt, user)
    await body?.cancel()
    return `${attempt.method} ${attempt.path} ${status}`
  }

  it('rejects unauthenticated requests on every route', async () => {
    const { sessionId } = clientOf('talk')
    for (const attempt of [...attempts(sessionId, 'l', 't'), ...beginnings(sessionId)]) {
      expect(await statusOf(attempt, 'nobody')).toBe(`${attempt.method} ${attempt.path} 401`)
    }
  })

  it("hides a user's sessions from other users on every route", async () => {
    const ada = clientOf('ask')
    const request = (await eventsUntil(await ada.prompt(), 'approvalRequested')).at(-1)
    if (request?.type !== 'approvalRequested') throw new Error('The run ended without an approval request.')
    const before = JSON.stringify(await ada.session())
    for (const attempt of attempts(ada.sessionId, encodeURIComponent(request.loopId), encodeURIComponent(request.toolCallId))) {
      const answer = await send(attempt, 'bob')
      const text = await answer.text()
      expect(`${attempt.method} ${attempt.path} ${answer.status}`).toBe(`${attempt.method} ${attempt.path} ${attempt.foreign ?? 404}`)
      expect([attempt.path, /send_mail|ada@example|Go\./.test(text)]).toEqual([attempt.path, false])
    }
    expect(JSON.stringify(await (await ada.as('bob').list()).json()).includes(ada.sessionId)).toBe(false)
    expect(JSON.stringify(await ada.session())).toBe(before)
    await ada.post('/stop')
  })

  it('allows two users to have sessions with the same id', async () => {
    const ada = clientOf('talk')
    const bob = ada.as('bob')
    await allEvents(await ada.prompt('I am Ada.'))
    await allEvents(await bob.prompt('I am Bob.'))
    expect((await ada.delete()).status).toBe(204)
    const text = JSON.stringify(await bob.session())
    expect([text.includes('I am Bob.'), text.includes('I am Ada.'), (await ada.get('')).status]).toEqual([true, false, 404])
    await bob.delete()
  })

  it('does not resolve manipulated paths to another session', async () => {
    const ada = clientOf('talk')
    await allEvents(await ada.prompt('A secret.'))
    const own = clientOf('talk').sessionId
    const { sessionId } = ada
    const tricks = [
      `/sessions/${own}/../${sessionId}`,
      `/sessions/${own}/%2e%2e/${sessionId}`,
      `/sessions/${own}/%2e%2e%2f${sessionId}`,
      `/sessions/${own}/..%2f..%2fsessions%2f${sessionId}`,
      `/sessions/${own}%2f..%2f${sessionId}`,
      `/sessions//${sessionId}`,
      `/sessions/.%2f${sessionId}`,
      `/sessions/%2f${sessionId}`,
      `/sessions/ada%2f${sessionId}`,
      `/sessions/user:ada%2f${sessionId}`,
      `/sessions/${sessionId}%00`,
      `/sessions/${sessionId}%ff`,
      `/sessions/${sessionId}%20`,
      `/sessions/${own}/runs/..%2f..%2f${sessionId}/events`,
      `/chat/${own}%2f..%2f${sessionId}`,
      `/chat/..%2fsessions%2f${sessionId}`,
    ]
    for (const path of tricks) {
      const answer = await ask(path, {}, 'bob')
      const text = await answer.text()
      expect([path, [200, 400, 404].includes(answer.status), text.includes('A secret.')]).toEqual([path, true, false])
    }
  })

  it('rejects invalid session ids', async () => {
    for (const id of [
      '..',
      '.',
      'a/b',
      'a b',
      '',
      'é',
      '\u202e',
      'a\0',
      'x'.repeat(300),
      'user-AAAAAAAAAAAAAAAAAAAAAA.s',
      'a%2fb',
      '__proto__',
    ]) {
      const shown = JSON.stringify(id).slice(0, 20)
      const answers = await Promise.all([
        send({ method: 'POST', path: `/sessions/${encodeURIComponent(id)}/title`, body: { title: 't' } }, 'bob'),
        send({ method: 'POST', path: '/chat', body: { id, trigger: 'regenerate-message', messages: [] } }, 'bob'),
      ])
      for (const answer of answers) expect([shown, answer.status >= 400 && answer.status < 500]).toEqual([shown, true])
    }
  })

  it('accepts decisions for unusual tool-call ids', async () => {
    const client = clientOf('odd')
    const request = (await eventsUntil(await client.prompt(), 'approvalRequested')).at(-1)
    if (request?.type !== 'approvalRequested') throw new Error('The run ended without an approval request.')
    const { toolCallId, argumentsHash } = request
    const answer = await client.post(`/approvals/${encodeURIComponent(toolCallId)}`, { approved: true, argumentsHash })
    expect([toolCallId, answer.status]).toEqual([toolCallId, 202])
    await allEvents(await client.events(request.loopId))
  })

  it('rejects invalid ids, foreign origins and unknown routes', async () => {
    const statuses = await Promise.all(
      ['/sessions/..%2Fetc/runs', '/sessions/%00', `/sessions/${'x'.repeat(300)}`, '/sessions/a/nothing'].map(
        async (path) => (await ask(path)).status,
      ),
    )
    expect(statuses).toEqual([400, 400, 400, 404])
    const foreign = { headers: { origin: 'https://evil.example' } }
    // In a browser, only the browser itself can set this header.
    const isSettable = new Request('http://localhost/', foreign).headers.has('origin')
    if (isSettable) expect((await ask('/sessions', foreign)).status).toBe(403)
  })
}
