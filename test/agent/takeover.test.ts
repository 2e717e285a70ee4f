import { describe, expect, it } from 'vitest'
import { Agent, type AgentEvent, memorySessionStore, resumeAgent, type SessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { approveWaiting, gate, seen, tool } from '../support/play.ts'

const says = (...texts: string[]) => scripted(texts.map((text) => ({ text })))
const calls = (...ids: string[]) => ({ toolCalls: ids.map((id) => ({ id, name: 'work', arguments: {} })) })

/** An agent whose tool runs until `finish`, on a session of its own in `store`. */
async function busyIn(store: SessionStore, sessionId = 's') {
  const { open: finish, opened } = gate()
  const begun = gate()
  const work = tool('work', async () => {
    begun.open()
    await opened
    return 'done'
  })
  const agent = new Agent({
    model: scripted([{ text: 'a' }, calls('c1'), { text: 'old' }, { text: 'older' }]),
    tools: [work],
    session: store,
    sessionId,
  })
  await agent.prompt('one').result
  const run = agent.prompt('two')
  await begun.opened
  return { agent, run, finish }
}

const texts = ({ messages }: Pick<Agent, 'messages'>) =>
  messages.flatMap((message) =>
    'content' in message ? message.content.map((block) => (block.type === 'text' ? block.text : block.type)) : [],
  )

describe('a rejected writer', () => {
  it("rejects the old agent's writes after a takeover", async () => {
    const store = memorySessionStore()
    const { agent, run, finish } = await busyIn(store)
    const newer = await busyNewcomer(store)
    finish()
    expect((await run.result).error?.cause?.code).toBe('conflict')
    for (const way of ['prompt', 'send'] as const) expect((await agent[way]('again').result).error?.cause?.code).toBe('conflict')
    newer.finish()
    expect((await newer.run.result).status).toBe('completed')
  })

  it('rejects an agent that treats an existing session as new', async () => {
    const store = memorySessionStore()
    const { run, finish } = await busyIn(store)
    const stranger = new Agent({ model: says('x'), session: store, sessionId: 's' })
    const { status, error } = await stranger.prompt('mine').result
    expect([status, error?.cause?.code]).toEqual(['error', 'conflict'])
    expect(error?.message).toContain('resumeAgent')
    finish()
    expect((await run.result).status).toBe('completed')
  })

  it('rejects an agent whose session was taken over after a store failure', async () => {
    const store = memorySessionStore()
    let isFull = false
    const agent = new Agent({ model: says('a', 'b', 'c'), session: failing(store, () => isFull), sessionId: 's' })
    await agent.prompt('one').result
    isFull = true
    await agent.prompt('two').result
    isFull = false
    const newer = await busyNewcomer(store)
    expect((await agent.prompt('three').result).error?.cause?.code).toBe('conflict')
    newer.finish()
    expect((await newer.run.result).status).toBe('completed')
  })
})

describe('takeover', () => {
  it('reads records written by the other owner and reports the correct run id', async () => {
    const store = memorySessionStore()
    const first = new Agent({ model: says('a', 'b', 'c'), session: store, sessionId: 's' })
    await first.prompt('one').result
    const model = says('d')
    const second = await resumeAgent(store, 's', { model })
    await first.prompt('two').result
    await first.prompt('three').result
    const run = second.prompt('four')
    const events: AgentEvent[] = []
    run.subscribe((event) => events.push(event))
    const { status, loopId } = await run.result
    expect(status).toBe('completed')
    expect(texts(second)).toEqual(['one', 'a', 'two', 'b', 'three', 'c', 'four', 'd'])
    expect(model.provider.requests[0]?.messages).toHaveLength(7)
    expect(new Set([run.loopId, second.lastLoopId, loopId, ...events.map((event) => event.loopId)])).toEqual(
      new Set(['s.scripted.scripted.4']),
    )
    const session = await store.load('s')
    expect(session.loops.map(({ parentLoopId, base }) => [parentLoopId?.slice(-1), base])).toEqual([
      [undefined, undefined],
      ['1', undefined],
      ['2', undefined],
      ['3', undefined],
    ])
  })

  it('reports an unknown outcome for a call that ran in another process', async () => {
    const store = memorySessionStore()
    const resumed = await resumeAgent(store, 's', { model: says('I see'), create: true })
    const { run, finish } = await busyIn(store)
    expect((await resumed.send('go on').result).status).toBe('completed')
    finish()
    expect((await run.result).error?.cause?.code).toBe('conflict')
    expect(texts(resumed)).toEqual(['one', 'a', 'two', 'toolCall', expect.stringContaining('outcome is unknown'), 'go on', 'I see'])
    expect(texts(await resumeAgent(store, 's', { model: says() }))).toEqual(texts(resumed))
  })

  it('has nothing to continue if the other owner has finished', async () => {
    const store = memorySessionStore()
    const { run, finish } = await busyIn(store)
    const newer = await resumeAgent(store, 's', { model: says('not asked'), tools: [tool('work', () => 'no')] })
    finish()
    await run.result
    const { status, messages } = await newer.continueLoop().result
    expect([status, messages]).toEqual(['completed', []])
    expect(texts(newer).slice(-2)).toEqual(['done', 'old'])
  })

  it('requests approvals left pending by the other owner', async () => {
    const store = memorySessionStore()
    const work = tool('work', () => 'ran', { needsApproval: true })
    const first = new Agent({
      model: scripted([{ text: 'a' }, calls('c1')]),
      tools: [work],
      session: store,
      sessionId: 's',
      approvalTimeoutMs: 1,
    })
    await first.prompt('one').result
    const second = await resumeAgent(store, 's', { model: says('b'), tools: [work] })
    expect((await first.prompt('two').result).status).toBe('paused')
    const run = second.send('well?')
    await seen(run, 'approvalRequested')
    approveWaiting(run)
    expect((await run.result).status).toBe('completed')
    expect(texts(second)).toEqual(['one', 'a', 'two', 'toolCall', 'ran', 'well?', 'b'])
  })

  it('keeps messages added or replaced since the last read', async () => {
    const store = memorySessionStore()
    const first = new Agent({ model: says('a', 'b', 'c'), session: store, sessionId: 's' })
    await first.prompt('one').result
    const [added, replaced] = await Promise.all([says('x'), says('y')].map((model) => resumeAgent(store, 's', { model })))
    if (added === undefined || replaced === undefined) throw new RangeError('two')
    added.appendMessage({ role: 'user', content: 'by the way' })
    await first.prompt('two').result
    await added.continueLoop().result
    expect(texts(added)).toEqual(['one', 'a', 'two', 'b', 'by the way', 'x'])
    expect(texts(await resumeAgent(store, 's', { model: says() }))).toEqual(texts(added))
    replaced.replaceMessages([{ role: 'user', content: 'something else' }])
    await replaced.continueLoop().result
    expect(texts(replaced)).toEqual(['something else', 'y'])
    expect(texts(await resumeAgent(store, 's', { model: says() }))).toEqual(texts(replaced))
  })

  it('continues on its own branch after a takeover', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: says('a'), session: store, sessionId: 's' })
    await agent.prompt('one').result
    const [left, right] = [agent.fork({ model: says('l', 'll') }), agent.fork({ model: says('r') })]
    await left.prompt('left').result
    await right.prompt('right').result
    await agent.close()
    const other = await resumeAgent(store, 's', { model: says('o') })
    await other.prompt('other').result
    expect(texts(other)).toEqual(['one', 'a', 'right', 'r', 'other', 'o'])
    await left.prompt('more').result
    expect(texts(left)).toEqual(['one', 'a', 'left', 'l', 'more', 'll'])
    expect((await store.load('s')).loops.every(({ base }) => base === undefined)).toBe(true)
  })

  it('reads records that another owner wrote after close()', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: says('a', 'c'), session: store, sessionId: 's' })
    await agent.prompt('one').result
    await agent.close()
    const other = await resumeAgent(store, 's', { model: says('b') })
    await other.prompt('two').result
    expect((await agent.prompt('three').result).status).toBe('completed')
    expect(texts(agent)).toEqual(['one', 'a', 'two', 'b', 'three', 'c'])
  })

  it('retries a takeover that failed partway', async () => {
    const store = memorySessionStore()
    const { run, finish } = await busyIn(store)
    let isFull = true
    const newer = await resumeAgent(
      failing(store, () => isFull),
      's',
      { model: says('x', 'y') },
    )
    expect((await newer.prompt('lost').result).status).toBe('error')
    isFull = false
    finish()
    await run.result
    expect((await newer.prompt('go on').result).status).toBe('completed')
    expect(texts(newer).slice(0, 4)).toEqual(['one', 'a', 'two', 'toolCall'])
    expect(texts(await resumeAgent(store, 's', { model: says() }))).toEqual(texts(newer))
  })

  it('succeeds for only one of two concurrent starts', async () => {
    for (const create of [true, false]) {
      const store = memorySessionStore()
      const agents = await Promise.all(
        ['x', 'y'].map(async (text) =>
          create
            ? resumeAgent(store, 's', { model: says(text), create })
            : new Agent({ model: says(text), session: store, sessionId: 's' }),
        ),
      )
      const results = await Promise.all(agents.map((agent) => agent.prompt('go').result))
      expect(results.filter(({ status }) => status === 'completed')).toHaveLength(1)
      expect(results.filter(({ error }) => error?.cause?.code === 'conflict')).toHaveLength(1)
    }
  })
})

/** A newcomer whose tool runs until `finish`. */
async function busyNewcomer(store: SessionStore) {
  const { open: finish, opened } = gate()
  const begun = gate()
  const work = tool('work', async () => {
    begun.open()
    await opened
    return 'done'
  })
  const agent = await resumeAgent(store, 's', { model: scripted([calls('n1'), { text: 'new' }]), tools: [work] })
  const run = agent.prompt('mine now')
  await begun.opened
  return { agent, run, finish }
}

/** The same store, which has no room while `isFull` says so. */
function failing(store: SessionStore, isFull: () => boolean): SessionStore {
  return {
    ...store,
    open: async (id, options) => {
      const writer = await store.open(id, options)
      const append: typeof writer.append = async (records) => {
        if (isFull()) throw new Error('disk full')
        return writer.append(records)
      }
      return Object.assign(Object.create(writer), { append, close: () => writer.close() })
    },
  }
}
