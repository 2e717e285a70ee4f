import { describe, expect, it, vi } from 'vitest'
import type { SessionAddress } from '../../../adapters/http/access/authorize.ts'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import type { MemoryLiveSessionsOptions } from '../../../adapters/http/live/memory/memory-options.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { logSessionStore, memoryDriver } from '../../../src/session.ts'
import { patient } from '../../support/patience.ts'
import { allFrames, type Frame } from './read-sse.ts'

/** Sessions of a model that speaks while the gate of `hold` is open. */
function hosted(options: Partial<MemoryLiveSessionsOptions> = {}) {
  let held = Promise.resolve()
  let free = (): void => undefined
  const hold = (): void => {
    held = new Promise((resolve) => {
      free = resolve
    })
  }
  const model = scripted(() => ({ text: 'hello' }), { gate: () => held })
  const agent = vi.fn<(address: SessionAddress) => Promise<{ model: typeof model }>>(async () => {
    // Others come in while it is made.
    await nextTurn()
    return { model }
  })
  const store = memorySessionStore()
  const sessions = memoryLiveSessions({ store, agent, ...options })
  const app = createAgentApp({ sessions, authorize: () => true })
  const get = async (path: string) => app.request(`/sessions${path}`)
  const post = async (path: string, body: object = { prompt: 'hi' }) =>
    app.request(`/sessions${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const loopsOf = async (id: string) => (await store.load(id)).loops.map(({ status }) => status)
  return { model, agent, sessions, get, post, loopsOf, hold, free: () => free() }
}

/** Everything that waits for no timer has happened then. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The ends of answers: the status of the run, or the code of the problem. */
async function endOf(response: Response): Promise<string> {
  if (!response.ok) return (await response.json()).code
  return (await allFrames(response)).at(-1)?.data.status
}

const counted = (all: readonly string[]): Record<string, number> =>
  Object.fromEntries([...new Set(all)].toSorted().map((each) => [each, all.filter((other) => other === each).length]))

describe('concurrent requests to a session', () => {
  it('creates one agent and one run in an empty session', async () => {
    const { agent, post, loopsOf, hold, free } = hosted()
    hold()
    const answers = await Promise.all(Array.from({ length: 50 }, () => post('/s/runs')))
    free()
    expect(counted(await Promise.all(answers.map(endOf)))).toEqual({ busy: 49, completed: 1 })
    expect([agent.mock.calls.length, await loopsOf('s')]).toEqual([1, ['completed']])
  })

  it.each([[[true, true]], [[true, true, false]], [[true, true, false, true, false]], [[false, true]]])(
    'starts one run if some requests branch the conversation: %j',
    async (kinds) => {
      const { post, get, loopsOf, hold, free } = hosted()
      const first: Frame[] = await allFrames(await post('/s/runs'))
      hold()
      const back = { loopId: first[0]?.data.loopId, prompt: 'Again.' }
      const asked = kinds.map((isBack) => (isBack ? post('/s/branch', back) : post('/s/runs')))
      const answers = await Promise.all(asked)
      expect((await (await get('/s')).json()).runningLoopId).toBeTypeOf('string')
      free()
      expect(counted(await Promise.all(answers.map(endOf)))).toEqual({ busy: kinds.length - 1, completed: 1 })
      expect(await loopsOf('s')).toEqual(['completed', 'completed'])
    },
  )

  it('stops and deletes an active run completely', async () => {
    const { model, post, get, sessions, hold } = hosted()
    hold()
    const run = await post('/s/runs')
    const path = '/s/runs'
    const answers = await Promise.all([post('/s/stop', {}), post(path), sessions.close(), post('/s/stop', {})])
    // Stopped first, or left to the next process.
    expect(['aborted', 'cut off']).toContain(await endOf(run).catch(() => 'cut off'))
    for (const answer of answers) await answer?.body?.cancel()
    await sessions.close()
    const asked = model.provider.requests.length
    expect((await (await get('/s')).json()).runningLoopId).toBeUndefined()
    expect(model.provider.requests.length).toBe(asked)
    await sessions.close()
  })
})

describe('evicting a session', () => {
  it('keeps the session in memory while a request is arriving', async () => {
    for (const order of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      const { agent, post, get, sessions, hold, free } = hosted({ maxSessions: 1 })
      await allFrames(await post('/a/runs'))
      hold()
      const answers = await Promise.all(order.map((id) => post(`/${id}/runs`)))
      const made = agent.mock.calls.length
      for (const id of order) if (answers[order.indexOf(id)]?.ok) expect((await get(`/${id}`)).status).toBe(200)
      expect(agent.mock.calls.length).toBe(made)
      free()
      expect(counted(await Promise.all(answers.map(endOf)))).toEqual({ completed: 1, tooManySessions: 1 })
      await sessions.close()
    }
  })

  it('closes the session before reopening it', async () => {
    const driver = memoryDriver()
    let closes = 0
    let closeHeld = (): void => undefined
    const held = new Promise<void>((resolve) => {
      closeHeld = resolve
    })
    const release: typeof driver.release = async (claim) => {
      closes += 1
      await held
      await driver.release(claim)
    }
    const slow = { ...driver, release }
    const { post, agent, sessions } = hosted({ maxSessions: 1, store: logSessionStore(slow) })
    await allFrames(await post('/a/runs'))
    const other = post('/b/runs')
    await vi.waitFor(() => expect(closes).toBe(1), patient)
    const both = [other, post('/a/runs')]
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    expect(agent.mock.calls.map(([{ sessionId }]) => sessionId)).toEqual(['a'])
    closeHeld()
    const ends = await Promise.all(both.map(async (answer) => endOf(await answer)))
    expect(ends.toSorted()[0]).toBe('completed')
    await sessions.close()
  })

  it('enforces the session limit under concurrent requests', async () => {
    const { post, hold, free, sessions } = hosted({ maxSessions: 2 })
    for (const id of ['a', 'b']) await allFrames(await post(`/${id}/runs`))
    hold()
    const answers = await Promise.all(['c', 'd', 'e', 'f', 'g'].map((id) => post(`/${id}/runs`)))
    free()
    expect(counted(await Promise.all(answers.map(endOf)))).toEqual({ completed: 2, tooManySessions: 3 })
    await sessions.close()
  })
})

describe('closing the sessions', () => {
  it('rejects a run requested before close()', async () => {
    let made = (): void => undefined
    const model = scripted(() => ({ text: 'hello' }))
    const agent = () =>
      new Promise<{ model: typeof model }>((resolve) => {
        made = () => resolve({ model })
      })
    const { post, sessions } = hosted({ agent })
    const asked = post('/s/runs')
    await vi.waitFor(() => expect(made.length).toBe(0), patient)
    await nextTurn()
    const closed = sessions.close()
    made()
    await closed
    const answer = await asked
    const end = await endOf(answer).catch(() => 'cut off')
    // Either it was refused, or it had begun and is left to the next process.
    expect(['unavailable', 'cut off']).toContain(end)
    expect(model.provider.requests.length).toBe(0)
  })

  it.each([true, false])('leaves no timer or stream open with abort %s', async (abort) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
    try {
      const { post, get, hold, sessions, loopsOf } = hosted()
      hold()
      const answers = await Promise.all(['a', 'b', 'c'].map((id) => post(`/${id}/runs`)))
      const ends = answers.map((answer) => endOf(answer).catch(() => 'cut off'))
      await sessions.close({ abort })
      expect(new Set(await Promise.all(ends))).toEqual(new Set([abort ? 'aborted' : 'cut off']))
      expect(vi.getTimerCount()).toBe(0)
      expect(await loopsOf('a')).toEqual([abort ? 'aborted' : 'running'])
      expect((await get('/a')).status).toBe(200)
      await sessions.close()
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
