import type { JsonValue } from '../../src/contract/json.ts'
import type { TestRunner } from '../test-runner.ts'
import { beginning, nastyText, note, notesIn, sampleSession } from './session-samples.ts'
import { refusalOf, type SessionStoreSuiteOptions, storesOf } from './session-store-harness.ts'

const agent = { agentId: 'agent-1' }
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Tests `open`, `append` and `tail` with one writer at a time. */
export function logTests(runner: TestRunner, options: SessionStoreSuiteOptions): void {
  beginningTests(runner, options)
  appendTests(runner, options)
  tailTests(runner, options)
}

function beginningTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('creates a session with the first record, not on open', async () => {
    const { store, other, written, listed } = await storesOf(options)
    const writer = await store.open('s1', agent)
    expect([writer.sessionId, writer.records.length, writer.damage]).toEqual(['s1', 0, undefined])
    await written()
    await listed()
    expect([await refusalOf(other.load('s1')), await refusalOf(other.tail('s1')), await other.listIds()]).toEqual([
      'notFound',
      'notFound',
      [],
    ])
    await writer.append([beginning('agent-1')])
    await written()
    await listed()
    expect(notesIn((await other.tail('s1')).records)).toEqual(['sessionStart'])
    expect((await other.load('s1')).agentId).toBe('agent-1')
    expect([await other.listIds(), await other.listForAgent('agent-1')]).toEqual([['s1'], ['s1']])
    await writer.close()
  })

  it('does not change the session if a writer closes without writing', async () => {
    const { store, other, written, listed } = await storesOf(options)
    await (await store.open('s1', agent)).close()
    await written()
    await listed()
    expect([await refusalOf(other.load('s1')), await other.listIds()]).toEqual(['notFound', []])
    const writer = await other.open('s1', agent)
    await writer.append([note('x')])
    await writer.close()
    await written()
    await (await store.open('s1', agent)).close()
    await written()
    expect(notesIn((await other.tail('s1')).records)).toEqual(['x'])
  })

  it('returns records after the given position to a writer, or all records if the log is shorter', async () => {
    const { store, other, written, listed } = await storesOf(options)
    const first = await store.open('s1', agent)
    await first.append([beginning('agent-1'), ...numbers(2, 5).map(note)])
    await first.close()
    await written()
    const second = await other.open('s1', { ...agent, after: 3 })
    expect(notesIn(second.records)).toEqual([4, 5])
    await second.append([note(6)])
    await second.close()
    await written()
    await listed()
    expect(notesIn((await store.tail('s1')).records)).toEqual(['sessionStart', ...numbers(2, 6)])
    expect((await store.list()).sessions.map(({ messages, title }) => [messages, title])).toEqual([[5, undefined]])
    const third = await store.open('s1', { ...agent, after: 6 })
    await third.append([note(7)])
    await third.close()
    await written()
    await listed()
    expect((await store.list()).sessions.map(({ messages }) => messages)).toEqual([6])
    await store.delete('s1')
    await written()
    const again = await other.open('s1', agent)
    await again.append([note('a'), note('b')])
    await again.close()
    await written()
    const last = await store.open('s1', { ...agent, after: 5 })
    expect(notesIn(last.records)).toEqual(['a', 'b'])
    await last.append([note('c')])
    await last.close()
    await written()
    expect(notesIn((await other.tail('s1')).records)).toEqual(['a', 'b', 'c'])
  })

  it('continues after the last record of the previous writer', async () => {
    const { store, other, written } = await storesOf(options)
    const epochs: number[] = []
    for (let round = 0; round < 4; round++) {
      const writer = await (round % 2 === 0 ? store : other).open('s1', agent)
      expect(notesIn(writer.records)).toEqual(numbers(1, round * 2))
      await writer.append([note(round * 2 + 1), note(round * 2 + 2)])
      await writer.close()
      epochs.push(writer.epoch)
      await written()
    }
    const { records } = await other.tail('s1')
    expect(records.map((record) => record.seq)).toEqual(numbers(1, 8))
    expect(notesIn(records)).toEqual(numbers(1, 8))
    expect(epochs).toEqual([...new Set(epochs)].toSorted((a, b) => a - b))
  })

  it('appends to a saved session and loads the combined result', async () => {
    const { store, other, written } = await storesOf(options)
    await store.save(sampleSession('s1'))
    await written()
    const writer = await other.open('s1', agent)
    const child = { toolCallId: 'c', toolName: 't', childLoopId: 'y.m.1', childSessionId: 'y' }
    await writer.append([{ loopId: 's1.m.2', entry: { type: 'childLoop', ref: child } }])
    await writer.close()
    await written()
    const saved = sampleSession('s1')
    saved.loops[1]?.childLoopRefs.push(child)
    expect((await store.load('s1')).loops).toEqual(saved.loops)
  })
}

function appendTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('acknowledges a record only when every reader can see it', async () => {
    const { store, other, written } = await storesOf(options)
    const writer = await store.open('s1', agent)
    for (const count of numbers(1, 10)) {
      await writer.append([note(count)])
      await written()
      expect(notesIn((await other.tail('s1')).records)).toEqual(numbers(1, count))
    }
    await writer.close()
  })

  it('stores and acknowledges concurrent appends in call order', async () => {
    const { store, other, written } = await storesOf(options)
    const writer = await store.open('s1', agent)
    const acknowledged: number[] = []
    const calls = numbers(1, 50).map(async (count) => {
      await writer.append([note(count)])
      acknowledged.push(count)
    })
    await Promise.all(calls)
    expect(acknowledged).toEqual(numbers(1, 50))
    await written()
    const { records } = await other.tail('s1')
    expect([notesIn(records), records.map((record) => record.seq)]).toEqual([numbers(1, 50), numbers(1, 50)])
    await writer.close()
  })

  it('stores any JSON value', async () => {
    const { store, other, written } = await storesOf(options)
    const values: JsonValue[] = [
      null,
      false,
      0,
      -1.5e300,
      '',
      nastyText,
      [],
      {},
      { [nastyText]: [nastyText] },
      [[[[]]]],
      { '': { ' ': 1 } },
    ]
    const writer = await store.open('s1', agent)
    await writer.append(values.map(note))
    await writer.close()
    await written()
    expect(notesIn((await other.tail('s1')).records)).toEqual(values)
  })

  it('stores records of several megabytes', async () => {
    const { store, other, written } = await storesOf(options)
    const large = `${'é😀x'.repeat(300_000)}.`
    const writer = await store.open('s1', agent)
    await writer.append([note('before'), note(large), note('after')])
    await writer.close()
    await written()
    const found = notesIn((await other.tail('s1')).records)
    expect([found.length, found[0], found[1] === large, found[2]]).toEqual([3, 'before', true, 'after'])
  })

  it('flushes accepted records on close and rejects later ones', async () => {
    const { store, other, written } = await storesOf(options)
    const writer = await store.open('s1', agent)
    const accepted = writer.append([note('accepted')])
    await Promise.all([writer.close(), writer.close(), accepted])
    expect(await refusalOf(writer.append([note('late')]))).toBe('io')
    await written()
    expect(notesIn((await other.tail('s1')).records)).toEqual(['accepted'])
  })

  it('rejects a non-JSON value and all later appends', async () => {
    const { store, other, written } = await storesOf(options)
    const writer = await store.open('s1', agent)
    const circle: JsonValue[] = []
    circle.push(circle)
    const calls = [writer.append([note('before')]), writer.append([note(circle)]), writer.append([note('after')])]
    expect(await Promise.all(calls.map(refusalOf))).toEqual(['fulfilled', 'invalidSession', 'invalidSession'])
    await writer.close()
    await written()
    expect(notesIn((await other.tail('s1')).records)).toEqual(['before'])
  })
}

function tailTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it('returns records after a cursor, even while a writer is active', async () => {
    const { store, other, written } = await storesOf(options)
    const writer = await store.open('s1', agent)
    await writer.append(numbers(1, 5).map(note))
    await written()
    const first = await other.tail('s1')
    expect([notesIn(first.records), first.damage]).toEqual([numbers(1, 5), undefined])
    expect(await other.tail('s1', { after: first.cursor })).toEqual({ records: [], cursor: first.cursor })
    await writer.append([note(6), note(7)])
    await written()
    const second = await other.tail('s1', { after: first.cursor })
    expect([notesIn(second.records), second.damage]).toEqual([[6, 7], undefined])
    expect(notesIn((await other.tail('s1', { after: 3 })).records)).toEqual([4, 5, 6, 7])
    await writer.close()
  })

  it('returns the same records from any cursor after several writers', async () => {
    const { store, other, written } = await storesOf(options)
    for (const round of [0, 1, 2]) {
      const writer = await store.open('s1', agent)
      await writer.append(numbers(round * 3 + 1, round * 3 + 3).map(note))
      await writer.close()
      await written()
    }
    for (const after of numbers(0, 9)) expect(notesIn((await other.tail('s1', { after })).records)).toEqual(numbers(after + 1, 9))
    for (const last of numbers(1, 12)) {
      const { records, cursor } = await other.tail('s1', { last })
      expect([notesIn(records), cursor]).toEqual([numbers(Math.max(1, 10 - last), 9), 9])
    }
    expect(notesIn((await other.tail('s1', { after: 7, last: 5 })).records)).toEqual([8, 9])
  })

  it('returns the whole session to a reader if a save replaced it', async () => {
    const { store, other, written } = await storesOf(options)
    const writer = await store.open('s1', agent)
    await writer.append(numbers(1, 5).map(note))
    await writer.close()
    await written()
    await store.save(sampleSession('s1'))
    await written()
    expect((await other.tail('s1', { after: 5 })).records.length).toBe((await other.tail('s1')).records.length)
  })
}
