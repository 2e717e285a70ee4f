import { describe, expect, it } from 'vitest'
import { Agent, memorySessionStore, resumeAgent, type SessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const says = (...texts: string[]) => scripted(texts.map((text) => ({ text })))
type Append = Awaited<ReturnType<SessionStore['open']>>['append']

function faulty(store: SessionStore, fault: (append: Append) => Append): SessionStore {
  return {
    ...store,
    open: async (id, options) => {
      const writer = await store.open(id, options)
      return Object.assign(Object.create(writer), { append: fault((records) => writer.append(records)), close: () => writer.close() })
    },
  }
}

async function resumedMessages(store: SessionStore, id: string) {
  return (await resumeAgent(store, id, { model: says() })).messages
}

describe('an agent with a session store after a failure or change', () => {
  it('reopens the session after close()', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: says('a', 'b'), session: store })
    await agent.prompt('one').result
    await agent.close()
    const { status, error } = await agent.prompt('two').result
    expect([status, error?.message]).toEqual(['completed', undefined])
    expect(await resumedMessages(store, agent.sessionId)).toEqual(agent.messages)
  })
  it('continues a resumed agent in a new session', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: says('a'), session: store })
    await agent.prompt('one').result
    const resumed = await resumeAgent(store, agent.sessionId, { model: says('b') })
    resumed.newSession()
    const { status, error } = await resumed.prompt('two').result
    expect([status, error?.message]).toEqual(['completed', undefined])
    expect(await resumedMessages(store, resumed.sessionId)).toEqual(resumed.messages)
  })
  it('recovers after two store failures', async () => {
    const store = memorySessionStore()
    let isFull = false
    const full = faulty(store, (append) => async (records) => {
      if (isFull) throw new Error('full')
      return append(records)
    })
    const agent = new Agent({ model: says('a', 'b', 'c', 'd'), session: full })
    await agent.prompt('one').result
    isFull = true
    await agent.prompt('two').result
    await agent.prompt('three').result
    isFull = false
    const { status, error } = await agent.prompt('four').result
    expect([status, error?.message]).toEqual(['completed', undefined])
    expect(await resumedMessages(store, agent.sessionId)).toEqual(agent.messages)
  })
  it('recovers if the store fails in the first run after a resume', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: says('a'), session: store })
    await agent.prompt('one').result
    let isFull = true
    const full = faulty(store, (append) => async (records) => {
      if (isFull) throw new Error('full')
      return append(records)
    })
    const resumed = await resumeAgent(full, agent.sessionId, { model: says('c', 'd') })
    await resumed.prompt('two').result
    isFull = false
    const { status, error } = await resumed.prompt('three').result
    expect([status, error?.message]).toEqual(['completed', undefined])
    expect(await resumedMessages(store, agent.sessionId)).toEqual(resumed.messages)
  })
  it('separates a new session from a fork in the old session', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: says('a', 'b', 'c'), session: store })
    await agent.prompt('one').result
    const fork = agent.fork({ model: says('f', 'g') })
    const first = agent.sessionId
    agent.newSession()
    const results = [
      await agent.prompt('two').result,
      await fork.prompt('x').result,
      await agent.prompt('three').result,
      await fork.prompt('y').result,
    ]
    expect(results.map(({ status, error }) => [status, error?.message])).toEqual(results.map(() => ['completed', undefined]))
    expect(await resumedMessages(store, first)).toEqual(fork.messages)
    expect(await resumedMessages(store, agent.sessionId)).toEqual(agent.messages)
  })
  it('records a history with one replaced message', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: says('a', 'b'), session: store })
    await agent.prompt('my password is x').result
    agent.replaceMessages(
      agent.messages.map((message, at) =>
        at === 0 && message.role === 'user' ? { ...message, content: [{ type: 'text', text: '[redacted]' }] } : message,
      ),
    )
    await agent.prompt('two').result
    expect(await resumedMessages(store, agent.sessionId)).toEqual(agent.messages)
  })
  it('records a rejected loop and reserves its id', async () => {
    const store = memorySessionStore()
    const model = says('a', 'b')
    const agent = new Agent({ model, session: store })
    await agent.prompt('one').result
    agent.configure({ hooks: { beforeLoop: () => false } })
    expect((await agent.prompt('two').result).status).toBe('rejected')
    agent.configure({ hooks: undefined })
    await agent.prompt('three').result
    const { loops } = await store.load(agent.sessionId)
    expect(loops.map(({ status, parentLoopId, base }) => [status, parentLoopId, base])).toEqual([
      ['completed', undefined, undefined],
      ['rejected', loops[0]?.loopId, undefined],
      ['completed', loops[1]?.loopId, undefined],
    ])
    expect(await resumedMessages(store, agent.sessionId)).toEqual(agent.messages)
  })
  it('survives a close() during a run', async () => {
    const store = memorySessionStore()
    let agent: Agent
    const closer = {
      name: 't',
      label: 't',
      description: 't',
      parameters: { type: 'object' as const },
      execute: async () => {
        await agent.close()
        return 'x'
      },
    }
    agent = new Agent({
      model: scripted([{ toolCalls: [{ id: 'c', name: 't', arguments: {} }] }, { text: 'done' }]),
      session: store,
      tools: [closer],
    })
    const { status, error } = await agent.prompt('one').result
    expect([status, error?.message]).toEqual(['completed', undefined])
  })
  it('recovers after opening the store failed', async () => {
    const store = memorySessionStore()
    let isDown = true
    const down: SessionStore = {
      ...store,
      open: async (id, options) => {
        if (isDown) throw new Error('down')
        return store.open(id, options)
      },
    }
    const agent = new Agent({ model: says('a', 'b'), session: down })
    expect((await agent.prompt('one').result).error?.code).toBe('journal')
    isDown = false
    const { status, error } = await agent.prompt('two').result
    expect([status, error?.message]).toEqual(['completed', undefined])
    expect(await resumedMessages(store, agent.sessionId)).toEqual(agent.messages)
  })
  it('recovers after unacknowledged writes', async () => {
    for (const failing of [1, 2, 3, 4, 5]) {
      const store = memorySessionStore()
      let count = 0
      const odd = faulty(store, (append) => async (records) => {
        await append(records)
        if (++count === failing) throw new Error('no answer')
      })
      const agent = new Agent({ model: says('a', 'b'), session: odd })
      await agent.prompt('one').result
      const { status, error } = await agent.prompt('two').result
      expect([failing, status, error?.message]).toEqual([failing, 'completed', undefined])
      expect(await resumedMessages(store, agent.sessionId)).toEqual(agent.messages)
    }
  })

  it('rewrites the whole history after its session is deleted', async () => {
    for (const isClosed of [false, true]) {
      const store = memorySessionStore()
      const agent = new Agent({ model: says('a', 'b', 'c'), session: store })
      await agent.prompt('one').result
      if (isClosed) await agent.close()
      await store.delete(agent.sessionId)
      expect((await agent.prompt('two').result).error?.code).toBe('journal')
      expect((await agent.prompt('three').result).status).toBe('completed')
      expect(await resumedMessages(store, agent.sessionId)).toEqual(agent.messages)
      expect((await store.load(agent.sessionId)).agentId).toBe(agent.agentId)
    }
  })

  it('stays empty if the history was cleared after a store failure', async () => {
    const store = memorySessionStore()
    let isFull = false
    const full = faulty(store, (append) => async (records) => {
      if (isFull) throw new Error('full')
      return append(records)
    })
    const agent = new Agent({ model: says('a', 'b', 'c'), session: full })
    await agent.prompt('one').result
    isFull = true
    await agent.prompt('two').result
    isFull = false
    agent.replaceMessages([])
    expect((await agent.prompt('three').result).status).toBe('completed')
    expect(await resumedMessages(store, agent.sessionId)).toEqual(agent.messages)
  })

  it('loads none of a hundred replaced histories', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: says(...Array.from({ length: 120 }, () => 'a')), session: store })
    await agent.prompt('one').result
    const first = agent.fork()
    for (let count = 0; count < 110; count += 1) {
      agent.replaceMessages([])
      await agent.prompt('again').result
    }
    await first.prompt('two').result
    expect(await resumedMessages(store, agent.sessionId)).toEqual(first.messages)
    first.replaceMessages([])
    await first.prompt('three').result
    expect(await resumedMessages(store, agent.sessionId)).toEqual(first.messages)
  })

  it('records restored messages only once', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: says('a', 'b', 'c'), session: store })
    await agent.prompt('one').result
    const snapshot = agent.checkpoint()
    await agent.prompt('two').result
    agent.restore(snapshot)
    await agent.prompt('three').result
    const { loops } = await store.load(agent.sessionId)
    expect(loops.map(({ base }) => base)).toEqual([undefined, undefined, undefined])
    expect(await resumedMessages(store, agent.sessionId)).toEqual(agent.messages)
  })
})
