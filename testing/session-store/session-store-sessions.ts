import type { SessionEntry } from '../../src/contract/session/session-record.ts'
import type { SessionListOptions, SessionPage, SessionSummary } from '../../src/types/session/session-store.ts'
import type { TestRunner } from '../test-runner.ts'
import { beginning, sampleSession, userMessage } from './session-samples.ts'
import { clockStep, refusalOf, type SessionStoreSuiteOptions, storesOf } from './session-store-harness.ts'

const goodIds = ['a', '_', '-', '0', 'A.b_c-9', 'x'.repeat(200), 'constructor', '__proto__', 'CON', 'a..b', 'a.', 'Case', 'case']
const badIds = ['', '.', '..', '.hidden', '../up', 'a/b', 'a\\b', 'a b', 'a\nb', 'a\u0000', 'é', 'x'.repeat(201), 'a:b', 'a%2e', 'a\n']

/** Tests `save`, `load`, `delete`, lists and the rule for ids. */
export function sessionTests(runner: TestRunner, options: SessionStoreSuiteOptions): void {
  savingTests(runner, options)
  listTests(runner, options)
  summaryTests(runner, options)
  deletionTests(runner, options)
  idTests(runner, options)
}

const loopStart: SessionEntry = {
  type: 'loopStart',
  continuationKind: { kind: 'initial' },
  config: {
    ...{ model: 'm', provider: 'p', name: 'm', api: 'anthropic', baseUrl: 'https://model.example', reasoning: false },
    ...{ contextWindow: 1, maxTokens: 1, thinkingLevel: 'off' },
  },
}

function savingTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('loads a saved session', async () => {
    const { store, other, written } = await storesOf(options)
    await store.save(sampleSession('s1'))
    await written()
    expect(await other.load('s1')).toEqual(sampleSession('s1'))
  })

  it('replaces the session on each save', async () => {
    const { store, other, written, listed } = await storesOf(options)
    for (const text of ['first', 'second', 'third']) {
      await store.save(sampleSession('s1', text))
      await written()
    }
    expect(await other.load('s1')).toEqual(sampleSession('s1', 'third'))
    await listed()
    expect(await other.listIds()).toEqual(['s1'])
  })

  it('stores a copy, so that later changes to the argument have no effect', async () => {
    const { store, written } = await storesOf(options)
    const mine = sampleSession('s1')
    const saving = store.save(mine)
    mine.loops[0]?.messages.splice(0)
    mine.loops.length = 0
    mine.agentId = 'changed'
    await saving
    await written()
    expect(await store.load('s1')).toEqual(sampleSession('s1'))
  })

  it('loads a copy, so that changes to it have no effect', async () => {
    const { store, written } = await storesOf(options)
    await store.save(sampleSession('s1'))
    await written()
    const loaded = await store.load('s1')
    for (const loop of loaded.loops) loop.messages.length = 0
    loaded.loops.length = 0
    expect(await store.load('s1')).toEqual(sampleSession('s1'))
  })

  it('saves several sessions concurrently', async () => {
    const { store, other, written, listed } = await storesOf(options)
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`)
    await Promise.all(ids.map((id) => store.save(sampleSession(id, id))))
    await written()
    for (const id of ids) expect(await other.load(id)).toEqual(sampleSession(id, id))
    await listed()
    expect((await other.listIds()).toSorted()).toEqual(ids.toSorted())
  })
}

function listTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('lists no sessions if the store is empty', async () => {
    const { store } = await storesOf(options)
    expect([await store.listIds(), await store.listForAgent('agent-1')]).toEqual([[], []])
  })

  it('lists ids, most recently written first', async () => {
    const { store, other, listed } = await storesOf(options)
    for (const id of ['b', 'a', 'c', 'a']) {
      await store.save(sampleSession(id))
      await clockStep()
      await listed()
    }
    expect(await other.listIds()).toEqual(['a', 'c', 'b'])
  })

  it('lists the sessions of one agent, most recently written first', async () => {
    const { store, other, listed } = await storesOf(options)
    for (const [id, agent] of [
      ['a', 'one'],
      ['b', 'two'],
      ['c', 'one'],
      ['d', 'onely'],
    ] as const) {
      await store.save(sampleSession(id, 'Hello', agent))
      await clockStep()
    }
    await listed()
    expect(await other.listForAgent('one')).toEqual(['c', 'a'])
    expect(await other.listForAgent('nobody')).toEqual([])
  })

  it('lists a session only under its latest agent after a save', async () => {
    const { store, other, written, listed } = await storesOf(options)
    for (const agent of ['one', 'two']) {
      await store.save(sampleSession('a', 'Hello', agent))
      await written()
    }
    await listed()
    expect([await other.listForAgent('one'), await other.listForAgent('two')]).toEqual([[], ['a']])
  })
}

/** Returns a summary without its times. */
function withoutTimes({ createdAt: _, lastActiveAt: __, ...rest }: SessionSummary): Partial<SessionSummary> {
  return rest
}

function summaryTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('lists title, times and counts for each session', async () => {
    const { store, other, written, listed } = await storesOf(options)
    const before = Date.now() - 1000
    const writer = await store.open('live', { agentId: 'agent-1' })
    await writer.append([beginning('agent-1'), userMessage('What do bees\n  make?')])
    await written()
    await listed()
    const title = 'What do bees make?'
    expect((await other.list()).sessions.map(withoutTimes)).toEqual([
      { sessionId: 'live', agentId: 'agent-1', title, loops: 0, messages: 1 },
    ])
    await writer.append([userMessage('And of what?')])
    await writer.close()
    await clockStep()
    await store.save(sampleSession('saved'))
    await written()
    await listed()
    const { sessions, nextCursor } = await other.list()
    expect(sessions.map(({ sessionId, loops, messages }) => [sessionId, loops, messages])).toEqual([
      ['saved', 2, 4],
      ['live', 0, 2],
    ])
    expect([sessions[0]?.title, sessions[1]?.title, nextCursor]).toEqual(['Hello', title, undefined])
    for (const { lastActiveAt, error } of sessions)
      expect([lastActiveAt >= before, lastActiveAt <= Date.now() + 60_000, error]).toEqual([true, true, undefined])
  })

  it('continues the message count of the previous writer', async () => {
    const { store, other, written, listed } = await storesOf(options)
    for (const text of ['one', 'two', 'three']) {
      const writer = await store.open('s1', { agentId: 'agent-1' })
      await writer.append([userMessage(text)])
      await writer.close()
      await written()
    }
    await listed()
    const [summary] = (await other.list()).sessions
    expect([summary?.title, summary?.messages]).toEqual(['one', 3])
  })

  it('lists every session exactly once across pages', async () => {
    const { store, other, written, listed } = await storesOf(options)
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    for (const id of ids) {
      await store.save(sampleSession(id, id, ids.indexOf(id) % 2 === 0 ? 'even' : 'odd'))
      await clockStep()
    }
    await written()
    await listed()
    const all: string[][] = []
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page: SessionPage = await other.list({ limit: 3, ...(cursor !== '' && { cursor }) })
      all.push(page.sessions.map(({ sessionId }) => sessionId))
      cursor = page.nextCursor
      if (all.length > ids.length) break
    }
    expect(all).toEqual([['g', 'f', 'e'], ['d', 'c', 'b'], ['a']])
    const { sessions, nextCursor } = await other.list({ agentId: 'even', limit: 2 })
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['g', 'e'])
    const rest = await other.list({ agentId: 'even', limit: 2, cursor: nextCursor ?? '' })
    expect([rest.sessions.map(({ sessionId }) => sessionId), rest.nextCursor]).toEqual([['c', 'a'], undefined])
  })

  it('filters lists by id prefix and status across pages', async () => {
    const { store, other, written, listed } = await storesOf(options)
    const prefix = `user-${'a'.repeat(32)}.`
    for (const [at, id] of ['1', '2', '3', '4', '5', '6'].entries()) {
      const writer = await store.open(at % 2 === 0 ? `${prefix}${id}` : `other-${id}`, { agentId: 'agent-1' })
      await writer.append([beginning('agent-1'), ...(at < 3 ? [{ loopId: 'l', entry: loopStart }] : [])])
      await writer.close()
      await written()
      await clockStep()
    }
    await listed()
    const pages = async (which: SessionListOptions) => {
      const all: string[][] = []
      for (let cursor: string | undefined = ''; cursor !== undefined && all.length < 9; ) {
        const page: SessionPage = await other.list({ limit: 2, ...which, ...(cursor !== '' && { cursor }) })
        all.push(page.sessions.map(({ sessionId }) => sessionId.replace(prefix, '')))
        cursor = page.nextCursor
      }
      return all
    }
    expect(await pages({ idPrefix: prefix })).toEqual([['5', '3'], ['1']])
    expect(await pages({ idPrefix: `${prefix}3` })).toEqual([['3']])
    expect(await pages({ idPrefix: 'other' })).toEqual([['other-6', 'other-4'], ['other-2']])
    expect(await pages({ status: 'running' })).toEqual([['3', 'other-2'], ['1']])
    expect(await pages({ status: 'running', idPrefix: prefix, limit: 1 })).toEqual([['3'], ['1']])
    expect(await pages({ status: 'waiting' })).toEqual([[]])
  })

  it('continues paging if the session at the cursor was updated or deleted', async () => {
    const { store, other, written, listed } = await storesOf(options)
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await store.save(sampleSession(id))
      await clockStep()
    }
    await written()
    await listed()
    const { nextCursor: afterE = '' } = await other.list({ limit: 2 })
    await store.save(sampleSession('e'))
    await written()
    await listed()
    const { sessions, nextCursor: afterC = '' } = await other.list({ limit: 2, cursor: afterE })
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['d', 'c'])
    await store.delete('c')
    await written()
    await listed()
    expect((await other.list({ cursor: afterC })).sessions.map(({ sessionId }) => sessionId)).toEqual(['b', 'a'])
  })

  it('lists the status of the last loop', async () => {
    const { store, other, written, listed } = await storesOf(options)
    const status = async (entry: SessionEntry) => {
      const writer = await store.open('s1', { agentId: 'agent-1' })
      await writer.append([{ loopId: 'l', entry }])
      await writer.close()
      await written()
      await listed()
      return (await other.list()).sessions[0]?.status
    }
    const usage = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }
    expect(await status(beginning('agent-1').entry)).toBe(undefined)
    expect(await status(loopStart)).toBe('running')
    expect(await status(userMessage('Hello').entry)).toBe('running')
    expect(await status({ type: 'loopEnd', status: 'paused', usage })).toBe('waiting')
    expect(await status(loopStart)).toBe('running')
    expect(await status({ type: 'loopEnd', status: 'completed', usage })).toBe('idle')
  })

  it('renames a session and preserves the title in later writes', async () => {
    const { store, other, written, listed } = await storesOf(options)
    await store.save(sampleSession('s1'))
    await written()
    await other.rename('s1', '  Of bees\n and flowers ')
    await written()
    const writer = await store.open('s1', { agentId: 'agent-1' })
    await writer.append([userMessage('More')])
    await writer.close()
    await written()
    await listed()
    const summary = { sessionId: 's1', agentId: 'agent-1', title: 'Of bees and flowers', loops: 2, messages: 5, status: 'idle' }
    expect((await other.list()).sessions.map(withoutTimes)).toEqual([summary])
    const session = await other.load('s1')
    expect(session.title).toBe('Of bees and flowers')
    await store.save(session)
    await written()
    await listed()
    expect((await other.list()).sessions[0]?.title).toBe('Of bees and flowers')
    expect(await refusalOf(other.rename('nobody', 'Bees'))).toBe('notFound')
    expect(await refusalOf(other.rename('../up', 'Bees'))).toBe('invalidId')
  })
}

function deletionTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('rejects unknown ids with notFound', async () => {
    const { store } = await storesOf(options)
    expect([await refusalOf(store.load('nobody')), await refusalOf(store.tail('nobody'))]).toEqual(['notFound', 'notFound'])
  })

  it('deletes a session and returns whether it existed', async () => {
    const { store, other, written, listed } = await storesOf(options)
    for (const id of ['s1', 's2']) await store.save(sampleSession(id))
    await written()
    expect(await store.delete('s1')).toBe(true)
    await written()
    expect(await store.delete('s1')).toBe(false)
    expect(await other.delete('nobody')).toBe(false)
    expect([await refusalOf(other.load('s1')), await refusalOf(other.tail('s1'))]).toEqual(['notFound', 'notFound'])
    await listed()
    expect(await other.listIds()).toEqual(['s2'])
  })

  it('reuses the id of a deleted session', async () => {
    const { store, other, written } = await storesOf(options)
    await store.save(sampleSession('s1', 'first'))
    await written()
    await store.delete('s1')
    await written()
    await store.save(sampleSession('s1', 'second'))
    await written()
    expect(await other.load('s1')).toEqual(sampleSession('s1', 'second'))
  })
}

function idTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('accepts every valid id and distinguishes upper and lower case', async () => {
    const { store, other, written } = await storesOf(options)
    for (const id of goodIds) await store.save(sampleSession(id, id))
    await written()
    for (const id of goodIds) expect(await other.load(id)).toEqual(sampleSession(id, id))
  })

  for (const id of badIds) {
    it(`rejects the id ${JSON.stringify(id.slice(0, 20))} in save, load, tail, open and delete`, async () => {
      const { store } = await storesOf(options)
      const calls = [store.save(sampleSession(id)), store.load(id), store.tail(id), store.open(id, { agentId: 'a' }), store.delete(id)]
      for (const call of await Promise.all(calls.map(refusalOf))) expect(call).toBe('invalidId')
      expect(await store.listIds()).toEqual([])
    })
  }
}
