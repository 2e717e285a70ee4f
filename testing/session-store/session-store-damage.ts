import { crc32 } from '../../src/base/hash.ts'
import type { SessionStore } from '../../src/types/session/session-store.ts'
import type { TestRunner } from '../test-runner.ts'
import { note, notesIn, sampleSession } from './session-samples.ts'
import { refusalOf, type SessionStoreSuiteOptions, storesOf } from './session-store-harness.ts'

const agent = { agentId: 'agent-1' }
const checksumLength = ',"crc":"00000000"}'.length

type Damage = NonNullable<SessionStoreSuiteOptions['damage']>

/** Tests logs that are damaged or were written by another version. Requires a harness that can modify stored logs. */
export function damageTests(runner: TestRunner, options: SessionStoreSuiteOptions): void {
  const { damage } = options
  if (damage === undefined) return
  readingTests(runner, options, damage)
  newerLayoutTests(runner, options, damage)
  salvageTests(runner, options, damage)
}

function readingTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions, damage: Damage): void {
  it('preserves records before a torn end, reports the damage and appends after them', async () => {
    const { store } = await storesOf(options)
    await writeThree(store)
    await damage('s1', (lines) => [...lines.slice(0, 2), lines.at(-1)?.slice(0, 30) ?? ''])
    const { records, damage: found } = await store.tail('s1')
    expect([notesIn(records), found?.kind, found?.afterSeq]).toEqual([['1', '2'], 'torn', 2])
    const writer = await store.open('s1', agent)
    expect([notesIn(writer.records), writer.damage?.kind]).toEqual([['1', '2'], 'torn'])
    await writer.append([note('new')])
    await writer.close()
    const repaired = await store.tail('s1')
    expect([notesIn(repaired.records), repaired.damage]).toEqual([['1', '2', 'new'], undefined])
  })

  it('preserves records before a damaged one, reports the damage and appends after them', async () => {
    const { store } = await storesOf(options)
    await writeThree(store)
    await damage('s1', (lines) => lines.map((line, index) => (index === 1 ? line.replace('note', 'nota') : line)))
    const { records, damage: found } = await store.tail('s1')
    expect([notesIn(records), found?.kind, found?.afterSeq]).toEqual([['1'], 'corrupt', 1])
    expect((await store.load('s1')).sessionId).toBe('s1')
    const writer = await store.open('s1', agent)
    await writer.append([note('new')])
    await writer.close()
    const repaired = await store.tail('s1')
    expect([notesIn(repaired.records), repaired.damage]).toEqual([['1', 'new'], undefined])
  })

  it('reports an unreadable session, and can still replace and delete it', async () => {
    const { store } = await storesOf(options)
    await writeThree(store)
    await damage('s1', (lines) => lines.map((line) => line.slice(1)))
    expect(await refusalOf(store.load('s1'))).toBe('invalidSession')
    const { records, damage: found } = await store.tail('s1')
    expect([records.length, found?.afterSeq]).toEqual([0, 0])
    await store.save(sampleSession('s1'))
    expect(await store.load('s1')).toEqual(sampleSession('s1'))
    expect(await store.delete('s1')).toBe(true)
  })

  it('preserves records of unknown types byte for byte, even after a save', async () => {
    const { store } = await storesOf(options)
    await writeThree(store)
    const body = '{"number":12345678901234567890,"twice":1,"twice":2}'
    await damage('s1', (lines) =>
      lines.map((line, index) => (index === 1 ? sealed(`${line.split('"type"')[0]}"type":"future","body":${body}`) : line)),
    )
    const writer = await store.open('s1', agent)
    await writer.append([note('4')])
    await writer.close()
    expect(notesIn((await store.tail('s1')).records)).toEqual(['1', 'unknown', '3', '4'])
    await store.save(sampleSession('s1'))
    const kept: string[] = []
    await damage('s1', (lines) => {
      kept.push(...lines.filter((line) => line.includes(`"type":"future","body":${body},"crc"`)))
      return lines
    })
    expect(kept.length > 0).toBe(true)
    expect(await store.load('s1')).toEqual(sampleSession('s1'))
  })

  it('reads records of a newer version but does not write to the session', async () => {
    const { store } = await storesOf(options)
    await writeThree(store)
    await damage('s1', (lines) =>
      lines.map((line, index) => (index === 2 ? sealed(line.slice(0, -checksumLength).replace('"v":1', '"v":3')) : line)),
    )
    expect(await refusalOf(store.open('s1', agent))).toBe('newerSchema')
    expect(await refusalOf(store.save(sampleSession('s1')))).toBe('newerSchema')
    const { records, damage: found } = await store.tail('s1')
    expect([notesIn(records), found]).toEqual([['1', '2', 'unknown'], undefined])
    expect((await store.load('s1')).sessionId).toBe('s1')
    expect(await store.delete('s1')).toBe(true)
  })
}

function newerLayoutTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions, damage: Damage): void {
  const layouts = {
    'names of its own': () => '{"v":3,"n":3,"p":[1,2],"t":"note","sum":"00000000"}',
    'the same end': () => sealed('{"v":3,"place":[1,3],"what":{}'),
    'its version elsewhere': () => '{"n":3,"v":3}',
    'an end that is cut': () => '{"v":3,"n":3,"p":[1,',
  }
  for (const [name, line] of Object.entries(layouts)) {
    it(`does not report lines of a newer version as damage: ${name}`, async () => {
      const { store } = await storesOf(options)
      await writeThree(store)
      await damage('s1', (lines) => [...lines.slice(0, 2), line()])
      const calls = [store.open('s1', agent), store.save(sampleSession('s1')), store.rename('s1', 'Bees'), store.salvage('s1')]
      expect(await Promise.all(calls.map(refusalOf))).toEqual(calls.map(() => 'newerSchema'))
      const { records, damage: found } = await store.tail('s1')
      expect([notesIn(records), found?.kind, found?.afterSeq]).toEqual([['1', '2'], 'newerSchema', 2])
      expect((await store.load('s1')).sessionId).toBe('s1')
      await damage('s1', () => [line()])
      expect(await refusalOf(store.load('s1'))).toBe('newerSchema')
      expect(await store.delete('s1')).toBe(true)
    })
  }

  it('reports a damaged version field as corruption', async () => {
    const { store } = await storesOf(options)
    await writeThree(store)
    await damage('s1', (lines) => lines.map((line, index) => (index === 1 ? line.replace('"v":1', '"v":3') : line)))
    const writer = await store.open('s1', agent)
    expect([notesIn(writer.records), writer.damage?.kind]).toEqual([['1'], 'corrupt'])
    await writer.close()
  })
}

function salvageTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions, damage: Damage): void {
  it('salvages records after a damaged one and reports its line', async () => {
    const { store } = await storesOf(options)
    await writeThree(store)
    await (await store.open('s1', agent)).append([note('4')])
    await damage('s1', (lines) => lines.map((line, index) => (index === 1 ? line.replace('note', 'nota') : line)))
    expect(notesIn((await store.tail('s1')).records)).toEqual(['1'])
    const { session, records, dropped } = await store.salvage('s1')
    expect([session.sessionId, notesIn(records), dropped.map(({ line }) => line)]).toEqual(['s1', ['1', '3', '4'], [1]])
    expect(notesIn((await store.tail('s1')).records)).toEqual(['1'])
    await store.save({ ...session, sessionId: 's2' })
    expect((await store.load('s2')).loops[0]?.messages.length).toBe(3)
    expect(await refusalOf(store.salvage('nobody'))).toBe('notFound')
  })

  it('salvages the readable part of a saved session', async () => {
    const { store } = await storesOf(options)
    await store.save(sampleSession('s1'))
    await damage('s1', (lines) => lines.map((line, index) => (index === 1 ? line.replace('Hello', 'Hallo') : line)))
    const { session, dropped } = await store.salvage('s1')
    const [, second] = sampleSession('s1').loops
    expect([session.agentId, session.loops, dropped.length]).toEqual(['agent-1', [second], 1])
  })
}

async function writeThree(store: SessionStore): Promise<void> {
  const writer = await store.open('s1', agent)
  for (const text of ['1', '2', '3']) await writer.append([note(text)])
  await writer.close()
}

/** Returns a line with this text and a valid checksum. */
function sealed(text: string): string {
  const bytes = new TextEncoder().encode(text)
  return `${text},"crc":"${crc32(bytes, 0, bytes.length).toString(16).padStart(8, '0')}"}`
}
