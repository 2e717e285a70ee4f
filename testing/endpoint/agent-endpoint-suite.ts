import type { AgentEvent } from '../../src/contract/run/event.ts'
import type { TestRunner } from '../test-runner.ts'
import { accessTests } from './agent-endpoint-access.ts'
import { mediaTests } from './agent-endpoint-media.ts'
import { pageTests } from './agent-endpoint-pages.ts'
import { placeTests } from './agent-endpoint-places.ts'
import { protocolTests } from './agent-endpoint-protocols.ts'
import { type NoticesOf, noticeTests, scheduleTests } from './agent-endpoint-unattended.ts'
import { type AskEndpoint, allEvents, EndpointClient, eventsOf, eventsUntil, problemOf, responseText } from './endpoint-client.ts'

/** Options for `agentEndpointSuite`: the endpoint to test and the features that it supports. */
export interface AgentEndpointSuiteOptions {
  /** Name in the test report. */
  name: string
  /** Sends a request to the endpoint. Users are `Authorization: Bearer ada` and `Bearer bob`. `nobody` sends no header. */
  ask: AskEndpoint
  /** Notifications that the host received from `onWaiting` and `onEnd`. Default: not tested. */
  notices?: NoticesOf
  /** Whether the host supports scheduled prompts. Default: not tested. */
  schedules?: boolean
}

/**
 * Tests the routes of `createAgentApp` with `sessions`, for any host of `LiveSessions`. The host creates its agents with
 * `endpointAgent`.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function agentEndpointSuite(runner: TestRunner, { name, ask, notices, schedules = false }: AgentEndpointSuiteOptions): void {
  const clientOf = (kind: string) => new EndpointClient(ask, kind)
  runner.describe(`agent endpoint: ${name}`, () => {
    runTests(runner, clientOf)
    stopTests(runner, clientOf)
    approvalTests(runner, clientOf)
    treeTests(runner, clientOf)
    placeTests(runner, clientOf)
    mediaTests(runner, clientOf)
    accessTests(runner, clientOf, ask)
    protocolTests(runner, clientOf, ask)
    pageTests(runner, clientOf, ask)
    if (schedules) scheduleTests(runner, clientOf)
    if (notices !== undefined) noticeTests(runner, clientOf, notices)
  })
}

type ClientOf = (kind: string) => EndpointClient

const talk = 'one two three four'

function runTests({ it, expect }: TestRunner, clientOf: ClientOf): void {
  it('streams a run and replays it from any cursor', async () => {
    const client = clientOf('talk')
    const live = await allEvents(await client.prompt())
    expect(responseText(live)).toBe(talk)
    expect(live.at(-1)?.type).toBe('agentEnd')
    const { loopId = '' } = live[0] ?? {}
    expect(await allEvents(await client.events(loopId))).toEqual(live)
    for (const { seq } of live) {
      const rest = await allEvents(await client.events(loopId, seq))
      expect(rest).toEqual(live.filter((event) => event.seq > seq))
    }
  })

  it('continues a run after its client disconnects, and resumes from the cursor', async () => {
    const client = clientOf('slow')
    const before = await eventsUntil(await client.prompt(), 'messageUpdate')
    const last = before.at(-1)
    const after = await allEvents(await client.events(last?.loopId ?? '', last?.seq))
    expect(responseText([...before, ...after])).toBe(Array.from({ length: 150 }, (_, at) => `${at} `).join(''))
    expect(statusOf(after)).toBe('completed')
  })

  it('stores the conversation and hides the system prompt', async () => {
    const client = clientOf('talk')
    await allEvents(await client.prompt('First.'))
    await allEvents(await client.prompt('Second.'))
    const text = await (await client.get('')).text()
    const { session } = JSON.parse(text)
    expect(session.loops.map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed'])
    expect(text.includes('stays on the server')).toBe(false)
  })

  it('streams consecutive runs to a client that only listens', async () => {
    const client = clientOf('talk')
    const feed = await client.get('/events')
    const sentEvents = [...(await allEvents(await client.prompt('First.'))), ...(await allEvents(await client.prompt('Second.')))]
    const seen: AgentEvent[] = []
    for await (const event of eventsOf(feed)) {
      seen.push(event)
      if (seen.length === sentEvents.length) break
    }
    expect(seen).toEqual(sentEvents)
  })

  it('rejects concurrent runs, unknown runs and invalid cursors', async () => {
    const client = clientOf('slow')
    const [start] = await eventsUntil(await client.prompt(), 'messageUpdate')
    const path = `/runs/${start?.loopId}/events`
    expect(await problemOf(await client.prompt())).toEqual({ status: 409, code: 'busy', type: problemType })
    expect((await problemOf(await client.get('/runs/none/events'))).code).toBe('notFound')
    expect((await problemOf(await client.get(`${path}?after=x`))).code).toBe('invalidCursor')
    expect((await client.session()).runningLoopId).toBe(start?.loopId)
    await client.post('/stop')
  })

  it('starts a run and accepts a message once per idempotency key', async () => {
    const client = clientOf('slow')
    const once = { 'idempotency-key': crypto.randomUUID() }
    const twins = await Promise.all([client.prompt('Go.', once), client.prompt('Go.', once)])
    const [first, second] = await Promise.all(twins.map((answer) => eventsUntil(answer, 'messageUpdate')))
    expect(second?.[0]).toEqual(first?.[0])
    const message = first?.find((event) => event.type === 'messageEnd')
    expect(message?.type === 'messageEnd' && message.messageId).toBe(once['idempotency-key'])
    const next = { 'idempotency-key': crypto.randomUUID() }
    for (const key of [next, next]) expect((await client.post('/follow-up', { prompt: 'And then?' }, key)).status).toBe(202)
    const other = await problemOf(await client.post('/steer', { prompt: 'x', loopId: 'other' }))
    expect([other.status, other.code]).toEqual([409, 'notRunning'])
    expect((await problemOf(await client.prompt('x', { 'idempotency-key': 'a b' }))).code).toBe('invalidBody')
    await allEvents(await client.events(first?.[0]?.loopId ?? ''))
    await allEvents(await client.prompt('Go.', once))
    const { messages } = await (await client.get('/history')).json()
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    const rest = await (await client.get(`/history?after=${next['idempotency-key']}`)).json()
    expect(rest).toEqual({ messages: messages.slice(3), approvals: [], after: next['idempotency-key'], loopId: first?.[0]?.loopId })
  })

  it('rejects invalid bodies with the reason', async () => {
    const client = clientOf('talk')
    const bodies = [{}, { prompt: '' }, { prompt: [] }, { prompt: [{ role: 'assistant', content: 'I said so.' }] }, { prompt: 7 }]
    for (const body of bodies)
      expect(await problemOf(await client.post('/runs', body))).toEqual({ status: 400, code: 'invalidBody', type: problemType })
    expect((await client.get('')).status).toBe(404)
  })
}

function stopTests({ it, expect }: TestRunner, clientOf: ClientOf): void {
  it('stops a run on request, not when a client disconnects', async () => {
    const client = clientOf('slow')
    const [start] = await eventsUntil(await client.prompt(), 'messageUpdate')
    expect((await client.post('/stop')).status).toBe(204)
    expect(statusOf(await allEvents(await client.events(start?.loopId ?? '')))).toBe('aborted')
    expect((await clientOf('slow').post('/stop')).status).toBe(404)
  })

  it('returns receipts for follow-ups and rejects steering when idle', async () => {
    const client = clientOf('slow')
    const [start] = await eventsUntil(await client.prompt(), 'messageUpdate')
    const answer = await client.post('/follow-up', { prompt: 'And then?' })
    const receipt = await answer.json()
    expect([answer.status, receipt.status, receipt.loopId]).toEqual([202, 'queued', start?.loopId])
    const messageIds = (await allEvents(await client.events(start?.loopId ?? ''))).flatMap((event) =>
      event.type === 'messageEnd' && event.message.role === 'user' ? [event.messageId] : [],
    )
    expect(messageIds[1]).toBe(receipt.messageId)
    expect((await problemOf(await client.post('/steer', { prompt: 'Stop it.' }))).code).toBe('notRunning')
  })
}

function approvalTests({ it, expect }: TestRunner, clientOf: ClientOf): void {
  const asked = async (client: EndpointClient) => {
    const seen = await eventsUntil(await client.prompt(), 'approvalRequested')
    const request = seen.at(-1)
    if (request?.type !== 'approvalRequested') throw new Error('The run ended without an approval request.')
    return request
  }

  it('waits for an approval that matches the shown arguments', async () => {
    const client = clientOf('ask')
    const { toolCallId, argumentsHash, loopId, seq } = await asked(client)
    const { approvals } = await (await client.get('/approvals')).json()
    expect(approvals).toEqual([{ toolCallId, toolName: 'send_mail', args: { to: 'ada@example.org' }, argumentsHash }])
    const decideOn = (body: Parameters<EndpointClient['post']>[1]) => client.post(`/approvals/${toolCallId}`, body)
    expect((await problemOf(await decideOn({ approved: true }))).status).toBe(400)
    expect((await problemOf(await decideOn({ approved: 'yes', argumentsHash }))).status).toBe(400)
    expect((await problemOf(await decideOn({ approved: true, argumentsHash: 'f'.repeat(64) }))).code).toBe('argumentsChanged')
    expect((await problemOf(await client.post('/approvals/other', { approved: true, argumentsHash }))).code).toBe('notFound')
    expect((await decideOn({ approved: true, argumentsHash })).status).toBe(202)
    expect(responseText(await allEvents(await client.events(loopId, seq)))).toBe('Sent.')
    expect((await problemOf(await decideOn({ approved: true, argumentsHash }))).code).toBe('notFound')
  })

  it('accepts a denial', async () => {
    const client = clientOf('ask')
    const { toolCallId, loopId, seq } = await asked(client)
    expect((await client.post(`/approvals/${toolCallId}`, { approved: false, reason: 'Not to her.' })).status).toBe(202)
    expect(responseText(await allEvents(await client.events(loopId, seq)))).toBe('Not sent.')
  })
}

function treeTests({ it, expect }: TestRunner, clientOf: ClientOf): void {
  it('regenerates, edits and branches from an earlier loop', async () => {
    const client = clientOf('talk')
    const first = await allEvents(await client.prompt('First.'))
    const kinds = async (answer: Promise<Response>) =>
      (await allEvents(await answer)).flatMap((event) => (event.type === 'agentStart' ? [event.continuationKind.kind] : []))
    expect(await kinds(client.post('/regenerate', {}))).toEqual(['rerun'])
    const messageId = first.find((event) => event.type === 'messageStart' && event.message.role === 'user')
    const edit = { messageId: messageId?.type === 'messageStart' ? messageId.messageId : '', prompt: 'First, in other words.' }
    expect(await kinds(client.post('/edit', edit))).toEqual(['branch'])
    expect(await kinds(client.post('/branch', { loopId: first[0]?.loopId ?? '', prompt: 'Second.' }))).toEqual(['branch'])
    expect((await problemOf(await client.post('/edit', { messageId: 'none', prompt: 'x' }))).code).toBe('notFound')
    expect((await problemOf(await client.post('/branch', { loopId: 'none', prompt: 'x' }))).code).toBe('notFound')
    expect((await client.session()).session.loops.map(({ messages }) => messages.map(({ role }) => role))).toEqual([
      ['user', 'assistant'],
      ['assistant'],
      ['user', 'assistant'],
      ['user', 'assistant'],
    ])
  })

  it('exports a session and imports it into another', async () => {
    const client = clientOf('ask')
    await eventsUntil(await client.prompt(), 'approvalRequested')
    // Reading needs no approval.
    expect((await (await client.get('/export')).text()).includes('sessionStart')).toBe(true)
    await client.post('/stop')
    const talked = clientOf('talk')
    await allEvents(await talked.prompt())
    const text = await (await talked.get('/export')).text()
    const other = clientOf('talk')
    expect((await other.send('/import', text)).status).toBe(204)
    expect((await other.session()).session.loops).toEqual(
      (await talked.session()).session.loops.map((loop) => ({ ...loop, sessionId: other.sessionId })),
    )
    expect((await problemOf(await other.send('/import', text))).code).toBe('exists')
    expect((await other.send('/import?replace=true', text)).status).toBe(204)
    expect((await problemOf(await clientOf('talk').send('/import', text.slice(0, -20)))).code).toBe('invalidSession')
    expect(responseText(await allEvents(await other.prompt('Go on.')))).toBe(talk)
    expect((await (await other.get('/export')).text()).startsWith('{"format":"phi-core session"')).toBe(true)
  })

  it('renames, lists and deletes a session', async () => {
    const client = clientOf('talk')
    await allEvents(await client.prompt('First.'))
    for (const title of ['', ' ', '\u0007', 'x'.repeat(101), 7]) expect((await client.post('/title', { title })).status).toBe(400)
    expect((await client.post('/title', { title: 'About numbers' })).status).toBe(204)
    const listed = await (await client.list()).json()
    const own = listed.sessions.find(({ sessionId }: { sessionId: string }) => sessionId === client.sessionId)
    expect([own.title, own.loops, own.messages]).toEqual(['About numbers', 1, 2])
    expect((await client.delete()).status).toBe(204)
    expect([(await client.get('')).status, (await client.delete()).status]).toEqual([404, 404])
    expect(JSON.stringify(await (await client.list()).json()).includes(client.sessionId)).toBe(false)
  })
}

const problemType = 'application/problem+json'

function statusOf(events: readonly AgentEvent[]): string | undefined {
  const last = events.at(-1)
  return last?.type === 'agentEnd' ? last.status : undefined
}
