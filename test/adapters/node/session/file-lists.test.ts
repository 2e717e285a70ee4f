import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileSessionStore, listRustSessionIds, loadRustSessionsForAgent, saveRustSession } from '../../../../adapters/node/index.ts'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import { type FileOperations, nodeFileOperations } from '../../../../adapters/node/session/file-operations.ts'
import { logSessionStore, type SessionError } from '../../../../src/session.ts'
import { note, sampleSession, userMessage } from '../../../../testing/session-store/session-samples.ts'
import { temporaryRoot } from '../temporary.ts'

const agent = { agentId: 'agent-1' }

/** A directory with the sessions `a`, `b` and `c`, in this order. */
async function threeSessions(): Promise<string> {
  const { root } = temporaryRoot()
  for (const id of ['a', 'b', 'c']) await fileSessionStore(root).save(sampleSession(id, id))
  return root
}

/** What makes the session in `folder` unreadable, for root too. */
const faults: Record<string, (folder: string) => void> = {
  'a folder link to itself': (folder) => {
    rmSync(folder, { recursive: true })
    symlinkSync(folder, folder)
  },
  'a log that is a directory': (folder) => mkdirSync(join(folder, 'log.9', 'sub'), { recursive: true }),
  'a dangling log link': (folder) => symlinkSync(join(folder, 'gone'), join(folder, 'log.9')),
  'a log without a complete line': (folder) => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    writeFileSync(join(folder, 'log.1'), 'what is this?\n')
  },
}

describe('unreadable sessions in lists', () => {
  it.each(Object.entries(faults))('lists an unreadable session with its id and the error: %s', async (_name, spoil) => {
    const root = await threeSessions()
    spoil(join(root, 'b'))
    const store = fileSessionStore(root)
    const { sessions } = await store.list()
    expect(sessions.filter(({ error }) => error === undefined).map(({ sessionId }) => sessionId)).toEqual(['c', 'a'])
    const [b, ...more] = sessions.filter(({ error }) => error !== undefined)
    expect([b?.sessionId, b?.agentId, b?.loops, more]).toEqual(['b', '', 0, []])
    expect(b?.error?.code).toMatch(/^(io|invalidSession)$/)
    expect(b?.error?.message).not.toContain(root)
    expect((await store.listIds()).toSorted()).toEqual(['a', 'b', 'c'])
    expect(await store.listForAgent('agent-1')).toEqual(['c', 'a'])
  })

  it("reports unreadable Rust files in an agent's list", async () => {
    const { root } = temporaryRoot()
    for (const id of ['a', 'b', 'c', 'd']) await saveRustSession(sampleSession(id), root)
    writeFileSync(join(root, 'b.json'), '{')
    rmSync(join(root, 'd.json'))
    symlinkSync(join(root, 'd.json'), join(root, 'd.json'))
    expect((await listRustSessionIds(root)).toSorted()).toEqual(['a', 'b', 'c', 'd'])
    const unreadable: string[][] = []
    const onUnreadable = (sessionId: string, { code }: SessionError) => void unreadable.push([sessionId, code])
    const sessions = await loadRustSessionsForAgent('agent-1', root, { onUnreadable })
    expect(sessions.map(({ sessionId }) => sessionId).toSorted()).toEqual(['a', 'c'])
    expect(unreadable.toSorted()).toEqual([
      ['b', 'invalidSession'],
      ['d', 'io'],
    ])
  })
})

describe('pages of the session list', () => {
  it('scans the folder once and includes later changes if possible', async () => {
    const { root } = temporaryRoot()
    const operations = nodeFileOperations()
    let looks = 0
    const counted: FileOperations = {
      ...operations,
      list: (directory) => {
        if (directory === root) looks++
        return operations.list(directory)
      },
    }
    const store = logSessionStore(fileDriver(root, counted))
    const ids = Array.from({ length: 12 }, (_, index) => `s${index}`)
    for (const [index, id] of ids.entries()) {
      const writer = await store.open(id, agent)
      await writer.append([userMessage('x')])
      await writer.close()
      utimesSync(join(root, id, 'log.1'), index + 1, index + 1)
    }
    const seen: string[] = []
    let page = await store.list({ limit: 3 })
    const other = fileSessionStore(root)
    await other.delete('s5')
    const writer = await other.open('new', agent)
    await writer.append([userMessage('x')])
    await writer.close()
    for (;;) {
      seen.push(...page.sessions.map(({ sessionId }) => sessionId))
      if (page.nextCursor === undefined) break
      page = await store.list({ limit: 3, cursor: page.nextCursor })
    }
    expect([seen, looks]).toEqual([ids.toReversed().filter((id) => id !== 's5'), 1])
    expect((await store.list({ limit: 1 })).sessions.map(({ sessionId }) => sessionId)).toEqual(['new'])
  })
})

describe('permissions of session files and folders', () => {
  it('restricts access to the owner', async () => {
    if (process.platform === 'win32') return
    const { root } = temporaryRoot()
    const before = process.umask(0)
    try {
      const store = fileSessionStore(join(root, 'new', 'sessions'))
      const writer = await store.open('s1', agent)
      await writer.append([userMessage('x'.repeat(70_000))])
      await writer.close()
      for (const text of ['1', '2']) {
        const next = await store.open('s1', agent)
        await next.append([note(text.repeat(70_000))])
        await next.close()
      }
      await saveRustSession(sampleSession('s2'), join(root, 'new', 'ledger'))
    } finally {
      process.umask(before)
    }
    const modes = new Map<string, string>()
    for (const name of readdirSync(join(root, 'new'), { recursive: true, encoding: 'utf8' })) {
      const found = lstatSync(join(root, 'new', name))
      modes.set(name.replace(/\d+$/, 'N'), `${found.isDirectory() ? 'folder' : 'file'} ${(found.mode & 0o777).toString(8)}`)
    }
    expect((statSync(join(root, 'new')).mode & 0o777).toString(8)).toBe('700')
    expect([...new Set(modes.values())].toSorted()).toEqual(['file 600', 'folder 700'])
    expect([...modes.keys()].toSorted()).toEqual([
      ...['ledger', 'ledger/s2.json', 'sessions', 'sessions/.summaries', 'sessions/.summaries/sN'],
      ...['sessions/s1/log.N', 'sessions/s1/snapshot.N', 'sessions/sN'],
    ])
  })
})

describe('summaries of the session list', () => {
  /** A driver, and how many characters it has read. */
  function counting(root: string) {
    const operations = nodeFileOperations()
    const count = { chars: 0 }
    const read: FileOperations['read'] = async (path, part) => {
      const text = await operations.read(path, part)
      count.chars += text.length
      return text
    }
    return { store: logSessionStore(fileDriver(root, { ...operations, read })), count }
  }

  async function writeLong(root: string): Promise<void> {
    for (const id of ['a', 'b']) {
      const writer = await fileSessionStore(root).open(id, agent)
      await writer.append([userMessage(`Of ${id}`)])
      for (let at = 0; at < 20; at++) await writer.append([note('x'.repeat(20_000))])
      if (id === 'a') await writer.close()
    }
  }

  it('lists without reading session content and caches the result', async () => {
    const { root } = temporaryRoot()
    await writeLong(root)
    const { store, count } = counting(root)
    const { sessions } = await store.list()
    expect(sessions.map(({ sessionId, title, messages }) => [sessionId, title, messages])).toEqual([
      ['b', 'Of b', 21],
      ['a', 'Of a', 21],
    ])
    expect(count.chars).toBeLessThan(70_000)
    const before = count.chars
    expect((await store.list()).sessions).toEqual(sessions)
    expect(count.chars).toBe(before)
  })

  it('reads only the sessions of the requested page', async () => {
    const { root } = temporaryRoot()
    await writeLong(root)
    const { store, count } = counting(root)
    const { sessions, nextCursor } = await store.list({ limit: 1, cursor: `${(await store.list({ limit: 1 })).nextCursor}` })
    expect([sessions.map(({ sessionId }) => sessionId), nextCursor]).toEqual([['a'], undefined])
    expect(count.chars).toBeLessThan(70_000)
  })

  it.each(['missing', 'damaged', 'of another log'])('rebuilds from the log if the summary is %s', async (how) => {
    const root = await threeSessions()
    const told = (await fileSessionStore(root).list()).sessions
    for (const id of ['a', 'b', 'c']) {
      const path = join(root, '.summaries', id)
      if (how === 'missing') rmSync(path)
      else
        writeFileSync(
          path,
          how === 'damaged' ? readFileSync(path, 'utf8').slice(0, 30) : readFileSync(path, 'utf8').replace('log.1', 'log.7'),
        )
    }
    expect((await fileSessionStore(root).list()).sessions).toEqual(told)
  })

  it('deletes the summary with its session', async () => {
    const root = await threeSessions()
    const store = fileSessionStore(root)
    expect(await store.delete('b')).toBe(true)
    expect(readdirSync(join(root, '.summaries')).toSorted()).toEqual(['a', 'c'])
    rmSync(join(root, 'c'), { recursive: true })
    const writer = await store.open('c', agent)
    await writer.append([note('x'.repeat(10_000))])
    expect((await fileSessionStore(root).list()).sessions.map(({ sessionId, title }) => [sessionId, title])).toEqual([
      ['c', undefined],
      ['a', 'a'],
    ])
    await writer.close()
  })
})
