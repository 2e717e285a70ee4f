import type { JsonObject } from '../../src/contract/json.ts'
import type { ClientCallRequestedEvent } from '../../src/contract/run/call-event.ts'
import type { TestRunner } from '../test-runner.ts'
import { type AskEndpoint, allEvents, type EndpointClient, eventsUntil, problemOf, responseText, textUntil } from './endpoint-client.ts'

const locate = { name: 'locate', description: 'Where the page is.', parameters: { type: 'object', properties: {} } }

/** Tests client tools and settings per message. */
export function pageTests({ it, expect }: TestRunner, clientOf: (kind: string) => EndpointClient, ask: AskEndpoint): void {
  /** Returns a client with a pending client tool call. */
  const asked = async (body: JsonObject = {}) => {
    const client = clientOf('page')
    const request = (await eventsUntil(await client.post('/runs', { prompt: 'Go.', ...body }), 'clientCallRequested')).at(-1)
    if (request?.type !== 'clientCallRequested') throw new Error('Expected a clientCallRequested event, but the stream ended without one.')
    return { client, request }
  }
  const send = (client: EndpointClient, { toolCallId, argumentsHash }: ClientCallRequestedEvent, body: JsonObject, path = '') =>
    client.post(`/client-calls/${encodeURIComponent(toolCallId)}${path}`, { argumentsHash, ...body })
  const statusOf = async (response: Promise<Response>) => {
    const { status, body } = await response
    await body?.cancel()
    return status
  }

  it('lets a client run a call and accepts one result from the client that claimed it', async () => {
    const { client, request } = await asked()
    const [mine, other] = [crypto.randomUUID(), crypto.randomUUID()]
    const claim = async (clientId: string) => (await (await send(client, request, { clientId }, '/claim')).json()).claimed
    expect([await claim(mine), await claim(other), await claim(mine)]).toEqual([true, false, true])
    expect(await statusOf(send(client, request, { output: 'light' }))).toBe(409)
    expect(await statusOf(send(client, request, { output: 'light', clientId: other }))).toBe(409)
    expect(await statusOf(send(client, request, { output: 'dark', clientId: mine }))).toBe(202)
    expect(await statusOf(send(client, request, { output: 'twice', clientId: mine }))).toBe(404)
    const events = await allEvents(await client.events(request.loopId))
    expect(responseText(events)).toBe('dark')
  })

  it('rejects invalid results, results for other calls and results from other users', async () => {
    const { client, request } = await asked()
    for (const body of [
      {},
      { output: 1, error: 'x' },
      { error: 1 },
      { output: 1, clientId: 'short' },
      { output: { content: [{ type: 'thinking' }] } },
    ])
      expect(await statusOf(send(client, request, body))).toBe(400)
    expect(await statusOf(send(client, request, { output: 'x'.repeat(300_000) }))).toBe(400)
    expect(await statusOf(send(client, request, { output: 1, argumentsHash: '0'.repeat(64) }))).toBe(409)
    expect(await statusOf(client.post(`/client-calls/${encodeURIComponent(request.toolCallId)}`, { output: 1 }))).toBe(400)
    expect(await statusOf(send(client, { ...request, toolCallId: 'other' }, { output: 1 }))).toBe(404)
    expect(await statusOf(send(client.as('bob'), request, { output: 1 }))).toBe(404)
    expect(await statusOf(send(client.as('nobody'), request, { output: 1 }))).toBe(401)
    const { clientCalls } = await (await client.get('/client-calls')).json()
    expect(clientCalls.map(({ toolCallId }: { toolCallId: string }) => toolCallId)).toEqual([request.toolCallId])
    expect(await statusOf(send(client, request, { error: 'no such theme' }))).toBe(202)
    expect(responseText(await allEvents(await client.events(request.loopId)))).toBe('no such theme')
  })

  it('accepts client-defined tools if their names are allowed', async () => {
    const { client, request } = await asked({ clientTools: [locate] })
    expect(request.toolName).toBe('locate')
    expect(await statusOf(send(client, request, { output: { city: 'Oslo' } }))).toBe(202)
    expect(responseText(await allEvents(await client.events(request.loopId)))).toBe('{"city":"Oslo"}')
    const refused = async (tool: JsonObject) => {
      const { status, code } = await problemOf(
        await clientOf('page').post('/runs', { prompt: 'Go.', clientTools: [{ ...locate, ...tool }] }),
      )
      return `${status} ${code}`
    }
    expect(await refused({ name: 'other' })).toBe('403 choiceNotAllowed')
    expect(await refused({ name: 'send_mail' })).toBe('403 choiceNotAllowed')
    expect(await refused({ description: 'x'.repeat(30_000) })).toBe('403 choiceNotAllowed')
    expect(await refused({ description: '' })).toBe('400 invalidBody')
    expect(await refused({ parameters: { type: 'object', magic: 1 } })).toBe('400 invalidBody')
    expect(await refused({ parameters: 1 })).toBe('400 invalidBody')
  })

  it('shares versioned, validated state with the clients of one user', async () => {
    const { client, request } = await asked()
    const problem = async (body: JsonObject) => {
      const { status, code } = await problemOf(await client.post('/state', body))
      return `${status} ${code}`
    }
    expect(await (await client.get('/state')).json()).toEqual({ version: 0, value: { notes: [] } })
    const changed = await client.post('/state', { ifVersion: 0, patch: [{ op: 'add', path: '/notes/-', value: 'first' }] })
    expect(await changed.json()).toEqual({ version: 1, value: { notes: ['first'] } })
    expect(await problem({ ifVersion: 0, value: { notes: ['late'] } })).toBe('409 stateConflict')
    expect(await problem({ ifVersion: 1, value: { notes: [1] } })).toBe('400 invalidState')
    expect(await problem({ ifVersion: 1, value: { notes: ['x'.repeat(300_000)] } })).toBe('400 invalidState')
    expect(await problem({ ifVersion: 1, value: [] })).toBe('400 invalidState')
    expect(await problem({ ifVersion: 1, patch: [{ op: 'add', path: '/__proto__/polluted', value: 1 }] })).toBe('400 invalidState')
    expect(await problem({ ifVersion: 1, patch: [{ op: 'add', path: 'notes', value: [] }] })).toBe('400 invalidState')
    expect(await problem({ ifVersion: 1, patch: 1 })).toBe('400 invalidState')
    for (const body of [{}, { ifVersion: 1 }, { value: {} }, { ifVersion: 1, value: {}, patch: [] }, { ifVersion: '1', value: {} }])
      expect(await problem(body)).toBe('400 invalidBody')
    expect(await statusOf(client.as('bob').get('/state'))).toBe(404)
    expect(await statusOf(client.as('bob').post('/state', { ifVersion: 1, value: { notes: [] } }))).toBe(404)
    expect(await statusOf(client.as('nobody').get('/state'))).toBe(401)
    expect(await statusOf(send(client, request, { output: 'dark' }))).toBe(202)
    const events = await allEvents(await client.events(request.loopId))
    expect(events.flatMap((event) => (event.type === 'sharedStateChanged' ? [[event.version, event.by]] : []))).toEqual([[1, 'client']])
    expect(await (await client.get('/state')).json()).toEqual({ version: 1, value: { notes: ['first'] } })
    // A connected client is notified immediately, even without a run.
    const followed = await client.get('/events')
    const key = { 'idempotency-key': crypto.randomUUID() }
    expect(await statusOf(client.post('/state', { ifVersion: 1, value: { notes: ['second'] } }, key))).toBe(200)
    expect((await textUntil(followed, '"version":2')).includes('event: sharedState\ndata: {"version":2}')).toBe(true)
    expect(await statusOf(client.post('/state', { ifVersion: 1, value: { notes: ['second'] } }, key))).toBe(200)
    expect(await (await client.get('/state')).json()).toEqual({ version: 2, value: { notes: ['second'] } })
    // A session without shared state receives no such events.
    expect(await statusOf(clientOf('talk').get('/state'))).toBe(404)
  })

  it('lets a client choose allowed settings and rejects others', async () => {
    const client = clientOf('page')
    const events = await allEvents(await client.post('/runs', { prompt: 'Go.', model: 'deep', thinking: 'high' }))
    expect(responseText(events)).toBe('A deep answer.')
    const [start] = events
    expect(start?.type === 'agentStart' && [start.configSnapshot.model, start.configSnapshot.thinkingLevel]).toEqual(['deep', 'high'])
    for (const body of [{ model: 'fast' }, { thinking: 'low' }, { tools: ['files'] }, { model: '__proto__' }, { model: 'constructor' }]) {
      const { status, code } = await problemOf(await client.post('/runs', { prompt: 'Go.', ...body }))
      expect([status, code]).toEqual([403, 'choiceNotAllowed'])
    }
    expect(await statusOf(client.post('/runs', { prompt: 'Go.', model: 1 }))).toBe(400)
    const { session } = await (await client.get('')).json()
    expect(session.loops.map(({ asked: { model } = { model: '' } }: { asked?: { model: string } }) => model)).toEqual(['deep'])
  })

  const json = (path: string, body: JsonObject) =>
    ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

  it('ends an AI SDK response for a client tool call and continues with the result', async () => {
    const { sessionId: id } = clientOf('page')
    const user = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }
    const first = await (await json('/chat', { id, trigger: 'submit-message', messages: [user] })).text()
    const [, toolCallId = ''] = /"tool-input-available","toolCallId":"([^"]+)"/.exec(first) ?? []
    expect(first.includes('"finishReason":"tool-calls"')).toBe(true)
    const part = { type: 'tool-set_theme', toolCallId, state: 'output-available', input: {}, output: 'dark' }
    const answer = { id: 'a1', role: 'assistant', parts: [part] }
    const rest = await (await json('/chat', { id, trigger: 'submit-message', messages: [user, answer] })).text()
    expect([rest.includes('tool-output-available'), rest.includes('"finishReason":"stop"')]).toEqual([true, true])
    // A resent request has no effect.
    const again = await (await json('/chat', { id, trigger: 'submit-message', messages: [user, answer] })).text()
    expect(again.includes('"finishReason":"stop"')).toBe(true)
    const forged = { ...answer, parts: [{ ...part, toolCallId: 'never-made' }] }
    expect((await problemOf(await json('/chat', { id, trigger: 'submit-message', messages: [user, forged] }))).status).toBe(404)
  })

  it('ends an AG-UI run for a client tool call and continues with the result', async () => {
    const { sessionId: threadId } = clientOf('page')
    const user = { id: 'u1', role: 'user', content: 'Go.' }
    const first = await (await json('/agui', { threadId, runId: 'r1', messages: [user], tools: [locate] })).text()
    const [, toolCallId = ''] = /"toolCallId":"([^"]+)"/.exec(first) ?? []
    expect([first.includes('"toolCallName":"locate"'), first.includes('"outcome":{"type":"success"}')]).toEqual([true, true])
    const tool = { id: 't1', role: 'tool', toolCallId, content: '{"city":"Oslo"}' }
    const messages = [user, { id: 'a1', role: 'assistant', toolCalls: [] }, tool]
    const rest = await (await json('/agui', { threadId, runId: 'r2', messages, tools: [locate] })).text()
    // The client already has the message with its own result.
    expect([rest.includes('TOOL_CALL_RESULT'), rest.includes('Oslo'), rest.includes('RUN_FINISHED')]).toEqual([false, true, true])
    const { code } = await problemOf(
      await json('/agui', { threadId, runId: 'r3', messages: [{ ...user, id: 'u2' }], tools: [{ ...locate, name: 'mine' }] }),
    )
    expect(code).toBe('choiceNotAllowed')
  })
}
