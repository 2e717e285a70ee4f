import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../../src/contract/run/event.ts'
import { createStore } from '../../src/store.ts'
import { agentEnd, agentStart, asRun, end, start, textDelta } from './events.ts'

const events = asRun([
  agentStart,
  start('m'),
  ...Array.from('hello world', (letter) => textDelta('m', letter)),
  end('m', [{ type: 'text', text: 'hello world' }]),
  agentEnd(),
])

describe('createStore', () => {
  it('publishes once per batch of events', () => {
    const flushes: (() => void)[] = []
    const store = createStore(undefined, { schedule: (flush) => flushes.push(flush) })
    const before = store.getSnapshot()
    let calls = 0
    store.subscribe(() => calls++)
    for (const event of events) store.dispatch(event)
    expect(store.getSnapshot()).toBe(before)
    expect(flushes).toHaveLength(1)
    flushes[0]?.()
    expect(calls).toBe(1)
    expect(store.getSnapshot()).toMatchObject({ status: 'completed', seq: events.length })
    for (const event of events) store.dispatch(event)
    expect(flushes).toHaveLength(1)
  })

  it('follows a source to its end and publishes in a microtask', async () => {
    const store = createStore()
    const states: string[] = []
    store.subscribe(() => states.push(store.getSnapshot().status))
    await store.follow(replay(events))
    await Promise.resolve()
    expect(store.getSnapshot().messages[0]?.blocks).toEqual([{ type: 'text', text: 'hello world' }])
    expect(states.at(-1)).toBe('completed')
  })

  it('stops notifying a listener that unsubscribed', () => {
    const flushes: (() => void)[] = []
    const store = createStore(undefined, { schedule: (flush) => flushes.push(flush) })
    let calls = 0
    store.subscribe(() => calls++)()
    for (const event of events) store.dispatch(event)
    flushes[0]?.()
    expect(calls).toBe(0)
  })

  it('records the failure of a source, and rejects follow()', async () => {
    const store = createStore()
    await expect(store.follow(broken())).rejects.toThrow('connection lost')
    await Promise.resolve()
    expect(store.getSnapshot().failure).toEqual({ code: 'stream', message: 'connection lost' })
  })

  it('accepts a source at construction, and tolerates a failing one', async () => {
    const store = createStore(broken())
    await new Promise<void>((seen) => store.subscribe(() => store.getSnapshot().failure !== undefined && seen()))
    expect(store.getSnapshot().live?.id).toBe('m')
  })
})

async function* replay(list: readonly AgentEvent[]): AsyncGenerator<AgentEvent> {
  yield* list
}

async function* broken(): AsyncGenerator<AgentEvent> {
  yield* events.slice(0, 5)
  throw new Error('connection lost')
}
