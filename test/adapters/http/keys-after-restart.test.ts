import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createAgentApp, memoryLiveSessions, memorySchedules } from '../../../adapters/http/index.ts'
import { type JsonObject, memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { scopedSessionStore, sharedState, sharedStatesOf } from '../../../src/session.ts'

const list = sharedState({ schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } })

describe('repeated requests with the same idempotency key', () => {
  const store = () => {
    const [kept, schedules] = [memorySessionStore(), memorySchedules()]
    /** A process over the same store. */
    const start = () => {
      const sessions = memoryLiveSessions({
        store: kept,
        schedules,
        agent: () => ({ model: scripted(() => ({ text: 'An answer.' })), sharedState: list }),
      })
      onTestFinished(() => sessions.close())
      const app = createAgentApp({ sessions, authorize: (c) => c.req.header('x-user') ?? true })
      const ask = async (path: string, body: JsonObject, key: string, user = 'ada') => {
        const headers = { 'content-type': 'application/json', 'x-user': user, 'idempotency-key': key }
        const answer = await app.request(`/sessions/s${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
        return { status: answer.status, text: await answer.text() }
      }
      const loops = async (user = 'ada') => {
        const { session } = await (await app.request('/sessions/s', { headers: { 'x-user': user } })).json()
        return session.loops.map(({ loopId }: { loopId: string }) => loopId)
      }
      return { ask, loops, sessions }
    }
    return Object.assign(start, { kept })
  }

  it.each([
    ['/runs', { prompt: 'Once.' }],
    ['/send', { prompt: 'Once.' }],
    ['/regenerate', {}],
    ['/compact', {}],
    ['/branch', { prompt: 'Elsewhere.', loopId: 'LAST' }],
  ])('runs %s once, in the same process and after a handover', async (path, given) => {
    const start = store()
    const first = start()
    for (const prompt of ['One.', 'Two.']) await first.ask('/runs', { prompt }, `key-of-${prompt.slice(0, -1)}`)
    const last = (await first.loops()).at(-1)
    const body: JsonObject = 'loopId' in given ? { ...given, loopId: last } : given
    const answer = await first.ask(path, body, 'the-same-key')
    expect(answer.status).toBe(200)
    const begun = await first.loops()
    expect(begun).toHaveLength(3)
    await first.ask(path, body, 'the-same-key')
    expect(await first.loops()).toEqual(begun)
    await first.sessions.close()
    const second = start()
    const again = await second.ask(path, body, 'the-same-key')
    expect(await second.loops()).toEqual(begun)
    // Its events were in the memory of the process before: what came of it is in the session.
    expect(again).toMatchObject({ status: 410 })
    expect(JSON.parse(again.text)).toMatchObject({ code: 'gone', loopId: begun[2] })
    // Another key is another one.
    await second.ask(path, body, 'another-key')
    expect(await second.loops()).toHaveLength(4)
  })

  it("treats another user's request with the same key as new", async () => {
    const first = store()()
    for (const user of ['ada', 'bob']) expect((await first.ask('/runs', { prompt: 'Mine.' }, 'the-same-key', user)).status).toBe(200)
    expect([await first.loops('ada'), await first.loops('bob')].map(({ length }) => length)).toEqual([1, 1])
  })

  it('changes the shared state once, even after another change', async () => {
    const start = store()
    const first = start()
    await first.ask('/runs', { prompt: 'One.' }, 'key-of-One')
    const change = { ifVersion: 0, patch: [{ op: 'add', path: '/items/-', value: 'flour' }] }
    const made = await first.ask('/state', change, 'the-same-key')
    expect(JSON.parse(made.text)).toEqual({ version: 1, value: { items: ['flour'] } })
    await first.ask('/state', { ifVersion: 1, patch: [{ op: 'add', path: '/items/-', value: 'salt' }] }, 'another-key')
    const now = { version: 2, value: { items: ['flour', 'salt'] } }
    expect(JSON.parse((await first.ask('/state', change, 'the-same-key')).text)).toEqual(now)
    await first.sessions.close()
    const second = start()
    const again = await second.ask('/state', change, 'the-same-key')
    expect([again.status, JSON.parse(again.text)]).toEqual([200, now])
    // Under another key it is about a version that is over.
    expect((await second.ask('/state', change, 'a-third-key')).status).toBe(409)
    const { records } = await scopedSessionStore(start.kept, 'ada').tail('s')
    expect(sharedStatesOf(records).map(({ version }) => version)).toEqual([0, 1, 2])
  })

  it('schedules a prompt once per key', async () => {
    const start = store()
    const [first, second] = [start(), start()]
    const body = { prompt: 'Later.', at: Date.now() + 3_600_000 }
    const answers = [await first.ask('/schedules', body, 'the-same-key'), await second.ask('/schedules', body, 'the-same-key')]
    expect(answers.map(({ status }) => status)).toEqual([201, 201])
    expect(answers[0]?.text).toBe(answers[1]?.text)
    expect((await first.sessions.schedulesOf({ identity: 'ada', sessionId: 's' }).list()).map(({ prompt }) => prompt)).toEqual(['Later.'])
  })
})
