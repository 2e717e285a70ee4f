import type { SessionWriter } from '../../src/types/session/session-store.ts'
import type { TestRunner } from '../test-runner.ts'
import { note, notesIn, sampleSession } from './session-samples.ts'
import { refusalOf, type SessionStoreSuiteOptions, storesOf } from './session-store-harness.ts'

const agent = { agentId: 'agent-1' }

/** Tests several writers in one session, against the store's declared `promises.conflict`. */
export function writerTests({ describe, it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  const runner = { describe, it, expect }
  takeoverTests(runner, options)
  leftoverTests(runner, options)
  raceTests(runner, options)
}

function takeoverTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('rejects the older of two writers, or reports the fork', async () => {
    const { store, other, written } = await storesOf(options)
    const older = await store.open('s1', agent)
    await older.append([note('1')])
    await written()
    const newer = await other.open('s1', agent)
    expect(notesIn(newer.records)).toEqual(['1'])
    const refusal = await refusalOf(older.append([note('late')]))
    await newer.append([note('2')])
    await written()
    const { records, damage } = await other.tail('s1')
    expect(notesIn(records)).toEqual(['1', '2'])
    if (store.promises.conflict === 'refused') {
      expect([refusal, damage]).toEqual(['conflict', undefined])
      expect(await refusalOf(older.append([note('later')]))).toBe('conflict')
    } else expect([refusal, damage?.kind]).toEqual(['fulfilled', 'forked'])
    await older.close()
    await newer.append([note('3')])
    await newer.close()
    await written()
    expect(notesIn((await store.tail('s1')).records)).toEqual(['1', '2', '3'])
  })

  it('rejects an older writer even before the newer one writes', async () => {
    const { store, other, written } = await storesOf(options)
    if (store.promises.conflict !== 'refused') return
    const older = await store.open('s1', agent)
    const newer = await other.open('s1', agent)
    expect(await refusalOf(older.append([note('late')]))).toBe('conflict')
    await newer.append([note('1')])
    await Promise.all([older.close(), newer.close()])
    await written()
    expect(notesIn((await other.tail('s1')).records)).toEqual(['1'])
  })

  it('rejects a writer after another client saves its session', async () => {
    const { store, other, written } = await storesOf(options)
    if (store.promises.conflict !== 'refused') return
    const writer = await store.open('s1', agent)
    await writer.append([note('1')])
    await other.save(sampleSession('s1'))
    expect(await refusalOf(writer.append([note('late')]))).toBe('conflict')
    await writer.close()
    await written()
    expect(await other.load('s1')).toEqual(sampleSession('s1'))
  })

  it('rejects a writer of a deleted session and does not recreate the session', async () => {
    const { store, other, written, listed } = await storesOf(options)
    if (store.promises.conflict !== 'refused') return
    const writer = await store.open('s1', agent)
    await writer.append([note('1')])
    expect(await other.delete('s1')).toBe(true)
    expect(await refusalOf(writer.append([note('late')]))).toBe('conflict')
    await writer.close()
    await written()
    await listed()
    expect([await refusalOf(other.load('s1')), await other.listIds()]).toEqual(['notFound', []])
  })
}

/** Leftovers of a writer must not block the next one, or look like its data. */
function leftoverTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('lets the newer writer continue after an older one closes', async () => {
    const { store, other, written } = await storesOf(options)
    for (const { sessionId, before } of [
      { sessionId: 'new', before: [] },
      { sessionId: 'old', before: [note('0')] },
    ]) {
      const older = await store.open(sessionId, agent)
      await older.append(before)
      await written()
      const newer = await other.open(sessionId, agent)
      await older.close()
      await newer.append([note('1')])
      await older.close()
      await newer.append([note('2')])
      await written()
      expect(notesIn((await store.tail(sessionId)).records)).toEqual([...notesIn(before), '1', '2'])
      await newer.close()
    }
  })

  it('rejects an older writer even after a newer one has closed', async () => {
    const { store, other, written } = await storesOf(options)
    if (store.promises.conflict !== 'refused') return
    const oldest = await store.open('s1', agent)
    await (await other.open('s1', agent)).close()
    expect(await refusalOf(oldest.append([note('late')]))).toBe('conflict')
    const writer = await other.open('s1', agent)
    await oldest.close()
    await writer.append([note('1')])
    await writer.close()
    await written()
    const { records, damage } = await store.tail('s1')
    // A rejected record may exist if the next writer has read it.
    expect([notesIn(records).at(-1), records.length, damage]).toEqual(['1', writer.records.length + 1, undefined])
  })

  it('creates an empty session under the id of a deleted one', async () => {
    const { store, other, written, listed } = await storesOf(options)
    const writer = await store.open('s1', agent)
    await writer.append([note('old'), note('older')])
    await writer.close()
    await written()
    await store.delete('s1')
    await written()
    const next = await other.open('s1', agent)
    expect([notesIn(next.records), next.damage]).toEqual([[], undefined])
    await next.append([note('new')])
    await next.close()
    await written()
    await listed()
    const { records, damage } = await store.tail('s1')
    expect([notesIn(records), records.map(({ seq }) => seq), damage, await store.listIds()]).toEqual([['new'], [1], undefined, ['s1']])
  })

  it('rejects the writer of a deleted session even if the session is created again', async () => {
    const { store, other, written } = await storesOf(options)
    if (store.promises.conflict !== 'refused') return
    for (const isWritten of [true, false]) {
      const old = await store.open('s1', agent)
      await old.append([note('old')])
      await other.delete('s1')
      const next = await other.open('s1', agent)
      if (isWritten) await next.append([note('1')])
      expect(await refusalOf(old.append([note('late')]))).toBe('conflict')
      await old.close()
      await next.append([note('2')])
      await next.close()
      await written()
      expect(notesIn((await store.tail('s1')).records)).toEqual(isWritten ? ['1', '2'] : ['2'])
      await store.delete('s1')
    }
  })
}

function raceTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('loses no acknowledged record while writers take over from each other', async () => {
    const { store, other, written } = await storesOf(options)
    if (store.promises.conflict !== 'refused') return
    const acknowledged: string[] = []
    const compete = async (name: string, index: number): Promise<void> => {
      for (let round = 0; round < 4; round++) {
        const writer = await (index % 2 === 0 ? store : other).open('s1', agent)
        await appendUntilRefused(writer, `${name}${round}`, acknowledged)
      }
    }
    await Promise.all(['a', 'b', 'c'].map(compete))
    await written()
    const { records, damage } = await other.tail('s1')
    const found = notesIn(records)
    expect(acknowledged.filter((text) => !found.includes(text))).toEqual([])
    expect([new Set(found).size, damage]).toEqual([found.length, undefined])
  })

  it('accepts only one of several concurrent writers, or reports the fork', async () => {
    const { store, other, written } = await storesOf(options)
    const writers = await Promise.all([store, other, store, other].map((each) => each.open('s1', agent)))
    const refusals = await Promise.all(writers.map((writer, index) => refusalOf(writer.append([note(index)]))))
    await Promise.all(writers.map((writer) => writer.close()))
    await written()
    const { records, damage } = await other.tail('s1')
    expect(records.length).toBe(1)
    if (store.promises.conflict === 'refused') {
      expect(refusals.toSorted()).toEqual(['conflict', 'conflict', 'conflict', 'fulfilled'])
      expect(notesIn(records)).toEqual([refusals.indexOf('fulfilled')])
    } else expect(damage?.kind).toBe('forked')
  })
}

/** Appends records, each after the previous one was acknowledged, until another writer has taken over. */
async function appendUntilRefused(writer: SessionWriter, name: string, acknowledged: string[]): Promise<void> {
  try {
    for (let count = 0; count < 5; count++) {
      await writer.append([note(`${name}.${count}`)])
      acknowledged.push(`${name}.${count}`)
    }
  } catch {
    // The record was rejected, so the store promised nothing.
  }
  await writer.close()
}
