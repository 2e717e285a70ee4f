import { expect, it, onTestFinished } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { listenWith, type PostgresLiveSessionsOptions, postgresLiveSessions } from '../../../adapters/postgres/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { onPostgres } from './on-postgres.ts'

onPostgres('a database with foreign writes', (database) => {
  /** One process, and the statements that it sends. */
  function make(tenant: string, more: Partial<PostgresLiveSessionsOptions> = {}) {
    const statements: string[] = []
    const pool: PostgresLiveSessionsOptions['pool'] = {
      query: (text, values) => {
        statements.push(text.trim())
        return database.pool.query(text, values)
      },
    }
    const agent = () => ({ model: scripted(() => ({ text: 'ok' })) })
    const sessions = postgresLiveSessions({ pool, tenant, agent, logger: false, ...more })
    onTestFinished(() => sessions.close({ abort: true }))
    const app = createAgentApp({ sessions, authorize: () => true })
    const ask = async (path: string, body?: object) =>
      app.request(path, {
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      })
    return { ask, statements }
  }

  it('lists other sessions despite an invalid summary and rewrites it', async () => {
    const tenant = 'summaries'
    const { ask } = make(tenant)
    for (const id of ['a', 'b']) await (await ask(`/sessions/${id}/runs`, { prompt: 'Go.' })).text()
    const listed = async () => {
      const { sessions } = await (await ask('/sessions')).json()
      return sessions.map(({ sessionId, error }: { sessionId: string; error?: { code: string } }) => [sessionId, error?.code])
    }
    for (const digest of ['{', 'null', '7', '{"loops":"many"}']) {
      await database.pool.query(`UPDATE phi.sessions SET digest = $2 WHERE tenant = $1 AND session_id LIKE '%b'`, [tenant, digest])
      expect(await listed()).toEqual([
        ['b', 'invalidSession'],
        ['a', undefined],
      ])
    }
    await (await ask('/sessions/b/runs', { prompt: 'More.' })).text()
    expect(await listed()).toEqual([
      ['b', undefined],
      ['a', undefined],
    ])
  })

  it('avoids repeated takeover attempts in a full process', async () => {
    const tenant = 'full'
    const { ask, statements } = make(tenant, { maxSessions: 1, listen: listenWith(database.pool), leaseMs: 600_000 })
    const watched = (await ask('/sessions/watched/events')).body?.getReader()
    for (let at = 0; at < 20; at++)
      await database.pool.query('INSERT INTO phi.leases VALUES ($1, $2, $3, $4)', [tenant, '', `left-${at}`, 'gone'])
    const left = () => statements.filter((text) => text.includes("SET process_id = ''")).length
    await database.pool.query(`SELECT pg_notify('phi_left_phi', 'left')`)
    await expect.poll(left).toBeGreaterThanOrEqual(16)
    // Whoever was told would ask meanwhile.
    const before = statements.length
    for (let at = 0; at < 20; at++) await (await ask('/sessions')).text()
    const taken = statements.slice(before).filter((text) => text.startsWith('UPDATE phi.leases'))
    expect([left(), taken]).toEqual([16, []])
    await watched?.cancel()
  })
})
