import { afterEach, describe, expect, it, vi } from 'vitest'
import { type IndexedDbSessionOptions, indexedDbSessionStore } from '../../adapters/browser/index.ts'
import { patient } from '../support/patience.ts'
import { versionsIn, wholeVersion } from '../support/session-versions.ts'
import { codeOf, textsOf, userMessage } from './session-records.ts'
import type { WorkerAnswer, WorkerTask } from './session-worker.ts'

const agent = { agentId: 'agent' }
const workers: Worker[] = []
const newName = () => `tabs-${crypto.randomUUID()}`

/** A store and what it was told. */
function tab(name: string, options: IndexedDbSessionOptions = {}) {
  const takenOver: string[] = []
  const changes: string[] = []
  const store = indexedDbSessionStore({ name, onTakenOver: (id) => takenOver.push(id), onChange: (id) => changes.push(id), ...options })
  return { store, takenOver, changes }
}

/** A thread of its own: everything it has answered so far, and its answers one by one, each waited for. */
function startWorker() {
  const worker = new Worker(new URL('./session-worker.ts', import.meta.url), { type: 'module' })
  workers.push(worker)
  const answers: WorkerAnswer[] = []
  const waiting: (() => void)[] = []
  worker.onmessage = ({ data }: MessageEvent<WorkerAnswer>) => {
    answers.push(data)
    waiting.shift()?.()
  }
  let calls = 0
  /** The next answer that was not asked for yet. A thread takes as long to begin as the machine is busy. */
  async function next(): Promise<WorkerAnswer | undefined> {
    if (calls === answers.length) await new Promise<void>((resolve) => waiting.push(resolve))
    return answers[calls++]
  }
  return { answers, next, send: (task: WorkerTask) => worker.postMessage(task), kill: () => worker.terminate() }
}

const count = (answers: readonly WorkerAnswer[], type: WorkerAnswer['type']) => answers.filter((answer) => answer.type === type).length

afterEach(() => {
  vi.unstubAllGlobals()
  for (const worker of workers.splice(0)) worker.terminate()
})

describe('two tabs', () => {
  it('transfers the session to the second tab and rejects writes of the first', async () => {
    const name = newName()
    const [first, second] = [tab(name), tab(name)]
    const loser = await first.store.open('s', agent)
    await loser.append([userMessage('one')])
    const winner = await second.store.open('s', agent)
    expect(winner.records).toHaveLength(1)
    expect(await codeOf(loser.append([userMessage('lost')]))).toBe('conflict')
    await winner.append([userMessage('two')])
    await expect.poll(() => first.takenOver).toEqual(['s'])
    expect(second.takenOver).toEqual([])
    expect(await textsOf(first.store, 's')).toEqual(['one', 'two'])
  })

  it('notifies a tab that does not write, and once after a rejected append', async () => {
    const name = newName()
    const [first, second] = [tab(name), tab(name)]
    await first.store.open('a', agent)
    await first.store.open('b', agent)
    await (await second.store.open('a', agent)).append([userMessage('one')])
    await expect.poll(() => first.takenOver).toEqual(['a'])
    expect(await second.store.delete('a')).toBe(true)
    expect(await first.store.openIds()).toContain('b')
  })

  it('sends no notice to a tab that takes over from itself', async () => {
    const { store, takenOver } = tab(newName())
    const old = await store.open('s', agent)
    const writer = await store.open('s', agent)
    await writer.append([userMessage('one')])
    expect(await codeOf(old.append([userMessage('lost')]))).toBe('conflict')
    expect(takenOver).toEqual([])
  })

  it('gives the lock to the newest of six concurrent writers', async () => {
    const name = newName()
    const tabs = Array.from({ length: 6 }, () => tab(name))
    const writers = await Promise.all(tabs.map(({ store }) => store.open('s', agent)))
    const newest = Math.max(...writers.map((writer) => writer.epoch))
    const winner = writers.findIndex((writer) => writer.epoch === newest)
    await expect
      .poll(() => tabs.map(({ takenOver }) => takenOver.length), patient)
      .toEqual(tabs.map((_, index) => (index === winner ? 0 : 1)))
    await expect.poll(() => tabs[0]?.store.openIds()).toEqual(['s'])
    await writers[winner]?.append([userMessage('one')])
    await writers[winner]?.close()
    await expect.poll(() => tabs[0]?.store.openIds()).toEqual([])
  })

  it('sends no notice to the current writer if two tabs open simultaneously', async () => {
    const name = newName()
    const tabs = [tab(name), tab(name)]
    const writers = await Promise.all(tabs.map(({ store }) => store.open('s', agent)))
    const winner = writers[0] !== undefined && writers[1] !== undefined && writers[0].epoch > writers[1].epoch ? 0 : 1
    await expect.poll(() => tabs[1 - winner]?.takenOver).toEqual(['s'])
    // What a tab says is heard in its order.
    await tabs[1 - winner]?.store.open('last', agent)
    await expect.poll(() => tabs[winner]?.changes).toContain('last')
    expect(tabs[winner]?.changes).toEqual(['last'])
    expect(tabs[winner]?.takenOver).toEqual([])
  })

  it('keeps acknowledged records with many writers, without duplicates', async () => {
    const name = newName()
    const acknowledged: string[] = []
    const attempted = new Set<string>()
    async function compete(who: number): Promise<void> {
      const { store } = tab(name)
      for (let round = 0; round < 6; round++) {
        const writer = await store.open('s', agent)
        for (let index = 0; index < 3; index++) {
          const text = `${who}.${round}.${index}`
          attempted.add(text)
          if ((await codeOf(writer.append([userMessage(text)]))) === 'resolved') acknowledged.push(text)
        }
        await writer.close()
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, who) => compete(who)))
    const stored = await textsOf(tab(name).store, 's')
    expect(new Set(stored).size).toBe(stored.length)
    expect(stored.toSorted()).toEqual(acknowledged.toSorted())
    expect(stored.every((text) => attempted.has(text))).toBe(true)
  })

  it('notifies the other tab of started, opened, closed and deleted sessions', async () => {
    const name = newName()
    const [here, there] = [tab(name), tab(name)]
    await here.store.listIds()
    const writer = await there.store.open('s', agent)
    await expect.poll(() => here.changes).toEqual(['s'])
    await writer.append([userMessage('one')])
    await expect.poll(() => here.changes).toEqual(['s', 's'])
    await writer.append([userMessage('two')])
    await writer.close()
    await expect.poll(() => here.changes).toEqual(['s', 's', 's'])
    await there.store.delete('s')
    await expect.poll(() => here.changes).toEqual(['s', 's', 's', 's'])
    expect(there.changes).toEqual([])
  })

  it('revokes a session from its writing tab on deletion', async () => {
    const name = newName()
    const [here, there] = [tab(name), tab(name)]
    const writer = await here.store.open('s', agent)
    await writer.append([userMessage('one')])
    await there.store.delete('s')
    await expect.poll(() => here.takenOver).toEqual(['s'])
    expect(await codeOf(writer.append([userMessage('lost')]))).toBe('conflict')
  })

  it('rejects and notifies the first tab without Web Locks', async () => {
    vi.stubGlobal('navigator', { storage: navigator.storage })
    const name = newName()
    const [first, second] = [tab(name), tab(name)]
    const loser = await first.store.open('s', agent)
    await second.store.open('s', agent)
    expect(await codeOf(loser.append([userMessage('lost')]))).toBe('conflict')
    expect(first.takenOver).toEqual(['s'])
    expect(await first.store.openIds()).toEqual([])
  })

  it('rejects and notifies the first tab without BroadcastChannel', async () => {
    vi.stubGlobal('BroadcastChannel', undefined)
    const name = newName()
    const [first, second] = [tab(name), tab(name)]
    const loser = await first.store.open('s', agent)
    await loser.append([userMessage('one')])
    const winner = await second.store.open('s', agent)
    expect(await codeOf(loser.append([userMessage('lost')]))).toBe('conflict')
    await winner.append([userMessage('two')])
    expect([first.takenOver, await textsOf(first.store, 's'), await first.store.listIds()]).toEqual([['s'], ['one', 'two'], ['s']])
    expect(await second.store.delete('s')).toBe(true)
  })

  it('records sessions without both APIs and if both are blocked', async () => {
    const refused = new DOMException('Not in this frame.', 'SecurityError')
    class RefusedChannel {
      constructor() {
        throw refused
      }
    }
    const locks = { request: () => Promise.reject(refused), query: () => Promise.reject(refused) }
    for (const [channel, held] of [
      [undefined, undefined],
      [RefusedChannel, locks],
    ]) {
      vi.stubGlobal('BroadcastChannel', channel)
      vi.stubGlobal('navigator', { storage: navigator.storage, locks: held })
      const { store } = tab(newName())
      const writer = await store.open('s', agent)
      await writer.append([userMessage('one')])
      await writer.close()
      expect([await textsOf(store, 's'), await store.openIds()]).toEqual([['one'], []])
    }
  })
})

describe('a worker', () => {
  it('takes over a session from the page, which then takes it back', async () => {
    const name = newName()
    const { store, takenOver } = tab(name)
    const writer = await store.open('s', agent)
    await writer.append([userMessage('page 0')])
    const { next, send } = startWorker()
    send({ type: 'open', database: name, sessionId: 's' })
    expect(await next()).toEqual({ type: 'records', count: 1 })
    await expect.poll(() => takenOver).toEqual(['s'])
    expect(await codeOf(writer.append([userMessage('lost')]))).toBe('conflict')
    send({ type: 'append', count: 2 })
    expect([await next(), await next()]).toEqual([{ type: 'acknowledged' }, { type: 'acknowledged' }])
    const again = await store.open('s', agent)
    expect(again.records).toHaveLength(3)
    expect(await next()).toEqual({ type: 'takenOver', sessionId: 's' })
    send({ type: 'append', count: 1 })
    expect(await next()).toEqual({ type: 'failed', code: 'conflict' })
    expect(await textsOf(store, 's')).toEqual(['page 0', 'worker 0', 'worker 1'])
  })

  it('keeps acknowledged records and frees its lock when killed during a write', async () => {
    const name = newName()
    const { store } = tab(name)
    const { answers, send, kill } = startWorker()
    send({ type: 'open', database: name, sessionId: 's' })
    send({ type: 'append', count: 100_000 })
    await expect.poll(() => count(answers, 'acknowledged')).toBeGreaterThan(20)
    expect(await store.openIds()).toEqual(['s'])
    const acknowledged = count(answers, 'acknowledged')
    kill()
    await expect.poll(() => store.openIds()).toEqual([])
    const writer = await store.open('s', agent)
    expect(writer.damage).toBe(undefined)
    expect(writer.records.length).toBeGreaterThanOrEqual(acknowledged)
    const texts = await textsOf(store, 's')
    expect(texts).toEqual(texts.map((_, index) => `worker ${index}`))
  })

  it('leaves one complete imported session when killed during an import', async () => {
    const name = newName()
    const { store } = tab(name)
    let version = 0
    for (let round = 1; round <= 5; round++) {
      const { answers, send, kill } = startWorker()
      send({ type: 'import', database: name, sessionId: 's', from: version + 1 })
      await expect.poll(() => count(answers, 'acknowledged')).toBeGreaterThanOrEqual(round)
      const acknowledged = version + count(answers, 'acknowledged')
      kill()
      const { records } = await store.tail('s')
      version = versionsIn(records)[0] ?? 0
      expect(versionsIn(records)).toEqual(wholeVersion(version))
      expect(version).toBeGreaterThanOrEqual(acknowledged)
    }
  })
})
