import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { memoryLiveSessions, memorySchedules, type ScheduleStore } from '../../../adapters/http/index.ts'
import { Scheduler } from '../../../adapters/http/internal.ts'
import { fileSchedules } from '../../../adapters/node/index.ts'
import { memorySessionStore, type SessionStore, textOf } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { patient, whileClockStands } from '../../support/patience.ts'

const start = 1_700_000_000_000
const minute = 60_000
const address = { sessionId: 's' }

/** What was said in the session, in order. */
async function saidIn(store: SessionStore): Promise<string[]> {
  const { records } = await store.tail('s').catch(() => ({ records: [] }))
  return records.flatMap(({ entry }) => (entry.type === 'input' && entry.message.role === 'user' ? [textOf(entry.message.content)] : []))
}

function hosted(store: SessionStore, schedules: ScheduleStore) {
  const sessions = memoryLiveSessions({ store, schedules, agent: () => ({ model: scripted(() => ({ text: 'ok' })) }) })
  onTestFinished(() => sessions.close())
  return sessions
}

function clock() {
  vi.useFakeTimers({ now: start, toFake: ['Date', 'setTimeout', 'clearTimeout'] })
}

/** Lets what was begun be written: files are written in their own time. */
async function until(store: SessionStore, count: number): Promise<string[]> {
  return vi.waitFor(async () => {
    const said = await saidIn(store)
    expect(said).toHaveLength(count)
    return said
  }, patient)
}

describe('scheduled prompts', () => {
  afterEach(() => vi.useRealTimers())

  it('runs when due and repeats at fixed intervals from the first time', async () => {
    clock()
    const store = memorySessionStore()
    const sessions = hosted(store, memorySchedules())
    const schedules = sessions.schedulesOf(address)
    await schedules.every(2 * minute, 'again')
    await schedules.runAt(start + 3 * minute, 'once')
    // Runs take real time, in which the clock stands: without these steps it would be past the next prompt.
    for (const [minutes, said] of [
      [2, 1],
      [1, 2],
      [1, 3],
      [1, 3],
    ] as const) {
      await vi.advanceTimersByTimeAsync(minutes * minute)
      await whileClockStands(async () => {
        await vi.advanceTimersByTimeAsync(0)
        return (await saidIn(store)).length >= said
      })
    }
    expect(await saidIn(store)).toEqual(['again', 'once', 'again'])
    expect((await schedules.list()).map(({ at, prompt }) => [at, prompt])).toEqual([[start + 6 * minute, 'again']])
    expect(await schedules.delete()).toBe(true)
    await vi.advanceTimersByTimeAsync(60 * minute)
    expect(await saidIn(store)).toHaveLength(3)
  })

  it('survives a restart and runs once for all missed times', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'phi-schedules-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const file = join(directory, 'deep', 'schedules.json')
    vi.useFakeTimers({ now: start, toFake: ['Date'] })
    const store = memorySessionStore()
    const first = hosted(store, fileSchedules(file))
    await first.schedulesOf(address).every(minute, 'again')
    await first.schedulesOf(address).runAt(start + minute, 'once')
    await first.close()
    vi.setSystemTime(start + 10.5 * minute)
    const second = hosted(store, fileSchedules(file))
    expect((await until(store, 2)).toSorted()).toEqual(['again', 'once'])
    expect((await second.schedulesOf(address).list()).map(({ at }) => at)).toEqual([start + 11 * minute])
    await second.close()
  })

  it('runs once although several processes share a store', async () => {
    const store = memorySchedules()
    for (let at = 0; at < 30; at++) await store.add({ address, id: `${at}`, prompt: 'x', at, ...(at % 2 === 0 && { everyMs: minute }) })
    const keys: string[] = []
    const schedulers = Array.from(
      { length: 5 },
      () => new Scheduler({ store, logger: false, say: async (_, key) => void keys.push(key), arm: () => undefined }),
    )
    await Promise.all(schedulers.map((scheduler) => scheduler.wake()))
    expect([keys.length, new Set(keys).size]).toEqual([30, 30])
  })

  it('waits while the session is busy and logs failures', async () => {
    clock()
    const warnings: unknown[] = []
    const store = memorySessionStore()
    const sessions = memoryLiveSessions({
      store,
      schedules: memorySchedules(),
      maxOpenRuns: 0,
      agent: () => ({ model: scripted([{ text: 'ok' }]) }),
      logger: { warn: (code) => warnings.push(code) },
    })
    onTestFinished(() => sessions.close())
    await sessions.schedulesOf(address).runAt(start, 'later')
    expect([await saidIn(store), (await sessions.schedulesOf(address).list()).map(({ at }) => at)]).toEqual([[], [start + 5000]])
    await sessions.close()
    const broken = hosted(store, { ...memorySchedules(), due: () => Promise.reject(new Error('disk')) })
    await vi.advanceTimersByTimeAsync(0)
    await broken.close()
    expect(vi.getTimerCount()).toBe(0)
    expect(warnings).toEqual([])
  })

  it('queues the prompt in an active run and is deleted with the session', async () => {
    const store = memorySessionStore()
    const asked: string[] = []
    let open = (): void => undefined
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    const model = scripted(
      ({ messages }) => {
        asked.push(...messages.slice(asked.length).map(({ role }) => role))
        return { text: 'ok' }
      },
      { gate: () => opened },
    )
    const sessions = memoryLiveSessions({ store, schedules: memorySchedules(), agent: () => ({ model }) })
    onTestFinished(() => sessions.close())
    const schedules = sessions.schedulesOf(address)
    await schedules.runAt(0, 'first')
    await schedules.runAt(0, 'second')
    open()
    expect(await until(store, 2)).toEqual(['first', 'second'])
    await schedules.runAt(Date.now() + minute, 'never')
    const gone = await sessions.fetch(address, new Request('http://localhost/', { method: 'DELETE' }), async (_, gateway) =>
      Response.json((await gateway.command({ type: 'delete' })).wasKnown),
    )
    expect([await gone.json(), await schedules.list()]).toEqual([true, []])
  })

  it('rejects a missing store, empty text, short intervals and distant times', async () => {
    const none = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: scripted([]) }) })
    expect(() => none.schedulesOf(address)).toThrow('Pass a schedule store')
    const schedules = hosted(memorySessionStore(), memorySchedules()).schedulesOf(address)
    await expect(schedules.runAt(Date.now(), ' ')).rejects.toThrow('non-empty string')
    await expect(schedules.every(1000, 'x')).rejects.toThrow('a minute')
    await expect(schedules.runAt(new Date(Number.NaN), 'x')).rejects.toThrow('since 1970')
    await expect(schedules.runAt(Date.now() * 100, 'x')).rejects.toThrow('ten years')
  })
})
