import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import { type FileOperations, nodeFileOperations } from '../../../../adapters/node/session/file-operations.ts'
import type { SessionStore } from '../../../../src/index.ts'
import { type LogDriver, logSessionStore } from '../../../../src/session.ts'
import { note, notesIn, sampleSession } from '../../../../testing/session-store/session-samples.ts'
import { failureOf, temporaryRoot } from '../temporary.ts'

const limits = { segmentBytes: 1000, atOnceBytes: 0 }
const agent = { agentId: 'a' }
const files = (root: string) => readdirSync(join(root, 's1')).toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

function storeIn(root: string, operations: FileOperations = nodeFileOperations()): SessionStore {
  return logSessionStore(driverIn(root, operations))
}

function driverIn(root: string, operations: FileOperations = nodeFileOperations()): LogDriver {
  return fileDriver(root, operations, limits)
}

/** Opens a session, appends notes one by one, and closes it. */
async function write(store: SessionStore, notes: readonly (number | string)[]): Promise<void> {
  const writer = await store.open('s1', agent)
  for (const each of notes) await writer.append([note(each)])
  await writer.close()
}

describe('segmented session logs', () => {
  it('starts a new file when one is full and reads all files as one log', async () => {
    const { root } = temporaryRoot()
    await write(storeIn(root), numbers(20))
    const names = files(root)
    expect(names.length).toBeGreaterThan(3)
    expect(names).toEqual(names.map((_, index) => `log.${index + 1}`))
    for (const name of names) expect(statSync(join(root, 's1', name)).size).toBeLessThanOrEqual(limits.segmentBytes)
    expect(notesIn((await storeIn(root).tail('s1')).records)).toEqual(numbers(20))
    await write(storeIn(root), ['next'])
    const { records, damage } = await storeIn(root).tail('s1')
    expect([notesIn(records), damage]).toEqual([[...numbers(20), 'next'], undefined])
  })

  it('accepts records longer than a file and many records per append', async () => {
    const { root } = temporaryRoot()
    const store = storeIn(root)
    const writer = await store.open('s1', agent)
    const long = ['a', 'x'.repeat(5000), 'b', 'y'.repeat(5000)]
    await writer.append([...long, ...numbers(20)].map(note))
    await writer.close()
    expect(notesIn((await storeIn(root).tail('s1')).records)).toEqual([...long, ...numbers(20)])
    await write(storeIn(root), ['next'])
    expect(await storeIn(root).listIds()).toEqual(['s1'])
  })

  it('reads and continues single-file logs of older versions', async () => {
    const { root } = temporaryRoot()
    await write(logSessionStore(fileDriver(root)), numbers(20))
    expect(files(root)).toEqual(['log.1'])
    await write(storeIn(root), numbers(20))
    expect(notesIn((await logSessionStore(fileDriver(root)).tail('s1')).records)).toEqual([...numbers(20), ...numbers(20)])
  })

  it('rejects a writer that needs a new file after a takeover', async () => {
    const { root } = temporaryRoot()
    const old = await storeIn(root).open('s1', agent)
    await old.append(numbers(4).map(note))
    const newer = await storeIn(root).open('s1', agent)
    expect(await failureOf(old.append(numbers(20).map(note)))).toBe('conflict')
    await newer.append([note('new')])
    expect(notesIn((await storeIn(root).tail('s1')).records)).toEqual([...numbers(4), 'new'])
  })

  it('keeps a session deleted although a new file is being created', async () => {
    for (const when of ['before', 'after']) {
      const { root } = temporaryRoot()
      const operations = nodeFileOperations()
      let deleted = Promise.resolve(false)
      const deleting: FileOperations = {
        ...operations,
        createExclusive: async (path) => {
          const isNext = path.endsWith('log.2')
          if (isNext && when === 'before') deleted = storeIn(root).delete('s1')
          await deleted
          await operations.createExclusive(path)
          if (isNext && when === 'after') deleted = storeIn(root).delete('s1')
          await deleted
        },
      }
      const writer = await storeIn(root, deleting).open('s1', agent)
      expect(await failureOf(writer.append(numbers(20).map(note)))).toBe('conflict')
      const store = storeIn(root)
      // Records that are there without an acknowledgement may be deleted or not be seen at all.
      expect([when, await failureOf(store.tail('s1')), await store.listIds()]).toEqual([when, 'notFound', []])
    }
  })

  it('keeps all records when the process ends between two files', async () => {
    const { root } = temporaryRoot()
    const operations = nodeFileOperations()
    let created = 0
    const ending: FileOperations = {
      ...operations,
      createExclusive: async (path) => {
        await operations.createExclusive(path)
        if (path.includes('log.') && ++created === 3) throw new Error('The process has ended.')
      },
    }
    const writer = await storeIn(root, ending).open('s1', agent)
    const acknowledged: number[] = []
    for (const each of numbers(20)) {
      const isStored = await writer.append([note(each)]).then(
        () => true,
        () => false,
      )
      if (isStored) acknowledged.push(each)
    }
    expect(acknowledged.length).toBeGreaterThan(4)
    expect(readFileSync(join(root, 's1', 'log.3'), 'utf8')).toBe('')
    await write(storeIn(root), ['next'])
    expect(notesIn((await storeIn(root).tail('s1')).records)).toEqual([...acknowledged, 'next'])
  })

  it('reads the complete log while a snapshot replaces its files', async () => {
    const { root } = temporaryRoot()
    const wide = { segmentBytes: 4_000_000, atOnceBytes: 0 }
    const store = () => logSessionStore(fileDriver(root, nodeFileOperations(), wide))
    for (const each of numbers(12)) await write(store(), [`${each}`.padEnd(8000, '.')])
    const lines = new Set<string>()
    for await (const batch of (await fileDriver(root, nodeFileOperations(), wide).stream?.('s1', 0)) ?? []) {
      if (lines.size === 0) for (const each of numbers(12)) await write(store(), [`${each}`.padEnd(8000, ',')])
      for (const line of batch) lines.add(line)
    }
    expect(files(root).filter((name) => name.startsWith('snapshot'))).toHaveLength(1)
    expect(lines.size).toBeGreaterThanOrEqual(12)
    expect([...lines].filter((line) => line.includes('...')).length).toBe(12)
  })

  it('limits snapshots to the maximum file size', async () => {
    const { root } = temporaryRoot()
    const narrow = { segmentBytes: 100_000, atOnceBytes: 0 }
    const store = () => logSessionStore(fileDriver(root, nodeFileOperations(), narrow))
    const texts = numbers(150).map((each) => `${each}`.padEnd(2000, '.'))
    for (const text of texts) await write(store(), [text])
    const names = files(root)
    expect(names.length).toBeLessThan(60)
    expect(names.some((name) => /^snapshot\.\d+\.\d+$/.test(name))).toBe(true)
    for (const name of names) expect(statSync(join(root, 's1', name)).size).toBeLessThanOrEqual(narrow.segmentBytes)
    expect(notesIn((await store().tail('s1')).records)).toEqual(texts)
    await store().save(sampleSession('s1'))
    expect(await store().load('s1')).toEqual(sampleSession('s1'))
    expect(await store().delete('s1')).toBe(true)
    expect(await failureOf(store().tail('s1'))).toBe('notFound')
  })
})
