import type { AgentMessage } from '../types/message.ts'
import type { SessionStore, StoredSession } from '../types/session-store.ts'
import { rejectionOf, type TestRunner } from './test-runner.ts'

/** How to make the store under test. */
export interface SessionStoreSuiteOptions {
  /** Heads the group of tests. */
  name: string
  /** A new, empty store. Called once per test. */
  create: () => SessionStore | Promise<SessionStore>
}

function session(sessionId: string, text = 'Hello'): StoredSession {
  const usage = { input: 1, output: 2, reasoning: 0, cacheRead: 3, cacheWrite: 4, totalTokens: 10 }
  const messages: AgentMessage[] = [
    { role: 'user', id: 'm1', content: [{ type: 'text', text }], timestamp: 1, turnId: { loopId: 'l', turnIndex: 0 } },
    {
      role: 'assistant',
      id: 'm2',
      content: [
        { type: 'thinking', thinking: 'é 😀 \u0000 \u2028', signature: 's' },
        { type: 'toolCall', id: 'c1', name: 'search', arguments: { deep: [1.5, null, { a: true }] } },
      ],
      stopReason: 'toolUse',
      model: 'm',
      provider: 'p',
      usage,
      timestamp: 2,
    },
    { role: 'toolResult', id: 'm3', toolCallId: 'c1', toolName: 'search', content: [], isError: true, timestamp: 3 },
    { role: 'extension', id: 'm4', kind: 'note', data: null },
  ]
  return { sessionId, agentId: 'agent-1', messages }
}

const goodIds = ['a', '_', '-', '0', 'A.b_c-9', 'x'.repeat(200), 'constructor', 'CON', 'a..b']
const badIds = ['', '.', '..', '.hidden', '../up', 'a/b', 'a\\b', 'a b', 'a\nb', 'a\u0000', 'é', 'x'.repeat(201), 'a:b', 'a%2e', 'a\n']

/** Every promise of `SessionStore`, as tests. Run it on each implementation. */
export function sessionStoreSuite(runner: TestRunner, options: SessionStoreSuiteOptions): void {
  const { describe, it, expect } = runner
  describe(options.name, () => {
    it('loads what was saved', async () => {
      const store = await options.create()
      await store.save(session('s1'))
      expect(await store.load('s1')).toEqual(session('s1'))
    })

    it('loads nothing for an unknown id', async () => {
      const store = await options.create()
      expect(await store.load('nobody')).toBe(undefined)
    })

    it('replaces the session on the next save', async () => {
      const store = await options.create()
      await store.save(session('s1', 'first'))
      await store.save(session('s1', 'second'))
      expect(await store.load('s1')).toEqual(session('s1', 'second'))
      expect(await store.listIds()).toEqual(['s1'])
    })

    it('stores a copy: changing the argument during or after the save has no effect', async () => {
      const store = await options.create()
      const mine = session('s1')
      const saving = store.save(mine)
      mine.messages.length = 0
      mine.agentId = 'changed'
      await saving
      expect(await store.load('s1')).toEqual(session('s1'))
    })

    it('loads a copy: changing it has no effect', async () => {
      const store = await options.create()
      await store.save(session('s1'))
      const loaded = await store.load('s1')
      if (loaded !== undefined) loaded.messages.length = 0
      expect(await store.load('s1')).toEqual(session('s1'))
    })

    it('keeps a session without messages', async () => {
      const store = await options.create()
      await store.save({ sessionId: 's1', agentId: 'a', messages: [] })
      expect(await store.load('s1')).toEqual({ sessionId: 's1', agentId: 'a', messages: [] })
    })

    it('deletes, and says whether there was something to delete', async () => {
      const store = await options.create()
      await store.save(session('s1'))
      expect(await store.delete('s1')).toBe(true)
      expect(await store.delete('s1')).toBe(false)
      expect(await store.load('s1')).toBe(undefined)
      expect(await store.listIds()).toEqual([])
    })

    it('takes every id the rule allows, and tells upper from lower case', async () => {
      const store = await options.create()
      for (const id of [...goodIds, 'Case', 'case']) {
        await store.save(session(id, id))
      }
      for (const id of [...goodIds, 'Case', 'case']) {
        expect(await store.load(id)).toEqual(session(id, id))
      }
    })

    orderTests(runner, options)
    for (const id of badIds) refusalTest(runner, options, id)
  })
}

function orderTests({ it, expect }: TestRunner, { create }: SessionStoreSuiteOptions): void {
  it('lists no ids when it is empty', async () => {
    const store = await create()
    expect(await store.listIds()).toEqual([])
  })

  it('lists ids, most recently saved first', async () => {
    const store = await create()
    for (const id of ['b', 'a', 'c', 'a']) await store.save(session(id))
    expect(await store.listIds()).toEqual(['a', 'c', 'b'])
  })

  it('keeps sessions saved at the same time apart', async () => {
    const store = await create()
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`)
    await Promise.all(ids.map((id) => store.save(session(id, id))))
    for (const id of ids) expect(await store.load(id)).toEqual(session(id, id))
    expect((await store.listIds()).toSorted()).toEqual(ids.toSorted())
  })
}

function refusalTest({ it, expect }: TestRunner, { create }: SessionStoreSuiteOptions, id: string): void {
  it(`refuses the id ${JSON.stringify(id.slice(0, 20))} in save, load and delete`, async () => {
    const store = await create()
    for (const attempt of [() => store.save(session(id)), () => store.load(id), () => store.delete(id)]) {
      const error = await rejectionOf(attempt(), `The id ${JSON.stringify(id)}`)
      expect(Reflect.get(Object(error), 'name')).toBe('SessionError')
      expect(Reflect.get(Object(error), 'code')).toBe('invalidId')
    }
    expect(await store.listIds()).toEqual([])
  })
}
