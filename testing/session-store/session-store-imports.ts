import { Agent } from '../../src/agent/agent.ts'
import { resumeAgent } from '../../src/agent/resume-agent.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { memorySessionStore } from '../../src/session/log/memory-store.ts'
import { exportSession, importSession } from '../../src/session/log/transfer.ts'
import { defineTool } from '../../src/tools/define-tool.ts'
import type { SessionStore } from '../../src/types/session/session-store.ts'
import type { TestRunner } from '../test-runner.ts'
import { note, notesIn, sampleSession } from './session-samples.ts'
import { refusalOf, type SessionStoreSuiteOptions, storesOf } from './session-store-harness.ts'

/** Tests sessions that are imported as text, which must succeed completely or change nothing. */
export function importTests(runner: TestRunner, options: SessionStoreSuiteOptions): void {
  wholeTests(runner, options)
  cutTests(runner, options)
}

function wholeTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('imports a session and replaces an existing one', async () => {
    const { store, other, written, listed } = await storesOf(options)
    const text = await exported(['new', 'newer'])
    await importSession(store, text)
    await written()
    expect(await exportSession(other, 's1')).toBe(text)
    expect(await refusalOf(importSession(other, await exported(['late'])))).toBe('conflict')
    const writer = await store.open('s1', { agentId: 'agent-1' })
    await writer.append([note('more')])
    await writer.close()
    await written()
    const replacing = await exported(['other'])
    await importSession(other, replacing, { replace: true })
    await written()
    await listed()
    expect([await exportSession(store, 's1'), await store.listIds()]).toEqual([replacing, ['s1']])
  })

  it('appends to an imported session', async () => {
    const { store, other, written } = await storesOf(options)
    await store.save(sampleSession('s1'))
    await written()
    await importSession(store, await exported(['1', '2']), { replace: true })
    await written()
    const writer = await other.open('s1', { agentId: 'agent-1' })
    expect(notesIn(writer.records)).toEqual(['1', '2'])
    await writer.append([note('3')])
    await writer.close()
    await written()
    const { records, damage } = await store.tail('s1')
    expect([notesIn(records), damage]).toEqual([['1', '2', '3'], undefined])
  })
}

/** A process that ends between two writes of an import leaves any number of its first lines after the existing ones. */
function cutTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  const { damage } = options
  if (damage === undefined) return
  const linesOf = async (sessionId: string): Promise<string[]> => {
    let found: string[] = []
    await damage(sessionId, (lines) => {
      found = [...lines]
      return lines
    })
    return found
  }

  it('preserves the old session until the import that replaces it is complete', async () => {
    const { store } = await storesOf(options)
    const writer = await store.open('s1', { agentId: 'agent-1' })
    await writer.append([note('old'), note('older')])
    await writer.close()
    const old = await linesOf('s1')
    await importSession(store, await exported(['new', 'newer', 'newest']), { replace: true })
    const imported = await linesOf('s1')
    for (let count = 0; count <= imported.length; count++) {
      await damage('s1', () => [...old, ...imported.slice(0, count)])
      const { records } = await store.tail('s1')
      expect([count, notesIn(records)]).toEqual([count, count < imported.length ? ['old', 'older'] : ['new', 'newer', 'newest']])
    }
    await damage('s1', () => [...old, ...imported.slice(0, -1), imported.at(-1)?.slice(0, 40) ?? ''])
    expect(notesIn((await store.tail('s1')).records)).toEqual(['old', 'older'])
    const next = await store.open('s1', { agentId: 'agent-1' })
    await next.append([note('next')])
    await next.close()
    expect(notesIn((await store.tail('s1')).records)).toEqual(['old', 'older', 'next'])
  })

  it('does not run calls from an interrupted import, and accepts the import again', async () => {
    const { store } = await storesOf(options)
    const text = await withUnfinishedCall()
    await importSession(store, text)
    const imported = await linesOf('s1')
    let payments = 0
    const pay = payTool(() => payments++)
    for (let count = 1; count < imported.length; count++) {
      await damage('s1', () => imported.slice(0, count))
      const refused = await refusalOf(resumeAgent(store, 's1', { model: paying(), tools: [pay] }))
      expect([count, refused, (await store.tail('s1')).records.length, payments]).toEqual([count, 'invalidSession', 0, 0])
    }
    await importSession(store, text)
    expect(await exportSession(store, 's1')).toBe(text)
  })
}

/** Returns a session `s1` with these notes, as text. */
async function exported(notes: readonly string[]): Promise<string> {
  const store = memorySessionStore()
  const writer = await store.open('s1', { agentId: 'agent-1' })
  await writer.append(notes.map(note))
  await writer.close()
  return exportSession(store, 's1')
}

/** Returns a session `s1` whose process ended during an idempotent call, which runs again when the session is resumed. */
async function withUnfinishedCall(): Promise<string> {
  const store: SessionStore = memorySessionStore()
  await new Promise<void>((begun) => {
    const hangs = payTool(() => {
      begun()
      return new Promise(() => undefined)
    })
    void new Agent({ model: paying(), tools: [hangs], session: store, sessionId: 's1' }).prompt('Pay.').result
  })
  return exportSession(store, 's1')
}

function paying() {
  return scripted([{ toolCalls: [{ id: 'c1', name: 'pay', arguments: {} }] }, { text: 'Paid.' }])
}

function payTool(pay: () => unknown) {
  const execute = async () => {
    await pay()
    return 'paid'
  }
  return defineTool({ name: 'pay', description: 'Pays.', parameters: { type: 'object' }, idempotent: true, execute })
}
