import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { argumentsHash } from '../../../src/base/hash.ts'
import { remoteSession } from '../../../src/client.ts'
import { defineTool, type JsonObject, memorySessionStore, type PendingApproval } from '../../../src/index.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'

const shown = { to: 'ada', copies: 1 }
const changed = { to: 'bob', copies: 2 }
const parameters = {
  type: 'object' as const,
  properties: { to: { type: 'string' as const }, copies: { type: 'integer' as const } },
  required: ['to'],
}

const script: Script = ({ messages }) =>
  messages.at(-1)?.role === 'toolResult' ? { text: 'Done.' } : { toolCalls: [{ id: 'c1', name: 'send', arguments: shown }] }

/** A server with a run whose calls wait for an approval. */
async function waiting({ isPaused = false, play = script, calls = 1 } = {}) {
  const ran: JsonObject[] = []
  const send = defineTool({
    name: 'send',
    description: 'Sends.',
    parameters,
    needsApproval: true,
    execute: (args) => `sent ${ran.push(args)}`,
  })
  const sessions = memoryLiveSessions({
    store: memorySessionStore(),
    agent: () => ({ model: scripted(play), tools: [send], ...(isPaused && { approvalTimeoutMs: 1 }) }),
    logger: false,
  })
  const app = createAgentApp({ sessions, authorize: () => 'acme' })
  const request = async (method: string, path: string, body?: object | string) =>
    app.request(`/sessions/s${path}`, {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    })
  await request('POST', '/runs', { prompt: 'Send it.' })
  const approvals = async (): Promise<PendingApproval[]> => (await (await request('GET', '/approvals')).json()).approvals
  await expect.poll(approvals).toHaveLength(calls)
  const decide = async (body: object | string) => {
    const response = await request('POST', '/approvals/c1', body)
    return { status: response.status, ...(await response.json()) }
  }
  return { app, ran, approvals, decide }
}

const approval = { approved: true, argumentsHash: argumentsHash(shown) }

describe('POST …/approvals/:toolCallId with arguments', () => {
  it.each([false, true])('runs the call with the edited arguments (short approval timeout: %s)', async (isPaused) => {
    const { decide, ran, approvals } = await waiting({ isPaused })
    expect((await decide({ ...approval, arguments: changed })).status).toBe(202)
    await expect.poll(() => ran).toEqual([changed])
    expect(await approvals()).toEqual([])
  })

  it.each<[string, object | string, string]>([
    ['a list', { ...approval, arguments: [1] }, 'arguments must be a JSON object'],
    ['a text', { ...approval, arguments: 'all' }, 'arguments must be a JSON object'],
    ['null', { ...approval, arguments: null }, 'arguments must be a JSON object'],
    ['arguments of a denial', { approved: false, arguments: changed }, 'A denial cannot contain arguments'],
    ['a name of the person', { ...approval, arguments: changed, by: 'mallory' }, '"by"'],
    ['a wrong tellModel', { ...approval, arguments: changed, tellModel: 'no' }, 'tellModel must be'],
    ['a missing property', { ...approval, arguments: { copies: 1 } }, 'to'],
    ['a wrong type', { ...approval, arguments: { to: 'a', copies: 'many' } }, 'copies'],
    [
      'a number beyond the range',
      `{"approved":true,"argumentsHash":"${approval.argumentsHash}","arguments":{"to":"a","copies":1e999}}`,
      '',
    ],
    ['a missing hash', { approved: true, arguments: changed }, 'argumentsHash'],
  ])('rejects %s and keeps the call pending', async (_, body, sentence) => {
    const { decide, approvals, ran } = await waiting()
    expect(await decide(body)).toMatchObject({ status: 400, code: 'invalidBody', detail: expect.stringContaining(sentence) })
    expect([ran, (await approvals()).length]).toEqual([[], 1])
    expect((await decide(approval)).status).toBe(202)
  })

  it('rejects the hash of other arguments, and a call that was already decided', async () => {
    const { decide, ran } = await waiting()
    expect(await decide({ approved: true, argumentsHash: argumentsHash(changed), arguments: changed })).toMatchObject({
      status: 409,
      code: 'argumentsChanged',
    })
    expect((await decide({ approved: false })).status).toBe(202)
    expect(await decide({ ...approval, arguments: changed })).toMatchObject({ status: 404, code: 'notFound' })
    expect(ran).toEqual([])
  })

  it('accepts only the first of two concurrent decisions', async () => {
    const { decide, ran } = await waiting()
    const answers = await Promise.all([decide({ ...approval, arguments: changed }), decide({ ...approval, arguments: { to: 'eve' } })])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 404])
    await expect.poll(() => ran).toHaveLength(1)
  })

  it('keeps an argument named __proto__', async () => {
    const { decide, ran } = await waiting()
    const text = `{"approved":true,"argumentsHash":"${approval.argumentsHash}","arguments":{"to":"a","__proto__":{"copies":3}}}`
    expect((await decide(text)).status).toBe(202)
    await expect.poll(() => JSON.stringify(ran)).toBe('[{"to":"a","__proto__":{"copies":3}}]')
  })
})

describe('a remote run', () => {
  const connected = async () => {
    const server = await waiting()
    const fetch = async (input: RequestInfo | URL, init?: RequestInit) => server.app.request(new Request(input, init))
    const session = remoteSession({ url: 'http://phi.test', sessionId: 's', fetch, logger: false })
    await session.load()
    await expect.poll(() => session.currentRun?.pendingApprovals().length).toBe(1)
    const run = session.currentRun
    if (run === undefined) throw new Error('No run.')
    const [request] = run.pendingApprovals()
    if (request === undefined) throw new Error('No request.')
    return { ...server, session, run, request }
  }

  it('sends edited arguments and reports who edited them', async () => {
    const { run, request, ran } = await connected()
    await run.approve(request, { arguments: changed })
    const resolved = []
    for await (const event of run) if (event.type === 'approvalResolved') resolved.push(event)
    expect(ran).toEqual([changed])
    const edited = { arguments: changed, argumentsHash: argumentsHash(changed), by: 'acme' }
    expect(resolved).toMatchObject([{ approved: true, by: 'acme', edited }])
    expect((await run.result).messages).toContainEqual(expect.objectContaining({ role: 'toolResult', edited }))
  })

  it('rejects invalid edits and keeps the call pending', async () => {
    const { run, session, request, ran } = await connected()
    for (const of of [run, session]) {
      await expect(of.approve(request, { arguments: { copies: 1 } })).rejects.toMatchObject({ code: 'invalidBody' })
      await expect(of.approve(request, { arguments: { to: 'a', copies: Number.NaN } })).rejects.toMatchObject({ code: 'invalidOption' })
    }
    expect(run.pendingApprovals()).toHaveLength(1)
    await session.approve(request, { arguments: changed, tellModel: false })
    await run.result
    expect(ran).toEqual([changed])
  })
})

describe('edited arguments in other protocols', () => {
  it('accepts edits from an unmodified useChat, in the request options of its approval', async () => {
    const { app, ran } = await waiting()
    const fetch: typeof globalThis.fetch = async (input, init) => app.request(new Request(input, init))
    const messages = (await (await app.request('/chat/s')).json()).messages
    const chat = new Chat({
      id: 's',
      messages,
      transport: new DefaultChatTransport({ api: 'http://phi.test/chat', fetch }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    })
    await chat.resumeStream()
    const partOf = () => chat.lastMessage?.parts.find((part) => part.type === 'dynamic-tool')
    const id = partOf()?.approval?.id ?? ''
    await chat.addToolApprovalResponse({ id, approved: true, options: { body: { edits: { [id]: changed } } } })
    await expect.poll(() => partOf()?.state).toBe('output-available')
    expect(chat.error).toBeUndefined()
    expect([ran, partOf()?.input]).toEqual([[changed], changed])
    await expect.poll(() => chat.status).toBe('ready')
    const stored = (await (await app.request('/chat/s')).json()).messages
    expect(stored.at(-1).parts).toContainEqual(expect.objectContaining({ type: 'dynamic-tool', input: changed }))
  })

  it('accepts edits of several calls from an unmodified useChat, in the body of its transport', async () => {
    const ids = ['c1', 'c2']
    const play: Script = ({ messages }) =>
      messages.at(-1)?.role === 'toolResult' ? { text: 'Done.' } : { toolCalls: ids.map((id) => ({ id, name: 'send', arguments: shown })) }
    const { app, ran } = await waiting({ play, calls: 2 })
    const fetch: typeof globalThis.fetch = async (input, init) => app.request(new Request(input, init))
    const edits: Record<string, JsonObject> = {}
    const chat = new Chat({
      id: 's',
      messages: (await (await app.request('/chat/s')).json()).messages,
      transport: new DefaultChatTransport({ api: 'http://phi.test/chat', fetch, body: () => ({ edits }) }),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    })
    await chat.resumeStream()
    for (const [at, toolCallId] of ids.entries()) {
      const id = `${toolCallId}:${approval.argumentsHash}`
      edits[id] = { to: 'bob', copies: at }
      await chat.addToolApprovalResponse({ id, approved: true })
    }
    await expect
      .poll(() => ran)
      .toEqual([
        { to: 'bob', copies: 0 },
        { to: 'bob', copies: 1 },
      ])
    await expect.poll(() => chat.status).toBe('ready')
    await chat.sendMessage({ text: 'Thanks.' })
    expect(chat.error).toBeUndefined()
  })

  it('accepts edits from an AG-UI client, as editedArgs of its response', async () => {
    const { app, ran, approvals } = await waiting()
    const post = (payload: object) =>
      app.request('/agui', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          ...{ threadId: 's', runId: crypto.randomUUID(), messages: [], tools: [], context: [], state: {}, forwardedProps: {} },
          resume: [{ interruptId: `c1:${approval.argumentsHash}`, status: 'resolved', payload }],
        }),
      })
    const refused = await post({ approved: true, editedArgs: { copies: 1 } })
    expect(refused.status).toBe(400)
    expect([ran, (await approvals()).length]).toEqual([[], 1])
    const response = await post({ approved: true, editedArgs: changed })
    const text = await response.text()
    expect([response.status, ran]).toEqual([200, [changed]])
    expect(text).toContain('phi.approvalResolved')
    expect(text).toContain('"edited"')
  })
})

describe('an approval in useChat', () => {
  it('shows that the call was cancelled if the run was stopped before', async () => {
    const { app, ran } = await waiting()
    const fetch: typeof globalThis.fetch = async (input, init) => app.request(new Request(input, init))
    const messages = (await (await app.request('/chat/s')).json()).messages
    const chat = new Chat({ id: 's', messages, transport: new DefaultChatTransport({ api: 'http://phi.test/chat', fetch }) })
    await chat.resumeStream()
    await app.request('/chat/s/stop', { method: 'POST' })
    const stored = async () => (await (await app.request('/chat/s')).json()).messages.at(-1)
    await expect.poll(async () => JSON.stringify(await stored())).toContain('Cancelled')
    await chat.addToolApprovalResponse({ id: `c1:${approval.argumentsHash}`, approved: true })
    await chat.sendMessage()
    const stateIn = (message: { parts: object[] } | undefined) => message?.parts.flatMap((part) => ('state' in part ? [part.state] : []))
    expect([ran, stateIn(chat.lastMessage)]).toEqual([[], ['output-error']])
    expect(stateIn(chat.lastMessage)).toEqual(stateIn(await stored()))
  })
})
