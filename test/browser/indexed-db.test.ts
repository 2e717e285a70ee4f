import { deleteDB, openDB } from 'idb'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type IndexedDbSessionOptions, indexedDbSessionStore } from '../../adapters/browser/index.ts'
import { Agent, defineTool, resumeAgent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { sessionStoreSuite } from '../../testing/index.ts'
import { codeOf, textsOf, userMessage } from './session-records.ts'

let stores = 0
const newName = () => `test-${stores++}-${crypto.randomUUID()}`
const newStore = (options: IndexedDbSessionOptions = {}) => indexedDbSessionStore({ name: newName(), ...options })
const agent = { agentId: 'agent' }

let latest = ''

/** The lines a session has now, in place of those it had. */
async function damage(sessionId: string, how: (lines: string[]) => string[]): Promise<void> {
  const database = await openDB(latest)
  const range = IDBKeyRange.bound([sessionId], [sessionId, []])
  const rows: { epoch: number; seq: number; text: string }[] = await database.getAll('records', range)
  await database.delete('records', range)
  let place = { epoch: 1, seq: 0 }
  for (const [index, text] of how(rows.map((row) => row.text)).entries()) {
    place = rows[index] ?? { epoch: place.epoch, seq: place.seq + 1 }
    await database.add('records', { sid: sessionId, epoch: place.epoch, seq: place.seq, text })
  }
  database.close()
}

sessionStoreSuite(
  { describe, it, expect },
  {
    name: 'indexedDbSessionStore',
    create: () => {
      latest = newName()
      return newStore({ name: latest })
    },
    another: () => newStore({ name: latest }),
    damage,
  },
)

/** The browser aborts the transaction that adds a record with `text`, and says why, as it does when a disk is full. */
function abortAt(text: string, reason?: DOMException): void {
  const { add } = IDBObjectStore.prototype
  vi.spyOn(IDBObjectStore.prototype, 'add').mockImplementation(function (this: IDBObjectStore, ...args) {
    const request = add.apply(this, args)
    if (!JSON.stringify(args[0]).includes(text)) return request
    this.transaction.abort()
    if (reason !== undefined) Object.defineProperty(this.transaction, 'error', { value: reason })
    return request
  })
}

/** What pages that were not loaded over https lack. */
const onlySecure = ['randomUUID', 'subtle']

afterEach(() => {
  for (const name of onlySecure) Reflect.deleteProperty(crypto, name)
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

describe('IndexedDB', () => {
  it('writes with strict durability', async () => {
    const durabilities: string[] = []
    const { transaction } = IDBDatabase.prototype
    vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...args) {
      const tx = transaction.apply(this, args)
      if (tx.mode === 'readwrite') durabilities.push(tx.durability)
      return tx
    })
    const writer = await newStore().open('s', agent)
    await writer.append([userMessage('one')])
    expect(durabilities).toEqual(['strict', 'strict'])
  })

  it('keeps acknowledged records visible to a new connection', async () => {
    const name = newName()
    const writer = await newStore({ name }).open('s', agent)
    for (const text of ['one', 'two', 'é 😀 \u2028 \ud800']) await writer.append([userMessage(text)])
    const later = newStore({ name })
    expect(await textsOf(later, 's')).toEqual(['one', 'two', 'é 😀 \u2028 \ud800'])
    expect(await later.listForAgent('agent')).toEqual(['s'])
  })

  it('reads from a cursor across writers', async () => {
    const store = newStore()
    for (const text of ['one', 'two', 'three']) {
      const writer = await store.open('s', agent)
      await writer.append([userMessage(text), userMessage(`${text} and a half`)])
      await writer.close()
    }
    expect(await textsOf(store, 's', 3)).toEqual(['two and a half', 'three', 'three and a half'])
    expect(await store.tail('s', { after: 6 })).toEqual({ records: [], cursor: 6 })
  })

  it('stores nothing for a session closed without a record', async () => {
    const name = newName()
    const store = newStore({ name })
    await (await store.open('s', agent)).close()
    const database = await openDB(name)
    expect(await database.count('sessions')).toBe(0)
    database.close()
  })

  it('upgrades a database of an older version, including file storage', async () => {
    const [newest, name] = [newName(), newName()]
    const writer = await newStore({ name: newest }).open('s', agent)
    await writer.append([userMessage('one')])
    const from = await openDB(newest)
    const older = await openDB(name, 1, {
      upgrade(database) {
        database.createObjectStore('sessions', { keyPath: 'sid' }).createIndex('order', 'order')
        database.createObjectStore('records', { keyPath: ['sid', 'epoch', 'seq'] })
      },
    })
    for (const table of ['sessions', 'records']) for (const row of await from.getAll(table)) await older.put(table, row)
    older.close()
    from.close()
    const store = newStore({ name })
    expect(await textsOf(store, 's')).toEqual(['one'])
    const file = { type: 'file' as const, mimeType: 'application/x-old', data: 'AAEC'.repeat(20_000) }
    const later = await store.open('s', agent)
    await later.append([{ entry: { type: 'input', message: { role: 'user', id: 'm', content: [file], timestamp: 1 } } }])
    const { records } = await store.tail('s')
    expect(JSON.stringify(records)).not.toContain(file.data)
    const [, hash = ''] = /"hash":"(\w+)"/.exec(JSON.stringify(records)) ?? []
    expect((await store.blob('s', hash)).length).toBe(60_000)
  })

  it('rejects a writer whose session was deleted and created again', async () => {
    const store = newStore()
    const first = await store.open('s', agent)
    await first.append([userMessage('old')])
    expect(await store.delete('s')).toBe(true)
    expect(await codeOf(first.append([userMessage('lost')]))).toBe('conflict')
    const second = await store.open('s', agent)
    expect(second.epoch).toBe(first.epoch)
    await second.append([userMessage('new')])
    expect(await codeOf(first.append([userMessage('lost')]))).toBe('conflict')
    expect(await textsOf(store, 's')).toEqual(['new'])
  })

  it('stores an append completely or not at all if the browser aborts it', async () => {
    const store = newStore()
    const writer = await store.open('s', agent)
    await writer.append([userMessage('kept')])
    abortAt('second')
    expect(await codeOf(writer.append([userMessage('first'), userMessage('second'), userMessage('third')]))).toBe('io')
    vi.restoreAllMocks()
    expect(await textsOf(store, 's')).toEqual(['kept'])
  })

  // With a quota that is really used up: e2e/kept/session-store.e2e.ts.
  it('rejects with quota on a full disk and recovers with the next writer', async () => {
    const store = newStore()
    const writer = await store.open('s', agent)
    await writer.append([userMessage('kept')])
    abortAt('much', new DOMException('The current transaction exceeded its quota limitations.', 'QuotaExceededError'))
    expect(await codeOf(writer.append([userMessage('much')]))).toBe('quota')
    vi.restoreAllMocks()
    const next = await store.open('s', agent)
    await next.append([userMessage('again')])
    expect(await textsOf(store, 's')).toEqual(['kept', 'again'])
  })

  it('rejects a write over an existing record', async () => {
    const name = newName()
    const writer = await newStore({ name }).open('s', agent)
    const database = await openDB(name)
    await database.add('records', { sid: 's', epoch: writer.epoch, seq: 1, text: 'from nowhere' })
    expect(await codeOf(writer.append([userMessage('one')]))).toBe('conflict')
    expect(await database.get('records', ['s', writer.epoch, 1])).toMatchObject({ text: 'from nowhere' })
    database.close()
  })

  it('closes and asks for a reload if another tab upgrades the database', async () => {
    const name = newName()
    const store = newStore({ name })
    const writer = await store.open('s', agent)
    await writer.append([userMessage('one')])
    const newer = await openDB(name, 3)
    expect(await codeOf(writer.append([userMessage('two')]))).toBe('newerSchema')
    expect(await codeOf(store.listIds())).toBe('newerSchema')
    newer.close()
  })

  it('closes when the database is deleted, and reopens an empty one', async () => {
    const name = newName()
    const store = newStore({ name })
    const writer = await store.open('s', agent)
    await writer.append([userMessage('one')])
    await deleteDB(name)
    expect(await codeOf(writer.append([userMessage('two')]))).toBe('conflict')
    expect(await store.listIds()).toEqual([])
    const next = await store.open('s', agent)
    await next.append([userMessage('three')])
    expect(await textsOf(store, 's')).toEqual(['three'])
  })

  it('records an agent and its approvals without crypto.randomUUID and crypto.subtle', async () => {
    const store = newStore()
    for (const name of onlySecure) Object.defineProperty(crypto, name, { value: undefined, configurable: true })
    const pay = defineTool({
      ...{ name: 'pay', description: 'Pays.', needsApproval: true },
      parameters: { type: 'object' },
      execute: () => 'paid',
    })
    const model = scripted([{ toolCalls: [{ name: 'pay', arguments: { euros: 5 } }] }, { text: 'Done.' }])
    const agent = new Agent({ model, tools: [pay], session: store })
    const run = agent.prompt('Pay.')
    for await (const event of run) if (event.type === 'approvalRequested') run.approve(event)
    expect((await run.result).status).toBe('completed')
    await agent.close()
    expect((await resumeAgent(store, agent.sessionId, { model })).messages).toEqual(agent.messages)
  })

  it('rejects after 5 s while another tab blocks the database, then recovers', async () => {
    const name = newName()
    const held = await openDB(name, 1, { upgrade: (database) => void database.createObjectStore('other') })
    // It waits for the tab that does not let go, and everybody else waits for it.
    const deleting = deleteDB(name)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const store = newStore({ name })
    const calls = [store.open('s', agent), store.listIds(), store.load('s')].map(codeOf)
    await vi.advanceTimersByTimeAsync(5000)
    expect(await Promise.all(calls)).toEqual(['blocked', 'blocked', 'blocked'])
    vi.useRealTimers()
    held.close()
    await deleting
    expect(await store.listIds()).toEqual([])
    const writer = await store.open('s', agent)
    await writer.append([userMessage('one')])
    expect(await textsOf(store, 's')).toEqual(['one'])
    // What opened late was closed: nobody waits for it.
    await deleteDB(name)
  })

  it('reports progress while it reads a long log', async () => {
    const store = newStore()
    const writer = await store.open('s', agent)
    await writer.append(Array.from({ length: 1200 }, (_, index) => userMessage(String(index))))
    await writer.close()
    const heard = { tail: 0, next: 0, open: 0 }
    const tail = await store.tail('s', { onProgress: () => void heard.tail++ })
    const next = await store.tail('s', { after: 100, onProgress: () => void heard.next++ })
    const again = await store.open('s', { ...agent, onProgress: () => void heard.open++ })
    expect([tail.records.length, next.records.length, again.records.length]).toEqual([1200, 1100, 1200])
    expect(again.records.map(({ seq }) => seq)).toEqual(tail.records.map(({ seq }) => seq))
    expect(heard).toEqual({ tail: 3, next: 3, open: 3 })
  })

  it('explains how to enable storage without IndexedDB', async () => {
    vi.stubGlobal('indexedDB', undefined)
    const store = newStore()
    await expect(store.open('s', agent)).rejects.toMatchObject({ code: 'io', hint: expect.stringContaining('memorySessionStore()') })
  })

  it('explains how to enable storage if IndexedDB rejects', async () => {
    vi.spyOn(indexedDB, 'open').mockImplementation(() => {
      throw new DOMException('The user denied permission to access the database.', 'SecurityError')
    })
    const advice = expect.stringContaining('memorySessionStore()')
    await expect(newStore().listIds()).rejects.toMatchObject({ code: 'io', hint: advice })
  })
})
