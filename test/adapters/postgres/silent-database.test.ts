import { expect, it, onTestFinished } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { postgresLiveSessions, postgresSessionStore, type SqlPool } from '../../../adapters/postgres/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { lossyPool } from './lossy-pool.ts'
import { onPostgres } from './on-postgres.ts'

onPostgres('a database that fails while a process resumes a run', (database) => {
  it.each(['records', 'leases'])('completes the run after a retry without a request (%s)', async (table) => {
    const tenant = `fails-${table}`
    const waiting = scripted(() => ({ text: ['one ', 'two'] }), { delayMs: 60_000 })
    const done = scripted(() => ({ text: 'done' }))
    const options = { tenant, leaseMs: 1000, pollMs: 20, logger: false as const }
    const first = postgresLiveSessions({ ...options, pool: database.pool, agent: () => ({ model: waiting }) })
    onTestFinished(() => first.close())
    const app = createAgentApp({ sessions: first, authorize: () => true })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"Go."}' }
    await app.request('/sessions/s/runs', init)
    const store = postgresSessionStore({ pool: database.pool, tenant })
    await expect.poll(async () => (await store.list({ status: 'running' })).sessions).toHaveLength(1)
    let failures = 0
    const pool: SqlPool = {
      query: async (text, values) => {
        const isMeant = text.includes(`FROM phi.${table}`) && JSON.stringify(values).includes('"s"')
        if (isMeant && failures++ < 2) throw Object.assign(new Error('It goes down.'), { code: '57P01' })
        return database.pool.query(text, values)
      },
    }
    const second = postgresLiveSessions({ ...options, pool, agent: () => ({ model: done }) })
    onTestFinished(() => second.close())
    await first.close()
    const ends = async () => (await store.tail('s')).records.flatMap(({ entry }) => (entry.type === 'loopEnd' ? [entry.status] : []))
    await expect.poll(ends).toEqual(['completed'])
    expect(failures).toBeGreaterThan(0)
  })
})

onPostgres('a database that accepts a statement and never responds', (database) => {
  it('fails each call with code io before the timeout and recovers', async () => {
    const { pool, silence } = lossyPool(database)
    const store = postgresSessionStore({ pool, statementTimeoutMs: 1000 })
    const writer = await store.open('s', { agentId: 'a' })
    const start = {
      type: 'sessionStart' as const,
      agentId: 'a',
      formation: { type: 'firstLoop' as const, at: 0 },
      scope: 'persistent' as const,
    }
    await writer.append([{ entry: start }])
    silence(true)
    const io = { code: 'io' }
    await expect(store.tail('s')).rejects.toMatchObject(io)
    await expect(store.list()).rejects.toMatchObject(io)
    await expect(writer.append([{ entry: start }])).rejects.toMatchObject(io)
    silence(false)
    expect((await store.tail('s')).records).toHaveLength(1)
  })

  it('responds with 503 and completes the delayed run later', async () => {
    const { pool, silence } = lossyPool(database)
    const model = scripted(() => ({ text: Array.from({ length: 20 }, (_, at) => `${at} `) }), { delayMs: 5 })
    const warnings: string[] = []
    const logger = { warn: (event: string) => void warnings.push(event) }
    const sessions = postgresLiveSessions({ pool, statementTimeoutMs: 1000, leaseMs: 1000, pollMs: 20, agent: () => ({ model }), logger })
    onTestFinished(() => {
      silence(false)
      return sessions.close()
    })
    const app = createAgentApp({ sessions, authorize: () => true })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"Go."}' }
    const begun = (await app.request('/sessions/held/runs', init)).body?.getReader()
    // From here on the run is in the log.
    for (let text = ''; begun !== undefined && !text.includes('delta'); ) text += new TextDecoder().decode((await begun.read()).value)
    silence(true)
    const answers: unknown[] = []
    await expect.poll(() => warnings.includes('sessionsUnreachable')).toBe(true)
    for (let at = 0; at < 3; at++) {
      const answer = await app.request('/sessions/other/history')
      answers.push([answer.status, (await answer.json()).code, answer.headers.get('retry-after')])
    }
    expect(answers).toEqual(Array(3).fill([503, 'storeFailed', '5']))
    // Once more where it had just been asked whether it is there.
    expect(warnings.filter((event) => event === 'sessionsUnreachable').length).toBeLessThanOrEqual(2)
    silence(false)
    const statuses = async () => {
      const { records } = await postgresSessionStore({ pool: database.pool }).tail('held')
      return records.flatMap(({ entry }) => (entry.type === 'loopEnd' ? [entry.status] : []))
    }
    await expect.poll(async () => (await statuses()).at(-1)).toBe('completed')
  })
})
