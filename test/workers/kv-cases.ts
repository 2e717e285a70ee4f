import { type KvNamespace, kvSessionStore } from '../../adapters/cloudflare/index.ts'
import type { FileContent } from '../../src/index.ts'
import { exportSession, importSession } from '../../src/session.ts'
import type { NewSessionRecord } from '../../src/types/session/session-store.ts'
import { describe, expect, it } from '../harness/mini-vitest.ts'
import { lateKv, undeletingKv } from './kv-wrappers.ts'
import { failureOf, note, notesIn } from './notes.ts'

const agent = { agentId: 'a' }
const fileBytes = 90_000

/** A message with a file that stands beside the log, and the hash of that file. */
async function fileNote(): Promise<[NewSessionRecord, string]> {
  const bytes = new Uint8Array(fileBytes).fill(7)
  const hash = Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
  const file: FileContent = {
    type: 'file',
    mimeType: 'application/x-sample',
    data: btoa(String.fromCharCode(...bytes.subarray(0, 3)).repeat(fileBytes / 3)),
  }
  return [{ entry: { type: 'input', message: { role: 'user', id: crypto.randomUUID(), content: [file], timestamp: 1 } } }, hash]
}

/** What was asked of a namespace. */
interface Asked {
  namespace: KvNamespace
  puts: { key: string; value: string; metadata: unknown }[]
  /** Keys of each read. */
  gets: string[][]
  listed: Set<string>
}

/** A namespace that remembers what it is asked. `beforePut` may refuse. */
function watched(inner: KvNamespace, beforePut: (key: string) => void = () => undefined): Asked {
  const asked: Asked = { namespace: inner, puts: [], gets: [], listed: new Set() }
  async function get(key: string): Promise<string | null>
  async function get(keys: string[]): Promise<Map<string, string | null>>
  async function get(key: string | string[]): Promise<string | null | Map<string, string | null>> {
    asked.gets.push([key].flat())
    return typeof key === 'string' ? inner.get(key) : inner.get(key)
  }
  asked.namespace = {
    get,
    put: async (key, value, options) => {
      beforePut(key)
      asked.puts.push({ key, value, metadata: options?.metadata })
      await inner.put(key, value, options)
    },
    delete: (key) => inner.delete(key),
    list: async (options) => {
      const page = await inner.list(options)
      for (const { name } of page.keys) asked.listed.add(name)
      return page
    },
  }
  return asked
}

/** What the suite does not ask: how much is written and read, pieces of records, what KV refuses. */
export function kvCases(empty: () => KvNamespace): void {
  describe('KV internals', () => {
    writingCases(empty)
    failureCases(empty)
    lateCases(empty)
  })
}

function writingCases(empty: () => KvNamespace): void {
  it('writes the records of an append as one value, with occasional summaries', async () => {
    const { namespace, puts } = watched(empty())
    const writer = await kvSessionStore(namespace).open('s1', agent)
    await writer.append(Array.from({ length: 40 }, (_, index) => note(index)))
    for (let count = 0; count < 5; count++) await writer.append([note(count)])
    await writer.close()
    const [records, summaries] = [puts.filter(({ key }) => key.startsWith('s/')), puts.filter(({ key }) => key.startsWith('i/'))]
    expect([records.length, summaries.length, new Set(records.map(({ key }) => key)).size]).toEqual([6, 2, 6])
  })

  it('keeps values within the size limit for any characters', async () => {
    for (const maxValueBytes of [31, 100, 1000]) {
      const { namespace, puts } = watched(empty())
      const texts = ['😀'.repeat(30), `a${'😀'.repeat(31)}`, 'é'.repeat(50), 'x'.repeat(200), '']
      const store = kvSessionStore(namespace, { maxValueBytes })
      const writer = await store.open('s1', agent)
      await writer.append(texts.slice(0, maxValueBytes < 100 ? 2 : 5).map(note))
      await writer.close()
      const sizes = puts.map(({ value }) => new TextEncoder().encode(value).length)
      expect(Math.max(...sizes) <= maxValueBytes).toBe(true)
      const { records, damage } = await store.tail('s1')
      expect([notesIn(records), damage]).toEqual([texts.slice(0, records.length), undefined])
    }
  })

  it('reads many records with few calls, and only listed keys', async () => {
    const asked = watched(empty())
    const store = kvSessionStore(asked.namespace, { maxValueBytes: 1000 })
    const numbers = Array.from({ length: 250 }, (_, index) => index)
    const writer = await store.open('s1', agent)
    await writer.append(numbers.map(note))
    await writer.close()
    expect(notesIn((await store.tail('s1')).records)).toEqual(numbers)
    expect(asked.gets.length).toBe(3)
    expect(notesIn((await store.tail('s1', { after: 249 })).records)).toEqual([249])
    expect(asked.gets.at(-1)?.length).toBe(1)
    await store.load('s1').catch(() => undefined)
    await (await store.open('s1', agent)).append([note('more')])
    await store.listIds()
    expect(asked.gets.flat().filter((key) => !asked.listed.has(key))).toEqual([])
  })

  it('fits summaries into the key metadata', async () => {
    const { namespace, puts } = watched(empty())
    const store = kvSessionStore(namespace)
    const agentId = 'é'.repeat(440)
    const sessionId = 'x'.repeat(200)
    await (await store.open(sessionId, { agentId })).append([note(1)])
    expect(await store.listForAgent(agentId)).toEqual([sessionId])
    const sizes = puts.map(({ metadata }) => new TextEncoder().encode(JSON.stringify(metadata)).length)
    expect(Math.max(...sizes) <= 1024).toBe(true)
    expect(await failureOf(store.open('s2', { agentId: 'é'.repeat(460) }))).toBe('invalidSession')
  })
}

function failureCases(empty: () => KvNamespace): void {
  it('skips a record with a missing piece and continues', async () => {
    const inner = empty()
    const options = { maxValueBytes: 150 }
    await (await kvSessionStore(inner, options).open('s1', agent)).append([note('before')])
    let puts = 0
    const failing = watched(inner, () => {
      if (++puts > 3) throw new Error('KV PUT failed: 500 Internal Server Error')
    })
    const writer = await kvSessionStore(failing.namespace, options).open('s1', agent)
    expect(await failureOf(writer.append([note('x'.repeat(300))]))).toBe('io')
    const store = kvSessionStore(inner, options)
    const { records, damage } = await store.tail('s1')
    expect([notesIn(records), damage]).toEqual([['before'], undefined])
    await (await store.open('s1', agent)).append([note('after')])
    expect(notesIn((await store.tail('s1')).records)).toEqual(['before', 'after'])
  })

  it('shows a file completely or not at all after an interrupted write', async () => {
    const options = { maxValueBytes: 40_000 }
    const [file, hash] = await fileNote()
    for (let cut = 0; cut < 6; cut++) {
      const inner = empty()
      let puts = 0
      const failing = watched(inner, () => {
        if (puts++ === cut) throw new Error('KV PUT failed: 500 Internal Server Error')
      })
      const writer = await kvSessionStore(failing.namespace, options).open('s1', agent)
      const outcome = await failureOf(writer.append([file]))
      const store = kvSessionStore(inner, options)
      const isThere = await failureOf(store.blob('s1', hash))
      const isNamed = await failureOf(store.tail('s1'))
      // Three pieces, the record, a summary.
      expect([outcome, isThere, isNamed]).toEqual([
        cut > 4 ? 'fulfilled' : 'io',
        cut > 2 ? 'fulfilled' : 'notFound',
        cut > 3 ? 'fulfilled' : 'notFound',
      ])
      await (await store.open('s1', agent)).append([file])
      expect((await store.blob('s1', hash)).length).toBe(fileBytes)
      const [late = ''] = failing.puts.map(({ key }) => key)
      if (cut <= 2) continue
      // The second writer has put them again where no record named them.
      const seenLate = kvSessionStore(lateKv(inner, late, false), options)
      expect(await failureOf(seenLate.blob('s1', hash))).toBe(cut === 3 ? 'fulfilled' : 'notFound')
    }
  })

  it('refuses to write while existing records are invisible', async () => {
    const inner = empty()
    const writer = await kvSessionStore(inner).open('s1', agent)
    await writer.append([note('1')])
    await writer.append([note('2')])
    // No key has a value here yet.
    async function get(key: string): Promise<string | null>
    async function get(keys: string[]): Promise<Map<string, string | null>>
    async function get(key: string | string[]): Promise<string | null | Map<string, string | null>> {
      return typeof key === 'string' ? null : new Map(key.map((each) => [each, null]))
    }
    const blind: KvNamespace = { ...inner, get }
    expect(await failureOf(kvSessionStore(blind).open('s1', agent))).toBe('io')
    expect(
      (
        await kvSessionStore(blind)
          .tail('s1', { after: 0 })
          .catch(() => undefined)
      )?.records ?? [],
    ).toEqual([])
  })

  it('distinguishes exceeded limits from retryable errors', async () => {
    const refusals = {
      'KV PUT failed: 429 Too Many Requests': 'io',
      'KV put() limit exceeded for the day.': 'quota',
      'KV PUT failed: 413 Value length of 26214401 exceeds limit of 26214400.': 'quota',
      'Network connection lost.': 'io',
    }
    for (const [message, code] of Object.entries(refusals)) {
      const { namespace } = watched(empty(), () => {
        throw new Error(message)
      })
      expect([message, await failureOf((await kvSessionStore(namespace).open('s1', agent)).append([note(1)]))]).toEqual([message, code])
    }
    // KV itself, told to take more than it takes.
    const writer = await kvSessionStore(empty(), { maxValueBytes: 1e9 }).open('s1', agent)
    expect(await failureOf(writer.append([note('x'.repeat(26 * 1024 * 1024))]))).toBe('quota')
  })

  it('acknowledges records whose summary cannot be updated', async () => {
    const inner = empty()
    let summaries = 0
    const { namespace } = watched(inner, (key) => {
      if (key.startsWith('i/') && ++summaries > 1) throw new Error('KV PUT failed: 429 Too Many Requests')
    })
    const store = kvSessionStore(namespace)
    const writer = await store.open('s1', agent)
    await writer.append([note('1')])
    await writer.append([note('2')])
    await writer.close()
    expect([summaries, notesIn((await store.tail('s1')).records)]).toEqual([2, ['1', '2']])
  })
}

/** Keys become visible in any order, and their values later still. */
function lateCases(empty: () => KvNamespace): void {
  const imported = ['1', 'x'.repeat(900), '3', '4']
  const options = { maxValueBytes: 400 }

  async function written(inner: KvNamespace, notes: readonly string[]): Promise<string[]> {
    const { namespace, puts } = watched(inner)
    const writer = await kvSessionStore(namespace, options).open('s1', agent)
    for (const each of notes) await writer.append([note(each)])
    await writer.close()
    return puts.map(({ key }) => key).filter((key) => key.startsWith('s/'))
  }

  it('shows the old session until the whole import is visible', async () => {
    const inner = undeletingKv(empty())
    await written(inner, ['old', 'older'])
    const from = empty()
    await written(from, imported)
    const { namespace, puts } = watched(inner)
    await importSession(kvSessionStore(namespace, options), await exportSession(kvSessionStore(from), 's1'), { replace: true })
    const keys = puts.map(({ key }) => key).filter((key) => key.startsWith('s/'))
    expect(keys.length > imported.length).toBe(true)
    for (const key of keys) {
      for (const isListed of [true, false]) {
        const late = kvSessionStore(lateKv(inner, key, isListed), options)
        expect([key, isListed, notesIn((await late.tail('s1')).records)]).toEqual([key, isListed, ['old', 'older']])
        // That the last key is not there yet looks as if the import had been cut off.
        const isNoticed = isListed || key !== keys.at(-1)
        expect([key, isListed, await failureOf(late.open('s1', agent))]).toEqual([key, isListed, isNoticed ? 'io' : 'fulfilled'])
      }
    }
    expect(notesIn((await kvSessionStore(inner).tail('s1')).records)).toEqual(imported)
  })

  it('stops before a late record, and continues once it is visible', async () => {
    const inner = empty()
    const keys = [...(await written(inner, ['1', '2', '3'])), ...(await written(inner, ['4', '5', '6']))]
    // Two pieces each.
    expect(keys.length).toBe(12)
    for (const [index, key] of keys.slice(0, -1).entries()) {
      for (const isListed of [true, false]) {
        const late = kvSessionStore(lateKv(inner, key, isListed), options)
        const shown = notesIn((await late.tail('s1')).records)
        expect([key, isListed, shown]).toEqual([key, isListed, ['1', '2', '3', '4', '5'].slice(0, index >> 1)])
        expect([key, isListed, await failureOf(late.open('s1', agent))]).toEqual([key, isListed, 'io'])
      }
    }
    await written(inner, ['7'])
    expect(notesIn((await kvSessionStore(inner).tail('s1')).records)).toEqual(['1', '2', '3', '4', '5', '6', '7'])
  })

  it('reports an invisible session as an I/O error, not as missing', async () => {
    const inner = empty()
    const [first = ''] = await written(inner, ['1'])
    expect(await failureOf(kvSessionStore(lateKv(inner, first, true)).tail('s1'))).toBe('io')
  })

  it('opens a replaced session, also if its cleanup was interrupted', async () => {
    for (let deletions = 0; deletions < 3; deletions++) {
      const inner = empty()
      await written(inner, ['old', 'older', 'oldest'])
      const from = empty()
      await written(from, imported)
      let left = deletions
      const ended: KvNamespace = {
        ...inner,
        delete: async (key) => {
          if (left-- <= 0) throw new Error('The process has ended.')
          await inner.delete(key)
        },
      }
      await importSession(kvSessionStore(ended), await exportSession(kvSessionStore(from), 's1'), { replace: true })
      const writer = await kvSessionStore(inner).open('s1', agent)
      expect([deletions, notesIn(writer.records)]).toEqual([deletions, imported])
    }
  })
}
