import { expect, it, onTestFinished } from 'vitest'
import { createAgentApp } from '../../../adapters/http/index.ts'
import { postgresLiveSessions, postgresSchedules } from '../../../adapters/postgres/index.ts'
import { defineTool } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { onPostgres } from './on-postgres.ts'

const json = { 'content-type': 'application/json' }

onPostgres('the context of runs in PostgreSQL', (database) => {
  let tenants = 0

  /** Creates processes that share sessions. Each returns its reasons and its name as context, which a tool repeats. */
  function processes() {
    const tenant = `contexts-${++tenants}`
    return (name: string, { model = scripted([]), hasSchedules = false } = {}) => {
      const asked: string[] = []
      const seen: unknown[] = []
      const whoami = defineTool({
        name: 'whoami',
        description: 'Returns the context.',
        parameters: { type: 'object' },
        idempotent: true,
        execute: (_, { context }) => {
          seen.push(context)
          return 'ok'
        },
      })
      const sessions = postgresLiveSessions({
        pool: database.pool,
        tenant,
        pollMs: 5,
        leaseMs: 1000,
        agent: () => ({ model, tools: [whoami] }),
        logger: false,
        ...(hasSchedules && { schedules: postgresSchedules({ pool: database.pool, tenant }) }),
      })
      const app = createAgentApp({
        sessions,
        authorize: () => true,
        context: (c, { reason }) => {
          asked.push(c === undefined ? reason : `${reason} with a request`)
          return `${name}: ${reason}`
        },
      })
      onTestFinished(() => sessions.close({ abort: true }))
      const ask = (path: string, body?: object) =>
        app.request(`/sessions/${path}`, { headers: json, ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }) })
      return { ask, asked, seen, sessions }
    }
  }
  const callsTool = () =>
    scripted(({ messages }) => (messages.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'whoami', arguments: {} }] } : { text: 'done' }))

  it('asks the owner with queued for a schedule that another process finds, and with start for a forwarded prompt', async () => {
    const make = processes()
    const owner = make('owner', { model: callsTool() })
    await (await owner.ask('s/runs', { prompt: 'One.' })).text()
    const other = make('other', { hasSchedules: true })
    await other.sessions.schedulesOf({ sessionId: 's' }).runAt(1, 'Two.')
    await expect.poll(() => owner.seen).toEqual(['owner: start', 'owner: queued'])
    await expect.poll(async () => (await (await owner.ask('s')).json()).status).not.toBe('running')
    await (await other.ask('s/runs', { prompt: 'Three.' })).text()
    await expect.poll(() => owner.seen).toEqual(['owner: start', 'owner: queued', 'owner: start'])
    expect(owner.asked).toEqual(['start with a request', 'queued', 'start'])
    expect([other.asked, other.seen]).toEqual([[], []])
  })

  it('asks the process that takes over an interrupted run with recover, and never passes on the context of the first', async () => {
    const make = processes()
    // The first model call of the first process never ends.
    let called: () => void = () => undefined
    const isCalled = new Promise<void>((resolve) => {
      called = resolve
    })
    const gate = () => {
      called()
      return new Promise<void>(() => undefined)
    }
    const model = scripted([{ toolCalls: [{ name: 'whoami', arguments: {} }] }], { gate })
    const first = make('first', { model })
    const begun = first.ask('s/runs', { prompt: 'One.' })
    await isCalled
    const second = make('second', { model: callsTool() })
    await first.sessions.drain({ deadlineMs: 1 })
    await first.sessions.close({ abort: false })
    await expect((await begun).text()).rejects.toThrow('The run continues in another process')
    await expect.poll(() => second.seen, { timeout: 20_000 }).toEqual(['second: recover'])
    expect(second.asked).toEqual(['recover'])
    expect(first.seen).toEqual([])
  })
})
