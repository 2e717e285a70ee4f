import { describe, expect, it } from 'vitest'
import {
  type ContextRequest,
  createAgentApp,
  createOpenAiApp,
  type LiveSessions,
  memoryLiveSessions,
  memorySchedules,
} from '../../../adapters/http/index.ts'
import { Agent, memorySessionStore, type SessionStore } from '../../../src/index.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { tool } from '../../support/play.ts'

const call = { toolCalls: [{ id: 'c1', name: 'read', arguments: {} }] }
const byTurn: Script = ({ messages }) => (messages.at(-1)?.role === 'toolResult' ? { text: 'Done.' } : call)

interface Options {
  store?: SessionStore
  needsApproval?: boolean
  /** The context of runs without a request. */
  spare?: (start: ContextRequest) => unknown
  script?: Script
  /** The model never responds. */
  isSilent?: boolean
}

/** A server whose runs get the bearer token of the request that starts them. */
function server({
  store = memorySessionStore(),
  needsApproval = false,
  spare = () => undefined,
  script = byTurn,
  isSilent = false,
}: Options = {}) {
  let isCalled = false
  const gate = (): Promise<void> => {
    isCalled = true
    return isSilent ? new Promise(() => undefined) : Promise.resolve()
  }
  const contexts: unknown[] = []
  const asked: ContextRequest[] = []
  const read = tool('read', (_args, ctx) => String(contexts.push(ctx.context)), { needsApproval })
  const sessions = memoryLiveSessions({
    store,
    agent: () => ({ model: scripted(script, { gate }), tools: [read] }),
    schedules: memorySchedules(),
    logger: false,
  })
  const app = createAgentApp({
    sessions,
    authorize: () => 'acme',
    context: (c, start) => {
      asked.push(start)
      return c === undefined ? spare(start) : c.req.header('x-token')
    },
  })
  const post = async (path: string, body: object, token = 'starter', key?: string): Promise<Response> =>
    app.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-token': token, ...(key !== undefined && { 'idempotency-key': key }) },
      body: JSON.stringify(body),
    })
  const pending = async () => (await (await app.request('/sessions/s/approvals')).json()).approvals
  const approve = async (token: string): Promise<Response> => {
    await expect.poll(pending).toHaveLength(1)
    const [{ toolCallId, argumentsHash }] = await pending()
    return post(`/sessions/s/approvals/${toolCallId}`, { approved: true, argumentsHash }, token)
  }
  const ended = async () => expect.poll(async () => (await (await app.request('/sessions/s')).json()).runningLoopId).toBeUndefined()
  const called = async () => expect.poll(() => isCalled).toBe(true)
  return { app, sessions, contexts, asked, post, pending, approve, ended, called }
}

const chat = (text: string) => ({
  id: 's',
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text }] }],
  trigger: 'submit-message',
})
const agUi = (text: string) => ({
  threadId: 's',
  runId: 'r1',
  messages: [{ id: 'm1', role: 'user', content: text }],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
})
const protocols: [string, string, object][] = [
  ['the own protocol', '/sessions/s/runs', { prompt: 'Go.' }],
  ['useChat', '/chat', chat('Go.')],
  ['AG-UI', '/agui', agUi('Go.')],
]

describe.each(protocols)('context of a run over %s', (_name, path, body) => {
  it('uses the context of the request that starts the run', async () => {
    const { post, contexts, asked } = server()
    await (await post(path, body)).text()
    expect(contexts).toEqual(['starter'])
    expect(asked).toEqual([{ reason: 'start', sessionId: 's', startedBy: 'acme' }])
  })

  it("keeps the starter's context when another person approves", async () => {
    const { post, approve, contexts, ended } = server({ needsApproval: true })
    const reading = (await post(path, body)).text()
    expect((await approve('approver')).status).toBe(202)
    await reading
    await ended()
    expect(contexts).toEqual(['starter'])
  })

  it('requests the context once per idempotency key', async () => {
    const { post, asked } = server()
    await Promise.all([1, 2].map(async () => (await post(path, body, 'starter', '0b5e0a0a-7d1c-4b6e-9b60-3b6a1b6f0a11')).text()))
    expect(asked).toHaveLength(1)
  })
})

describe('context of a run over HTTP', () => {
  it('uses a separate context for each run', async () => {
    const { post, contexts } = server({ script: [call, { text: 'a' }, call, { text: 'b' }] })
    await (await post('/sessions/s/runs', { prompt: 'Go.' }, 'ada')).text()
    await (await post('/sessions/s/runs', { prompt: 'Go.' }, 'bob')).text()
    expect(contexts).toEqual(['ada', 'bob'])
  })

  it('keeps the context when another person steers the run', async () => {
    const { post, approve, contexts, ended } = server({ needsApproval: true })
    const reading = (await post('/sessions/s/runs', { prompt: 'Go.' }, 'ada')).text()
    await expect.poll(async () => (await post('/sessions/s/steer', { prompt: 'Faster.' }, 'bob')).status).toBe(202)
    await approve('bob')
    await reading
    await ended()
    expect(contexts).toEqual(['ada'])
  })

  /** A store with a run that its process did not finish. */
  async function interrupted(): Promise<SessionStore> {
    const store = memorySessionStore()
    const one = server({ store, isSilent: true })
    await one.post('/sessions/s/runs', { prompt: 'Go.' }, 'ada')
    await one.called()
    await one.sessions.drain({ deadlineMs: 0 })
    return store
  }

  it('requests the context without an HTTP request when another process resumes the run', async () => {
    const { sessions, approve, contexts, asked, ended } = server({
      store: await interrupted(),
      needsApproval: true,
      spare: ({ startedBy }) => `renewed for ${startedBy}`,
    })
    expect(await sessions.recover()).toBe(1)
    await approve('bob')
    await ended()
    expect(contexts).toEqual(['renewed for acme'])
    expect(asked.map(({ reason }) => reason)).toEqual(['recover'])
  })

  it('rejects requests with contextMissing until an interrupted run has a context', async () => {
    let spare: unknown
    const { sessions, post, contexts, ended } = server({ store: await interrupted(), spare: () => spare })
    expect(await sessions.recover()).toBe(0)
    for (const [path, body] of [
      ['/sessions/s/continue', {}],
      ['/sessions/s/runs', { prompt: 'Now.' }],
      ['/sessions/s/send', { prompt: 'Now.' }],
      ['/chat', { ...chat('Now.'), messages: [{ id: 'm2', role: 'user', parts: [{ type: 'text', text: 'Now.' }] }] }],
    ] as const) {
      const refused = await post(path, body, 'bob')
      expect([path, refused.status, (await refused.json()).code]).toEqual([path, 409, 'contextMissing'])
    }
    spare = 'renewed'
    expect(await sessions.recover()).toBe(1)
    await ended()
    expect(contexts).toEqual(['renewed'])
  })

  it('stops a run that waits for a context, and accepts a new prompt', async () => {
    const { post, contexts } = server({ store: await interrupted() })
    expect((await post('/sessions/s/stop', {}, 'bob')).status).toBe(204)
    await (await post('/sessions/s/runs', { prompt: 'Go.' }, 'bob')).text()
    expect(contexts).toEqual(['bob'])
  })

  it("passes calls of another process's paused run no context from an approver or sender", async () => {
    const store = memorySessionStore()
    const one = server({ store, needsApproval: true })
    await one.post('/sessions/s/runs', { prompt: 'Go.' }, 'ada')
    await expect.poll(one.pending).toHaveLength(1)
    await one.sessions.drain({ deadlineMs: 0 })
    let spare: unknown
    const { post, approve, contexts, ended } = server({ store, needsApproval: true, spare: () => spare })
    expect((await (await approve('bob')).json()).code).toBe('contextMissing')
    for (const path of ['/sessions/s/send', '/sessions/s/continue'])
      expect((await (await post(path, path.endsWith('send') ? { prompt: 'Go on.' } : {}, 'bob')).json()).code).toBe('contextMissing')
    spare = 'renewed'
    expect((await approve('bob')).status).toBe(202)
    await ended()
    expect(contexts).toEqual(['renewed'])
  })

  it('requests the context with reason queued when a schedule starts the run', async () => {
    const made = server({ spare: ({ reason }) => `by ${reason}` })
    await made.post('/sessions/s/schedules', { prompt: 'Look.', at: Date.now() })
    await expect.poll(() => made.contexts).toEqual(['by queued'])
    await made.ended()
    await made.sessions.close()
  })

  it('responds with 500 and starts no run if the context function throws', async () => {
    const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: scripted(byTurn) }) })
    const context = () => {
      throw new Error('secret of the app')
    }
    const app = createAgentApp({ sessions, authorize: () => true, context, logger: false })
    const body = JSON.stringify({ prompt: 'Go.' })
    const response = await app.request('/sessions/s/runs', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret of the app')
    expect((await app.request('/sessions/s')).status).toBe(404)
  })

  it('passes the context to runs without a session and to runs of OpenAI clients', async () => {
    const contexts: unknown[] = []
    const agent = () => new Agent({ model: scripted(byTurn), tools: [tool('read', (_args, ctx) => String(contexts.push(ctx.context)))] })
    const context = (c: unknown, { reason }: ContextRequest) => `${reason} ${c === undefined}`
    const post = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const app = createAgentApp({ agent, authorize: () => true, context })
    await (await app.request('/runs', { ...post, body: JSON.stringify({ prompt: 'Go.' }) })).text()
    const openai = createOpenAiApp({ agents: { helper: agent }, authorize: () => true, context })
    const body = JSON.stringify({ model: 'helper', messages: [{ role: 'user', content: 'Go.' }] })
    await (await openai.request('/v1/chat/completions', { ...post, body })).text()
    expect(contexts).toEqual(['start false', 'start false'])
  })

  it('responds with 500 if the session host does not support a context', async () => {
    const sessions: LiveSessions = { fetch: async () => new Response(), list: async () => ({ sessions: [] }) }
    const app = createAgentApp({ sessions, authorize: () => true, context: () => 1, logger: false })
    expect((await app.request('/sessions/s')).status).toBe(500)
  })
})
