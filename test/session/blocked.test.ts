import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Agent, type AgentEvent, memorySessionStore, resumeAgent, type SessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { type LogClaim, logSessionStore, memoryDriver, openWithTimeout } from '../../src/session.ts'
import { note } from '../../testing/session-store/session-samples.ts'
import { gate } from '../support/play.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => {
  const left = vi.getTimerCount()
  vi.useRealTimers()
  expect(left).toBe(0)
})

/** What `call` rejects with after `ms`, or that it still waits. */
async function later(ms: number, call: Promise<unknown>): Promise<string> {
  const outcome = call.then(
    () => 'done',
    (error) => error.code,
  )
  await vi.advanceTimersByTimeAsync(ms)
  return Promise.race([outcome, Promise.resolve('waits')])
}

const model = () => scripted([{ text: 'a' }, { text: 'b' }])

describe('a session store whose claim hangs', () => {
  it('fails with code blocked after 5 s and releases a late claim', async () => {
    const driver = memoryDriver()
    const { opened, open } = gate()
    const released: LogClaim[] = []
    const store = logSessionStore({
      ...driver,
      claim: async (...place) => opened.then(() => driver.claim(...place)),
      release: async (claim) => {
        released.push(claim)
        await driver.release(claim)
      },
    })
    const opening = store.open('s', { agentId: 'a' })
    expect(await later(4999, opening)).toBe('waits')
    expect(await later(1, opening)).toBe('blocked')
    await expect(opening).rejects.toThrow('within 5 s')
    expect(await later(5000, store.save(await sample()))).toBe('blocked')
    expect(released).toEqual([])
    open()
    await vi.advanceTimersByTimeAsync(0)
    expect(released.map(({ epoch }) => epoch)).toEqual([1, 2])
    expect(await store.listIds()).toEqual([])
  })

  it('waits as long as the driver makes progress', async () => {
    const inner = memoryDriver()
    const writer = await logSessionStore(inner).open('s', { agentId: 'a' })
    await writer.append(['1', '2', '3', '4'].map(note))
    await writer.close()
    const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms))
    let pauseMs = 4000
    async function* slow(lines: readonly string[]) {
      for (const line of lines) {
        await pause(pauseMs)
        yield [line]
      }
    }
    const store = logSessionStore({
      ...inner,
      claim: async (sessionId, agentId, onProgress) => {
        const { lines, ...claim } = await inner.claim(sessionId, agentId)
        await pause(pauseMs)
        onProgress?.()
        await pause(pauseMs)
        onProgress?.()
        return { ...claim, lines: [], more: slow(lines) }
      },
    })
    const opening = store.open('s', { agentId: 'a' })
    expect(await later(23_999, opening)).toBe('waits')
    expect(await later(1, opening)).toBe('done')
    expect((await opening).records).toHaveLength(4)
    pauseMs = 6000
    expect(await later(5000, store.open('s', { agentId: 'a' }))).toBe('blocked')
    await vi.advanceTimersByTimeAsync(100_000)
  })

  it('leaves no timer running after success or failure', async () => {
    const store = memorySessionStore()
    await (await store.open('s', { agentId: 'a' })).close()
    await expect(
      openWithTimeout(
        'It',
        () => Promise.reject(new Error('down')),
        async () => undefined,
      ),
    ).rejects.toThrow('down')
  })
})

describe('an agent whose session cannot be opened', () => {
  it('ends the run once with the reason and continues later', async () => {
    const inner = memorySessionStore()
    const { opened, open } = gate()
    let closed = 0
    let isHanging = true
    const store: SessionStore = {
      ...inner,
      open: async (id, options) => {
        if (!isHanging) return inner.open(id, options)
        await opened
        const writer = await inner.open(id, options)
        return Object.assign(Object.create(writer), {
          close: async () => {
            closed += 1
          },
        })
      },
    }
    const agent = new Agent({ model: model(), session: store, sessionId: 's' })
    const events: AgentEvent['type'][] = []
    agent.subscribe(({ type }) => events.push(type))
    const run = agent.prompt('one')
    expect(await later(4999, run.result)).toBe('waits')
    await vi.advanceTimersByTimeAsync(1)
    const { status, error, returned } = await run.result
    expect([status, error?.code, error?.cause?.code, returned.length]).toEqual(['error', 'journal', 'blocked', 1])
    expect(events).toEqual(['agentStart', 'agentEnd'])
    isHanging = false
    open()
    await vi.advanceTimersByTimeAsync(0)
    expect(closed).toBe(1)
    expect((await agent.prompt('two').result).status).toBe('completed')
    expect((await resumeAgent(inner, 's', { model: model() })).messages).toEqual(agent.messages)
  })

  it('does not take over the session after a late read', async () => {
    const inner = memorySessionStore()
    const { opened, open } = gate()
    let claims = 0
    const store: SessionStore = {
      ...inner,
      tail: async (...place) => opened.then(() => inner.tail(...place)),
      open: async (...place) => {
        claims += 1
        return inner.open(...place)
      },
    }
    const run = new Agent({ model: model(), session: store }).prompt('one')
    await vi.advanceTimersByTimeAsync(5000)
    expect((await run.result).error?.cause?.code).toBe('blocked')
    open()
    await vi.advanceTimersByTimeAsync(0)
    expect(claims).toBe(0)
  })

  it('ends the run on an abort before the timeout', async () => {
    const store: SessionStore = { ...memorySessionStore(), open: () => new Promise(() => undefined) }
    const agent = new Agent({ model: model(), session: store })
    const run = agent.prompt('one')
    await vi.advanceTimersByTimeAsync(10)
    run.abort()
    await vi.advanceTimersByTimeAsync(2000)
    expect((await run.result).returned).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(3000)
  })
})

async function sample() {
  const store = memorySessionStore()
  const agent = new Agent({ model: model(), session: store, sessionId: 'other' })
  await agent.prompt('one').result
  return store.load('other')
}
