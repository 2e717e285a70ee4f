import { describe, expect, it, vi } from 'vitest'
import { fileSessionStore } from '../../adapters/node/index.ts'
import { Agent, type AgentEvent, defineTool, memorySessionStore, resumeAgent, type SessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { EventRecorder } from '../../src/rust.ts'
import { replayEvents, type Session, scopedSessionStore, withEvents, withTaskHooks } from '../../src/session.ts'
import { temporaryRoot } from '../adapters/node/temporary.ts'
import { whileClockStands } from '../support/patience.ts'

const add = defineTool<{ a: number; b: number }>({
  name: 'add',
  description: 'Adds.',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
  execute: async ({ a, b }) => `${a + b}`,
})
const script = () => scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'It is three, as far as I can see.' }])

/** Runs two prompts; gives what was heard. */
async function play(session: SessionStore | undefined): Promise<{ agent: Agent; heard: AgentEvent[] }> {
  const agent = new Agent({ model: script(), tools: [add], sessionId: 's1', ...(session !== undefined && { session }) })
  const heard: AgentEvent[] = []
  // As it was when it was heard: the message of an answer grows.
  agent.subscribe((event) => void heard.push(structuredClone(event)))
  await agent.prompt('What is 1 + 2?').result
  await agent.close()
  return { agent, heard }
}

async function replayed(store: SessionStore, options: Parameters<typeof replayEvents>[2] = {}): Promise<AgentEvent[]> {
  const events: AgentEvent[] = []
  for await (const event of replayEvents(store, 's1', options)) events.push(event)
  return events
}

const stores: Record<string, () => { store: SessionStore; elsewhere: () => SessionStore }> = {
  memory: () => {
    const store = memorySessionStore()
    return { store, elsewhere: () => store }
  },
  files: () => {
    const { root } = temporaryRoot()
    return { store: fileSessionStore(root), elsewhere: () => fileSessionStore(root) }
  },
}

describe.each(Object.entries(stores))('recorded events: %s', (_name, make) => {
  it('replays events as emitted, including deltas', async () => {
    const { store, elsewhere } = make()
    const { heard } = await play(withEvents(store, { includeStreamingEvents: true }))
    expect(heard.some(({ type }) => type === 'messageUpdate')).toBe(true)
    expect(await replayed(elsewhere())).toEqual(heard)
    const [loop] = (await elsewhere().load('s1')).loops
    expect(loop?.events.map(({ sequence }) => sequence)).toEqual(heard.map((_, index) => index))
  })

  it('writes events at least once a second during a response', async () => {
    const { store, elsewhere } = make()
    const clock = vi.spyOn(Date, 'now')
    let time = 1_800_000_000_000
    clock.mockImplementation(() => time)
    const model = scripted([{ text: 'One two three four five six seven.' }], { chunkSize: 4 })
    const agent = new Agent({ model, sessionId: 's1', session: withEvents(store, { includeStreamingEvents: true }) })
    agent.subscribe(({ type }) => {
      if (type === 'messageUpdate') time += 400
    })
    await agent.prompt('Count.').result
    const { records } = await elsewhere().tail('s1')
    clock.mockRestore()
    const kept = records.filter(({ entry }) => entry.type === 'events')
    const withDeltas = kept.filter(
      ({ entry }) => entry.type === 'events' && entry.events.some(({ event }) => event.type === 'messageUpdate'),
    )
    expect(withDeltas.length).toBeGreaterThan(2)
    await agent.close()
  })

  it('writes events when a response starts, and one second after the last write', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const { store, elsewhere } = make()
    let pieces = 0
    const reached: (() => void)[] = []
    const silence = new Promise<void>((resolve) => reached.push(resolve))
    const stop = new AbortController()
    const gate = () => {
      pieces += 1
      if (pieces <= 2) return Promise.resolve()
      reached[0]?.()
      return new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()))
    }
    const model = scripted([{ text: 'One two three four.' }], { chunkSize: 4, gate })
    const agent = new Agent({ model, sessionId: 's1', session: withEvents(store, { includeStreamingEvents: true }) })
    const run = agent.prompt('Count.', { signal: stop.signal })
    const written = async () => (await replayed(elsewhere())).filter(({ type }) => type === 'messageUpdate').length
    try {
      await silence
      await whileClockStands(async () => (await written()) === 1)
      await vi.advanceTimersByTimeAsync(1000)
      await whileClockStands(async () => (await written()) === 2)
    } finally {
      stop.abort()
      await run.result
      await agent.close()
      const left = vi.getTimerCount()
      vi.useRealTimers()
      expect(left).toBe(0)
    }
  })

  it('flushes events immediately on request', async () => {
    const { store, elsewhere } = make()
    const kept = withEvents(store, { includeStreamingEvents: true })
    const agent = new Agent({ model: scripted([{ text: 'One two three.', chunkSize: 4 }]), sessionId: 's1', session: kept })
    let seen: AgentEvent[] = []
    const run = agent.prompt('Count.')
    for await (const event of run) {
      if (event.type !== 'messageUpdate') continue
      await kept.flushEvents()
      seen = await replayed(elsewhere())
      break
    }
    expect(seen.some(({ type }) => type === 'messageUpdate')).toBe(true)
    await run.result
    await agent.close()
    await kept.flushEvents()
  })

  it('omits deltas unless requested', async () => {
    const { store, elsewhere } = make()
    const { heard } = await play(withEvents(store))
    expect(await replayed(elsewhere())).toEqual(heard.filter(({ type }) => type !== 'messageUpdate'))
  })

  it('preserves the events of an EventRecorder session across repeated saves', async () => {
    const { store, elsewhere } = make()
    const recorder = new EventRecorder({ includeStreamingEvents: true })
    const { agent, heard } = await play(undefined)
    expect(agent.sessionId).toBe('s1')
    for (const event of heard) recorder.accept(event)
    for (const session of recorder.checkpoint()) await store.save(session)
    expect(await replayed(elsewhere())).toEqual(heard)
    await elsewhere().save(await elsewhere().load('s1'))
    expect(await elsewhere().load('s1')).toEqual(recorder.getSession('s1'))
  })
})

describe('withEvents', () => {
  it('leaves other session data and the list entry unchanged', async () => {
    const plain = memorySessionStore()
    await play(plain)
    const store = memorySessionStore()
    await play(withEvents(store, { includeStreamingEvents: true }))
    const untold = async (from: SessionStore) => (await from.list()).sessions.map(({ title, loops, messages }) => [title, loops, messages])
    expect(await untold(store)).toEqual([['What is 1 + 2?', 1, 4]])
    expect(await untold(store)).toEqual(await untold(plain))
    const resumed = await resumeAgent(store, 's1', { model: scripted([{ text: 'Yes.' }]) })
    expect(resumed.messages.length).toBe(4)
    await resumed.prompt('Sure?').text()
    const { loops } = await store.load('s1')
    expect(loops.map(({ status, events }) => [status, events.length > 0])).toEqual([
      ['completed', true],
      ['completed', false],
    ])
  })

  it('stores thousands of deltas in records of limited size', async () => {
    const store = memorySessionStore()
    const model = scripted([{ text: 'word '.repeat(3000) }])
    const agent = new Agent({ model, sessionId: 's1', session: withEvents(store, { includeStreamingEvents: true }) })
    const deltas: AgentEvent[] = []
    agent.subscribe((event) => {
      if (event.type === 'messageUpdate') deltas.push(event)
    })
    await agent.prompt('Talk.').result
    const { records } = await store.tail('s1')
    const kept = records.flatMap(({ entry }) => (entry.type === 'events' ? [entry.events.length] : []))
    expect(Math.max(...kept)).toBeLessThanOrEqual(256)
    expect((await replayed(store)).filter(({ type }) => type === 'messageUpdate')).toHaveLength(deltas.length)
    expect(deltas.length).toBeGreaterThan(300)
  })

  it('forwards every event to an event listener of the inner store', async () => {
    const store = memorySessionStore()
    const passed: string[] = []
    const journal: SessionStore['journal'] = (options) => {
      const kept = store.journal(options)
      return {
        event: ({ type }) => void passed.push(type),
        open: (place, conversation) => kept.open(place, conversation),
        append: (record, conversation) => kept.append(record, conversation),
        media: (sessionId, block) => kept.media(sessionId, block),
        close: () => kept.close(),
      }
    }
    const listening = new Proxy(store, {
      get: (target, key) => {
        const value: unknown = key === 'journal' ? journal : Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const { heard } = await play(withEvents(listening))
    expect(passed).toEqual(heard.map(({ type }) => type))
  })

  it('works with task hooks in either order', async () => {
    for (const wrap of [
      (store: SessionStore) => withTaskHooks(withEvents(store), {}),
      (store: SessionStore) => withEvents(withTaskHooks(store, {})),
    ]) {
      const store = memorySessionStore()
      await play(wrap(store))
      expect((await replayed(store)).at(-1)?.type).toBe('agentEnd')
    }
  })
})

/** The session, as if an hour had passed between any two events. */
async function hourly(store: SessionStore): Promise<Session> {
  const session = await store.load('s1')
  for (const [index, { event }] of (session.loops[0]?.events ?? []).entries()) event.at = index * 3_600_000
  return session
}

describe('replayEvents', () => {
  it.each([
    [{ speed: 1 }, 3_600_000],
    [{ speed: 10 }, 360_000],
    [{ speed: 1, maxPauseMs: 500 }, 500],
  ])('keeps the delay between events: %j', async (options, pauseMs) => {
    const store = memorySessionStore()
    await play(withEvents(store))
    await store.save(await hourly(store))
    vi.useFakeTimers()
    try {
      const events = replayEvents(store, 's1', options)
      expect((await events.next()).done).toBe(false)
      for (let count = 0; count < 3; count++) {
        let isThere = false
        void events.next().then(() => {
          isThere = true
        })
        await vi.advanceTimersByTimeAsync(pauseMs - 1)
        expect(isThere).toBe(false)
        await vi.advanceTimersByTimeAsync(1)
        expect(isThere).toBe(true)
      }
    } finally {
      vi.useRealTimers()
    }
  })

  it('stops waiting when its signal is aborted', async () => {
    const store = memorySessionStore()
    await play(withEvents(store))
    await store.save(await hourly(store))
    const controller = new AbortController()
    const events = replayEvents(store, 's1', { speed: 1, signal: controller.signal })
    expect((await events.next()).done).toBe(false)
    const next = events.next()
    controller.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
  })

  it('replays nothing without recorded events and rejects an unknown loop', async () => {
    const store = memorySessionStore()
    const { agent } = await play(store)
    expect(await replayed(store)).toEqual([])
    expect(await replayed(store, { loopId: `${agent.sessionId}.scripted.scripted.1` })).toEqual([])
    await expect(replayed(store, { loopId: 'nothing' })).rejects.toMatchObject({ code: 'notFound' })
    await expect(replayed(memorySessionStore())).rejects.toMatchObject({ code: 'notFound' })
  })
})

it('writes a session title through a journal', async () => {
  const store = memorySessionStore()
  const { agent } = await play(store)
  const journal = store.journal()
  const entry = { type: 'title', title: 'Sums' } as const
  const record = { entry, agentId: agent.agentId, sessionId: 's2', loopId: '', runId: '', turnIndex: 0, at: 1 }
  await journal.append(record, { messages: [] })
  await journal.close()
  const { title, loops } = await store.load('s2')
  expect([title, loops, (await store.list()).sessions[0]?.title]).toEqual(['Sums', [], 'Sums'])
})

it.each([undefined, 'ada'])('records events in a store scoped to %s', async (owner) => {
  const store = scopedSessionStore(withEvents(memorySessionStore()), owner)
  const { agent, heard } = await play(store)
  const events = await replayed(store)
  expect(events).toEqual(heard.filter(({ type }) => type !== 'messageUpdate' && type !== 'turnRequest'))
  expect((await store.load('s1')).loops.map(({ loopId, sessionId }) => [loopId, sessionId])).toEqual([[agent.lastLoopId, 's1']])
})

it.each([
  ['withEvents', (store: SessionStore) => withEvents(store)],
  ['withTaskHooks', (store: SessionStore) => withTaskHooks(store, {})],
])('delegates all other methods to the store: %s', async (_name, around) => {
  const store = around(scopedSessionStore(memorySessionStore(), 'ada'))
  const { agent } = await play(store)
  expect((await store.load('s1')).loops.map(({ loopId }) => loopId)).toEqual([agent.lastLoopId])
  expect([store.promises.conflict, await store.listIds(), await store.delete('s1')]).toEqual(['refused', ['s1'], true])
})
