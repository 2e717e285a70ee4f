import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import { type FileOperations, nodeFileOperations } from '../../../../adapters/node/session/file-operations.ts'
import { type LogClaim, type LogDriver, logSessionStore } from '../../../../src/session.ts'
import type { NewSessionRecord } from '../../../../src/types/session/session-store.ts'
import { failureOf, temporaryRoot } from '../temporary.ts'

const line = (claim: LogClaim, seq: number, text = `{"seq":${seq}}`) => ({ epoch: claim.epoch, seq, text })
const files = (root: string, id = 's1') => readdirSync(join(root, id)).toSorted()

/** Claims a session and appends one line to it. */
async function write(driver: LogDriver, sessionId: string, text: string): Promise<LogClaim> {
  const claim = await driver.claim(sessionId, 'agent-1')
  await driver.append(claim, [line(claim, claim.lines.length + 1, text)])
  return claim
}

async function writeAndClose(driver: LogDriver, sessionId: string, text: string): Promise<void> {
  await driver.release(await write(driver, sessionId, text))
}

const start = (agentId: string) =>
  ({ type: 'sessionStart', agentId, formation: { type: 'firstLoop', at: 5 }, scope: 'persistent' }) satisfies NewSessionRecord['entry']

/** An error as the system gives it, with a path in its message. */
function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: it failed, open '/home/someone/secret'`), { code })
}

describe('the file driver', () => {
  it('stores one line per record in the log of the epoch', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    const claim = await driver.claim('s1', 'a')
    expect(claim).toEqual({ sessionId: 's1', epoch: 1, lines: [] })
    await driver.append(claim, [line(claim, 1), line(claim, 2)])
    await driver.append(claim, [line(claim, 3, '{"é":"😀"}')])
    await driver.release(claim)
    expect(readFileSync(join(root, 's1', 'log.1'), 'utf8')).toBe('{"seq":1}\n{"seq":2}\n{"é":"😀"}\n')
    expect(await driver.read('s1', 0)).toEqual(['{"seq":1}', '{"seq":2}', '{"é":"😀"}'])
    expect((await driver.claim('s1', 'a')).lines).toEqual(['{"seq":1}', '{"seq":2}', '{"é":"😀"}'])
    expect(files(root)).toEqual(['log.1', 'log.2'])
  })
  it('creates missing directories', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(join(root, 'a', 'b'))
    expect(await driver.list()).toEqual([])
    expect(await driver.read('s1', 0)).toBeUndefined()
    await writeAndClose(driver, 's1', '{}')
    expect(files(join(root, 'a', 'b'))).toEqual(['log.1'])
  })
  it('ignores a session that was opened but never written', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    await driver.release(await driver.claim('s1', 'a'))
    expect(await driver.read('s1', 0)).toBeUndefined()
    expect(await driver.list()).toEqual([])
    expect(await driver.delete('s1')).toBe(false)
  })
  it('rejects a writer after another claim and keeps acknowledged records', async () => {
    const { root } = temporaryRoot()
    const old = fileDriver(root)
    const claim = await write(old, 's1', 'old-1')
    const other = fileDriver(root)
    const newer = await other.claim('s1', 'a')
    expect(newer.lines).toEqual(['old-1'])
    expect(await failureOf(old.append(claim, [line(claim, 2, 'old-2')]))).toBe('conflict')
    expect(await failureOf(old.append(claim, [line(claim, 3, 'old-3')]))).toBe('conflict')
    await other.append(newer, [line(newer, 2, 'new-2')])
    expect(await other.read('s1', 0)).toEqual(['old-1', 'old-2', 'new-2'])
  })
  it('rejects a writer whose session was deleted, even if it was recreated', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    const claims = [await write(driver, 's1', 'one'), await write(driver, 's2', 'one'), await write(driver, 's3', 'one')]
    for (const sessionId of ['s1', 's2']) expect(await driver.delete(sessionId)).toBe(true)
    await writeAndClose(driver, 's2', 'again')
    rmSync(join(root, 's3'), { recursive: true })
    for (const claim of claims) expect(await failureOf(driver.append(claim, [line(claim, 2)]))).toBe('conflict')
    expect(await driver.read('s1', 0)).toBeUndefined()
    expect(await driver.read('s2', 0)).toEqual(['again'])
  })
  it('rejects a writer that started during a complete or partial deletion', async () => {
    const { root } = temporaryRoot()
    await writeAndClose(fileDriver(root), 's1', 'one')
    const driver = fileDriver(root)
    let claim: LogClaim | undefined
    const operations = nodeFileOperations()
    const deleting: FileOperations = {
      ...operations,
      createExclusive: async (path) => {
        claim = await driver.claim('s1', 'a')
        await operations.createExclusive(path)
        await operations.close(path)
        throw systemError('EIO')
      },
    }
    expect(await failureOf(fileDriver(root, deleting).delete('s1'))).toBe('io')
    expect(claim?.lines).toEqual(['one'])
    if (claim !== undefined) expect(await failureOf(driver.append(claim, [line(claim, 2, 'two')]))).toBe('conflict')
  })

  it('deletes all files and the folder', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    await writeAndClose(driver, 's1', 'one')
    await writeAndClose(driver, 's1', 'two')
    expect(await driver.delete('s1')).toBe(true)
    expect(existsSync(join(root, 's1'))).toBe(false)
    expect(await driver.list()).toEqual([])
    expect(await driver.delete('s1')).toBe(false)
    expect((await driver.claim('s1', 'a')).lines).toEqual([])
  })

  it('completes a deletion that was interrupted', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    await writeAndClose(driver, 's1', 'one')
    writeFileSync(join(root, 's1', 'deleted.1'), '')
    expect(await driver.read('s1', 0)).toBeUndefined()
    expect(await driver.list()).toEqual([])
    expect(await driver.delete('s1')).toBe(false)
    expect(existsSync(join(root, 's1'))).toBe(false)
  })

  it('reuses no epoch of a deleted session and keeps no file for it', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    const held: LogClaim[] = []
    for (let round = 0; round < 10; round += 1) {
      held.push(await write(driver, 's1', 'one'))
      expect(await driver.delete('s1')).toBe(true)
    }
    const newest = await write(driver, 's1', 'one')
    expect(new Set([...held, newest].map(({ epoch }) => epoch)).size).toBe(11)
    for (const claim of held) expect(await failureOf(driver.append(claim, [line(claim, 2)]))).toBe('conflict')
    await driver.append(newest, [line(newest, 2, 'two')])
    expect(await driver.read('s1', 0)).toEqual(['one', 'two'])
    expect(readdirSync(join(root, '.deleted')).length).toBeLessThanOrEqual(2)
  })

  it('rejects a writer with the epoch of a deleted session', async () => {
    const { root } = temporaryRoot()
    const other = fileDriver(root)
    const first = await write(other, 's1', 'old')
    let hasDeleted = false
    let held: LogClaim | undefined
    const operations = nodeFileOperations()
    const late: FileOperations = {
      ...operations,
      createExclusive: async (path) => {
        if (!hasDeleted) {
          hasDeleted = true
          held = await write(other, 's1', 'newer')
          await other.delete('s1')
          mkdirSync(join(root, 's1'))
        }
        await operations.createExclusive(path)
        if (path.endsWith(`log.${held?.epoch}`) && held !== undefined)
          expect(await failureOf(other.append(held, [line(held, 3, 'late')]))).toBe('conflict')
      },
    }
    const claim = await fileDriver(root, late).claim('s1', 'a')
    expect(claim.lines).toEqual([])
    expect(held?.epoch).toBe(first.epoch + 1)
    expect(claim.epoch).toBe(first.epoch + 2)
    expect(files(root)).toEqual([`log.${claim.epoch}`])
  })

  it('returns damaged lines and a torn last line unchanged', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    await writeAndClose(driver, 's1', 'one')
    writeFileSync(join(root, 's1', 'log.1'), 'one\n\nbroken\u0000line\nto')
    expect(await driver.read('s1', 0)).toEqual(['one', 'broken\u0000line', 'to'])
    const claim = await driver.claim('s1', 'a')
    await driver.append(claim, [line(claim, 2, 'two')])
    expect(await driver.read('s1', 0)).toEqual(['one', 'broken\u0000line', 'to', 'two'])
  })

  it('ignores unrelated files', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    await writeAndClose(driver, 's1', 'one')
    for (const name of ['log.0', 'log.02', 'log.2~', 'snapshot.3.tmp', 'notes', 'log']) writeFileSync(join(root, 's1', name), 'other\n')
    writeFileSync(join(root, 'file.json'), '{}')
    mkdirSync(join(root, 'Empty'))
    expect(await driver.read('s1', 0)).toEqual(['one'])
    expect((await driver.list()).map(({ sessionId }) => sessionId)).toEqual(['s1'])
    expect(await driver.read('file.json', 0)).toBeUndefined()
  })
})

describe('snapshots of the file driver', () => {
  const big = (text: string) => text.padEnd(70_000, '.')

  it('replaces larger older logs after the first record', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    await writeAndClose(driver, 's1', big('one'))
    const claim = await driver.claim('s1', 'a')
    expect(files(root)).toEqual(['log.1', 'log.2'])
    await driver.append(claim, [line(claim, 2, 'two')])
    expect(files(root)).toEqual(['log.2', 'snapshot.2'])
    await driver.release(claim)
    await writeAndClose(driver, 's1', 'three')
    expect(files(root)).toEqual(['log.2', 'log.3', 'snapshot.2'])
    expect(await driver.read('s1', 0)).toEqual([big('one'), 'two', 'three'])
  })

  it('writes snapshots rarely, within a bounded multiple of the written bytes', async () => {
    const { root } = temporaryRoot()
    let snapshots = 0
    const operations = nodeFileOperations()
    const counting: FileOperations = {
      ...operations,
      append: (path, text) => {
        if (path.endsWith('.tmp')) snapshots += text.length
        return operations.append(path, text)
      },
    }
    const driver = fileDriver(root, counting)
    for (let count = 0; count < 150; count += 1) await writeAndClose(driver, 's1', `${count}`.padEnd(2000, '.'))
    expect(snapshots).toBeGreaterThan(0)
    expect(snapshots).toBeLessThan(3 * 150 * 4096)
    expect(files(root).length).toBeLessThan(100)
    expect((await driver.read('s1', 0))?.length).toBe(150)
  })

  it('keeps the records that a newer writer built on, even if they arrive late', async () => {
    const { root } = temporaryRoot()
    const old = fileDriver(root)
    const claim = await write(old, 's1', big('one'))
    let others: Promise<void> | undefined
    const operations = nodeFileOperations()
    const withoutSnapshots = fileDriver(root, { ...operations, rename: () => Promise.reject(systemError('EIO')) })
    const meanwhile = async () => {
      // In the log, though refused: the newest writer finds it and goes on from there.
      expect(await failureOf(old.append(claim, [line(claim, 2, 'late')]))).toBe('conflict')
      await writeAndClose(withoutSnapshots, 's1', 'three')
    }
    const slow: FileOperations = {
      ...operations,
      rename: async (from, to) => {
        others ??= meanwhile()
        await others
        await operations.rename(from, to)
      },
    }
    const slowDriver = fileDriver(root, slow)
    const slowClaim = await slowDriver.claim('s1', 'a')
    others ??= meanwhile()
    await others
    expect(await failureOf(slowDriver.append(slowClaim, [line(slowClaim, 2, 'two')]))).toBe('conflict')
    const lines = await fileDriver(root).read('s1', 0)
    expect(lines?.filter((text) => text !== 'two')).toEqual([big('one'), 'late', 'three'])
  })

  it('keeps the logs and acknowledged records if writing a snapshot fails', async () => {
    const { root } = temporaryRoot()
    const operations = nodeFileOperations()
    const failing: FileOperations = { ...operations, rename: () => Promise.reject(systemError('ENOSPC')) }
    await writeAndClose(fileDriver(root), 's1', big('one'))
    await writeAndClose(fileDriver(root, failing), 's1', 'two')
    expect(files(root)).toEqual(['log.1', 'log.2'])
    await writeAndClose(fileDriver(root), 's1', 'three')
    expect(files(root)).toEqual(['log.3', 'snapshot.3'])
    expect(await fileDriver(root).read('s1', 0)).toEqual([big('one'), 'two', 'three'])
  })

  it('takes effect on the rename and reads the same before and after', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    await writeAndClose(driver, 's1', 'one')
    await writeAndClose(driver, 's1', 'two')
    await writeAndClose(driver, 's1', 'three')
    const folder = join(root, 's1')
    writeFileSync(join(folder, 'snapshot.3.tmp'), 'one\ntw')
    expect(await driver.read('s1', 0)).toEqual(['one', 'two', 'three'])
    writeFileSync(join(folder, 'snapshot.3'), 'one\ntwo\n')
    expect(await driver.read('s1', 0)).toEqual(['one', 'two', 'three'])
    rmSync(join(folder, 'log.1'))
    expect(await driver.read('s1', 0)).toEqual(['one', 'two', 'three'])
    writeFileSync(join(folder, 'snapshot.2'), 'one\n')
    expect(await driver.read('s1', 0)).toEqual(['one', 'two', 'three'])
  })

  it('discards older snapshots after the session is imported again', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    await writeAndClose(driver, 's1', big('one'))
    await writeAndClose(driver, 's1', 'two')
    const claim = await write(driver, 's1', 'all')
    await driver.discardOlder?.(claim)
    expect(files(root)).toEqual(['log.3'])
    expect(await driver.read('s1', 0)).toEqual(['all'])
  })
})

describe('the session list of the file driver', () => {
  it('returns the most recently written sessions first', async () => {
    const { root } = temporaryRoot()
    const driver = fileDriver(root)
    const store = logSessionStore(driver)
    for (const [sessionId, agentId, more] of [
      ['a', 'agent-1', ''],
      ['B', 'agent-2', 'x'.repeat(9000)],
    ] as const) {
      const writer = await store.open(sessionId, { agentId })
      await writer.append([{ at: 5, entry: { ...start(agentId), more } as NewSessionRecord['entry'] }]) // a key that nobody knows
      await writer.close()
    }
    await writeAndClose(driver, 'c', 'not JSON')
    await driver.release(await driver.claim('B', 'agent-2'))
    const [c, b, a, ...rest] = await driver.list()
    const told = { createdAt: 5, loops: 0, messages: 0 }
    expect([a, b, rest]).toEqual([
      { sessionId: 'a', agentId: 'agent-1', ...told, lastActiveAt: a?.lastActiveAt },
      { sessionId: 'B', agentId: 'agent-2', ...told, lastActiveAt: b?.lastActiveAt },
      [],
    ])
    const nothing = { agentId: '', createdAt: 0, lastActiveAt: c?.lastActiveAt, loops: 0, messages: 0 }
    expect(c).toEqual({ sessionId: 'c', ...nothing, error: { code: 'invalidSession', message: expect.any(String) } })
  })

  it('sorts by file times so that other processes return the same order', async () => {
    const { root } = temporaryRoot()
    for (const [index, id] of ['x', 'y', 'z'].entries()) {
      await writeAndClose(fileDriver(root), id, '{}')
      utimesSync(join(root, id, 'log.1'), 0, 1000 - index)
    }
    expect((await fileDriver(root).list()).map(({ sessionId, lastActiveAt }) => [sessionId, lastActiveAt])).toEqual([
      ['x', 1_000_000],
      ['y', 999_000],
      ['z', 998_000],
    ])
  })
})

describe('disk failures of the file driver', () => {
  const cases: [keyof FileOperations, string, string][] = [
    ['append', 'ENOSPC', 'quota'],
    ['append', 'EDQUOT', 'quota'],
    ['append', 'EIO', 'io'],
    ['sync', 'EIO', 'io'],
    ['list', 'EACCES', 'io'],
  ]

  it.each(cases)('reports %s that fails with %s as %s and stops writing', async (operation, code, expected) => {
    const { root } = temporaryRoot()
    const operations = nodeFileOperations()
    let isBroken = false
    const broken: FileOperations = {
      ...operations,
      [operation]: (...args: unknown[]) =>
        isBroken ? Promise.reject(systemError(code)) : Reflect.apply(operations[operation], operations, args),
    }
    const driver = fileDriver(root, broken)
    const claim = await write(driver, 's1', 'one')
    isBroken = true
    const error: unknown = await driver.append(claim, [line(claim, 2, 'two')]).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'SessionError', code: expected })
    expect(JSON.stringify([String(error), Reflect.get(Object(error), 'hint'), Reflect.get(Object(error), 'cause')])).not.toContain('secret')
    expect(Reflect.get(Object(error), 'hint')).toBeTruthy()
    isBroken = false
    expect(await failureOf(driver.append(claim, [line(claim, 3, 'three')]))).toBe('conflict')
    await driver.release(claim)
    expect(await driver.read('s1', 0)).not.toContain('three')
  })

  it('omits the path from the error if nothing can be opened', async () => {
    const { root } = temporaryRoot()
    const file = join(root, 'file')
    writeFileSync(file, '')
    const driver = fileDriver(file)
    const error: unknown = await driver.claim('s1', 'a').catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'SessionError', code: 'io' })
    expect(String(error)).not.toContain(root)
    expect(await driver.read('s1', 0)).toBeUndefined()
  })

  it('closes every file it opened', async () => {
    const { root } = temporaryRoot()
    if (!existsSync('/proc/self/fd')) return
    const open = () => readdirSync('/proc/self/fd').length
    const driver = fileDriver(root)
    const before = open()
    for (let count = 0; count < 50; count += 1) {
      const old = await write(driver, 's1', '.'.repeat(9000))
      const newer = await driver.claim('s1', 'a')
      expect(await failureOf(driver.append(old, [line(old, 1)]))).toBe('conflict')
      await driver.release(newer)
    }
    expect(await driver.delete('s1')).toBe(true)
    expect(open()).toBeLessThanOrEqual(before + 1)
  })
})
