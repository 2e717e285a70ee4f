import { describe, expect, it } from 'vitest'
import { Agent, memorySessionStore, resumeAgent, type SessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { logSessionStore, memoryDriver, SessionError } from '../../src/session.ts'
import { tool } from '../support/play.ts'

const call = (id: string) => ({ toolCalls: [{ id, name: 'work', arguments: {} }] })
const says = (...texts: string[]) => scripted(texts.map((text) => ({ text })))
const quota = () => new SessionError('quota', 'No room.')

/** A store of which the `failing`th write fails, counted from `from`, and all after it until `heal`; `isWritten`: it is there all the same. */
function failingStore({ isWritten = false, refusal = quota() } = {}) {
  const driver = memoryDriver()
  const state = { failsAt: Number.POSITIVE_INFINITY, writes: 0, chars: 0 }
  const store = logSessionStore({
    ...driver,
    append: async (claim, lines) => {
      state.writes += 1
      const fails = state.writes >= state.failsAt
      if (!fails || isWritten) await driver.append(claim, lines)
      if (fails) throw refusal
      state.chars += lines.reduce((total, { text }) => total + text.length, 0)
    },
  })
  const heal = () => {
    state.failsAt = Number.POSITIVE_INFINITY
    state.chars = 0
  }
  return { store, state, heal }
}

async function storedOf(store: SessionStore, id: string) {
  const { records } = await store.tail(id)
  const messages = records.flatMap(({ entry }) => ('message' in entry ? [entry.message.id] : []))
  return { histories: records.filter(({ entry }) => entry.type === 'history').length, messages, session: await store.load(id) }
}

describe('a failed append', () => {
  // A store that has no room has written nothing; of others nobody knows.
  it.each([
    ['on a full store', quota(), false],
    ['without acknowledgement, not written', new SessionError('io', 'No answer.'), false],
    ['without acknowledgement, but written', new SessionError('io', 'No answer.'), true],
  ])('writes only the missing records after failed write %s', async (_, refusal, isWritten) => {
    for (let failing = 1; failing <= 7; failing += 1) {
      const { store, state, heal } = failingStore({ isWritten, refusal })
      const work = tool('work', () => 'done')
      const agent = new Agent({
        model: scripted([{ text: 'a' }, call('c1'), { text: 'b' }, { text: 'c' }, { text: 'd' }]),
        tools: [work],
        session: store,
      })
      await agent.prompt('one').result
      state.failsAt = state.writes + failing
      await agent.prompt('two').result
      heal()
      const { status, error } = await agent.prompt('three').result
      expect([failing, status, error?.message]).toEqual([failing, 'completed', undefined])
      const { histories, messages, session } = await storedOf(store, agent.sessionId)
      expect([failing, histories, messages]).toEqual([failing, 0, agent.messages.map(({ id }) => id)])
      expect(session.loops.map((loop) => loop.parentLoopId)).toEqual([undefined, session.loops[0]?.loopId, session.loops[1]?.loopId])
      expect(session.loops.map(({ status }) => status).slice(0, 1)).toEqual(['completed'])
      expect(['error', 'completed']).toContain(session.loops[1]?.status)
      expect((await resumeAgent(store, agent.sessionId, { model: says() })).messages).toEqual(agent.messages)
    }
  })

  it('does not rewrite a long history', async () => {
    const { store, state, heal } = failingStore()
    const long = 'x'.repeat(100_000)
    const agent = new Agent({ model: says(long, 'b', 'c', 'd'), session: store })
    await agent.prompt('one').result
    for (const prompt of ['two', 'three']) {
      state.failsAt = state.writes + 1
      expect((await agent.prompt(prompt).result).error?.cause?.code).toBe('quota')
    }
    heal()
    expect((await agent.prompt('four').result).status).toBe('completed')
    expect(state.chars).toBeLessThan(10_000)
    const { histories, messages, session } = await storedOf(store, agent.sessionId)
    expect([histories, messages]).toEqual([0, agent.messages.map(({ id }) => id)])
    expect(session.loops.map(({ status }) => status)).toEqual(['completed', 'error', 'error', 'completed'])
  })

  it('rewrites nothing after opening the store failed', async () => {
    const inner = memorySessionStore()
    let isDown = false
    const store: SessionStore = {
      ...inner,
      open: async (id, options) => {
        if (isDown) throw quota()
        return inner.open(id, options)
      },
    }
    const agent = new Agent({ model: says('a', 'b', 'c'), session: store })
    await agent.prompt('one').result
    await agent.close()
    isDown = true
    const { status, error } = await agent.prompt('two').result
    expect([status, error?.code, error?.cause?.code]).toEqual(['error', 'journal', 'quota'])
    isDown = false
    expect((await agent.prompt('three').result).status).toBe('completed')
    const { histories, messages, session } = await storedOf(store, agent.sessionId)
    expect([histories, messages]).toEqual([0, agent.messages.map(({ id }) => id)])
    expect(session.loops.map(({ status }) => status)).toEqual(['completed', 'error', 'completed'])
  })

  it('does not record messages removed from the history', async () => {
    const { store, state, heal } = failingStore()
    const agent = new Agent({ model: says('a', 'b', 'c'), session: store })
    await agent.prompt('one').result
    state.failsAt = state.writes + 3
    await agent.prompt('my password is x').result
    heal()
    agent.replaceMessages([{ role: 'user', content: 'two' }])
    expect((await agent.continueLoop().result).status).toBe('completed')
    expect((await resumeAgent(store, agent.sessionId, { model: says() })).messages).toEqual(agent.messages)
  })

  it('continues both branches after a failed write in one', async () => {
    const { store, state, heal } = failingStore()
    const agent = new Agent({ model: says('a', 'b', 'c'), session: store })
    await agent.prompt('one').result
    const fork = agent.fork({ model: says('f', 'g') })
    await fork.prompt('left').result
    state.failsAt = state.writes + 2
    await agent.prompt('two').result
    heal()
    expect((await fork.prompt('more').result).status).toBe('completed')
    expect((await agent.prompt('three').result).status).toBe('completed')
    const { histories, session } = await storedOf(store, agent.sessionId)
    expect(histories).toBe(0)
    for (const each of [agent, fork]) {
      const resumed = await resumeAgent(store, agent.sessionId, { model: says(), loopId: each.lastLoopId ?? '' })
      expect(resumed.messages).toEqual(each.messages)
    }
    expect(session.loops).toHaveLength(5)
  })
})
