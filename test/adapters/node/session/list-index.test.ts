import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileSessionStore } from '../../../../adapters/node/index.ts'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import { type FileOperations, nodeFileOperations } from '../../../../adapters/node/session/file-operations.ts'
import { logLimits } from '../../../../adapters/node/session/log/segments.ts'
import type { SessionStore } from '../../../../src/index.ts'
import { logSessionStore } from '../../../../src/session.ts'
import { userMessage } from '../../../../testing/session-store/session-samples.ts'
import { temporaryRoot } from '../temporary.ts'

/** Every list that finds something new makes an index. */
const eager = { ...logLimits, looks: 0, ageMs: -1 }
const many = 100

async function write(store: SessionStore, id: string, text = id): Promise<void> {
  const writer = await store.open(id, { agentId: 'agent-1' })
  await writer.append([userMessage(text)])
  await writer.close()
}

const idOf = (index: number) => `s${String(index).padStart(3, '0')}`
const newestFirst = Array.from({ length: many }, (_, index) => idOf(many - 1 - index))

/** A hundred sessions, a second between them. */
async function hundredSessions(): Promise<string> {
  const { root } = temporaryRoot()
  for (let index = 0; index < many; index++) {
    await write(fileSessionStore(root), idOf(index))
    utimesSync(join(root, idOf(index), 'log.1'), index + 1, index + 1)
  }
  return root
}

/** A store as another process has it, and into which folders of sessions it has looked. */
function watched(root: string, limits = logLimits): { store: SessionStore; looks: Set<string> } {
  const operations = nodeFileOperations()
  const looks = new Set<string>()
  const list: FileOperations['list'] = (directory) => {
    if (dirname(directory) === root && !directory.includes('/.')) looks.add(directory.slice(root.length + 1))
    return operations.list(directory)
  }
  return { store: logSessionStore(fileDriver(root, { ...operations, list }, limits)), looks }
}

async function firstOf(root: string, limit = 5): Promise<string[]> {
  return idsIn(fileSessionStore(root), limit)
}

async function idsIn(store: SessionStore, limit = 5): Promise<string[]> {
  return (await store.list({ limit })).sessions.map(({ sessionId }) => sessionId)
}

/** The files of the index, by kind. */
const filesIn = (root: string, kind: string) => readdirSync(join(root, '.lists')).filter((name) => name.startsWith(kind))

function forEachFile(root: string, kind: string, change: (path: string) => void): void {
  for (const name of filesIn(root, kind)) change(join(root, '.lists', name))
}

const rewritten = (change: (text: string) => string) => (root: string) =>
  forEachFile(root, 'index', (path) => writeFileSync(path, change(readFileSync(path, 'utf8'))))

const remove = (path: string) => rmSync(path, { recursive: true })

describe('the first page of the session list', () => {
  it('reads only the folders on the page and those written since the last scan', async () => {
    const root = await hundredSessions()
    expect(await firstOf(root)).toEqual(newestFirst.slice(0, 5))
    const { store, looks } = watched(root)
    expect(await idsIn(store)).toEqual(newestFirst.slice(0, 5))
    expect([...looks].toSorted()).toEqual(newestFirst.slice(0, 6).toSorted())
    const other = fileSessionStore(root)
    await write(other, 's010', 'again')
    await write(other, 'new')
    looks.clear()
    expect(await idsIn(store)).toEqual(['new', 's010', ...newestFirst.slice(0, 3)])
    expect([...looks].toSorted()).toEqual(['new', 's010', ...newestFirst.slice(0, 4)].toSorted())
  })

  it('includes records from a writer opened before the index was created', async () => {
    const root = await hundredSessions()
    const { store } = watched(root, eager)
    const writer = await store.open('s010', { agentId: 'agent-1' })
    for (const text of ['one', 'two', 'three']) {
      expect((await idsIn(watched(root, eager).store)).length).toBe(5)
      await writer.append([userMessage(text)])
      expect((await firstOf(root))[0]).toBe('s010')
    }
    await writer.close()
  })

  it('creates one mark per written session and none for a deleted one', async () => {
    const root = await hundredSessions()
    await firstOf(root)
    const store = fileSessionStore(root)
    for (const id of ['s001', 's001', 's002']) await write(store, id)
    const [marks] = filesIn(root, 'marks')
    expect(readdirSync(join(root, '.lists', `${marks}`)).toSorted()).toEqual(['s001', 's002'])
    await store.delete('s001')
    expect(readdirSync(join(root, '.lists', `${marks}`))).toEqual(['s002'])
    expect(await firstOf(root, 2)).toEqual(['s002', 's099'])
  })

  it('keeps one index and at most one mark per written session', async () => {
    const root = await hundredSessions()
    for (const id of ['s001', 's002', 's003']) {
      await write(fileSessionStore(root), id)
      expect((await idsIn(watched(root, eager).store, 1))[0]).toBe(id)
    }
    expect([filesIn(root, 'index').length, filesIn(root, 'marks').length]).toEqual([1, 1])
  })
})

describe('an outdated session index', () => {
  it('omits manually removed folders and includes added ones', async () => {
    const root = await hundredSessions()
    await firstOf(root)
    rmSync(join(root, 's098'), { recursive: true })
    cpSync(join(root, 's097'), join(root, 'by-hand'), { recursive: true })
    utimesSync(join(root, 'by-hand', 'log.1'), 1000, 1000)
    expect(await firstOf(root, 4)).toEqual(['by-hand', 's099', 's097', 's096'])
  })

  it('re-sorts a manually changed session when it is listed', async () => {
    const root = await hundredSessions()
    await firstOf(root)
    utimesSync(join(root, 's099', 'log.1'), 98.5, 98.5)
    expect(await firstOf(root, 3)).toEqual(['s098', 's099', 's097'])
    utimesSync(join(root, 's050', 'log.1'), 1000, 1000)
    expect((await fileSessionStore(root).list({ limit: 100 })).sessions[0]?.sessionId).toBe('s050')
    expect((await firstOf(root, 3))[0]).toBe('s050')
  })

  it('includes a manually changed session exactly once across the pages', async () => {
    const root = await hundredSessions()
    await firstOf(root)
    utimesSync(join(root, 's010', 'log.1'), 1000, 1000)
    const store = fileSessionStore(root)
    const seen: string[] = []
    for (let cursor: string | undefined, pages = 0; pages < 50; pages++) {
      const page = await store.list({ limit: 7, ...(cursor !== undefined && { cursor }) })
      seen.push(...page.sessions.map(({ sessionId }) => sessionId))
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    expect(seen).toEqual(newestFirst)
    expect((await firstOf(root))[0]).toBe('s010')
  })

  it.each<[string, (root: string) => void]>([
    ['is missing', (root) => remove(join(root, '.lists'))],
    ['is truncated', rewritten((text) => text.slice(0, 200))],
    ['is empty', rewritten(() => '')],
    ['has a changed byte', rewritten((text) => text.replace('s098', 's0x8'))],
    ['has another version', rewritten((text) => text.replace('"version":1', '"version":2'))],
    ['has lost its marks', (root) => forEachFile(root, 'marks', remove)],
    ['has lost its index', (root) => forEachFile(root, 'index', remove)],
    [
      'is a folder',
      (root) =>
        forEachFile(root, 'index', (path) => {
          remove(path)
          mkdirSync(path)
        }),
    ],
  ])('rebuilds from the folders if it %s', async (_how, spoil) => {
    const root = await hundredSessions()
    await firstOf(root)
    await write(fileSessionStore(root), 's010', 'again')
    spoil(root)
    expect(await firstOf(root, many)).toEqual(['s010', ...newestFirst.filter((id) => id !== 's010')])
    const { store, looks } = watched(root)
    expect(await idsIn(store, 1)).toEqual(['s010'])
    expect(looks.size).toBeLessThan(5)
  })

  it('falls back to a slower list if the index cannot be written', async () => {
    const root = await hundredSessions()
    writeFileSync(join(root, '.lists'), 'in the way')
    expect(await firstOf(root)).toEqual(newestFirst.slice(0, 5))
    await write(fileSessionStore(root), 's010')
    expect((await firstOf(root))[0]).toBe('s010')
  })

  it('stays valid when the directory is moved', async () => {
    const root = await hundredSessions()
    await firstOf(root)
    const moved = join(temporaryRoot().root, 'moved')
    renameSync(root, moved)
    await write(fileSessionStore(moved), 's010')
    expect(await firstOf(moved, 2)).toEqual(['s010', 's099'])
  })
})
