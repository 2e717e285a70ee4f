import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { AgentEvent } from '../../src/contract/run/event.ts'
import { EventLog } from '../../src/stream/event-log.ts'
import { runs } from '../support/runs.ts'
import { RunEvents } from './run-events.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

function heapBytes(): number {
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

const mebi = 1024 * 1024
const count = runs(60_000, 1_000_000)
const statusLines = runs(30_000, 200_000)
const toolUpdates = runs(20_000, 50_000)

describe('EventLog memory with many deltas', () => {
  it.each([
    ['nobody reads', 0],
    ['one reader never reads', 1],
    ['many readers never read', 50],
  ])('stays within 8 MiB when %s', async (_name, readerCount) => {
    const run = new RunEvents()
    const before = heapBytes()
    const log = new EventLog({ onListenerError: () => undefined })
    const readers = Array.from({ length: readerCount }, () => log.read())
    for (let index = 0; index < count; index++) log.append(run.text('abc'))
    expect(heapBytes() - before).toBeLessThan(8 * mebi)

    log.close()
    const late = readers[0] ?? log.read({ after: log.oldest })
    let events = 0
    let chars = 0
    for await (const event of late) {
      events++
      if (event.type === 'messageUpdate' && event.delta.type === 'text') chars += event.delta.delta.length
    }
    expect(events).toBeLessThan(100_000)
    if (readerCount > 0) expect(chars).toBe(3 * count)
  })

  it('stays small for a reader that lags behind frequent tool updates', async () => {
    const run = new RunEvents()
    const before = heapBytes()
    const log = new EventLog({ onListenerError: () => undefined })
    const reader = log.read()
    for (let index = 0; index < toolUpdates; index++) log.append(run.toolUpdate(`c${index % 4}`, `${index}`.padEnd(2000, 'x')))
    expect(heapBytes() - before).toBeLessThan(8 * mebi)
    log.close()
    let last: AgentEvent | undefined
    for await (const event of reader) last = event
    expect(last).toMatchObject({ seq: toolUpdates })
  })

  it.each<[string, number, (run: RunEvents, index: number) => AgentEvent[]]>([
    ['one call', statusLines, (run, index) => [run.progress(`line ${index}`)]],
    ['alternating calls', statusLines, (run, index) => [run.progress(`line ${index}`, `c${index % 4}`)]],
    [
      'a call with interleaved updates',
      statusLines / 2,
      (run, index) => [run.progress(`line ${index}`), run.toolUpdate('c1', `update ${index}`)],
    ],
  ])('stays small for a reader that lags behind status lines of %s, losing none', async (_, lines, report) => {
    const run = new RunEvents()
    const before = heapBytes()
    const log = new EventLog({ onListenerError: () => undefined })
    const reader = log.read()
    for (let index = 0; index < lines; index++) for (const event of report(run, index)) log.append(event)
    const grown = heapBytes() - before
    expect(grown).toBeLessThan(12 * mebi)
    log.close()
    let next = 0
    for await (const event of reader) if (event.type === 'progressMessage') expect(event.text).toBe(`line ${next++}`)
    expect(next).toBe(lines)
  })

  it("stays small for a reader that lags behind a child loop's status lines", async () => {
    const run = new RunEvents()
    const before = heapBytes()
    const log = new EventLog({ onListenerError: () => undefined })
    const reader = log.read()
    for (let index = 0; index < statusLines; index++) log.append(run.child(run.progress(`line ${index}`)))
    expect(heapBytes() - before).toBeLessThan(8 * mebi)
    log.close()
    let last: AgentEvent | undefined
    for await (const event of reader) last = event
    expect(last).toMatchObject({ event: { text: `line ${statusLines - 1}` } })
  })

  it('takes linear time, also for a reader that lags behind many boundary events', async () => {
    const boundaries = runs(50_000, 300_000)
    const run = new RunEvents()
    const log = new EventLog({ replayBytes: 64 * 1024, onListenerError: () => undefined })
    const reader = log.read()
    for (let index = 0; index < boundaries; index++) log.append(run.progress('p'))
    log.close()
    let events = 0
    for await (const _event of reader) events++
    expect(events).toBe(boundaries)
  })
})
