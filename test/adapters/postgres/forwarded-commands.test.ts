import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAgentApp, webhook } from '../../../adapters/http/index.ts'
import { signatureOf } from '../../../adapters/http/internal.ts'
import { toNodeHandler } from '../../../adapters/node/index.ts'
import type { SqlPool } from '../../../adapters/postgres/index.ts'
import { type PostgresLiveSessions, type PostgresLiveSessionsOptions, postgresLiveSessions } from '../../../adapters/postgres/index.ts'
import { sessionsWithPeers } from '../../../examples/recipes/sessions/postgres-peers.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { sharedState } from '../../../src/session.ts'
import { runs } from '../../support/runs.ts'
import { lossyPool } from './lossy-pool.ts'
import { onPostgres } from './on-postgres.ts'
import { addressOf } from './round-robin.ts'

const key = 'a key of processes that are tested'
const json = { 'content-type': 'application/json' }
const purpose = 'phi-core forwarded command\n'

onPostgres('commands forwarded between processes', (database) => {
  let tenants = 0

  /** Two processes: the second passes on to the first what the first has. */
  async function two(
    { isHttp = false, agent, ...options }: Partial<PostgresLiveSessionsOptions> & { isHttp?: boolean } = {},
    firstPool: SqlPool = database.pool,
  ) {
    const tenant = `forwarded-${++tenants}`
    const warnings: string[] = []
    const make = async (pool: SqlPool = database.pool) => {
      const inside = createServer((incoming, outgoing) => toNodeHandler(sessions.forwarded)(incoming, outgoing))
      await listening(inside)
      const sessions: PostgresLiveSessions = postgresLiveSessions({
        pool,
        tenant,
        pollMs: 5,
        agent: agent ?? (() => ({ model: scripted(() => ({ text: 'ok' })) })),
        logger: { warn: (event) => void warnings.push(event) },
        ...(isHttp && { peers: { url: addressOf(inside), key } }),
        ...options,
      })
      const app = createAgentApp({ sessions, authorize: (c) => c.req.header('x-user') ?? true })
      onTestFinished(async () => {
        await sessions.close({ abort: true })
        inside.closeAllConnections()
        inside.close()
      })
      const ask = async (path: string, body?: object, headers: Record<string, string> = {}) =>
        app.request(`/sessions/${path}`, {
          headers: { ...json, ...headers },
          ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
        })
      return { ask, sessions, inside, url: addressOf(inside) }
    }
    return { first: await make(firstPool), second: await make(), tenant, warnings }
  }

  const said = async (ask: (path: string) => Promise<Response>, sessionId: string) => {
    const { messages } = await (await ask(`${sessionId}/history`)).json()
    return messages.flatMap(({ role, content }: { role: string; content: { text: string }[] }) =>
      role === 'user' ? [content[0]?.text] : [],
    )
  }
  const callsOf = async (tenant: string) =>
    (await database.pool.query('SELECT count(*)::int AS open FROM phi.calls WHERE tenant = $1', [tenant])).rows[0]?.open
  const processesOf = async (tenant: string) =>
    (await database.pool.query('SELECT process_id, url FROM phi.processes WHERE tenant = $1', [tenant])).rows

  for (const way of ['the database', 'HTTP'] as const) {
    describe(`forwarded commands over ${way}`, () => {
      const isHttp = way === 'HTTP'

      it('times out at its deadline if the owner process does not respond', async () => {
        // One that is never there: the process ends all the same.
        const never = () => new Promise<never>(() => undefined)
        const { first, second, tenant, warnings } = await two({ isHttp, agent: never, forwardTimeoutMs: 2000 })
        void first.ask('s/runs', { prompt: 'Go.' })
        await expect.poll(async () => (await first.ask('s/history')).status).toBe(200)
        const answer = await second.ask('s/runs', { prompt: 'Go.' })
        expect([answer.status, (await answer.json()).code, answer.headers.get('retry-after')]).toEqual([504, 'deadlineExceeded', '1'])
        expect(warnings).toEqual([])
        await expect.poll(() => callsOf(tenant)).toBe(0)
      })

      it('runs once per key, regardless of the receiving process and repetitions', async () => {
        const { first, second } = await two({ isHttp })
        await (await first.ask('s/runs', { prompt: 'Begin.' })).text()
        const headers = { 'idempotency-key': 'the-same-key' }
        const answers = await Promise.all([first, second, second, first].map(({ ask }) => ask('s/runs', { prompt: 'Once.' }, headers)))
        const texts = await Promise.all(answers.map((answer) => answer.text()))
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
        expect(new Set(texts.map((text) => /"loopId":"([^"]+)"/.exec(text)?.[1])).size).toBe(1)
        expect(await said(second.ask, 's')).toEqual(['Begin.', 'Once.'])
      })

      it('streams to a slow reader with bounded memory and without blocking', async () => {
        const text = Array.from({ length: runs(120, 400) }, () => 'x'.repeat(32 * 1024))
        const { first, second, tenant } = await two({ isHttp, agent: () => ({ model: scripted(() => ({ text })) }) })
        await (await first.ask('s/title', { title: 'Begin.' })).text()
        const unread = (await second.ask('s/runs', { prompt: 'Go.' })).body?.getReader()
        const loopId = /"loopId":"([^"]+)"/.exec(new TextDecoder().decode((await unread?.read())?.value))?.[1] ?? ''
        const read = await (await second.ask(`s/runs/${loopId}/events`)).text()
        expect(read).toContain('"agentEnd"')
        const waiting = await database.pool.query(
          'SELECT coalesce(sum(length(bytes)), 0)::int AS bytes FROM phi.answers WHERE tenant = $1',
          [tenant],
        )
        expect(waiting.rows[0]?.bytes).toBeLessThanOrEqual(16 * 64 * 1024)
        await unread?.cancel()
        await expect.poll(() => callsOf(tenant)).toBe(0)
      })

      it('changes the shared state with one version across processes', async () => {
        const state = sharedState({ schema: { type: 'object' }, initial: { n: 0 } })
        const { first, second } = await two({ isHttp, agent: () => ({ model: scripted(() => ({ text: 'ok' })), sharedState: state }) })
        await (await first.ask('s/runs', { prompt: 'Begin.' })).text()
        const answers = await Promise.all(
          [first, second, second, first].map(({ ask }, at) => ask('s/state', { ifVersion: 0, value: { n: at + 1 } })),
        )
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
        const patch = [{ op: 'replace', path: '/n', value: 9 }]
        const headers = { 'idempotency-key': 'the-same-key' }
        const changed = await Promise.all([second, first, second].map(({ ask }) => ask('s/state', { ifVersion: 1, patch }, headers)))
        expect(changed.map(({ status }) => status)).toEqual([200, 200, 200])
        for (const { ask } of [first, second]) expect(await (await ask('s/state')).json()).toEqual({ version: 2, value: { n: 9 } })
      })

      it("forwards the caller's identity and prevents impersonation", async () => {
        const { first, second } = await two({ isHttp })
        for (const user of ['ada', 'bob']) await (await first.ask('s/runs', { prompt: `I am ${user}.` }, { 'x-user': user })).text()
        const forged = { 'x-user': 'bob', 'phi-forwarded': await sealOf('{}'), identity: 'ada', 'x-phi-core-session': 'ada/s' }
        const refused = await second.ask('s/runs', { prompt: 'More.', identity: 'ada', command: { type: 'delete' } }, forged)
        expect([refused.status, (await refused.json()).code]).toEqual([400, 'invalidBody'])
        const answer = await second.ask('s/runs', { prompt: 'More.' }, forged)
        expect([answer.status, answer.headers.get('phi-forwarded')]).toEqual([200, null])
        await answer.text()
        const as = (user: string) => (path: string) => second.ask(path, undefined, { 'x-user': user })
        expect([await said(as('ada'), 's'), await said(as('bob'), 's')]).toEqual([['I am ada.'], ['I am bob.', 'More.']])
      })
    })
  }

  it('streams over HTTP and falls back to the database', async () => {
    const model = scripted(() => ({ text: Array.from({ length: 20 }, (_, at) => `${at} `) }))
    const make = async () => {
      const { sessions, inside } = await sessionsWithPeers({ pool: database.pool, model, hostname: '127.0.0.1', key })
      onTestFinished(() => sessions.close().then(() => inside.close()))
      const app = createAgentApp({ sessions, authorize: () => true })
      const ask = async (path: string, body?: object) =>
        app.request(`/sessions/${path}`, body === undefined ? {} : { method: 'POST', headers: json, body: JSON.stringify(body) })
      return { ask, inside }
    }
    const [first, second] = [await make(), await make()]
    await (await first.ask('s/runs', { prompt: 'Begin.' })).text()
    const passed: unknown[] = []
    const query = database.pool.query
    database.pool.query = ((text: unknown, ...more: []) => {
      if (/INSERT INTO phi\.calls/.test(String(text))) passed.push(text)
      return Reflect.apply(query, database.pool, [text, ...more])
    }) as typeof query
    onTestFinished(() => {
      database.pool.query = query
    })
    expect(await (await second.ask('s/runs', { prompt: 'By HTTP.' })).text()).toContain('agentEnd')
    expect(passed).toEqual([])
    await first.inside.close()
    expect(await (await second.ask('s/runs', { prompt: 'By the database.' })).text()).toContain('agentEnd')
    expect(await said(second.ask, 's')).toEqual(['Begin.', 'By HTTP.', 'By the database.'])
    expect(passed.length).toBeGreaterThan(0)
  })

  it('fails quickly without a receiver and never runs later', async () => {
    const { second, tenant } = await two({ forwardTimeoutMs: 600 })
    await database.pool.query("INSERT INTO phi.processes (tenant, process_id, until) VALUES ($1, 'deaf', 99999999999999)", [tenant])
    await database.pool.query("INSERT INTO phi.leases (tenant, owner, session_id, process_id) VALUES ($1, '', 's', 'deaf')", [tenant])
    const answer = await second.ask('s/runs', { prompt: 'Go.' })
    const { code, detail } = await answer.json()
    expect([answer.status, code, answer.headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
    expect(detail).toContain('Nothing ran')
    expect(await callsOf(tenant)).toBe(0)
  })

  it('fails after its deadline by the database clock on both transports', async () => {
    const { first, second, tenant } = await two({ isHttp: true })
    await (await first.ask('s/runs', { prompt: 'Begin.' })).text()
    const [holder] = (await processesOf(tenant)).filter(({ url }) => url === first.url)
    const [sender] = (await processesOf(tenant)).filter(({ url }) => url === second.url)
    const command = { type: 'prompt', contentType: 'application/json', body: '{"prompt":"Too late."}' }
    const { rows } = await database.pool.query('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now')
    const now = Number(rows[0]?.now)
    const late = { deadline: now - 1 }
    // There is time to answer, and none to begin.
    const lateToBegin = { beginBy: now - 1, deadline: now + 600_000 }
    for (const [callId, deadlines] of Object.entries({ late, lateToBegin })) {
      const passed = { sessionId: 's', command, ...deadlines }
      await database.pool.query('INSERT INTO phi.calls (tenant, sender, call_id, receiver, request) VALUES ($1, $2, $3, $4, $5)', [
        tenant,
        sender?.process_id,
        callId,
        holder?.process_id,
        JSON.stringify(passed),
      ])
      const parts = async () => {
        const answers = "SELECT head, convert_from(bytes, 'UTF8') AS text FROM phi.answers WHERE call_id = $1"
        const found = await database.pool.query(answers, [callId])
        return found.rows.map(({ head, text }) => [JSON.parse(head).status, JSON.parse(text).code])
      }
      await expect.poll(parts).toEqual([[504, 'deadlineExceeded']])
      const answer = await signedTo(first.url, { callId: `${callId}-http`, receiver: holder?.process_id, command: passed })
      expect([answer.status, (await answer.json()).code]).toEqual([504, 'deadlineExceeded'])
    }
    expect(await said(first.ask, 's')).toEqual(['Begin.'])
  })

  it('requires the cluster key, runs once and only on its receiver', async () => {
    const { first, tenant } = await two({ isHttp: true })
    await (await first.ask('s/runs', { prompt: 'Begin.' })).text()
    const [holder] = (await processesOf(tenant)).filter(({ url }) => url === first.url)
    const command = { type: 'prompt', contentType: 'application/json', body: '{"prompt":"Forged."}' }
    const call = { callId: 'c', receiver: holder?.process_id, command: { sessionId: 's', command, deadline: Date.now() + 60_000 } }
    const body = JSON.stringify(call)
    const hooked: string[] = []
    const take = async ({ headers }: Request) => {
      hooked.push(headers.get('phi-signature') ?? '')
      return new Response()
    }
    await webhook({ url: 'https://localhost', key, fetch: take })({
      ...{ type: 'end', id: 'n', at: 0, sessionId: 's', loopId: 'l', status: 'completed' },
    })
    const ofWebhook = /v1=(.*)$/.exec(hooked[0] ?? '')?.[1] ?? ''
    const signatures = [
      '',
      'x',
      ofWebhook,
      await signatureOf(purpose + body, key),
      `${body.length}.${await signatureOf(body, key)}.${await signatureOf(body, key)}`,
      await sealOf(body, `${key}.`),
      await sealOf('x'.repeat(body.length)),
      // The length is signed, too.
      (await sealOf(body)).replace(/^\d+/, '9000'),
    ]
    for (const signature of signatures) {
      const answer = await fetch(first.url, { method: 'POST', body, headers: { ...json, 'phi-forwarded': signature } })
      expect([answer.status, (await answer.json()).code]).toEqual([401, 'unauthorized'])
    }
    // Nothing of a body is waited for, or kept, for who has no key.
    expect(await saidToHead(first.url, await sealOf(body, `${key}.`))).toContain('401')
    const elsewhere = await signedTo(first.url, { ...call, receiver: 'another' })
    expect([elsewhere.status, elsewhere.headers.get('phi-forwarded')]).toEqual([421, 'moved'])
    for (const odd of [
      undefined,
      7,
      { ...call.command, command: { type: 'sudo' } },
      { ...call.command, deadline: 'never' },
      { ...call.command, sessionId: 7 },
    ])
      expect((await signedTo(first.url, { ...call, callId: crypto.randomUUID(), command: odd })).status).toBe(503)
    const [once, again] = [await signedTo(first.url, call), await signedTo(first.url, call)]
    await once.text()
    expect([once.status, again.status, (await again.json()).code]).toEqual([200, 503, 'unavailable'])
    expect(await said(first.ask, 's')).toEqual(['Begin.', 'Forged.'])
    const none = await two()
    expect((await none.first.sessions.forwarded(new Request('http://localhost', { method: 'POST', body }))).status).toBe(404)
  })

  it('aborts the response if the streaming process stalls beyond its lease', async () => {
    const { pool, silence } = lossyPool(database)
    let begun = 0
    const agent = () => {
      begun += 1
      return { model: scripted(() => ({ text: ['on ', 'its ', 'way'] }), { delayMs: 60_000 }) }
    }
    const { first, second } = await two({ isHttp: true, agent, leaseMs: 1000, statementTimeoutMs: 500 }, pool)
    const run = first.ask('s/runs', { prompt: 'Begin.' })
    run.catch(() => undefined)
    await expect.poll(() => begun).toBe(1)
    // From here on the run is in the log.
    await expect.poll(() => said(second.ask, 's')).toEqual(['Begin.'])
    const feed = (await second.ask('s/events')).body?.getReader()
    const ended = (async () => {
      for (let read = await feed?.read(); read?.done === false; read = await feed?.read());
    })()
    silence(true)
    await expect(ended).rejects.toThrow(/has ended/)
    // The other one has taken the run up.
    await expect.poll(() => begun).toBe(2)
    silence(false)
  })

  it('requires a strong key and a base URL', () => {
    const make = (peers: { url: string; key: string | string[] }) =>
      postgresLiveSessions({ pool: database.pool, agent: () => ({ model: scripted([]) }), peers })
    for (const wrong of ['', 'short', [], [key, 'short']]) expect(() => make({ url: 'http://10.0.0.1', key: wrong })).toThrow(/peers\.key/)
    for (const url of ['', 'ftp://10.0.0.1', '10.0.0.1:80', 'http://a:b@10.0.0.1']) expect(() => make({ url, key })).toThrow(/peers\.url/)
    expect(() => make({ url: 'http://10.0.0.1', key, secret: 'x' } as never)).toThrow(/secret/)
  })
})

async function sealOf(body: string, by = key): Promise<string> {
  const sealed = `${new TextEncoder().encode(body).length}.${await signatureOf(`phi-core forwarded command\n${body}`, by)}`
  return `${sealed}.${await signatureOf(`phi-core length of a forwarded command\n${sealed}`, by)}`
}

async function signedTo(url: string, call: object): Promise<Response> {
  const body = JSON.stringify(call)
  return fetch(url, { method: 'POST', body, headers: { ...json, 'phi-forwarded': await sealOf(body) } })
}

/** What a server says to the head of a request whose body never comes. */
function saidToHead(url: string, seal: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.write(
        `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 30000000\r\nphi-forwarded: ${seal}\r\n\r\n{`,
      )
    })
    onTestFinished(() => void socket.destroy())
    socket.once('data', (bytes) => resolve(String(bytes).split('\r\n', 1)[0] ?? ''))
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('It said nothing.')))
  })
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
}
