import { describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { defineTool, type Model, memorySessionStore, type SessionStore } from '../../../src/index.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import { allFrames, frames } from './read-sse.ts'

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: { type: 'object', properties: {} },
  needsApproval: true,
  execute: () => 'paid',
})

/** A process that serves the sessions of `store`. */
function processOver(store: SessionStore, model: Model | (() => Model)) {
  const made: string[] = []
  const agent = ({ sessionId }: { sessionId: string }) => {
    made.push(sessionId)
    return { model: typeof model === 'function' ? model() : model, tools: [pay] }
  }
  const sessions = memoryLiveSessions({ store, agent })
  const app = createAgentApp({ sessions, authorize: () => true })
  const get = async (path: string) => app.request(`/sessions/s${path}`)
  const post = async (path: string, body: object) =>
    app.request(`/sessions${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) })
  return { made, sessions, app, get, post }
}

/** A model whose pieces come one by one, as `next` is called. */
function paced(script: ScriptedStep[]): { model: Model; next: () => void } {
  const waiting: (() => void)[] = []
  let allowed = 0
  const gate = () => {
    if (allowed === 0) return new Promise<void>((resolve) => waiting.push(resolve))
    allowed -= 1
    return Promise.resolve()
  }
  const next = (): void => {
    const first = waiting.shift()
    if (first === undefined) allowed += 1
    else first()
  }
  return { model: scripted(script, { gate }), next }
}

const json = { 'content-type': 'application/json' }

const statusesIn = ({ session }: { session: { loops: { status: string }[] } }) => session.loops.map(({ status }) => status)

const noModel = (): Model => {
  throw new Error('Whoever reads needs no model.')
}

/** Reads until the first event of this name. */
async function first(response: Response, event: string): Promise<void> {
  for await (const frame of frames(response)) if (frame.event === event) return
  throw new Error(`No ${event} came.`)
}

describe('a second process with the same store', () => {
  it('reads a session without taking over its run or creating a model', async () => {
    const store = memorySessionStore()
    const { model, next } = paced([{ text: ['one ', 'two ', 'three'] }])
    const one = processOver(store, model)
    const response = await one.post('/s/runs', { prompt: 'Count.' })
    next()
    await first(response, 'messageUpdate')
    const two = processOver(store, noModel)
    const { session } = await (await two.get('')).json()
    expect(session.loops).toHaveLength(1)
    expect(await (await two.get('/history')).json()).toMatchObject({ messages: [{ role: 'user' }], approvals: [] })
    for (const path of ['/approvals', '/inputs', '/history', '']) expect((await two.get(path)).status, path).toBe(200)
    expect((await two.get(`/runs/${session.loops[0].loopId}/events`)).status).toBe(410)
    expect((await two.app.request('/chat/s')).status).toBe(200)
    expect((await two.app.request('/chat/s/stream')).status).toBe(204)
    for (const path of ['/events', '/chat/turns']) await (await two.get(path)).body?.cancel()
    expect(two.made).toEqual([])
    for (let piece = 0; piece < 4; piece++) next()
    await expect.poll(async () => (await (await one.get('')).json()).session.loops[0].status).toBe('completed')
  })

  it('resumes an interrupted run on demand but not on a read', async () => {
    const store = memorySessionStore()
    const { model, next } = paced([{ text: ['one ', 'two'] }])
    const one = processOver(store, model)
    const response = await one.post('/s/runs', { prompt: 'Count.' })
    next()
    await first(response, 'messageUpdate')
    const two = processOver(store, scripted([{ text: 'one two' }]))
    await two.get('/history')
    expect(two.made).toEqual([])
    expect(await two.sessions.recover()).toBe(1)
    expect(two.made).toEqual(['s'])
    await expect.poll(async () => (await (await two.get('')).json()).session.loops.at(-1).status).toBe('completed')
    // Nothing is left to do.
    expect(await processOver(store, noModel).sessions.recover()).toBe(0)
  })
})

describe('shutting down a process', () => {
  it('hands a run over to the next process, which streams the rest', async () => {
    const store = memorySessionStore()
    const { model, next } = paced([{ text: ['one ', 'two'] }])
    const one = processOver(store, model)
    const response = await one.post('/s/runs', { prompt: 'Count.' })
    next()
    const cut = allFrames(response).catch(() => 'cut off')
    await expect.poll(async () => (await (await one.get('')).json()).runningLoopId).toBeDefined()
    await one.sessions.drain({ deadlineMs: 1 })
    expect(await cut).toBe('cut off')
    const refused = await one.post('/s/steer', { prompt: 'Stop at two.' })
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true])
    expect((await one.get('/history')).status).toBe(200)
    expect((await store.list()).sessions).toMatchObject([{ status: 'running' }])
    const two = processOver(store, scripted([{ text: 'one two' }]))
    expect(await two.sessions.recover()).toBe(1)
    await expect.poll(async () => statusesIn(await (await two.get('')).json())).toEqual(['interrupted', 'completed'])
  })

  it('completes the current turn and starts no new one', async () => {
    const store = memorySessionStore()
    let asked = 0
    const model = scripted(() => {
      asked += 1
      return { toolCalls: [{ name: 'wait', arguments: {} }] }
    })
    let answer = (): void => undefined
    const wait = defineTool({
      name: 'wait',
      description: 'Waits.',
      parameters: { type: 'object', properties: {} },
      execute: () =>
        new Promise<string>((resolve) => {
          answer = () => resolve('waited')
        }),
    })
    const sessions = memoryLiveSessions({ store, agent: () => ({ model, tools: [wait] }) })
    const app = createAgentApp({ sessions, authorize: () => true })
    await app.request('/sessions/s/runs', { method: 'POST', headers: json, body: '{"prompt":"Wait."}' })
    await expect.poll(async () => (await store.tail('s')).records.some(({ entry }) => entry.type === 'toolIntent')).toBe(true)
    const drained = sessions.drain()
    answer()
    await drained
    const types = (await store.tail('s')).records.map(({ entry }) => entry.type)
    expect([types.includes('toolResult'), types.includes('loopEnd')]).toEqual([true, false])
    expect(asked).toBeLessThanOrEqual(2)
  })

  it('keeps approvals pending across deployments', async () => {
    const store = memorySessionStore()
    const script: ScriptedStep[] = [{ toolCalls: [{ id: 'call', name: 'pay', arguments: {} }] }, { text: 'Paid.' }]
    const one = processOver(store, scripted(script))
    void allFrames(await one.post('/s/runs', { prompt: 'Pay.' })).catch(() => undefined)
    await expect.poll(async () => (await (await one.get('/approvals')).json()).approvals).toHaveLength(1)
    await one.sessions.drain()
    expect((await store.list()).sessions).toMatchObject([{ status: 'waiting' }])
    let last = one
    for (let deploy = 0; deploy < 5; deploy++) {
      last = processOver(store, () => scripted(script.slice(1)))
      expect(await last.sessions.recover()).toBe(0)
      expect((await (await last.get('/approvals')).json()).approvals).toHaveLength(1)
      if (deploy < 4) await last.sessions.drain()
    }
    const { approvals } = await (await last.get('/approvals')).json()
    const decided = await last.post('/s/approvals/call', { approved: true, argumentsHash: approvals[0].argumentsHash })
    expect(decided.status).toBe(202)
    await expect.poll(async () => statusesIn(await (await last.get('')).json())).toEqual(['paused', 'completed'])
  })

  it('resumes no run once the shutdown has begun', async () => {
    const store = memorySessionStore()
    const one = processOver(store, paced(Array.from({ length: 3 }, () => ({ text: ['one ', 'two'] }))).model)
    for (const id of ['a', 'b', 'c']) await one.post(`/${id}/runs`, { prompt: 'Count.' })
    await expect.poll(async () => (await store.list()).sessions.filter(({ status }) => status === 'running')).toHaveLength(3)
    const two = processOver(store, paced(Array.from({ length: 3 }, () => ({ text: ['one ', 'two'] }))).model)
    const recovering = two.sessions.recover()
    await two.sessions.drain({ deadlineMs: 0 })
    const begun = two.made.length
    expect(await recovering).toBeLessThanOrEqual(begun)
    expect(begun).toBeLessThan(3)
    await two.sessions.recover()
    expect(two.made).toHaveLength(begun)
  })

  it('rejects unknown shutdown options by name', async () => {
    const { sessions } = processOver(memorySessionStore(), noModel)
    const given: object[] = [{ deadline: 5 }, { deadlineMs: -1 }, { abort: 'yes' }, { callers: [{ name: 'ada' }] }]
    await expect(sessions.drain(given[0])).rejects.toThrow('deadline')
    await expect(sessions.drain(given[1])).rejects.toThrow('deadlineMs')
    await expect(sessions.close(given[2])).rejects.toThrow('abort')
    await expect(sessions.recover(given[3])).rejects.toThrow('name')
  })

  it('aborts its runs on request', async () => {
    const store = memorySessionStore()
    const { model } = paced([{ text: ['one ', 'two'] }])
    const one = processOver(store, model)
    await one.post('/s/runs', { prompt: 'Count.' })
    await one.sessions.close({ abort: true })
    expect((await store.list()).sessions).toMatchObject([{ status: 'idle' }])
    expect((await store.load('s')).loops.map(({ status }) => status)).toEqual(['aborted'])
  })
})
