import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { listenWith, type PostgresLiveSessions, postgresLiveSessions, postgresSchedules } from '../../../adapters/postgres/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { onPostgres } from './on-postgres.ts'

const json = { 'content-type': 'application/json' }

onPostgres('requests forwarded between processes', (database) => {
  const hosts: PostgresLiveSessions[] = []
  const apps: ReturnType<typeof createAgentApp>[] = []
  beforeAll(() => {
    for (let at = 0; at < 2; at++) {
      const sessions = postgresLiveSessions({
        pool: database.pool,
        listen: listenWith(database.pool),
        schedules: postgresSchedules({ pool: database.pool }),
        agent: () => ({ model: scripted(() => ({ text: 'ok' })) }),
      })
      hosts.push(sessions)
      apps.push(createAgentApp({ sessions, authorize: (c) => c.req.header('x-user') ?? true }))
    }
  })
  afterAll(() => Promise.all(hosts.map((host) => host.close())))

  /** Asks the process that has the session (0), or the other one. */
  const ask = async (at: number, path: string, init: RequestInit = {}): Promise<Response> => {
    const app = apps[at]
    if (app === undefined) throw new Error('There are two.')
    return app.fetch(new Request(`http://localhost${path}`, init))
  }
  const begin = async (sessionId: string, headers: Record<string, string> = {}) =>
    (await ask(0, `/sessions/${sessionId}/runs`, { method: 'POST', headers: { ...json, ...headers }, body: '{"prompt":"Go."}' })).text()
  const told = async (answer: Response) => {
    const text = await answer.text()
    return [answer.status, answer.headers.get('content-type'), text.startsWith('{') ? JSON.parse(text).code : undefined]
  }

  it('keeps an unusual path unchanged when forwarding', async () => {
    await begin('odd')
    const paths = [
      '//',
      '//history',
      '//localhost/history',
      '/.//',
      '/%2e%2e/',
      '/\\\\history',
      '//other:99/?a=//b',
      '/history?limit=1&x=%00',
      '/%00',
      '/runs/%2F/events',
    ]
    for (const path of paths) {
      for (const method of ['GET', 'DELETE', 'POST']) {
        const init = method === 'POST' ? { method, headers: json, body: '{}' } : { method }
        const here = await told(await ask(0, `/sessions/odd${path}`, init))
        expect(await told(await ask(1, `/sessions/odd${path}`, init)), `${method} ${path}`).toEqual(here)
      }
    }
    const { messages } = await (await ask(1, '/sessions/odd/history')).json()
    expect(messages).toHaveLength(2)
  })

  it('forwards no auth headers and uses the identity verified by the first process', async () => {
    await begin('s', { 'x-user': 'ada' })
    await begin('s', { 'x-user': 'bob' })
    const asBob = { 'x-user': 'bob', authorization: 'Bearer ada', 'x-forwarded-user': 'ada', 'x-owner': 'ada' }
    const { messages } = await (await ask(1, '/sessions/s/history?owner=ada&identity=ada', { headers: asBob })).json()
    const own = await (await ask(0, '/sessions/s/history', { headers: { 'x-user': 'bob' } })).json()
    expect(messages).toEqual(own.messages)
    const { rows } = await database.pool.query('SELECT count(*)::int AS left FROM phi.calls')
    expect(rows).toEqual([{ left: 0 }])
  })

  it('starts once per key and user', async () => {
    const say = (at: number, user: string) =>
      ask(at, '/sessions/keys/runs', {
        method: 'POST',
        headers: { ...json, 'x-user': user, 'idempotency-key': '__proto__' },
        body: '{"prompt":"Once.","metadata":{"__proto__":{"polluted":true}}}',
      })
    for (const user of ['ada', 'bob']) for (const at of [0, 1, 0]) await (await say(at, user)).text()
    for (const user of ['ada', 'bob']) {
      const { messages } = await (await ask(1, '/sessions/keys/history', { headers: { 'x-user': user } })).json()
      expect(messages.map(({ id, role }: { id: string; role: string }) => [role, id === '__proto__'])).toEqual([
        ['user', true],
        ['assistant', false],
      ])
    }
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('runs scheduled prompts in the owner process, whichever process finds them due', async () => {
    await begin('due')
    const prompt = 'Later \u0000 \ud800 "é".'
    const added = await ask(1, '/sessions/due/schedules', { method: 'POST', headers: json, body: JSON.stringify({ prompt, at: 1 }) })
    expect(added.status).toBe(201)
    const said = async () => {
      const { messages } = await (await ask(0, '/sessions/due/history')).json()
      return messages.flatMap(({ role, content }: { role: string; content: { text: string }[] }) =>
        role === 'user' ? [content[0]?.text] : [],
      )
    }
    await expect.poll(said).toEqual(['Go.', prompt])
    expect((await hosts[0]?.schedulesOf({ sessionId: 'due' }).list()) ?? []).toEqual([])
  })

  it('ends the call when the client disconnects during a response', async () => {
    await begin('leaves')
    const left = new AbortController()
    const feed = await ask(1, '/sessions/leaves/events', { signal: left.signal })
    const reader = feed.body?.getReader()
    const reading = reader?.read().catch(() => 'left')
    left.abort()
    await reading
    const open = async () => (await database.pool.query('SELECT count(*)::int AS left FROM phi.calls')).rows[0]?.left
    await expect.poll(open).toBe(0)
  })
})
