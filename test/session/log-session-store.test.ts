import { describe, expect, it } from 'vitest'
import type { Session } from '../../src/contract/session/session.ts'
import { encodeLine, lineStart } from '../../src/session/log/record-codec.ts'
import { logSessionStore, memoryDriver } from '../../src/session.ts'
import type { LogDriver, NewSessionRecord } from '../../src/types/session/session-store.ts'

const agent = { agentId: 'a' }
const formation = { type: 'explicit' as const, at: 1 }

function session(scope: Session['scope']): Session {
  return { sessionId: 's', agentId: 'a', createdAt: 1, lastActiveAt: 1, formation, scope, loops: [] }
}

function note(data: string): NewSessionRecord {
  return { entry: { type: 'input', message: { role: 'extension', id: data, kind: 'note', data } } }
}

function unknownLine(epoch: number, base: string, body: string): string {
  return encodeLine(lineStart({ epoch, writer: 'w', from: 2, base }), 2, `"at":1,"type":"future","body":${body}`)
}

async function linesIn(driver: LogDriver): Promise<string[]> {
  return [...((await driver.read('s', 0)) ?? [])]
}

describe('save', () => {
  it('keeps the old session if writing fails partway', async () => {
    const driver = memoryDriver()
    await logSessionStore(driver).save(session('persistent'))
    const torn: LogDriver = {
      ...driver,
      append: async (claim, lines) => {
        await driver.append(claim, lines.slice(0, 1))
        throw new Error('power cut')
      },
    }
    const replacement = session('ephemeral')
    replacement.loops = [{ ...emptyLoop, loopId: 's.m.1' }]
    await expect(logSessionStore(torn).save(replacement)).rejects.toMatchObject({ code: 'io' })
    const store = logSessionStore(driver)
    expect(await store.load('s')).toEqual(session('persistent'))
    expect((await store.tail('s')).damage).toMatchObject({ kind: 'torn' })
    await store.save(replacement)
    expect(await store.load('s')).toEqual(replacement)
    expect((await store.tail('s')).damage).toBe(undefined)
  })

  it('stores a single copy after repeated saves', async () => {
    const driver = memoryDriver()
    const store = logSessionStore(driver)
    for (let count = 0; count < 5; count++) await store.save(session('persistent'))
    expect((await linesIn(driver)).length).toBe(1)
  })

  it('succeeds if a driver cannot free space', async () => {
    const { discardOlder: _, ...without } = memoryDriver()
    const failing: LogDriver = { ...memoryDriver(), discardOlder: () => Promise.reject(new Error('busy')) }
    for (const driver of [without, failing]) {
      const store = logSessionStore(driver)
      await store.save(session('persistent'))
      await store.save(session('ephemeral'))
      expect(await store.load('s')).toEqual(session('ephemeral'))
      expect((await linesIn(driver)).length).toBe(2)
    }
  })

  it('preserves records of unknown types byte for byte', async () => {
    const driver = memoryDriver()
    const store = logSessionStore(driver)
    await store.save(session('persistent'))
    const body = '{"n":1e400,"a":12345678901234567890}'
    const claim = await driver.claim('s', 'a')
    const { writer } = JSON.parse(claim.lines[0] ?? '') as { writer: string }
    await driver.append(claim, [{ epoch: claim.epoch, seq: 2, text: unknownLine(claim.epoch, writer, body) }])
    await store.save(session('ephemeral'))
    await store.save(session('persistent'))
    expect(await store.load('s')).toEqual(session('persistent'))
    const lines = await linesIn(driver)
    expect(lines.length).toBe(2)
    expect(lines[1]).toContain(`,"at":1,"type":"future","body":${body},"crc":`)
  })

  it('returns the complete new session to a reader with an older cursor', async () => {
    const store = logSessionStore(memoryDriver())
    const writer = await store.open('s', agent)
    await writer.append([note('1'), note('2'), note('3')])
    await store.save(session('persistent'))
    const { records, cursor } = await store.tail('s', { after: 2 })
    expect(records.map(({ seq, entry }) => [seq, entry.type])).toEqual([[4, 'sessionStart']])
    expect(cursor).toBe(4)
  })
})

const emptyLoop: Session['loops'][number] = {
  ...{ loopId: 'l', sessionId: 's', agentId: 'a', continuationKind: { kind: 'initial' }, startedAt: 1, status: 'running' },
  ...{ messages: [], turns: [], events: [], childrenLoopIds: [], childLoopRefs: [] },
  usage: { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
}

describe('a driver that cannot reject older writers', () => {
  it('reports a fork of two writers without mixing their records', async () => {
    const lines: string[] = []
    const driver: LogDriver = {
      ...memoryDriver(),
      promises: { conflict: 'forked', readAfterWrite: 'eventual', list: 'eventual', survives: 'powerCut' },
      claim: async (sessionId) => ({ sessionId, epoch: 1, lines: [...lines] }),
      append: async (_claim, added) => {
        for (const { text } of added) lines.push(text)
      },
      release: async () => {},
      read: async () => lines,
    }
    const store = logSessionStore(driver)
    const [one, two] = [await store.open('s', agent), await store.open('s', agent)]
    await Promise.all([one, two].map((writer, index) => writer.append([note(`${index}.1`), note(`${index}.2`)])))
    const { records, damage } = await store.tail('s')
    const ids = records.map(({ entry }) => (entry.type === 'input' ? entry.message.id : ''))
    expect(['0.1 0.2', '1.1 1.2']).toContain(ids.join(' '))
    expect(damage).toMatchObject({ kind: 'forked', afterSeq: 0 })
    expect((await store.open('s', agent)).damage).toEqual(damage)
  })
})

describe('driver failures', () => {
  it('throws a SessionError with a code and the failed operation', async () => {
    const fail = (): never => {
      throw new Error('EIO')
    }
    const broken: LogDriver = { ...memoryDriver(), claim: fail, read: fail, list: fail, delete: fail }
    const store = logSessionStore(broken)
    const calls = [store.open('s', agent), store.load('s'), store.tail('s'), store.save(session('persistent')), store.delete('s')]
    for (const call of calls)
      await expect(call).rejects.toMatchObject({ code: 'io', message: 'Session s could not be read or written: EIO' })
    for (const call of [store.listIds(), store.listForAgent('a')]) {
      await expect(call).rejects.toMatchObject({ code: 'io', message: 'The list of sessions could not be read or written: EIO' })
    }
  })
})
