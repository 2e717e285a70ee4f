import { Pool } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { postgresLiveSessions, postgresSessionStore } from '../../../adapters/postgres/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { onPostgres } from './on-postgres.ts'

const start = {
  type: 'sessionStart' as const,
  agentId: 'a',
  formation: { type: 'firstLoop' as const, at: 0 },
  scope: 'persistent' as const,
}
const say = (prompt: string) => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ prompt }) })

onPostgres('a read-only database, such as the old primary after a failover', (database) => {
  const readOnly = async (isOn: boolean) => {
    await database.pool.query(`ALTER SYSTEM SET default_transaction_read_only = ${isOn ? 'on' : 'off'}`)
    await database.pool.query('SELECT pg_reload_conf()')
    const isSet = async () => (await database.pool.query('SHOW default_transaction_read_only')).rows[0]?.default_transaction_read_only
    await expect.poll(isSet).toBe(isOn ? 'on' : 'off')
  }
  // Settings are changed by a connection that may.
  const settled = () => readOnly(false).catch(() => undefined)

  it('reports a read-only database, still serves reads and loses nothing', async () => {
    onTestFinished(settled)
    const store = postgresSessionStore({ pool: database.pool })
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([{ entry: start }])
    await readOnly(true)
    const refused = { code: 'io', message: expect.stringMatching(/25006.*is read-only/) }
    await expect(writer.append([{ entry: start }])).rejects.toMatchObject(refused)
    await expect(store.open('t', { agentId: 'a' })).rejects.toMatchObject(refused)
    await expect(store.delete('s')).rejects.toMatchObject(refused)
    expect((await store.tail('s')).records).toHaveLength(1)
    expect((await store.list()).sessions).toHaveLength(1)
    await readOnly(false)
    const again = await store.open('s', { agentId: 'a' })
    await again.append([{ entry: start }])
    expect((await store.tail('s')).records).toHaveLength(2)
  })

  it('responds with 503 and accepts prompts again once the database is writable', async () => {
    onTestFinished(settled)
    const options = { pool: database.pool, tenant: 'live', leaseMs: 1000, pollMs: 20, logger: false as const }
    const sessions = postgresLiveSessions({ ...options, agent: () => ({ model: scripted(() => ({ text: 'ok' })) }) })
    onTestFinished(() => sessions.close())
    const app = createAgentApp({ sessions, authorize: () => true, logger: false })
    const answers = async (id: string) => {
      const answer = await app.request(`/sessions/${id}/runs`, say('Hi.'))
      const text = await answer.text()
      return answer.ok
        ? /"status":"(\w+)"/.exec(text.slice(text.lastIndexOf('agentEnd')))?.[1]
        : `${answer.status} ${JSON.parse(text).code}`
    }
    expect(await answers('known')).toBe('completed')
    await readOnly(true)
    // Also past the lease of this process, which it cannot renew.
    for (let at = 0; at < 3; at++) {
      expect(await answers('new')).toBe('503 storeFailed')
      expect(await answers('known')).toMatch(/^503 storeFailed$|^error$/)
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
    await readOnly(false)
    for (const id of ['known', 'new']) await expect.poll(() => answers(id), { timeout: 15_000, interval: 200 }).toBe('completed')
  })
})

onPostgres('a pool without a free connection', (database) => {
  /** A pool that fails soon once all its connections are taken. To open them may take longer than that on a busy machine. */
  const fullPool = async (max: number) => {
    const pool = new Pool({ connectionString: database.url, max, idleTimeoutMillis: 0 })
    onTestFinished(() => pool.end())
    const opened = await Promise.all(Array.from({ length: max }, () => pool.connect()))
    for (const each of opened) each.release()
    pool.options.connectionTimeoutMillis = 100
    return pool
  }

  it('fails each call with code io and continues when a connection is free', async () => {
    const pool = await fullPool(1)
    const store = postgresSessionStore({ pool })
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([{ entry: start }])
    const held = await pool.connect()
    const io = { code: 'io' }
    await expect(store.tail('s')).rejects.toMatchObject(io)
    await expect(store.list()).rejects.toMatchObject(io)
    await expect(store.open('t', { agentId: 'a' })).rejects.toMatchObject(io)
    held.release()
    expect((await store.tail('s')).records).toHaveLength(1)
    await writer.append([{ entry: start }])
    expect((await store.tail('s')).records).toHaveLength(2)
  })

  it('responds with 503 if the server has no free connections', async () => {
    const pool = await fullPool(2)
    const options = { pool, tenant: 'full', leaseMs: 1000, pollMs: 20, logger: false as const }
    const sessions = postgresLiveSessions({ ...options, agent: () => ({ model: scripted(() => ({ text: 'ok' })) }) })
    onTestFinished(() => sessions.close())
    const app = createAgentApp({ sessions, authorize: () => true, logger: false })
    await (await app.request('/sessions/s/runs', say('Hi.'))).text()
    const held = await Promise.all([pool.connect(), pool.connect()])
    const refused = await app.request('/sessions/t/runs', say('Hi.'))
    expect([refused.status, (await refused.json()).code, refused.headers.has('retry-after')]).toEqual([503, 'storeFailed', true])
    for (const each of held) each.release()
    const again = async () => (await (await app.request('/sessions/t/runs', say('Hi.'))).text()).includes('"status":"completed"')
    await expect.poll(again, { timeout: 15_000, interval: 200 }).toBe(true)
  })
})
