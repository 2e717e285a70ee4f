import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type AppObserver, bearer, createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import type { AppFigures } from '../../../adapters/http/operator/observer.ts'
import { defineTool, type JsonObject, memorySessionStore, type SessionStore } from '../../../src/index.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: { type: 'object', properties: {} },
  needsApproval: true,
  execute: () => 'paid',
})

const never = new Promise<void>(() => undefined)

interface AppSpec {
  script?: ScriptedStep[]
  gate?: () => Promise<void>
  store?: SessionStore
  app?: Partial<Parameters<typeof createAgentApp>[0]>
}

/** An app of two users and an operator, who all have tokens of their own. */
function appOf({ script = [{ text: 'Hello.' }], gate, store = memorySessionStore(), app: more = {} }: AppSpec = {}) {
  const model = scripted(() => script[0] ?? { text: '' }, gate === undefined ? {} : { gate })
  const sessions = memoryLiveSessions({ store, agent: () => ({ model, tools: [pay] }), logger: false })
  onTestFinished(() => sessions.close({ abort: true }))
  const app = createAgentApp({
    sessions,
    authorize: async (c) => {
      for (const user of ['ada', 'bob']) if (await bearer(`${user}-has-a-secret`)(c)) return user
      return false
    },
    authorizeOperator: async (c) => ((await bearer('operator-has-a-secret')(c)) ? 'olga' : false),
    ...more,
  })
  const ask = (path: string, { as = 'ada', method = 'GET', body }: { as?: string; method?: string; body?: object } = {}) => {
    const headers = { 'content-type': 'application/json', ...(as !== '' && { authorization: `Bearer ${as}-has-a-secret` }) }
    return app.request(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  }
  const prompt = (path: string, as = 'ada') => ask(`/sessions/${path}/runs`, { as, method: 'POST', body: { prompt: 'Hi.' } })
  return { app, sessions, ask, prompt }
}

describe('health routes', () => {
  it('responds without authorization and reveals no user data', async () => {
    const { ask } = appOf()
    for (const path of ['/healthz', '/readyz']) {
      const answer = await ask(path, { as: '' })
      expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }])
    }
  })

  it('reports alive but not ready while draining', async () => {
    const { ask, sessions } = appOf()
    await sessions.drain({ deadlineMs: 0 })
    const answer = await ask('/readyz', { as: '' })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await ask('/healthz', { as: '' })).status).toBe(200)
  })

  it('reports not ready if the store fails or hangs, checking at most once a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const list = vi.fn(() => never)
    const store = new Proxy(memorySessionStore(), {
      get: (of, name) => (name === 'list' ? list : Reflect.get(of, name).bind?.(of)),
    })
    const { ask } = appOf({ store })
    const answers = Array.from({ length: 50 }, () => ask('/readyz', { as: '' }))
    await vi.advanceTimersByTimeAsync(2000)
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([503]))
    expect(list).toHaveBeenCalledTimes(1)
    list.mockRejectedValueOnce(new Error('no disk'))
    expect((await ask('/readyz', { as: '' })).status).toBe(503)
    expect(list).toHaveBeenCalledTimes(2)
  })
})

describe('request logging', () => {
  it('logs at level info by route without ids, content or secrets', async () => {
    const told: [string, JsonObject][] = []
    const logger = { warn: () => undefined, info: (event: string, fields: JsonObject) => void told.push([event, fields]) }
    const { ask, prompt } = appOf({ app: { logger } })
    await (await prompt('a-secret-session')).text()
    await ask('/sessions/a-secret-session/history?after=a-secret')
    await ask('/sessions?limit=3')
    await ask('/sessions/x/no-such-route-of-my-own')
    await ask('/nowhere/at/all')
    await ask('/sessions', { as: '' })
    expect(told.map(([event, { method, route, status }]) => `${event} ${method} ${route} ${status}`)).toEqual([
      'request POST /sessions/:id/runs 200',
      'request GET /sessions/:id/history 200',
      'request GET /sessions 200',
      'request GET /sessions/:id/* 404',
      'request GET * 404',
      'request GET /sessions 401',
    ])
    expect(JSON.stringify(told)).not.toMatch(/secret|own|Hi\./)
  })

  it('returns responses even if a logger or observer throws', async () => {
    const fail = () => {
      throw new Error('no room')
    }
    const { prompt } = appOf({ app: { logger: { warn: fail, info: fail }, observers: [{ begin: fail, request: fail }] } })
    expect(await (await prompt('s')).text()).toContain('Hello.')
  })
})

it('reports process metrics to observers', async () => {
  let figures = (): AppFigures => {
    throw new Error('begin was not called.')
  }
  const observer: AppObserver = {
    begin: (given) => {
      figures = given
    },
  }
  const { ask, prompt } = appOf({ script: [{ toolCalls: [{ name: 'pay', arguments: {} }] }], app: { observers: [observer] } })
  expect(figures()).toEqual({ sessions: 0, runs: 0, waiting: 0, queued: 0, openStreams: 0, lagMs: 0 })
  const stream = await prompt('s')
  await expect.poll(() => figures().waiting).toBe(1)
  const said = await ask('/sessions/s/steer', { method: 'POST', body: { prompt: 'And now?' } })
  expect(said.status).toBe(202)
  expect(figures()).toMatchObject({ sessions: 1, runs: 1, waiting: 1, queued: 1, openStreams: 1 })
  await stream.body?.cancel()
  await ask('/sessions/s/stop', { method: 'POST' })
  await expect.poll(figures).toMatchObject({ runs: 0, waiting: 0, queued: 0, openStreams: 0 })
})

describe('overload protection', () => {
  it('responds with a retryable error at the overall stream limit', async () => {
    const { prompt, ask } = appOf({ gate: () => never, app: { maxStreams: 2 } })
    const first = await prompt('s1', 'ada')
    await prompt('s2', 'bob')
    const refused = await prompt('s3', 'bob')
    expect([refused.status, (await refused.json()).code, refused.headers.get('retry-after')]).toEqual([503, 'tooManyStreams', '1'])
    // What does not stream goes on.
    expect((await ask('/sessions/s1/stop', { method: 'POST' })).status).toBe(204)
    await first.body?.cancel()
    expect((await prompt('s3', 'bob')).status).toBe(200)
  })

  it('responds with a retryable error while the event loop lags', async () => {
    let lagMs = (): number => 0
    const observer: AppObserver = {
      begin: (figures) => {
        lagMs = () => figures().lagMs
      },
    }
    const { prompt, ask } = appOf({ app: { maxLagMs: 50, observers: [observer] } })
    expect((await prompt('s1')).status).toBe(200)
    // Blocks the thread, as a busy process would.
    const busyUntil = performance.now() + 400
    while (performance.now() < busyUntil);
    await expect.poll(lagMs, { interval: 1 }).toBeGreaterThan(50)
    const refused = await prompt('s2')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await ask('/sessions/s1/history')).status).toBe(200)
    await expect.poll(async () => (await prompt('s2')).status, { timeout: 5000 }).toBe(200)
  })
})

describe('the operator role', () => {
  it('lists the sessions of all users by status, reads them and stops their runs', async () => {
    const told: [string, JsonObject][] = []
    const logger = { warn: () => undefined, info: (event: string, fields: JsonObject) => void told.push([event, fields]) }
    const { ask, prompt } = appOf({ script: [{ toolCalls: [{ name: 'pay', arguments: {} }] }], app: { logger } })
    await prompt('one', 'ada')
    await prompt('two', 'bob')
    const running = async () => (await (await ask('/operator/sessions?status=running', { as: 'operator' })).json()).sessions
    await expect.poll(running).toMatchObject([
      { sessionId: 'two', identity: 'bob', status: 'running' },
      { sessionId: 'one', identity: 'ada', status: 'running' },
    ])
    expect(JSON.stringify(await running())).not.toContain('user-')
    const approvals = await ask('/operator/sessions/two/approvals?identity=bob', { as: 'operator' })
    expect((await approvals.json()).approvals).toMatchObject([{ toolName: 'pay' }])
    expect((await ask('/operator/sessions/two/stop?identity=bob', { as: 'operator', method: 'POST' })).status).toBe(204)
    await expect.poll(running).toMatchObject([{ sessionId: 'one', identity: 'ada' }])
    expect(told.filter(([event]) => event === 'operator')).toEqual([
      ['operator', { action: 'read', sessionId: 'two', identity: 'bob', by: 'olga' }],
      ['operator', { action: 'stop', sessionId: 'two', identity: 'bob', by: 'olga' }],
    ])
  })

  it('rejects prompts and approval decisions', async () => {
    const { ask, prompt } = appOf()
    await (await prompt('one', 'ada')).text()
    const paths = ['/runs', '/steer', '/approvals/call', '/import', '/title', '/continue']
    for (const path of paths) {
      const answer = await ask(`/operator/sessions/one${path}?identity=ada`, { as: 'operator', method: 'POST', body: { prompt: 'Hi.' } })
      expect(answer.status).toBe(404)
    }
    expect((await ask('/operator/sessions/one?identity=ada', { as: 'operator', method: 'DELETE' })).status).toBe(404)
    const { messages } = await (await ask('/operator/sessions/one/history?identity=ada', { as: 'operator' })).json()
    expect(messages).toHaveLength(2)
  })

  it.each(['ada', ''])('rejects other users: %j', async (as) => {
    const { ask, prompt } = appOf()
    await (await prompt('one', 'bob')).text()
    for (const path of ['/operator/sessions', '/operator/sessions/one/history?identity=bob', '/operator/sessions/one?identity=bob'])
      expect((await ask(path, { as })).status).toBe(401)
    expect((await ask('/operator/sessions/one/stop?identity=bob', { as, method: 'POST' })).status).toBe(401)
  })

  it('responds with 404 if no operator is configured', async () => {
    const store = memorySessionStore()
    const sessions = memoryLiveSessions({ store, agent: () => ({ model: scripted([]) }) })
    onTestFinished(() => sessions.close())
    const app = createAgentApp({ sessions, authorize: () => true })
    for (const path of ['/operator/sessions', '/operator/sessions/one/history']) expect((await app.request(path)).status).toBe(404)
    expect((await app.request('/operator/sessions/one/stop', { method: 'POST' })).status).toBe(404)
  })
})
