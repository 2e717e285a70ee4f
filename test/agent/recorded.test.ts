import { describe, expect, it } from 'vitest'
import { Agent, memorySessionStore, resumeAgent, type SessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { add, gate, tool } from '../support/play.ts'

const call = { toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1, b: 2 } }] }

describe('an agent with a session store', () => {
  it('records a run that another process continues with the same history and ids', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: scripted([call, { text: 'three' }]), tools: [add], session: store })
    const first = await agent.prompt('sum').result
    expect(first.status).toBe('completed')
    await agent.close()

    const model = scripted([{ text: 'and four' }])
    const resumed = await resumeAgent(store, agent.sessionId, { model, tools: [add] })
    expect(resumed.messages).toEqual(agent.messages)
    expect(resumed.agentId).toBe(agent.agentId)
    const second = await resumed.prompt('more').result
    expect(model.provider.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult', 'assistant', 'user'])
    expect(second.loopId).not.toBe(first.loopId)
    const session = await store.load(agent.sessionId)
    expect(session.loops.map(({ loopId, parentLoopId, status }) => [loopId, parentLoopId, status])).toEqual([
      [first.loopId, undefined, 'completed'],
      [second.loopId, first.loopId, 'completed'],
    ])
    expect(session.loops.flatMap(({ messages }) => messages)).toEqual(resumed.messages)
  })

  it('rejects writes to an unknown session', async () => {
    const store = memorySessionStore()
    await new Agent({ model: scripted([{ text: 'a' }]), session: store, sessionId: 's1' }).prompt('one').result
    const other = new Agent({ model: scripted([{ text: 'b' }]), session: store, sessionId: 's1' })
    const { status, error } = await other.prompt('two').result
    expect([status, error?.code]).toEqual(['error', 'journal'])
    expect(error?.message).toContain('resumeAgent')
    expect((await store.load('s1')).loops).toHaveLength(1)
  })

  it('rejects the old writer after a takeover', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]), session: store })
    await agent.prompt('one').result
    const newer = await resumeAgent(store, agent.sessionId, { model: scripted([{ text: 'c' }]) })
    expect((await newer.prompt('two').result).status).toBe('completed')
    expect((await agent.prompt('late').result).error?.code).toBe('journal')
    expect((await store.load(agent.sessionId)).loops.filter(({ status }) => status === 'completed')).toHaveLength(2)
  })

  it('records a history replaced between prompts', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]), session: store })
    await agent.prompt('one').result
    agent.replaceMessages([{ role: 'user', content: [{ type: 'text', text: 'other' }], timestamp: 1 }])
    await agent.continueLoop().result
    const resumed = await resumeAgent(store, agent.sessionId, { model: scripted([]) })
    expect(resumed.messages).toEqual(agent.messages)
  })

  it('records forks in the same session', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: scripted([{ text: 'a' }]), session: store })
    await agent.prompt('one').result
    const forks = ['x', 'y'].map((text) => agent.fork({ model: scripted([{ text }]) }))
    const results = await Promise.all(forks.map((fork) => fork.prompt('go', { kind: { kind: 'branch', tag: 't' } }).result))
    expect(results.map(({ status }) => status)).toEqual(['completed', 'completed'])
    const session = await store.load(agent.sessionId)
    expect(session.loops).toHaveLength(3)
    expect(session.loops[0]?.childrenLoopIds).toHaveLength(2)
    for (const [index, fork] of forks.entries()) {
      const loopId = results[index]?.loopId ?? ''
      const resumed = await resumeAgent(store, agent.sessionId, { model: scripted([]), loopId })
      expect(resumed.messages).toEqual(fork.messages)
    }
  })

  it('reports an interrupted call to the model without running it again', async () => {
    const store = memorySessionStore()
    const running = gate()
    const hangs = tool('add', () => {
      running.open()
      return new Promise<string>(() => undefined)
    })
    const agent = new Agent({ model: scripted([call]), tools: [hangs], session: store })
    void agent.prompt('sum')
    await running.opened
    // The process "ends" here: nobody hears of the first agent again.
    const ran: string[] = []
    const model = scripted([{ text: 'I see' }])
    const resumed = await resumeAgent(store, agent.sessionId, { model, tools: [tool('add', () => `ran ${ran.push('add')}`)] })
    const { status } = await resumed.continueLoop().result
    expect([status, ran]).toEqual(['completed', []])
    expect(resumed.messages.find(({ role }) => role === 'toolResult')).toMatchObject({ isError: true, toolCallId: 'c1' })
    const again = await resumeAgent(store, agent.sessionId, { model })
    expect(again.messages).toEqual(resumed.messages)
    agent.reset()
  })

  it('repeats an interrupted idempotent call', async () => {
    const store = memorySessionStore()
    const running = gate()
    const hang = () => {
      running.open()
      return new Promise<string>(() => undefined)
    }
    const hangs = tool('add', hang, { idempotent: true })
    const agent = new Agent({ model: scripted([call]), tools: [hangs], session: store })
    void agent.prompt('sum')
    await running.opened
    const resumed = await resumeAgent(store, agent.sessionId, {
      model: scripted([{ text: 'done' }]),
      tools: [tool('add', () => 'ran', { idempotent: true })],
    })
    expect((await resumed.continueLoop().result).text).toBe('done')
    expect(resumed.messages.find(({ role }) => role === 'toolResult')).toMatchObject({ isError: false })
    expect((await resumeAgent(store, agent.sessionId, { model: scripted([]) })).messages).toEqual(resumed.messages)
    agent.reset()
  })

  it('reopens after close() between prompts and allows a second close()', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }, { text: 'c' }]), session: store })
    for (const prompt of ['one', 'two', 'three']) {
      expect((await agent.prompt(prompt).result).status).toBe('completed')
      await agent.close()
      await agent.close()
    }
    const session = await store.load(agent.sessionId)
    expect(session.loops).toHaveLength(3)
    expect(session.loops.every(({ base }) => base === undefined)).toBe(true)
  })

  it('creates a missing session with create: true', async () => {
    const store = memorySessionStore()
    const resume = (text: string) => resumeAgent(store, 's1', { model: scripted([{ text }]), create: true })
    await expect(resumeAgent(store, 's1', { model: scripted([]) })).rejects.toMatchObject({ code: 'notFound' })
    await (await resume('a')).prompt('one').result
    const agent = await resume('b')
    expect(agent.messages).toHaveLength(2)
    expect((await agent.prompt('two').result).status).toBe('completed')
  })

  it('opens a new session with newSession and records the reason', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]), session: store })
    const before = agent.sessionId
    await agent.prompt('one').result
    const id = agent.newSession()
    await agent.prompt('two').result
    expect(await store.listIds()).toEqual([id, before])
    expect((await store.load(id)).formation.type).toBe('explicit')
    expect((await resumeAgent(store, id, { model: scripted([]) })).messages).toEqual(agent.messages)
  })

  it('ends the run when the store is full and writes the missing records later', async () => {
    const store = memorySessionStore()
    let isFull = false
    const full: SessionStore = {
      ...store,
      open: async (id, options) => {
        const writer = await store.open(id, options)
        return Object.assign(Object.create(writer), {
          append: async (records: Parameters<typeof writer.append>[0]) => {
            if (isFull) throw new Error('disk full')
            return writer.append(records)
          },
        })
      },
    }
    const agent = new Agent({ model: scripted([{ text: 'a' }, { text: 'b' }]), session: full })
    await agent.prompt('one').result
    isFull = true
    expect((await agent.prompt('two').result).error?.code).toBe('journal')
    isFull = false
    expect((await agent.prompt('three').result).status).toBe('completed')
    expect((await resumeAgent(store, agent.sessionId, { model: scripted([]) })).messages).toEqual(agent.messages)
  })
})
