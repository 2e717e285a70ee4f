import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileSessionStore } from '../../adapters/node/index.ts'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { logSessionStore, memoryDriver, pruneSessions, salvageSession, scopedSessionStore } from '../../src/session.ts'
import { note, notesIn, sampleSession, userMessage } from '../../testing/session-store/session-samples.ts'

async function titleOf(text: string): Promise<string | undefined> {
  const store = memorySessionStore()
  const writer = await store.open('s1', { agentId: 'a' })
  await writer.append([userMessage(text)])
  return (await store.list()).sessions[0]?.title
}

it('lists an unreadable or newer session with the reason', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'phi-lists-'))
  try {
    for (const id of ['newer', 'noise']) await fileSessionStore(join(folder, id)).save(sampleSession('s1'))
    for (const [id, change] of [
      ['newer', (line: string) => line.replace('{"v":1,', '{"v":9,"new":1,')],
      ['noise', () => 'noise'],
    ] as const) {
      // Lists read the log where this is gone.
      await rm(join(folder, id, '.summaries'), { recursive: true })
      for (const name of await readdir(join(folder, id), { recursive: true })) {
        const path = join(folder, id, name)
        if (!(await stat(path)).isFile()) continue
        await writeFile(path, (await readFile(path, 'utf8')).split('\n').map(change).join('\n'))
      }
    }
    const errorIn = async (id: string) => (await fileSessionStore(join(folder, id)).list()).sessions.map(({ error }) => error?.code)
    expect([await errorIn('newer'), await errorIn('noise')]).toEqual([['newerSchema'], ['invalidSession']])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

describe('session titles', () => {
  it.each([
    [' one\n\n two\t ', 'one two'],
    ['x'.repeat(101), `${'x'.repeat(99)}…`],
    [`${'x'.repeat(98)}😀😀`, `${'x'.repeat(98)}…`],
    ['safe \u202etxt.exe\u0007', 'safe txt.exe'],
    ['  \n ', undefined],
  ])('derives a title from %j', async (text, title) => expect(await titleOf(text)).toBe(title))

  it('rejects invalid session titles', async () => {
    const store = memorySessionStore()
    for (const title of ['', ' \n', 'x'.repeat(101), 7, undefined]) {
      await expect(store.rename('s1', title as string)).rejects.toMatchObject({ name: 'ConfigError', code: 'invalidOption' }) // wrong on purpose
    }
  })

  it('renames the session of a closed agent that then continues it', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: scripted([{ text: 'Honey.' }, { text: 'Nectar.' }]), session: store, sessionId: 's1' })
    await agent.prompt('What do bees make?').text()
    await agent.close()
    await store.rename('s1', 'Bees')
    expect(await agent.prompt('Of what?').text()).toBe('Nectar.')
    await agent.close()
    const [summary] = (await store.list()).sessions
    expect([summary?.title, summary?.loops, summary?.messages, summary?.agentId]).toEqual(['Bees', 2, 4, agent.agentId])
  })
})

describe('session lists', () => {
  it.each([{ limit: 0 }, { limit: 1.5 }, { cursor: 'nonsense' }, { cursor: '' }, { page: 2 }])(
    'rejects the options %j',
    async (options) => {
      await expect(memorySessionStore().list(options)).rejects.toMatchObject({ name: 'ConfigError', code: 'invalidOption' })
    },
  )

  it('returns 50 sessions by default', async () => {
    const store = memorySessionStore()
    for (let at = 0; at < 60; at++) await (await store.open(`s${at}`, { agentId: 'a' })).append([note(at)])
    const { sessions, nextCursor = '' } = await store.list()
    expect([sessions.length, (await store.list({ cursor: nextCursor })).sessions.length]).toEqual([50, 10])
    expect((await store.listIds()).length).toBe(60)
  })

  it('throws if a driver returns the same page endlessly', async () => {
    const driver = memoryDriver()
    const twice = { sessionId: 's1', agentId: 'a', createdAt: 0, lastActiveAt: 0, loops: 0, messages: 0 }
    const store = logSessionStore({
      ...driver,
      promises: driver.promises,
      list: async ({ limit = 300 } = {}) => Array.from({ length: limit }, () => twice),
    })
    const noEnd = { name: 'SessionError', code: 'io', message: expect.stringContaining('never ends') }
    await expect(pruneSessions(store, { olderThan: 0 })).rejects.toMatchObject(noEnd)
    await expect(scopedSessionStore(store, 'ada').list()).rejects.toMatchObject(noEnd)
  })
})

describe('salvageSession', () => {
  async function linesOf(count: number): Promise<string[]> {
    const driver = memoryDriver()
    const store = logSessionStore(driver)
    for (let at = 1; at <= count; at += 2) {
      const writer = await store.open('s1', { agentId: 'a' })
      await writer.append([note(at), note(at + 1)])
      await writer.close()
    }
    return [...((await driver.read('s1', 0)) ?? [])]
  }
  const flipped = (text: string, at: number) => text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)

  it('drops and reports only records with a flipped bit', async () => {
    const text = (await linesOf(8)).join('\n')
    for (let at = 0; at < text.length; at += 1) {
      const damaged = flipped(text, at).split('\n')
      const { records, dropped } = salvageSession(damaged, 's1')
      const isBreak = text[at] === '\n'
      const line = text.slice(0, at).split('\n').length - 1
      expect([at, notesIn(records).length, dropped.map((each) => each.line)]).toEqual(isBreak ? [at, 8, []] : [at, 7, [line]])
    }
  })

  it('drops and reports the damaged lines of a replaced session', async () => {
    const { discardOlder: _, ...driver } = memoryDriver()
    const store = logSessionStore({ ...driver, promises: driver.promises })
    for (const at of [1, 2]) {
      const writer = await store.open('s1', { agentId: 'a' })
      await writer.append([note(at)])
      await writer.close()
    }
    const writer = await store.open('s1', { agentId: 'a' })
    await writer.replace([{ ...note(3), at: 3 }])
    await writer.close()
    const { records, dropped } = await store.salvage('s1')
    expect(notesIn(records)).toEqual([3])
    const reason = expect.stringContaining('was replaced')
    expect(dropped).toMatchObject([
      { line: 0, seq: 1, reason },
      { line: 1, seq: 2, reason },
    ])
  })

  it('recovers records from random input without throwing', async () => {
    const lines = await linesOf(6)
    expect(salvageSession([], 's1')).toMatchObject({ records: [], dropped: [], session: { sessionId: 's1', loops: [] } })
    expect(salvageSession(['', 'noise', '{}', 'null'], 's1').dropped.map(({ line }) => line)).toEqual([0, 1, 2])
    const { records, dropped } = salvageSession([...lines.slice(0, 3), 'noise', ...lines.slice(4), 'noise'], 's1')
    expect([notesIn(records), dropped.map(({ line }) => line)]).toEqual([
      [1, 2, 3, 5, 6],
      [3, 6],
    ])
  })
})
