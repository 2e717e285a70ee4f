import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/json.ts'
import { promptSettings } from '../../src/contract/model/request-settings.ts'
import type { LoopRecord, LoopStatus } from '../../src/contract/session/session.ts'
import { aNumberFromZero } from '../../src/contract/shape/shape.ts'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { EventRecorder, sessionFromSpec, sessionFromSpecJson, sessionToSpec, sessionToSpecJson } from '../../src/rust.ts'
import { recordsOf, sessionOf } from '../../src/session.ts'
import { valuesOf } from '../contract/arbitrary-shape.ts'
import { answer, log, loop, result, session, usageOf, user } from '../session/tree.ts'
import { add, approveWaiting, fastRetry, seen } from '../support/play.ts'
import { runs } from '../support/runs.ts'
import { canonical } from './arbitrary.ts'
import { arbitrarySession, crateEvents, loopsIn } from './arbitrary-session.ts'

const fixture = readFileSync(new URL('../fixtures/spec-json/session.json', import.meta.url), 'utf8')

const turn = (loopId: string, turnIndex: number) => ({ turnId: { loopId, turnIndex } })

/** The first loop of `loops` as it comes back. */
function again(...loops: LoopRecord[]): LoopRecord | undefined {
  return sessionFromSpec(JSON.parse(sessionToSpecJson(session(loops)))).loops[0]
}

function written(record: LoopRecord): JsonObject {
  return loopsIn(sessionToSpec(session([record])))[0] ?? {}
}

describe('sessionToSpec with a native session', () => {
  it.each<[LoopStatus, string, boolean]>([
    ['completed', 'Completed', false],
    ['limit', 'Completed', true],
    ['paused', 'Completed', true],
    ['rejected', 'Rejected', false],
    ['error', 'Aborted', true],
    ['aborted', 'Aborted', true],
    ['interrupted', 'Aborted', false],
    ['running', 'Running', false],
    ['pending', 'Pending', false],
  ])('writes the status %s as %s and reads it back', (status, word, isNamed) => {
    const spec = written(loop('l', { status }))
    expect(spec).toMatchObject({ status: word, ...(isNamed && { nativeStatus: status }) })
    expect('nativeStatus' in spec).toBe(isNamed)
    expect(again(loop('l', { status }))?.status).toBe(status)
  })

  it('preserves the cost and the prompt settings of a loop', () => {
    fc.assert(
      fc.property(valuesOf(aNumberFromZero), valuesOf(promptSettings), (costUsd, asked) => {
        const record = loop('l', { costUsd, asked })
        expect(again(record)).toEqual(record)
      }),
      { numRuns: runs(100, 5000) },
    )
  })

  it('ignores a native status that contradicts the crate status', () => {
    const [spec] = loopsIn(sessionToSpec(session([loop('l')])))
    const read = sessionFromSpec({ ...sessionToSpec(session([])), loops: [{ ...spec, status: 'Rejected', nativeStatus: 'limit' }] })
    expect(read.loops[0]?.status).toBe('rejected')
  })

  it('writes only events that the crate knows, for any run', async () => {
    const script = [
      { text: 'half', fail: { code: 'network' as const, message: 'cut', afterText: true } },
      { toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1, b: 2 } }] },
      { text: 'three' },
    ]
    const agent = new Agent({
      model: scripted(script),
      tools: [{ ...add, needsApproval: true }],
      retry: fastRetry,
      captureTurnRequests: true,
    })
    const recorder = new EventRecorder({ includeStreamingEvents: true, captureTurnRequests: true })
    agent.subscribe((event) => recorder.accept(event))
    const run = agent.prompt('go')
    await seen(run, 'approvalRequested')
    approveWaiting(run)
    await run.result
    const [recorded] = recorder.sessions()
    const native = recorded?.loops[0]?.events.map(({ event }) => event.type)
    expect(native).toEqual(
      expect.arrayContaining(['providerRetry', 'approvalRequested', 'approvalResolved', 'turnRequest', 'messageUpdate']),
    )
    const spec = loopsIn(sessionToSpec(recorded ?? session([])))[0]?.events
    const types = Array.isArray(spec) ? spec.map((kept) => Object(Object(kept).event).type) : []
    expect(types.length).toBeGreaterThan(10)
    for (const type of types) expect(crateEvents).toContain(type)
    const read = sessionFromSpecJson(sessionToSpecJson(recorded ?? session([])))
    expect(read.loops[0]?.messages).toEqual(recorded?.loops[0]?.messages)
    // A request for text says so once it was there.
    expect(read.loops[0]?.turns).toMatchObject(recorded?.loops[0]?.turns ?? [])
  })

  it('preserves native data that the crate does not know', () => {
    const prune = { id: 'p', at: 1, messageIds: ['x'], tokensRemoved: 1 }
    const tag = { kind: 'lesson' as const, text: 't', createdAtTurn: 1, abandonedNodeIds: [2] }
    const revert = { id: 'r', at: 1, category: 'stepSummary' as const, targetNodeId: 1, abandonedNodeIds: [2], tag }
    const own = loop('l', {
      status: 'error',
      error: { code: 'api', message: 'no' },
      base: { messages: [user('old')], state: { prunes: [prune] } },
      prunes: [prune],
      reverts: [revert],
      config: { model: 'm', provider: 'p', api: 'scripted', configId: 'c' },
    })
    expect(again(own)).toEqual(own)
    expect(written(own).config).toEqual({ model: 'm', provider: 'p', config_id: 'c', nativeApi: 'scripted' })
  })

  it('adds the requesting message to a turn that runs approved calls', () => {
    const asked = loop('l', { messages: [user('u'), { ...answer('x', ['c1']), ...turn('l', 0) }], status: 'paused' })
    const resumed = {
      ...turn('m', 0),
      triggeredBy: 'continuation' as const,
      usage: usageOf(0),
      inputMessages: [],
      toolResults: [{ ...result('c1'), ...turn('m', 0) }],
      startedAt: 0,
      endedAt: 0,
    }
    const empty = { ...resumed, ...turn('m', 1), toolResults: [] }
    const next = loop('m', { parentLoopId: 'l', messages: resumed.toolResults, turns: [resumed, empty] })
    const spec = sessionToSpec(session([asked, next]))
    expect(loopsIn(spec)[1]?.turns).toMatchObject([{ output_message: { id: 'x', role: 'assistant' } }])
    expect(sessionFromSpec(spec).loops[1]?.turns).toEqual([resumed])
  })

  it('preserves any session through the crate format', () => {
    fc.assert(
      fc.property(arbitrarySession(), (native) => {
        const spec = sessionToSpecJson(native)
        expect(canonical(sessionFromSpecJson(spec))).toBe(canonical(native))
        expect(canonical(sessionToSpec(sessionFromSpecJson(spec)))).toBe(canonical(JSON.parse(spec)))
        expect(canonical(sessionOf(log(recordsOf(native)), native.sessionId))).toBe(canonical(native))
      }),
      { numRuns: 40 },
    )
  })
})

describe('sessionToSpec with a compaction', () => {
  const messages = [0, 1, 2, 3].map((index) => ({ ...answer(`m${index}`), ...turn('l', index) }))
  const span = (from: number, to: number) => ({ firstId: `m${from}`, lastId: `m${to}`, turns: to - from + 1 })
  const overlay = {
    id: 'o',
    createdAt: 1500,
    loopId: 'l',
    keepFirst: span(0, 0),
    keepCompacted: { range: span(1, 2), messages: [user('sum')] },
    keepRecent: { range: span(3, 3), messages: [user('cut')] },
  }

  it('writes the compaction of a first loop as a block', () => {
    const own = loop('l', { messages, overlay })
    expect(written(own).compaction_block).toMatchObject({
      keep_first: { startTurn: 0, endTurn: 0 },
      keep_compacted: { range: { startTurn: 1, endTurn: 2 }, messages: [{ role: 'user' }] },
      keep_recent: { range: { startTurn: 3, endTurn: 3 } },
      createdAt: '1970-01-01T00:00:01.500Z',
    })
    expect(again(own)).toEqual(own)
  })

  it('writes no block for a compaction over several loops', () => {
    const wide = loop('l', { messages: messages.slice(1), overlay, parentLoopId: 'k' })
    expect(written(wide)).not.toHaveProperty('compaction_block')
    expect(again(wide)).toEqual(wide)
  })

  it('reads an equivalent block of the crate as an overlay', () => {
    const read = sessionFromSpecJson(fixture).loops.find((record) => record.loopId === 's.d.1')
    expect(read?.overlay).toMatchObject({
      loopId: 's.d.1',
      keepFirst: { firstId: 's.d.1#0', lastId: 's.d.1#0', turns: 1 },
      keepCompacted: { range: { firstId: 's.d.1#1', lastId: 's.d.1#2', turns: 2 }, messages: [{ role: 'user' }] },
      keepRecent: { range: { firstId: 's.d.1#3', lastId: 's.d.1#3', turns: 1 }, messages: [{ id: 's.d.1#3' }] },
    })
  })

  it.each([
    [
      'its sections overlap',
      { keep_first: { startTurn: 0, endTurn: 1 }, keep_compacted: { range: { startTurn: 1, endTurn: 3 }, messages: [] } },
    ],
    ['nothing was compacted', { keep_first: { startTurn: 0, endTurn: 1 } }],
    ['it reaches beyond the loop', { keep_compacted: { range: { startTurn: 0, endTurn: 9 }, messages: [] } }],
  ])('preserves a block of the crate unread if %s', (_, sections) => {
    const block = { ...sections, createdAt: '2026-01-01T00:00:00.000000001Z' }
    const spec = { ...sessionToSpec(session([])), loops: [{ ...written(loop('l', { messages })), compaction_block: block }] }
    const read = sessionFromSpec(spec)
    expect(read.loops[0]?.overlay).toBeUndefined()
    expect(loopsIn(sessionToSpec(read))[0]?.compaction_block).toEqual(block)
  })

  it('writes the current overlay if it replaced the one that was read', () => {
    const read = sessionFromSpecJson(fixture)
    const compacted = read.loops.filter((record) => record.loopId === 's.d.1')
    for (const record of compacted)
      record.overlay = {
        ...overlay,
        keepCompacted: { range: { firstId: 's.d.1#0', lastId: 's.d.1#3', turns: 4 }, messages: [user('new')] },
      }
    for (const record of compacted)
      if (record.overlay !== undefined) for (const key of ['keepFirst', 'keepRecent'] as const) delete record.overlay[key]
    const spec = loopsIn(sessionToSpec({ ...read, loops: compacted }))[0]
    expect(spec?.compaction_block).toMatchObject({ keep_compacted: { range: { startTurn: 0, endTurn: 3 }, messages: [{ id: 'new' }] } })
    expect(JSON.stringify(spec?.compaction_block)).not.toContain('keep_first')
  })
})
