import { describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { defineTool, type Model, memorySessionStore, type SessionStore } from '../../../src/index.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import { frames } from './read-sse.ts'

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
    app.request(`/sessions${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
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

const noModel = (): Model => {
  throw new Error('Whoever reads needs no model.')
}

/** Reads until the first event of this name. */
async function first(response: Response, event: string): Promise<void> {
  for await (const frame of frames(response)) if (frame.event === event) return
  throw new Error(`No ${event} came.`)
}

describe('a second process over the same store', () => {
  it('reads without taking the run from the first one, and without a model', async () => {
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

  it('does not take up what is cut off when somebody reads, and does when it is told to', async () => {
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
