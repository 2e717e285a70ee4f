import { expect, it, onTestFinished } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { postgresLiveSessions, postgresSessionStore, type SqlPool } from '../../../adapters/postgres/index.ts'
import { defineTool } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { note, notesIn } from '../../../testing/session-store/session-samples.ts'
import { patient } from '../../support/patience.ts'
import { expectWhole, killedClusters, shown } from './killed-cluster.ts'
import { onPostgres } from './on-postgres.ts'

const { timeout } = patient
const minutes = 60_000

/** A pool of a process that can be stopped: what it asks meanwhile reaches the database once it wakes. */
function stoppablePool(pool: () => SqlPool) {
  let isAwake = Promise.resolve()
  let wake = (): void => undefined
  const stopped: string[] = []
  const query: SqlPool['query'] = async (text, values) => {
    stopped.push(text)
    await isAwake
    return pool().query(text, values)
  }
  return {
    pool: { query },
    /** What it was about to ask when it was stopped, and since. */
    stopped,
    stop: () => {
      stopped.length = 0
      isAwake = new Promise((resolve) => {
        wake = resolve
      })
    },
    wake: () => wake(),
  }
}

onPostgres('the owner of an expired lease', (database) => {
  const { cluster, endsOf } = killedClusters(database)

  /** How often a run of the session was begun, as the database has it. */
  const begunIn = async (sessionId: string) => {
    const { records } = await postgresSessionStore({ pool: database.pool }).tail(sessionId)
    return records.filter(({ entry }) => entry.type === 'loopStart').length
  }

  it('loses its lease and rejects further writes', { timeout }, async () => {
    const three = await cluster(3)
    const begun = Array.from({ length: 6 }, (_, number) => three.begin(number))
    await Promise.all(begun.map(({ isOn }) => isOn))
    await three.hosts[0]?.signal('SIGSTOP')
    const stopped = three.hosts.splice(0, 1)
    await Promise.all(begun.map(({ sessionId }) => expect.poll(() => endsOf(sessionId)).toEqual(['completed'])))
    three.hosts.push(...stopped)
    await three.hosts[2]?.signal('SIGCONT')
    expect((await Promise.all(begun.map(({ result }) => result))).map(shown)).toEqual(Array(6).fill('completed all done'))
    for (const { sessionId, seen } of begun) {
      const told = await Promise.all([0, 1, 2].map(() => three.history(sessionId)))
      expect(new Set(told.map((messages) => JSON.stringify(messages))).size).toBe(1)
      expectWhole(seen, await three.history(sessionId))
      expect(await endsOf(sessionId)).toEqual(['completed'])
    }
    expect(new Set(three.paid()).size).toBe(three.paid().length)
  })

  it.each([
    ['back to the first', true],
    ['to a third', false],
  ])('loses its lease twice, %s: rejects all earlier owners', { timeout }, async (_, isBack) => {
    const all = await cluster(1, { DELAY_MS: '50' })
    const [first] = all.hosts
    if (first === undefined) throw new Error('It was started.')
    const run = all.begin(0)
    await run.isOn
    const second = all.start()
    await second.url
    await first.signal('SIGSTOP')
    await expect.poll(() => begunIn(run.sessionId)).toBe(2)
    // At once: it could end the run while the third is started.
    await second.signal('SIGSTOP')
    const third = all.start()
    if (isBack) await first.signal('SIGCONT')
    await expect.poll(() => begunIn(run.sessionId)).toBe(3)
    await expect.poll(() => endsOf(run.sessionId)).toEqual(['completed'])
    await Promise.all([first.signal('SIGCONT'), second.signal('SIGCONT')])
    all.hosts.push(second, third)
    expect(shown(await run.result)).toBe('completed all done')
    const told = await Promise.all([0, 1, 2].map(() => all.history(run.sessionId)))
    expect(new Set(told.map((messages) => JSON.stringify(messages))).size).toBe(1)
    expectWhole(run.seen, told[0] ?? [])
    expect([await endsOf(run.sessionId), await begunIn(run.sessionId)]).toEqual([['completed'], 3])
    expect(new Set(all.paid()).size).toBe(all.paid().length)
  })

  /** Three processes of machines whose clocks are wrong by minutes in both directions. */
  async function wrongClocks(env: Record<string, string> = {}) {
    const all = await cluster(0, env)
    const clocks = [-10 * minutes, 10 * minutes, 0]
    all.hosts.push(...clocks.map((wrongBy) => all.start({ CLOCK_MS: String(wrongBy) })))
    await Promise.all(all.hosts.map(({ url }) => url))
    return all
  }

  it('keeps its lease against a live process with a wrong clock', { timeout }, async () => {
    // So long that a busy machine loses none.
    const all = await wrongClocks({ LEASE_MS: '30000' })
    const quiet = Array.from({ length: 6 }, (_, number) => all.begin(number))
    expect((await Promise.all(quiet.map(({ result }) => result))).map(shown)).toEqual(Array(6).fill('completed all done'))
    // What is passed on is neither too old nor too new.
    for (const { sessionId, seen } of quiet) {
      expectWhole(seen, await all.history(sessionId))
      expect(await begunIn(sessionId)).toBe(1)
    }
    expect(new Set(all.paid()).size).toBe(all.paid().length)
  })

  it('expires by the database clock, regardless of process clocks', { timeout }, async () => {
    const all = await wrongClocks()
    for (const at of [0, 1]) {
      const begun = Array.from({ length: 3 }, (_, number) => all.begin(10 * (at + 1) + number))
      await Promise.all(begun.map(({ isOn }) => isOn))
      const [late] = all.hosts.splice(at, 1)
      await late?.signal('SIGSTOP')
      await Promise.all(begun.map(({ sessionId }) => expect.poll(() => endsOf(sessionId)).toEqual(['completed'])))
      await late?.signal('SIGCONT')
      if (late !== undefined) all.hosts.splice(at, 0, late)
      for (const { sessionId, result, seen } of begun) {
        expect(shown(await result)).toBe('completed all done')
        expectWhole(seen, await all.history(sessionId))
        expect(await endsOf(sessionId)).toEqual(['completed'])
      }
    }
    expect(new Set(all.paid()).size).toBe(all.paid().length)
  })

  it('rejects an append sent after the lease expired', async () => {
    const { pool, stop, wake } = stoppablePool(() => database.pool)
    const writer = await postgresSessionStore({ pool, tenant: 'late' }).open('s', { agentId: 'a' })
    await writer.append([note('before')])
    stop()
    const late = writer.append([note('late')])
    const others = postgresSessionStore({ pool: database.pool, tenant: 'late' })
    const next = await others.open('s', { agentId: 'a' })
    await next.append([note('next')])
    wake()
    await expect(late).rejects.toMatchObject({ code: 'conflict' })
    await next.append([note('last')])
    await next.close()
    expect(notesIn((await others.tail('s')).records)).toEqual(['before', 'next', 'last'])
  })

  it('runs no tool after a stall during an append', { timeout }, async () => {
    const paid: string[] = []
    const hostOf = (name: string, pool: SqlPool) => {
      const pay = defineTool({
        name: 'pay',
        description: 'Pays.',
        parameters: { type: 'object', properties: {} },
        execute: () => {
          paid.push(name)
          return 'paid'
        },
      })
      const model = scripted(({ messages }) =>
        messages.some(({ role }) => role === 'toolResult')
          ? { text: 'all done' }
          : { toolCalls: [{ id: 'call', name: 'pay', arguments: {} }] },
      )
      const options = { tenant: 'stopped', leaseMs: 1000, pollMs: 20, logger: false as const, statementTimeoutMs: 60_000 }
      const sessions = postgresLiveSessions({ ...options, pool, agent: () => ({ model, tools: [pay] }) })
      onTestFinished(() => sessions.close())
      return createAgentApp({ sessions, authorize: () => true })
    }
    const stoppable = stoppablePool(() => database.pool)
    // It stands still as soon as it is about to write down that it will run its tool.
    const query: SqlPool['query'] = (text, values) => {
      if (paid.length === 0 && JSON.stringify(values ?? []).includes('toolIntent')) stoppable.stop()
      return stoppable.pool.query(text, values)
    }
    onTestFinished(stoppable.wake)
    const first = hostOf('first', { query })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"Pay."}' }
    await first.request('/sessions/s/runs', init)
    await expect.poll(() => stoppable.stopped.some((text) => text.includes('.records'))).toBe(true)
    const second = hostOf('second', database.pool)
    const store = postgresSessionStore({ pool: database.pool, tenant: 'stopped' })
    const ends = async () => (await store.tail('s')).records.flatMap(({ entry }) => (entry.type === 'loopEnd' ? [entry.status] : []))
    await expect.poll(ends).toEqual(['completed'])
    stoppable.wake()
    const historyOf = async (app: typeof first) => (await (await app.request('/sessions/s/history')).json()).messages
    await expect.poll(() => historyOf(first)).toEqual(await historyOf(second))
    expect([paid, await ends()]).toEqual([['second'], ['completed']])
  })
})
