import { describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { fileSessionStore } from '../../../adapters/node/index.ts'
import { type AgentTool, type Model, memorySessionStore, type SessionStore, textOf } from '../../../src/index.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import { exportSession, scopedSessionStore, sessionJournal } from '../../../src/session.ts'
import { tool } from '../../support/play.ts'
import { temporaryRoot } from '../node/temporary.ts'

const json = { 'content-type': 'application/json' }
const never = new Promise<never>(() => undefined)

/** A process over `store`; who asks says `x-user`. */
function processOver(store: SessionStore, model: Model, tools: readonly AgentTool[] = [], onMake: () => unknown = () => undefined) {
  const warnings: unknown[] = []
  const agent = async () => {
    await onMake()
    return { model, tools }
  }
  const sessions = memoryLiveSessions({ store, agent, logger: { warn: (...entry) => warnings.push(entry) } })
  const app = createAgentApp({ sessions, authorize: (c) => c.req.header('x-user') ?? true, imports: true })
  const get = async (path: string, headers: Record<string, string> = {}) => (await app.request(`/sessions${path}`, { headers })).json()
  const post = async (path: string, body: object, headers: Record<string, string> = {}) =>
    app.request(`/sessions${path}`, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) })
  return { sessions, app, get, post, warnings }
}

/** A model that is asked, and says nothing. */
function silent(): { model: Model; isAsked: Promise<void> } {
  let asked = (): void => undefined
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  const gate = () => {
    asked()
    return never
  }
  return { model: scripted(() => ({ text: ['never ', 'said'] }), { gate }), isAsked }
}

const hanging = (): Model => silent().model
/** No part of an id or a checksum. */
const userName = 'ada@example.com'
const users = Array.from({ length: 20 }, (_, at) => `user ${at} with ünicode/and:signs`)

describe.each([
  ['memory', () => memorySessionStore()],
  ['files', () => fileSessionStore(temporaryRoot().root)],
])('runs of several users in one store: %s', (_name, make) => {
  it('resumes several runs concurrently without credentials', async () => {
    const store = make()
    const one = processOver(store, hanging())
    const headers = (name: string) => ({ 'x-user': name })
    for (const name of users) await one.post('/s/runs', { prompt: 'Go.' }, headers(name))
    await one.post('/s/runs', { prompt: 'Go.' })
    await expect.poll(async () => (await store.list()).sessions.filter(({ status }) => status === 'running')).toHaveLength(21)
    await one.sessions.drain({ deadlineMs: 0 })
    expect(one.warnings).toEqual([])
    let making = 0
    let most = 0
    const two = processOver(
      store,
      scripted(() => ({ text: 'Done.' })),
      [],
      async () => {
        most = Math.max(most, ++making)
        await new Promise((resolve) => setImmediate(resolve))
        making -= 1
      },
    )
    const recovered = await two.sessions.recover()
    expect(two.warnings).toEqual([])
    expect(recovered).toBe(21)
    expect([most > 1, most <= 8]).toEqual([true, true])
    for (const name of users) {
      await expect.poll(async () => (await two.get('/s', headers(name))).session.loops.at(-1).status).toBe('completed')
    }
    await two.sessions.close()
  })

  it('exposes the owner only to the server', async () => {
    const store = make()
    const one = processOver(store, scripted([{ text: 'Hello.' }]))
    await (await one.post('/s/runs', { prompt: 'Hello.' }, { 'x-user': userName })).text()
    expect((await store.list()).sessions.map(({ owner }) => owner)).toEqual([userName])
    const own = scopedSessionStore(store, userName)
    const told = [
      await one.get('', { 'x-user': userName }),
      await one.get('/s', { 'x-user': userName }),
      await own.load('s'),
      await own.salvage('s'),
    ]
    expect(JSON.stringify([told, await own.list(), await exportSession(own, 's')])).not.toContain(userName)
    // Stored as a whole, it is still theirs.
    await own.save(await own.load('s'))
    expect((await store.list()).sessions.map(({ owner }) => owner)).toEqual([userName])
    await one.sessions.close()
  })
})

describe.each([
  ['memory', () => memorySessionStore()],
  ['files', () => fileSessionStore(temporaryRoot().root)],
])('messages to an interrupted run: %s', (_name, make) => {
  const answering = () => scripted(({ messages }) => ({ text: `Heard ${messages.filter(({ role }) => role === 'user').length}.` }))
  const say = (host: ReturnType<typeof processOver>, path: string, prompt: string, key: string) =>
    host.post(path, { prompt }, { 'idempotency-key': key })
  const saidIn = async (host: ReturnType<typeof processOver>) => {
    const { messages } = await host.get('/s/history')
    return messages.flatMap((message: { role: string; content: [] }) => (message.role === 'user' ? [textOf(message.content)] : []))
  }

  it('delivers each message once in the next process and keeps its status readable', async () => {
    const store = make()
    const { model, isAsked } = silent()
    const one = processOver(store, model)
    await one.post('/s/runs', { prompt: 'Go.' })
    await isAsked
    for (const [path, key] of [
      ['/s/steer', 'steer-key'],
      ['/s/follow-up', 'follow-key'],
      ['/s/steer', 'taken-back'],
    ] as const)
      expect((await say(one, path, key, key)).status).toBe(202)
    expect((await one.app.request('/sessions/s/queue/taken-back', { method: 'DELETE' })).status).toBe(204)
    await one.sessions.drain({ deadlineMs: 0 })
    const reader = processOver(store, hanging())
    const statuses = async (host: typeof one) =>
      Promise.all(['steer-key', 'follow-key', 'taken-back'].map(async (id) => (await host.get(`/s/queue/${id}`)).status))
    expect(await statuses(reader)).toEqual(['queued', 'queued', 'returned'])
    expect((await reader.get('/s/history')).queued.map(({ kind }: { kind: string }) => kind)).toEqual(['steer', 'followUp'])
    const two = processOver(store, answering())
    expect(await two.sessions.recover()).toBe(1)
    // Whoever got no answer says it again.
    expect(await (await say(two, '/s/steer', 'steer-key', 'steer-key')).json()).toMatchObject({ messageId: 'steer-key' })
    await expect.poll(() => statuses(two)).toEqual(['delivered', 'delivered', 'returned'])
    expect(await saidIn(two)).toEqual(['Go.', 'steer-key', 'follow-key'])
    expect((await reader.app.request('/sessions/s/queue/unknown')).status).toBe(404)
    await two.sessions.close()
  })

  it("delivers the message if only the run's end was missing", async () => {
    const all = make()
    let isCut = false
    const store: SessionStore = {
      ...all,
      open: async (id, options) => {
        const writer = await all.open(id, options)
        // The process ends as soon as the answer is stored.
        const append: typeof writer.append = async (records) => {
          if (isCut) return never
          await writer.append(records)
          isCut = records.some(({ entry }) => entry.type === 'assistant')
        }
        return {
          ...writer,
          sessionId: id,
          epoch: writer.epoch,
          records: writer.records,
          append,
          replace: (records) => writer.replace(records),
          close: () => writer.close(),
        }
      },
    }
    let answer = (): void => undefined
    const asked = new Promise<void>((resolve) => {
      answer = resolve
    })
    const one = processOver(
      { ...store, journal: (options) => sessionJournal(store, options) },
      scripted(() => ({ text: 'Hello.' }), { gate: () => asked }),
    )
    await one.post('/s/runs', { prompt: 'Go.' })
    expect((await say(one, '/s/follow-up', 'And then?', 'follow-key')).status).toBe(202)
    answer()
    await expect.poll(() => isCut).toBe(true)
    const two = processOver(all, answering())
    expect(await two.sessions.recover()).toBe(1)
    await expect.poll(async () => (await two.get('/s/queue/follow-key')).status).toBe('delivered')
    await expect.poll(async () => (await two.get('/s')).session.loops.at(-1).status).toBe('completed')
    expect(await saidIn(two)).toEqual(['Go.', 'And then?'])
    await two.sessions.close()
  })

  it('returns the message when its run ends', async () => {
    const { model, isAsked } = silent()
    const one = processOver(make(), model)
    await one.post('/s/runs', { prompt: 'Go.' })
    await isAsked
    expect((await say(one, '/s/steer', 'Stop.', 'steer-key')).status).toBe(202)
    await one.app.request('/sessions/s/stop', { method: 'POST' })
    expect((await one.get('/s/queue/steer-key')).status).toBe('returned')
    await one.sessions.close()
  })
})

it('resumes only the runs selected by isMine', async () => {
  const store = memorySessionStore()
  const one = processOver(store, hanging())
  for (const id of ['s1', 's2', 's3']) await one.post(`/${id}/runs`, { prompt: 'Go.' })
  await expect.poll(async () => (await store.list()).sessions.filter(({ status }) => status === 'running')).toHaveLength(3)
  await one.sessions.drain({ deadlineMs: 0 })
  const two = processOver(
    store,
    scripted(() => ({ text: 'Done.' })),
  )
  expect(await two.sessions.recover({ isMine: ({ sessionId }) => sessionId === 's2' })).toBe(1)
  await two.sessions.close()
})

/** A store in which whoever is in `stuck` never gets an answer. */
function stuckable(store: SessionStore): { store: SessionStore; stuck: Set<string> } {
  const stuck = new Set<string>()
  const unless = async <Value>(what: string, act: () => Promise<Value>): Promise<Value> => (stuck.has(what) ? never : act())
  return {
    stuck,
    store: {
      ...store,
      tail: (id, options) => unless(`read ${id}`, () => store.tail(id, options)),
      open: (id, options) => unless(`open ${id}`, () => store.open(id, options)),
    },
  }
}

it('closes before its deadline despite hanging tools and pending approvals', async () => {
  const all = memorySessionStore()
  const { store, stuck } = stuckable(all)
  const steps: Record<string, ScriptedStep> = Object.fromEntries(
    ['hang', 'pay', 'ask'].map((name) => [name, { toolCalls: [{ id: 'call', name, arguments: {} }] }]),
  )
  const model = scripted(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'toolResult') return { text: `It is: ${textOf(last.content)}` }
    return steps[last?.role === 'user' ? textOf(last.content) : ''] ?? { text: 'Hello.' }
  })
  const tools = (isStuck: boolean) => [
    tool('hang', () => (isStuck ? never : 'done'), { idempotent: true }),
    tool('ask', async (_args, { requestInput }) => JSON.stringify(await requestInput?.({ message: 'Where?' })), { idempotent: true }),
    tool('pay', () => 'paid', { needsApproval: true }),
  ]
  const one = processOver(store, model, tools(true))
  for (const id of ['hang', 'pay', 'ask']) await one.post(`/${id}/runs`, { prompt: id })
  for (const id of ['exported', 'imported']) await (await one.post(`/${id}/runs`, { prompt: 'Hello.' })).text()
  await expect.poll(async () => (await one.get('/pay/approvals')).approvals).toHaveLength(1)
  await expect.poll(async () => (await one.get('/ask/inputs')).inputs).toHaveLength(1)
  await expect.poll(async () => (await all.tail('hang')).records.some(({ entry }) => entry.type === 'toolIntent')).toBe(true)
  const text = await exportSession(all, 'imported')
  for (const what of ['read exported', 'open imported']) stuck.add(what)
  void one.app.request('/sessions/exported/export')
  void one.app.request('/sessions/imported/import?replace=true', { method: 'POST', headers: json, body: text })
  const began = performance.now()
  await one.sessions.drain({ deadlineMs: 100 })
  expect(performance.now() - began).toBeLessThan(20_000)
  const two = processOver(all, model, tools(false))
  expect(await two.sessions.recover()).toBe(2)
  const answerOf = async (id: string) => {
    const { messages } = await two.get(`/${id}/history`)
    return textOf(messages.at(-1).content)
  }
  await expect.poll(() => answerOf('hang')).toBe('It is: done')
  await expect.poll(async () => (await two.get('/ask/inputs')).inputs).toHaveLength(1)
  const [{ inputId }] = (await two.get('/ask/inputs')).inputs
  await two.post(`/ask/inputs/${inputId}`, { action: 'decline' })
  await expect.poll(() => answerOf('ask')).toBe('It is: {"action":"decline"}')
  const [{ argumentsHash }] = (await two.get('/pay/approvals')).approvals
  await two.post('/pay/approvals/call', { approved: true, argumentsHash })
  await expect.poll(() => answerOf('pay')).toBe('It is: paid')
  for (const id of ['exported', 'imported']) expect(await answerOf(id)).toBe('Hello.')
  await two.sessions.close()
})

describe('a stale process that writes during a takeover', () => {
  /** A store that has `left` records of a run; the others are written once somebody has read those. */
  async function storeOf(left: number, rest: number) {
    const before = memorySessionStore()
    const whole = processOver(
      before,
      scripted(() => ({ text: 'Said.' })),
    )
    await (await whole.post('/s/runs', { prompt: 'Go.' })).text()
    await whole.sessions.close()
    const { records } = await before.tail('s')
    expect(records.slice(left).map(({ entry }) => entry.type)).toEqual(['assistant', 'loopEnd'])
    const store = memorySessionStore()
    const writer = await store.open('s', { agentId: 'one' })
    await writer.append(records.slice(0, left))
    let isRead = false
    const tail: SessionStore['tail'] = async (...given) => {
      const read = await store.tail(...given)
      if (!isRead) await writer.append(records.slice(left, left + rest))
      isRead = true
      return read
    }
    return { store, seen: { ...store, tail } }
  }

  const left = 4

  it.each([
    ['its response', 1],
    ['its response and the end', 2],
  ])('completes the run once after the stale process writes %s', async (_, rest) => {
    const { store, seen } = await storeOf(left, rest)
    const two = processOver(seen, scripted([]))
    await (await two.post('/s/continue', {})).text()
    const { records } = await store.tail('s')
    const ends = records.flatMap(({ entry }) => (entry.type === 'loopEnd' ? [entry.status] : []))
    expect(ends).toEqual(['completed'])
    await two.sessions.close()
  })
})
