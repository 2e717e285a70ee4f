import fc from 'fast-check'
import { expect, it } from 'vitest'
import { CursorExpiredError } from '../../src/contract/errors.ts'
import type { AgentEvent } from '../../src/contract/run/event.ts'
import { EventLog } from '../../src/stream/event-log.ts'
import { runs } from '../support/runs.ts'
import { drain, RunEvents, textIn } from './run-events.ts'

type Step =
  | { do: 'text'; block: number; count: number; text: string; delay: number }
  | { do: 'arguments'; call: number; count: number; text: string }
  | { do: 'tool'; call: number; text: string }
  | { do: 'line'; call: number; count: number; text: string }
  | { do: 'turn' }
  | { do: 'attach'; at: number }
  | { do: 'read'; reader: number; count: number }
  | { do: 'leave'; reader: number }

interface Reader {
  after: number
  iterator: AsyncIterableIterator<AgentEvent>
  calls: Promise<IteratorResult<AgentEvent>>[]
  hasLeft: boolean
}

const text = fc.string({ minLength: 1, maxLength: 8 })
/** Up to several times what one run of deltas holds. */
const count = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 50, max: 150 }))
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('text'), block: fc.nat(2), count, text, delay: fc.integer({ min: -5, max: 500 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('arguments'), call: fc.nat(1), count, text }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('tool'), call: fc.nat(1), text }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('line'), call: fc.nat(20), count, text }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('turn') }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('attach'), at: fc.double({ min: 0, max: 1.05, noNaN: true }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('read'), reader: fc.nat(), count: fc.integer({ min: 1, max: 25 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('leave'), reader: fc.nat() }) },
)

/** Plays `steps` on a log; returns what was appended, and each reader with what it was given. */
async function play(steps: readonly Step[], replayBytes: number) {
  const log = new EventLog({ replayBytes, onListenerError: () => undefined })
  const run = new RunEvents()
  const appended: AgentEvent[] = []
  const readers: Reader[] = []
  let at = 1_760_000_000_000
  const add = (event: AgentEvent) => {
    appended.push(event)
    log.append(event)
  }
  const attach = (after: number) => readers.push({ after, iterator: log.read({ after }), calls: [], hasLeft: false })
  attach(0)
  for (const one of steps) {
    if (one.do === 'text') {
      for (let count = 0; count < one.count; count++) {
        at += one.delay
        add({ ...run.text(one.text + run.seq, 'm1', one.block), at })
      }
    }
    if (one.do === 'arguments') {
      const delta = { type: 'toolCallDelta', contentIndex: 3, toolCallId: `c${one.call}`, toolName: 'tool', delta: one.text } as const
      for (let count = 0; count < one.count; count++) add(run.delta(delta))
    }
    if (one.do === 'tool') add(run.toolUpdate(`c${one.call}`, one.text))
    if (one.do === 'line') for (let count = 0; count < one.count; count++) add(run.progress(one.text, `c${one.call}`))
    if (one.do === 'turn') add(run.turn())
    if (one.do === 'attach') {
      const after = Math.floor(one.at * run.seq)
      try {
        attach(after)
      } catch (error) {
        // Only what is no longer there expires, and the error names a cursor that works.
        expect(error).toBeInstanceOf(CursorExpiredError)
        if (error instanceof CursorExpiredError) attach(error.oldest)
      }
    }
    const reader = 'reader' in one ? readers[one.reader % readers.length] : undefined
    if (reader && one.do === 'read') for (let count = 0; count < one.count; count++) reader.calls.push(reader.iterator.next())
    if (reader && one.do === 'leave') {
      await reader.iterator.return?.()
      reader.hasLeft = true
    }
  }
  log.close()
  const given = await Promise.all(
    readers.map(async (reader) => {
      const results = await Promise.all(reader.calls)
      const events = results.flatMap((result) => (result.done ? [] : [result.value]))
      return { ...reader, events: [...events, ...(await drain(reader.iterator))] }
    }),
  )
  return { appended, given }
}

const isKept = (event: AgentEvent) => event.type !== 'messageUpdate' && event.type !== 'toolExecutionUpdate'

/** Checks what one reader got against what was appended after its cursor (up to where it left). */
function checkReader(appended: readonly AgentEvent[], reader: { after: number; hasLeft: boolean; events: AgentEvent[] }): void {
  const { after, events } = reader
  const end = reader.hasLeft ? (events.at(-1)?.seq ?? after) : Number.POSITIVE_INFINITY
  const due = appended.filter((event) => event.seq > after && event.seq <= end)

  events.reduce((seq, event) => {
    expect(event.seq).toBeGreaterThan(seq)
    return event.seq
  }, after)
  expect(textIn(events)).toBe(textIn(due))
  expect(events.filter(isKept)).toEqual(due.filter(isKept))

  for (const event of events) {
    if (event.type !== 'messageUpdate') {
      if (event.type === 'progressMessage') expect(event).toEqual(appended[event.seq - 1])
      else expect(event).toBe(appended[event.seq - 1])
      continue
    }
    if (event.fromSeq === undefined) {
      expect(event).toEqual(appended[event.seq - 1])
      continue
    }
    const covered = appended.slice(event.fromSeq - 1, event.seq)
    expect(event.fromSeq).toBeGreaterThan(after)
    expect(covered.filter(isKept)).toEqual([])
    expect(textIn(covered)).toBe('delta' in event.delta ? event.delta.delta : '')
    for (const one of covered) if (one.type === 'messageUpdate') expect({ ...one.delta, delta: '' }).toEqual({ ...event.delta, delta: '' })
    expect(event.at).toBe(appended[event.seq - 1]?.at)
  }
  for (const toolCallId of ['c0', 'c1']) {
    const newest = (list: readonly AgentEvent[]) =>
      list.findLast((event) => event.type === 'toolExecutionUpdate' && event.toolCallId === toolCallId)
    if (!reader.hasLeft) expect(newest(events)).toBe(newest(due))
  }
}

it('delivers every event once to any reader, despite merging and eviction', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.constantFrom(0, 500, 1500, 4000, 20_000), async (steps, replayBytes) => {
      const { appended, given } = await play(steps, replayBytes)
      for (const reader of given) checkReader(appended, reader)
    }),
    { numRuns: runs(300, 3000) },
  )
})
