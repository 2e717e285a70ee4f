import { expect, it, onTestFinished } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { type PostgresLiveSessionsOptions, postgresLiveSessions, postgresSessionStore } from '../../../adapters/postgres/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { gate } from '../../support/play.ts'
import { onPostgres } from './on-postgres.ts'

interface Options extends Pick<PostgresLiveSessionsOptions, 'leaseMs'> {
  mayAnswer?: () => Promise<void>
  before?: (statement: string, values: unknown[] | undefined) => Promise<void>
  after?: (statement: string, values: unknown[] | undefined) => Promise<void>
}

onPostgres('a session taken over while both processes live', (database) => {
  /** One process. `before` is awaited before each of its statements, `after` behind it. */
  function make(tenant: string, { mayAnswer, before, after, ...more }: Options = {}) {
    const pool: PostgresLiveSessionsOptions['pool'] = {
      query: async (text, values) => {
        await before?.(text, values)
        const done = await database.pool.query(text, values)
        await after?.(text, values)
        return done
      },
    }
    const model = scripted(() => ({ text: 'ok' }), mayAnswer === undefined ? {} : { gate: mayAnswer })
    const sessions = postgresLiveSessions({ pool, tenant, agent: () => ({ model }), logger: false, ...more })
    onTestFinished(() => sessions.close({ abort: true }))
    const app = createAgentApp({ sessions, authorize: () => true })
    return (path: string, body?: object) =>
      app.request(`/sessions/s${path}`, {
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      })
  }

  async function loopsOf(tenant: string): Promise<(string | undefined)[]> {
    const { loops } = await postgresSessionStore({ pool: database.pool, tenant }).load('s')
    return loops.map(({ status }) => status)
  }

  it('rejects writes from an owner that has not noticed the takeover', async () => {
    const tenant = 'barred'
    const one = make(tenant, { leaseMs: 600_000 })
    await (await one('/runs', { prompt: 'Go.' })).text()
    const epoch = async () => {
      const { rows } = await database.pool.query('SELECT epoch FROM phi.sessions WHERE tenant = $1', [tenant])
      return Number(rows[0]?.epoch)
    }
    const before = await epoch()
    await database.pool.query('UPDATE phi.processes SET until = 0 WHERE tenant = $1', [tenant])
    const two = make(tenant)
    await (await two('/history')).text()
    await expect.poll(epoch).toBeGreaterThan(before)
    // It would be on in a process that gives it up with its next beat, after the other one has looked what is left.
    await (await one('/runs', { prompt: 'More.' })).text().catch(() => undefined)
    expect(await loopsOf(tenant)).toEqual(['completed'])
    await (await two('/runs', { prompt: 'More.' })).text()
    expect(await loopsOf(tenant)).toEqual(['completed', 'completed'])
  })

  it('treats the session as orphaned for the new owner before the old owner polls again', async () => {
    const tenant = 'left'
    const answer = gate()
    const two = make(tenant)
    let isGiven = false
    const one = make(tenant, {
      leaseMs: 10_000,
      mayAnswer: () => answer.opened,
      after: async (statement) => {
        if (isGiven || !/DELETE FROM phi\.leases|UPDATE phi\.leases SET process_id = ''/.test(statement)) return
        isGiven = true
        await (await two('/history')).text()
      },
    })
    const running = await one('/runs', { prompt: 'Go.' })
    await expect.poll(() => loopsOf(tenant).catch(() => [])).toEqual(['running'])
    // Another writer: what the first one writes next is refused.
    await (await postgresSessionStore({ pool: database.pool, tenant }).open('s', { agentId: 'other' })).close()
    answer.open()
    await running.text().catch(() => undefined)
    await expect.poll(async () => (await loopsOf(tenant)).at(-1)).toBe('completed')
    expect(isGiven).toBe(true)
  })

  it("loads the session after the old owner's last write, including a started run", async () => {
    const tenant = 'unread'
    const [mayWrite, isWritten] = [gate(), gate()]
    const isBeginning = (statement: string, values?: unknown[]) =>
      statement.includes('INSERT INTO phi.records') && JSON.stringify(values).includes('loopStart')
    const one = make(tenant, {
      leaseMs: 600_000,
      before: async (statement, values) => {
        if (isBeginning(statement, values)) await mayWrite.opened
      },
      after: async (statement, values) => {
        if (isBeginning(statement, values)) isWritten.open()
      },
    })
    const reader = (await one('/runs', { prompt: 'Go.' })).body?.getReader()
    const loopId = /"loopId":"([^"]+)"/.exec(new TextDecoder().decode((await reader?.read())?.value))?.[1]
    await database.pool.query('UPDATE phi.processes SET until = 0 WHERE tenant = $1', [tenant])
    const two = make(tenant, {
      before: async (statement) => {
        if (!statement.includes('SET epoch = nextval')) return
        mayWrite.open()
        await isWritten.opened
      },
    })
    const answer = await two(`/runs/${loopId}/events`)
    expect([answer.status, (await answer.json()).code]).toEqual([410, 'gone'])
    // Whether what was said was stored as well, it has an end: else who said it is told to say it again.
    await expect.poll(async () => (await loopsOf(tenant)).at(-1)).toMatch(/^(completed|error)$/)
  })
})
