import { Pool } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { migrate, postgresLiveSessions, postgresSessionStore, type SqlPool } from '../../../adapters/postgres/index.ts'
import { sharedSessions } from '../../../examples/recipes/sessions/postgres-sessions.ts'
import { Agent, ConfigError } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { SessionError, scopedSessionStore } from '../../../src/session.ts'
import { sessionStoreSuite } from '../../../testing/index.ts'
import { note, notesIn } from '../../../testing/session-store/session-samples.ts'
import { onPostgres } from './on-postgres.ts'

onPostgres('sessions in PostgreSQL', (database) => {
  let tenants = 0
  let tenant = ''
  const another = () => postgresSessionStore({ pool: database.pool, tenant })
  const create = () => {
    tenant = `tenant-${++tenants}`
    return another()
  }
  const damage = async (sessionId: string, how: (lines: string[]) => string[]) => {
    const whose = [tenant, sessionId]
    const { rows } = await database.pool.query(
      'SELECT epoch, line FROM phi.records WHERE tenant = $1 AND session_id = $2 ORDER BY epoch, seq',
      whose,
    )
    await database.pool.query('DELETE FROM phi.records WHERE tenant = $1 AND session_id = $2', whose)
    const lines = how(rows.map(({ line }) => line))
    for (const [at, line] of lines.entries()) {
      const epoch = rows[at]?.epoch ?? rows.at(-1)?.epoch
      await database.pool.query('INSERT INTO phi.records VALUES ($1, $2, $3, $4, $5)', [...whose, epoch, at + 1, line])
    }
  }

  sessionStoreSuite({ describe, it, expect }, { name: 'PostgreSQL', create, another, damage })

  it('stores a session as the recipe shows', async () => {
    const store = await sharedSessions(database.pool)
    const agent = new Agent({ model: scripted([{ text: 'Hello.' }]), session: store, sessionId: 'recipe' })
    await agent.prompt('Hi.').result
    await agent.close()
    expect((await store.list()).sessions).toMatchObject([{ sessionId: 'recipe', status: 'idle', messages: 2 }])
  })

  it('runs migrations concurrently and repeatedly', async () => {
    await Promise.all(Array.from({ length: 8 }, () => migrate({ pool: database.pool, schema: 'other' })))
    await migrate({ pool: database.pool, schema: 'other' })
    const store = postgresSessionStore({ pool: database.pool, schema: 'other' })
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([note('one')])
    await writer.close()
    expect(notesIn((await store.tail('s')).records)).toEqual(['one'])
  })

  it('rejects an unsafe schema name', async () => {
    const schema = 'phi; DROP SCHEMA phi CASCADE'
    await expect(migrate({ pool: database.pool, schema })).rejects.toThrow(ConfigError)
    expect(() => postgresSessionStore({ pool: database.pool, schema })).toThrow(ConfigError)
  })

  it('isolates the sessions of different tenants', async () => {
    const store = create()
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([note('mine')])
    await writer.close()
    const other = postgresSessionStore({ pool: database.pool, tenant: 'somebody else' })
    expect((await other.list()).sessions).toEqual([])
    await expect(other.tail('s')).rejects.toMatchObject({ code: 'notFound' })
    expect(await other.delete('s')).toBe(false)
    expect(notesIn((await store.tail('s')).records)).toEqual(['mine'])
  })

  it('isolates tenants with row-level security if configured', async () => {
    await migrate({ pool: database.pool, schema: 'apart', rowSecurity: true })
    await migrate({ pool: database.pool, schema: 'apart', rowSecurity: true })
    await database.pool.query('CREATE ROLE app LOGIN')
    await database.pool.query('GRANT USAGE ON SCHEMA apart TO app')
    await database.pool.query('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA apart TO app')
    await database.pool.query('GRANT USAGE ON ALL SEQUENCES IN SCHEMA apart TO app')
    const poolOf = (tenant?: string) => {
      const pool = new Pool({
        host: database.folder,
        user: 'app',
        database: 'postgres',
        ...(tenant !== undefined && { options: `-c phi.tenant=${tenant}` }),
      })
      onTestFinished(() => pool.end())
      return pool
    }
    const [ofAda, ofBob, ofNobody] = [poolOf('ada'), poolOf('bob'), poolOf()]
    const store = postgresSessionStore({ pool: ofAda, schema: 'apart', tenant: 'ada' })
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([note('mine')])
    await writer.close()
    expect(notesIn((await store.tail('s')).records)).toEqual(['mine'])
    // Whatever a program asks for by mistake.
    for (const pool of [ofBob, ofNobody]) {
      const wrong = postgresSessionStore({ pool, schema: 'apart', tenant: 'ada' })
      expect((await wrong.list()).sessions).toEqual([])
      await expect(wrong.open('s', { agentId: 'b' })).rejects.toMatchObject({ code: 'io' })
      expect(await wrong.delete('s')).toBe(false)
      for (const table of ['sessions', 'records', 'blobs', 'processes', 'leases', 'calls', 'answers'])
        expect((await pool.query(`SELECT * FROM apart.${table}`)).rows).toEqual([])
    }
    const live = postgresLiveSessions({
      pool: ofAda,
      schema: 'apart',
      tenant: 'ada',
      agent: () => ({ model: scripted([{ text: 'Hello.' }]) }),
    })
    const app = createAgentApp({ sessions: live, authorize: () => true })
    const headers = { 'content-type': 'application/json' }
    expect(await (await app.request('/sessions/live/runs', { method: 'POST', headers, body: '{"prompt":"Hi."}' })).text()).toContain(
      'Hello.',
    )
    await live.close()
    expect(notesIn((await store.tail('s')).records)).toEqual(['mine'])
    expect(await store.delete('s')).toBe(true)
  })

  it('acknowledges at most one writer during repeated takeovers', async () => {
    const store = create()
    const writers = await Promise.all(Array.from({ length: 8 }, () => store.open('s', { agentId: 'a' })))
    const written = await Promise.allSettled(writers.map((writer, at) => writer.append([note(at)])))
    const acknowledged = written.flatMap(({ status }, at) => (status === 'fulfilled' ? [at] : []))
    expect(acknowledged.length).toBeLessThanOrEqual(1)
    const last = await store.open('s', { agentId: 'a' })
    expect(notesIn(last.records)).toEqual(acknowledged)
    for (const writer of [...writers, last]) await writer.close()
  })

  it('reads a log of thousands of records in batches', async () => {
    const store = create()
    const writer = await store.open('s', { agentId: 'a' })
    const all = Array.from({ length: 2100 }, (_, at) => at)
    for (let from = 0; from < all.length; from += 300) await writer.append(all.slice(from, from + 300).map((at) => note(at)))
    await writer.close()
    expect(notesIn((await another().tail('s')).records)).toEqual(all)
    const next = await store.open('s', { agentId: 'a' })
    expect(notesIn(next.records)).toEqual(all)
    await next.close()
  })

  it("reads only the end of a long log and only the owner's sessions", async () => {
    let rows = 0
    const pool: SqlPool = {
      query: async (text, values) => {
        const found = await database.pool.query(text, values)
        rows += found.rows.length
        return found
      },
    }
    const store = postgresSessionStore({ pool, tenant: 'ends' })
    for (let round = 0; round < 3; round++) {
      const writer = await store.open('long', { agentId: 'a' })
      for (let part = 0; part < 4; part++) await writer.append(Array.from({ length: 300 }, () => note('x')))
      await writer.close()
    }
    rows = 0
    expect((await store.tail('long', { last: 20 })).records.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, at) => 3581 + at))
    // Where the log ends, that it is there, and those.
    expect(rows).toBe(22)
    for (const owner of ['ada', 'bob']) {
      for (let at = 0; at < 30; at++) {
        const writer = await scopedSessionStore(store, owner).open(`s${at}`, { agentId: 'a' })
        await writer.append([note('x')])
        await writer.close()
      }
    }
    rows = 0
    const { sessions, nextCursor } = await scopedSessionStore(store, 'ada').list({ limit: 5 })
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['s29', 's28', 's27', 's26', 's25'])
    expect([rows, nextCursor === undefined]).toEqual([6, false])
  })

  it('finds open runs among 5,000 sessions with an index', async () => {
    await database.pool.query(`INSERT INTO phi.sessions (tenant, session_id, epoch, claimant, agent_id, last_active_at, is_written, digest, status)
      SELECT 'many', 's' || at, 1, 'a', 'a', at, true, '{"loops":1,"messages":2}', CASE WHEN at % 2000 = 7 THEN 'running' ELSE 'idle' END
      FROM generate_series(1, 5000) AS at`)
    await database.pool.query('ANALYZE phi.sessions')
    const plans: string[] = []
    const pool: SqlPool = {
      query: async (text, values) => {
        const { rows } = await database.pool.query(`EXPLAIN (ANALYZE) ${text}`, values)
        plans.push(JSON.stringify(rows))
        return database.pool.query(text, values)
      },
    }
    const { sessions } = await postgresSessionStore({ pool, tenant: 'many' }).list({ status: 'running' })
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['s4007', 's2007', 's7'])
    expect(plans).toEqual([expect.stringContaining('open_sessions')])
    expect(plans.join()).not.toContain('Removed by Filter')
  })

  it('keeps acknowledged records across a database crash and continues', async () => {
    const store = create()
    const writer = await store.open('s', { agentId: 'a' })
    await writer.append([note('before')])
    await database.crash()
    const after = another()
    expect(notesIn((await after.tail('s')).records)).toEqual(['before'])
    const next = await after.open('s', { agentId: 'a' })
    await next.append([note('after')])
    await next.close()
    expect(notesIn((await after.tail('s')).records)).toEqual(['before', 'after'])
  })

  it.each([
    ['53100', 'quota', ''],
    ['XX000', 'quota', 'could not extend file "base/5/1249": Disk quota exceeded'],
    ['XX000', 'io', 'could not extend file "base/5/1249": Input/output error'],
    ['57P01', 'io', ''],
    ['', 'io', ''],
  ])('maps database failure %s to %s %s', async (code, expected, text) => {
    const secret = 'postgres://phi:secret@db'
    const pool: SqlPool = {
      query: () => Promise.reject(Object.assign(new Error(`${secret}: ${text}`), code === '' ? {} : { code })),
    }
    const failure: unknown = await postgresSessionStore({ pool })
      .tail('s')
      .catch((error: unknown) => error)
    expect(SessionError.isInstance(failure) && [failure.code, failure.message.includes('secret')]).toEqual([expected, false])
  })
})
