import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fileDriver } from '../../adapters/node/session/file-driver.ts'
import { nodeFileOperations } from '../../adapters/node/session/file-operations.ts'
import type { AgentMessage } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import type { LoopConfigSnapshot } from '../../src/contract/run/run-facts.ts'
import type { JournalEntry } from '../../src/contract/session/journal-entry.ts'
import { logSessionStore, memoryDriver } from '../../src/session.ts'
import type { LogDriver, SessionJournal, SessionStore } from '../../src/types/session/session-store.ts'

const config: LoopConfigSnapshot = {
  ...{ model: 'm', provider: 'p', name: 'M', api: 'anthropicMessages', baseUrl: 'https://p.test', reasoning: false },
  ...{ contextWindow: 1000, maxTokens: 100, thinkingLevel: 'off' },
}

/** A driver whose writes are counted, and fail where the test says so. */
function countingDriver(): { driver: LogDriver; writes: string[][]; fail: { with?: Error } } {
  const inner = memoryDriver()
  const writes: string[][] = []
  const fail: { with?: Error } = {}
  const append: LogDriver['append'] = async (claim, lines) => {
    if (fail.with !== undefined) throw fail.with
    writes.push(lines.map(({ text }) => JSON.parse(text).type))
    await inner.append(claim, lines)
  }
  return { driver: { ...inner, append }, writes, fail }
}

/** A loop that writes to a journal as ours does, and notes what was acknowledged. */
class Writing {
  readonly acknowledged: string[] = []
  readonly conversation: { messages: AgentMessage[] } = { messages: [] }
  readonly #journal: SessionJournal
  readonly #loopId: string

  constructor(journal: SessionJournal, loopId = 's.m.1') {
    this.#journal = journal
    this.#loopId = loopId
  }

  async append(entry: JournalEntry, turnIndex = 0): Promise<void> {
    const record = { entry, agentId: 'a', sessionId: 's', loopId: this.#loopId, runId: 'r', turnIndex, at: 1 }
    await this.#journal.append(record, this.conversation)
    this.acknowledged.push(entry.type)
  }

  begin(): Promise<void> {
    return this.append({ type: 'loopStart', continuationKind: { kind: 'initial' }, config })
  }

  startTurn(turnIndex: number): Promise<void> {
    return this.append({ type: 'turnStart', triggeredBy: 'continuation' }, turnIndex)
  }

  answer(turnIndex: number): Promise<void> {
    const base = { id: `a${turnIndex}`, timestamp: 1, model: 'm', provider: 'p', usage: emptyUsage() }
    const content = [{ type: 'toolCall' as const, id: `c${turnIndex}`, name: 'add', arguments: {} }]
    return this.append({ type: 'assistant', message: { role: 'assistant', content, stopReason: 'toolUse', ...base } }, turnIndex)
  }

  intent(turnIndex: number): Promise<void> {
    return this.append({ type: 'toolIntent', toolCallId: `c${turnIndex}`, toolName: 'add', arguments: {}, idempotent: false }, turnIndex)
  }

  result(turnIndex: number): Promise<void> {
    const call = { toolCallId: `c${turnIndex}`, toolName: 'add', isError: false, timestamp: 1 }
    return this.append({ type: 'toolResult', message: { role: 'toolResult', id: `r${turnIndex}`, content: [], ...call } }, turnIndex)
  }

  /** A turn with one tool, as the loop writes it. */
  async turn(turnIndex: number): Promise<void> {
    void this.startTurn(turnIndex)
    await Promise.all([this.answer(turnIndex), this.intent(turnIndex)])
    await this.result(turnIndex)
  }
}

async function begun(): Promise<ReturnType<typeof countingDriver> & { store: SessionStore; journal: SessionJournal; loop: Writing }> {
  const counting = countingDriver()
  const store = logSessionStore(counting.driver)
  const journal = store.journal()
  const loop = new Writing(journal)
  await loop.begin()
  counting.writes.length = 0
  return { ...counting, store, journal, loop }
}

describe('grouped journal writes', () => {
  it('uses two writes for a turn with one tool', async () => {
    const { writes, loop, store } = await begun()
    for (let turn = 0; turn < 3; turn++) await loop.turn(turn)
    const one = [['turnStart', 'assistant', 'toolIntent'], ['toolResult']]
    expect(writes).toEqual([...one, ...one, ...one])
    expect(loop.acknowledged.length).toBe(1 + 3 * 4)
    expect((await store.tail('s')).records.map(({ seq }) => seq)).toEqual(Array.from({ length: 14 }, (_, index) => index + 1))
  })

  it('delays the turn start until the next record', async () => {
    const { writes, loop } = await begun()
    const started = loop.startTurn(0)
    for (let n = 0; n < 50; n++) await undefined
    expect([writes, loop.acknowledged]).toEqual([[], ['loopStart']])
    await loop.answer(0)
    await started
    expect([writes, loop.acknowledged]).toEqual([[['turnStart', 'assistant']], ['loopStart', 'turnStart', 'assistant']])
  })

  it('writes a delayed turn start when the journal is closed', async () => {
    const { writes, loop, journal, store } = await begun()
    const started = loop.startTurn(0)
    await journal.close()
    await started
    expect(writes).toEqual([['turnStart']])
    expect((await store.tail('s')).records.at(-1)?.entry.type).toBe('turnStart')
  })

  it('groups the records of several branches into one write in order', async () => {
    const { writes, loop, journal } = await begun()
    const other = new Writing(journal, 's.m.2')
    await other.begin()
    writes.length = 0
    void loop.startTurn(0)
    await Promise.all([other.turn(0), loop.answer(0)])
    expect(writes).toEqual([['turnStart', 'turnStart', 'assistant', 'toolIntent', 'assistant'], ['toolResult']])
  })
})

describe('a failing journal write', () => {
  it('rejects the whole group and later appends of the loop', async () => {
    const { writes, fail, loop } = await begun()
    fail.with = new Error('EIO')
    const group = await Promise.allSettled([loop.startTurn(0), loop.answer(0), loop.intent(0)])
    expect(group.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    delete fail.with
    await expect(loop.result(0)).rejects.toMatchObject({ code: 'io' })
    await expect(loop.startTurn(1)).rejects.toMatchObject({ code: 'io' })
    expect([writes, loop.acknowledged]).toEqual([[], ['loopStart']])
  })

  it('lets the next loop record the whole history', async () => {
    const { writes, fail, loop, store } = await begun()
    fail.with = new Error('EIO')
    // Nobody waits for the start of the turn; that it was refused is no unhandled rejection.
    void loop.startTurn(0).catch(() => undefined)
    await expect(loop.answer(0)).rejects.toMatchObject({ code: 'io' })
    delete fail.with
    loop.conversation.messages.push({ role: 'user', id: 'u1', content: [], timestamp: 1 })
    await loop.begin()
    await loop.turn(0)
    expect(writes).toEqual([['loopStart', 'history'], ['turnStart', 'assistant', 'toolIntent'], ['toolResult']])
    expect((await store.load('s')).loops.at(-1)?.base?.messages).toEqual(loop.conversation.messages)
  })
})

describe('journal() of a store', () => {
  it('opens sessions through the outermost store', async () => {
    const { driver } = countingDriver()
    const inner = logSessionStore(driver)
    const opened: string[] = []
    const outer: SessionStore = {
      ...inner,
      open: (id, options) => {
        opened.push(id)
        return inner.open(id, options)
      },
    }
    await new Writing(outer.journal()).begin()
    expect(opened).toEqual(['s'])
  })

  it('appends and syncs a file twice per turn with one tool', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'phi-journal-'))
    const operations = nodeFileOperations()
    const calls: string[] = []
    const counted = {
      ...operations,
      append: (path: string, text: string) => {
        calls.push('append')
        return operations.append(path, text)
      },
      sync: (path: string) => {
        calls.push('sync')
        return operations.sync(path)
      },
    }
    try {
      const store = logSessionStore(fileDriver(directory, counted))
      const journal = store.journal()
      const loop = new Writing(journal)
      await loop.begin()
      calls.length = 0
      for (let turn = 0; turn < 5; turn++) await loop.turn(turn)
      expect(calls).toEqual(Array.from({ length: 10 }, () => ['append', 'sync']).flat())
      await journal.close()
      expect((await store.tail('s')).records.length).toBe(2 + 5 * 4)
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })
})
