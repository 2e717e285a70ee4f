import { describe, expect, it } from 'vitest'
import {
  type ContextRequest,
  createAgentApp,
  type LiveAgentOptions,
  type MakeContext,
  memoryLiveSessions,
} from '../../../adapters/http/index.ts'
import { liveSessionRoutes } from '../../../adapters/http/internal.ts'
import { type AgentTool, memorySessionStore, type SessionStore } from '../../../src/index.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { gate, tool } from '../../support/play.ts'

const call = { toolCalls: [{ id: 'c1', name: 'read', arguments: {} }] }
const byTurn: Script = ({ messages }) => (messages.at(-1)?.role === 'toolResult' ? { text: 'Done.' } : call)

interface Options {
  store?: SessionStore
  script?: Script
  /** Tools besides `read`. */
  more?: readonly AgentTool[]
  agent?: Partial<LiveAgentOptions>
  context?: MakeContext
  isFunction?: boolean
}

/** A server whose runs get the token of the request that starts them, and `read`, which records the contexts of its calls. */
function server({ store = memorySessionStore(), script = byTurn, more = [], agent = {}, isFunction = false, ...options }: Options = {}) {
  const contexts: unknown[] = []
  const asked: ContextRequest[] = []
  const read = tool('read', (_args, ctx) => String(contexts.push(ctx.context)))
  const settings = { model: scripted(script), tools: [read, ...more], retry: false as const, ...agent }
  const sessions = memoryLiveSessions({ store, agent: () => settings, logger: false })
  const { context = (c) => c?.req.header('x-token') } = options
  const app = createAgentApp({
    sessions: isFunction ? () => sessions : sessions,
    authorize: () => 'acme',
    context: (c, start) => {
      asked.push(start)
      return context(c, start)
    },
    imports: true,
    logger: false,
  })
  const post = async (path: string, body: object | string, token?: string): Promise<Response> =>
    app.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token !== undefined && { 'x-token': token }) },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const get = async (path: string) => app.request(path)
  const ended = async () => expect.poll(async () => (await (await get('/sessions/s')).json()).runningLoopId).toBeUndefined()
  /** Sends a request that starts a run, and waits for its end. */
  const run = async (path: string, body: object, token?: string): Promise<Response> => {
    const response = await post(path, body, token)
    await ended()
    return response
  }
  return { app, sessions, contexts, asked, post, get, ended, run }
}

/** The model fails once, then calls `read`. */
const failsOnce: Script = [{ fail: { code: 'other', message: 'Down.' } }, call, { text: 'Done.' }]

/** A store with a run of ada, which ended in a call of `slow` before its call of `read`. */
async function interrupted(): Promise<SessionStore> {
  const store = memorySessionStore()
  const reached = gate()
  const slow = tool('slow', () => {
    reached.open()
    return new Promise(() => undefined)
  })
  const calls = [{ id: 'c0', name: 'slow', arguments: {} }, ...call.toolCalls]
  const one = server({ store, more: [slow], script: [{ toolCalls: calls }], agent: { toolExecution: 'sequential' } })
  await one.post('/sessions/s/runs', { prompt: 'Go.' }, 'ada')
  await reached.opened
  await one.sessions.drain({ deadlineMs: 0 })
  return store
}

describe('run context isolation between callers over HTTP', () => {
  it('keeps the context of a compaction out of the continued run', async () => {
    const { run, contexts } = server({ script: failsOnce })
    await run('/sessions/s/runs', { prompt: 'Go.' }, 'ada')
    await run('/sessions/s/compact', {}, 'bob')
    await run('/sessions/s/continue', {}, 'ada')
    expect(contexts).toEqual(['ada'])
  })

  it('passes no earlier context to a run sent without a context', async () => {
    const { run, contexts } = server({ script: failsOnce })
    await run('/sessions/s/runs', { prompt: 'Go.' }, 'ada')
    await run('/sessions/s/send', { prompt: 'Go on.' })
    expect(contexts).toEqual([undefined])
  })

  it('passes no earlier context to an imported run', async () => {
    const { run, get, post, contexts } = server({ script: failsOnce })
    await run('/sessions/s/runs', { prompt: 'Go.' }, 'ada')
    const text = await (await get('/sessions/s/export')).text()
    expect((await post('/sessions/s/import?replace=true', text, 'bob')).status).toBe(204)
    await run('/sessions/s/continue', {}, 'bob')
    expect(contexts).toEqual(['bob'])
  })

  it.each(['continue', 'send'])('passes no context to calls left by a failed continuation, through %s', async (path) => {
    const store = await interrupted()
    const more = [tool('slow', () => 'slow')]
    const fails = () => Promise.reject(new Error('No prompt.'))
    const two = server({ store, more, agent: { hooks: { prepareTurn: fails } }, context: () => 'renewed' })
    expect(await two.sessions.recover()).toBe(1)
    await two.ended()
    await two.sessions.drain({ deadlineMs: 0 })
    const { run, contexts } = server({ store, more })
    const refused = await run(`/sessions/s/${path}`, path === 'send' ? { prompt: 'Go on.' } : {}, 'bob')
    expect([contexts, refused.status]).toEqual([[], 409])
    await run('/sessions/s/runs', { prompt: 'Anew.' }, 'bob')
    expect(contexts).toEqual(['bob'])
  })
})

describe('a run that waits for its context', () => {
  it('rejects requests with contextMissing if sessions is a function', async () => {
    const { post, contexts } = server({ store: await interrupted(), more: [tool('slow', () => 'slow')], isFunction: true })
    const refused = await post('/sessions/s/continue', {}, 'bob')
    expect([contexts, (await refused.json()).code]).toEqual([[], 'contextMissing'])
  })

  it('serves the read routes while the run waits', async () => {
    const { get, post } = server({ store: await interrupted() })
    for (const path of ['', '/messages', '/approvals', '/inputs', '/queue', '/runs', '/export', '/client-calls'])
      expect([path, (await get(`/sessions/s${path}`)).status]).not.toEqual([path, 409])
    expect((await post('/sessions/s/steer', { prompt: 'x' }, 'bob')).status).toBe(409)
  })

  it('stops the run while the context function is pending', async () => {
    const never = () => new Promise<never>(() => undefined)
    const { post, get } = server({ store: await interrupted(), context: never })
    void post('/sessions/s/runs', { prompt: 'Go.' }, 'bob')
    await new Promise((resolve) => setTimeout(resolve, 50))
    const started = Date.now()
    expect((await get('/sessions/s')).status).toBe(200)
    expect((await post('/sessions/s/stop', {}, 'bob')).status).toBe(204)
    expect(Date.now() - started).toBeLessThan(2000)
  })

  it('requests the context with reason start if another process received the request', async () => {
    const { sessions, asked } = server()
    const headers = { 'content-type': 'application/json' }
    const passed = new Request('http://localhost/runs', { method: 'POST', headers, body: JSON.stringify({ prompt: 'Go.' }) })
    const refused = await sessions.fetch({ identity: 'acme', sessionId: 's' }, passed, liveSessionRoutes())
    expect(await refused.json()).toMatchObject({ code: 'contextMissing', detail: expect.stringMatching(/^No run was started:/) })
    expect(asked).toEqual([{ reason: 'start', sessionId: 's', startedBy: 'acme' }])
  })

  it('waits for the context of each queued message, and closes the agent meanwhile', async () => {
    const store = memorySessionStore()
    const reached = gate()
    const afterTurn = () => {
      reached.open()
      return new Promise<never>(() => undefined)
    }
    const one = server({ store, script: [{ text: 'Done.' }], agent: { hooks: { afterTurn } } })
    await one.post('/sessions/s/runs', { prompt: 'Go.' }, 'ada')
    await reached.opened
    expect((await one.post('/sessions/s/follow-up', { prompt: 'And this.' }, 'ada')).status).toBe(202)
    await one.sessions.drain({ deadlineMs: 0 })
    let spare: unknown
    const closed: true[] = []
    const owns = [{ close: () => closed.push(true) }]
    const context: MakeContext = (_c, { reason }) => (reason === 'queued' ? spare : reason)
    const { post, contexts, asked, ended } = server({ store, agent: { owns }, context })
    for (let again = 0; again < 5; again += 1)
      expect((await (await post('/sessions/s/continue', {}, 'bob')).json()).code).toBe('contextMissing')
    expect(closed).toHaveLength(5)
    spare = 'queued'
    await post('/sessions/s/continue', {}, 'bob')
    await ended()
    expect([contexts, new Set(asked.map(({ reason }) => reason))]).toEqual([['queued'], new Set(['recover', 'queued'])])
  })
})
