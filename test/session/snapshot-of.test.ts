import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textOf } from '../../src/contract/message/message.ts'
import type { SessionEntry } from '../../src/contract/session/session-record.ts'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { recordsOf, snapshotOf } from '../../src/session.ts'
import type { NewSessionRecord } from '../../src/types/session/session-store.ts'
import { openCallsOf } from '../../src/types/tool/open-calls.ts'
import {
  answer,
  assistant,
  entries,
  group,
  input,
  intent,
  log,
  loop,
  loopEnd,
  loopStart,
  result,
  session,
  toolResult,
  turnStart,
  user,
} from './tree.ts'

const begin: NewSessionRecord = {
  entry: { type: 'sessionStart', agentId: 'a', formation: { type: 'firstLoop', at: 5 }, scope: 'persistent' },
}
const paused: SessionEntry = input({ role: 'extension', id: 'mark', kind: 'approvalPaused', data: { toolCallIds: ['c2'] } })
const ids = (messages: readonly { id: string }[]) => messages.map(({ id }) => id)

/** A loop with one prompt and one answer. */
const talk = (loopId: string, word: string, parent?: string) =>
  entries(loopId, loopStart(parent), turnStart, input(user(`u-${word}`)), assistant(answer(`a-${word}`)), loopEnd)

const of = (writers: NewSessionRecord[][], loopId?: string) =>
  snapshotOf(log([begin], ...writers), { sessionId: 's', ...(loopId !== undefined && { loopId }) })

it('returns an empty conversation at time 0 for an empty log', () => {
  expect(snapshotOf([], { sessionId: 's' })).toMatchObject({
    sessionId: 's',
    createdAt: 0,
    messages: [],
    unfinished: { recovered: [], rerun: [] },
  })
})

describe('the history of a snapshot', () => {
  const tree = [
    ...talk('s.c.1', 'root'),
    ...talk('s.c.2', 'left', 's.c.1'),
    ...talk('s.c.3', 'right', 's.c.1'),
    ...talk('s.c.4', 'last', 's.c.2'),
  ]

  it('follows the loop chain to the latest loop by default', () => {
    const snapshot = of([tree])
    expect(snapshot).toMatchObject({ version: 1, agentId: 'a', sessionId: 's', lastLoopId: 's.c.4', createdAt: 210 })
    expect(ids(snapshot.messages)).toEqual(['u-root', 'a-root', 'u-left', 'a-left', 'u-last', 'a-last'])
    expect(snapshot.unfinished).toEqual({ recovered: [], rerun: [] })
  })

  it('follows another loop on request and rejects an unknown one', () => {
    expect(ids(of([tree], 's.c.3').messages)).toEqual(['u-root', 'a-root', 'u-right', 'a-right'])
    expect(of([tree], 's.c.3').lastLoopId).toBe('s.c.3')
    expect(() => of([tree], 'none')).toThrow(expect.objectContaining({ code: 'notFound' }))
  })

  it('starts at the last history replacement, with its state', () => {
    const prune = { id: 'p', at: 1, messageIds: ['x'], tokensRemoved: 1 }
    const replaced = entries(
      's.c.2',
      loopStart('s.c.1'),
      { type: 'history', messages: [user('other')], state: { prunes: [prune] } },
      input(user('v')),
      loopEnd,
    )
    const first = entries('s.c.1', loopStart(), input(user('u')), { type: 'prune', record: { ...prune, id: 'gone' } }, loopEnd)
    const snapshot = of([[...first, ...replaced]])
    expect(ids(snapshot.messages)).toEqual(['other', 'v'])
    expect(snapshot.state).toEqual({ prunes: [prune] })
  })

  it('collects the compactions, prunes and reverts of the chain', () => {
    const range = { firstId: 'u', lastId: 'u', turns: 1 }
    const overlay = (id: string) => ({ id, createdAt: 1, loopId: 's.c.1', keepCompacted: { range, messages: [] } })
    const prune = (id: string) => ({ id, at: 1, messageIds: ['x'], tokensRemoved: 1 })
    const tag = { kind: 'lesson' as const, text: 't', createdAtTurn: 1, abandonedNodeIds: [2] }
    const revert = { id: 'r', at: 1, category: 'failure' as const, targetNodeId: 1, abandonedNodeIds: [2], tag }
    const first = entries(
      's.c.1',
      loopStart(),
      { type: 'compaction', overlay: overlay('old') },
      { type: 'prune', record: prune('p') },
      loopEnd,
    )
    const second = entries(
      's.c.2',
      loopStart('s.c.1'),
      { type: 'prune', record: prune('q') },
      { type: 'compaction', overlay: overlay('new') },
      { type: 'revert', record: revert },
      loopEnd,
    )
    expect(of([[...first, ...second]]).state).toEqual({ overlay: overlay('new'), prunes: [prune('p'), prune('q')], reverts: [revert] })
    expect(of([[...first, ...second]], 's.c.1').state).toEqual({ overlay: overlay('old'), prunes: [prune('p')] })
  })

  it('continues from the selected branch', () => {
    const { isSelected: _, ...chosen } = group(['s.c.2', 's.c.3'], 's.c.2', 's.c.2')
    const choice: NewSessionRecord = { loopId: 's.parallel.1', entry: { type: 'parallelGroup', group: chosen } }
    expect(of([[...tree.slice(0, 15), choice]]).lastLoopId).toBe('s.c.2')
  })

  it('stops at a cycle of parents', () => {
    const circle = [...talk('x', 'x', 'y'), ...talk('y', 'y', 'x')]
    expect(ids(of([circle]).messages)).toEqual(['u-x', 'a-x', 'u-y', 'a-y'])
  })

  it('returns an empty history for an empty log', () => {
    expect(of([[]])).toMatchObject({ agentId: 'a', messages: [], loopCounts: {}, state: {} })
    expect(of([[]])).not.toHaveProperty('lastLoopId')
  })

  it('reads a saved session tree', () => {
    const stored = session([
      loop('s.c.1', { messages: [user('u'), answer('x')] }),
      loop('s.c.2', { parentLoopId: 's.c.1', messages: [user('v')] }),
    ])
    expect(ids(snapshotOf(log(recordsOf(stored)), { sessionId: 's' }).messages)).toEqual(['u', 'x', 'v'])
  })
})

describe('continuing from a snapshot', () => {
  it('counts loops per configuration so that ids stay unique', () => {
    const { isSelected: _, ...chosen } = group(['s.x.9', 's.c.2'], 's.c.2', 's.c.2')
    const records = [
      ...['s.c.1', 's.p.model.high.3', 's.p.model.high.12', 's.__proto__.4', 'odd', 's.7', 's.c.x', 'other.c.50'].flatMap((id) =>
        entries(id, loopStart(), loopEnd),
      ),
      { loopId: 's.parallel.2', entry: { type: 'parallelGroup' as const, group: chosen } },
    ]
    expect(Object.entries(of([records]).loopCounts).sort()).toEqual([
      ['__proto__', 4],
      ['c', 2],
      ['p.model.high', 12],
      ['parallel', 2],
      ['x', 9],
    ])
  })

  it('restores the settings of the last loop', () => {
    expect(of([talk('s.c.1', 'x')]).settings).toEqual({ systemPrompt: '', thinking: 'low', temperature: 0.5, configId: 'c' })
    expect(of([[]]).settings).toEqual({ systemPrompt: '', thinking: 'off' })
  })

  it('restores the whole history in an agent and assigns a new loop id', async () => {
    const model = scripted([{ text: 'next' }])
    const agent = new Agent({ model, configId: 'c' })
    agent.restore(of([talk('s.c.1', 'x')]))
    const run = await agent.prompt('more').result
    expect(run.loopId).toBe('s.c.2')
    expect(model.provider.requests[0]?.messages).toHaveLength(3)
  })
})

describe('unfinished calls', () => {
  const asked = (...more: SessionEntry[]) =>
    entries('s.c.1', loopStart(), turnStart, input(user('u')), assistant(answer('x', ['c1', 'c2', 'c3'])), ...more)

  it('adds an unknown-outcome error in call order', () => {
    const { messages, unfinished } = of([
      asked(intent('c1'), intent('c2'), intent('c3'), toolResult(result('c3')), toolResult(result('c1'))),
    ])
    expect(messages.map((message) => (message.role === 'toolResult' ? message.toolCallId : message.id))).toEqual([
      'u',
      'x',
      'c1',
      'c2',
      'c3',
    ])
    const lost = messages[3]
    expect(lost).toMatchObject({ role: 'toolResult', toolCallId: 'c2', toolName: 'act', isError: true, timestamp: 100 })
    expect(lost?.role === 'toolResult' && textOf(lost.content)).toMatch(/process ended.*outcome is unknown/)
    expect(unfinished).toEqual({ recovered: [lost], rerun: [] })
  })

  it('schedules idempotent and unstarted calls for a rerun', () => {
    const { messages, unfinished } = of([asked(intent('c1'), intent('c2', true))])
    expect(ids(messages).slice(0, 2)).toEqual(['u', 'x'])
    expect(messages.slice(2)).toMatchObject([
      { role: 'toolResult', toolCallId: 'c1', isError: true },
      { role: 'extension', kind: 'callsInterrupted', data: { toolCallIds: ['c2', 'c3'] } },
    ])
    expect(unfinished.rerun).toEqual(['c2', 'c3'])
    expect(messages.flatMap(openCallsOf)).toEqual(['c2', 'c3'])
    expect(unfinished.recovered).toEqual(messages.slice(2))
  })

  it('returns the same history after the recovery is recorded', () => {
    const records = asked(intent('c1'), intent('c2', true), intent('c3'), toolResult(result('c3')))
    const first = of([records])
    const recovered = entries('s.c.1', { type: 'recovered', messages: first.unfinished.recovered })
    const again = of([records, recovered])
    expect(again.messages).toEqual(first.messages)
    expect(again.unfinished).toEqual({ recovered: [], rerun: ['c2'] })
  })

  it('handles a second interruption during a rerun', () => {
    const records = asked(intent('c1', true), intent('c2'), toolResult(result('c2')), intent('c3', true))
    const recovered = entries('s.c.1', { type: 'recovered', messages: of([records]).unfinished.recovered })
    const rerun = entries('s.c.2', loopStart('s.c.1'), turnStart, intent('c1', true), toolResult(result('c1')), intent('c3', true))
    const { messages, unfinished } = of([records, [...recovered, ...rerun]])
    expect(unfinished).toEqual({ recovered: [], rerun: ['c3'] })
    expect(messages.at(-1)?.id).toBe('r-c1')
  })

  it('keeps calls with pending approvals unless they have started', () => {
    const waiting = asked(intent('c1'), toolResult(result('c1')), toolResult(result('c3')), paused, {
      ...loopEnd,
      status: 'paused',
    } as SessionEntry)
    expect(of([waiting]).unfinished).toEqual({ recovered: [], rerun: [] })
    const begun = entries('s.c.2', loopStart('s.c.1'), turnStart, intent('c2'))
    expect(of([waiting, begun]).unfinished.recovered).toMatchObject([{ role: 'toolResult', toolCallId: 'c2', isError: true }])
    const notBegun = entries('s.c.2', loopStart('s.c.1'), turnStart)
    expect(of([waiting, notBegun]).unfinished).toEqual({ recovered: [], rerun: ['c2'] })
  })

  it('ignores calls of ended loops, of failed responses and before later user input', () => {
    expect(of([asked(intent('c1'), loopEnd)]).unfinished.recovered).toEqual([])
    expect(of([asked(intent('c1'), input(user('v')))]).unfinished.recovered).toEqual([])
    for (const stopReason of ['error', 'aborted'] as const) {
      const failed = entries('s.c.1', loopStart(), input(user('u')), assistant(answer('x', ['c1'], { stopReason })))
      expect(of([failed]).unfinished).toEqual({ recovered: [], rerun: [] })
    }
  })

  it('does not rerun calls that the output limit may have truncated', () => {
    const cut = entries('s.c.1', loopStart(), input(user('u')), assistant(answer('x', ['c1', 'c2'], { stopReason: 'length' })))
    expect(of([cut]).unfinished.rerun).toEqual(['c1'])
  })

  it('matches calls per response because providers reuse ids', () => {
    const again = asked(
      intent('c1'),
      toolResult(result('c1')),
      toolResult(result('c2')),
      toolResult(result('c3')),
      assistant(answer('y', ['c1'])),
    )
    expect(of([again]).unfinished.rerun).toEqual(['c1'])
  })

  it('treats all calls of a saved session as started', () => {
    const stored = session([loop('s.c.1', { status: 'interrupted', messages: [user('u'), answer('x', ['c1'])] })])
    const { unfinished } = snapshotOf(log(recordsOf(stored)), { sessionId: 's' })
    expect(unfinished.recovered).toMatchObject([{ role: 'toolResult', toolCallId: 'c1', isError: true }])
  })

  it('returns exactly one result per started call after any truncation', () => {
    const calls = ['c1', 'c2', 'c3']
    const arbitrary = fc.record({
      order: fc.shuffledSubarray(calls, { minLength: 3, maxLength: 3 }),
      idempotent: fc.subarray(calls),
      cut: fc.nat({ max: 6 }),
    })
    fc.assert(
      fc.property(arbitrary, ({ order, idempotent, cut }) => {
        const all = [...calls.map((id) => intent(id, idempotent.includes(id))), ...order.map((id) => toolResult(result(id)))]
        const kept = all.slice(0, cut)
        const { messages, unfinished } = of([asked(...kept)])
        const answered = messages.flatMap((message) => (message.role === 'toolResult' ? [message.toolCallId] : []))
        expect(answered).toEqual([...new Set(answered)].sort())
        expect([...answered, ...unfinished.rerun].sort()).toEqual(calls)
        for (const id of calls.slice(0, cut)) expect(answered.includes(id) || idempotent.includes(id)).toBe(true)
        expect(of([asked(...kept)])).toEqual(of([asked(...kept)]))
      }),
    )
  })
})
