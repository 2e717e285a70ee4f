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

it('is an empty conversation at time 0 where a log has no records', () => {
  expect(snapshotOf([], { sessionId: 's' })).toMatchObject({
    sessionId: 's',
    createdAt: 0,
    messages: [],
    unfinished: { recovered: [], rerun: [] },
  })
})

describe('history', () => {
  const tree = [
    ...talk('s.c.1', 'root'),
    ...talk('s.c.2', 'left', 's.c.1'),
    ...talk('s.c.3', 'right', 's.c.1'),
    ...talk('s.c.4', 'last', 's.c.2'),
  ]

  it('is that of the chain of loops, by default up to the loop begun last', () => {
    const snapshot = of([tree])
    expect(snapshot).toMatchObject({ version: 1, agentId: 'a', sessionId: 's', lastLoopId: 's.c.4', createdAt: 210 })
    expect(ids(snapshot.messages)).toEqual(['u-root', 'a-root', 'u-left', 'a-left', 'u-last', 'a-last'])
    expect(snapshot.unfinished).toEqual({ recovered: [], rerun: [] })
  })

  it('is that of another loop where it is asked for; an unknown one is refused', () => {
    expect(ids(of([tree], 's.c.3').messages)).toEqual(['u-root', 'a-root', 'u-right', 'a-right'])
    expect(of([tree], 's.c.3').lastLoopId).toBe('s.c.3')
    expect(() => of([tree], 'none')).toThrow(expect.objectContaining({ code: 'notFound' }))
  })

  it('begins anew where it was replaced, with the state that goes with it', () => {
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

  it('collects what was compacted, pruned and reverted on the way', () => {
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

  it('goes on from the branch that was chosen', () => {
    const { isSelected: _, ...chosen } = group(['s.c.2', 's.c.3'], 's.c.2', 's.c.2')
    const choice: NewSessionRecord = { loopId: 's.parallel.1', entry: { type: 'parallelGroup', group: chosen } }
    expect(of([[...tree.slice(0, 15), choice]]).lastLoopId).toBe('s.c.2')
  })

  it('ends where parents go round in a circle', () => {
    const circle = [...talk('x', 'x', 'y'), ...talk('y', 'y', 'x')]
    expect(ids(of([circle]).messages)).toEqual(['u-x', 'a-x', 'u-y', 'a-y'])
  })

  it('of an empty log is empty', () => {
    expect(of([[]])).toMatchObject({ agentId: 'a', messages: [], loopCounts: {}, state: {} })
    expect(of([[]])).not.toHaveProperty('lastLoopId')
  })

  it('is that of a stored tree too', () => {
    const stored = session([
      loop('s.c.1', { messages: [user('u'), answer('x')] }),
      loop('s.c.2', { parentLoopId: 's.c.1', messages: [user('v')] }),
    ])
    expect(ids(snapshotOf(log(recordsOf(stored)), { sessionId: 's' }).messages)).toEqual(['u', 'x', 'v'])
  })
})

describe('what goes on from there', () => {
  it('counts loops per configuration, so that no id is used twice', () => {
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

  it('has the settings of the last loop', () => {
    expect(of([talk('s.c.1', 'x')]).settings).toEqual({ systemPrompt: '', thinking: 'low', temperature: 0.5, configId: 'c' })
    expect(of([[]]).settings).toEqual({ systemPrompt: '', thinking: 'off' })
  })

  it('an agent goes on with it: it sees the whole history, under a new loop id', async () => {
    const model = scripted([{ text: 'next' }])
    const agent = new Agent({ model, configId: 'c' })
    agent.restore(of([talk('s.c.1', 'x')]))
    const run = await agent.prompt('more').result
    expect(run.loopId).toBe('s.c.2')
    expect(model.provider.requests[0]?.messages).toHaveLength(3)
  })
})

describe('calls that the process did not finish', () => {
  const asked = (...more: SessionEntry[]) =>
    entries('s.c.1', loopStart(), turnStart, input(user('u')), assistant(answer('x', ['c1', 'c2', 'c3'])), ...more)

  it('that had begun get an error result that says that nobody knows, right after the other results', () => {
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

  it('that are idempotent, or had not begun, stay open, and a mark says so', () => {
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

  it('are as before once what was made up is recorded', () => {
    const records = asked(intent('c1'), intent('c2', true), intent('c3'), toolResult(result('c3')))
    const first = of([records])
    const recovered = entries('s.c.1', { type: 'recovered', messages: first.unfinished.recovered })
    const again = of([records, recovered])
    expect(again.messages).toEqual(first.messages)
    expect(again.unfinished).toEqual({ recovered: [], rerun: ['c2'] })
  })

  it('may be cut off a second time while they run again', () => {
    const records = asked(intent('c1', true), intent('c2'), toolResult(result('c2')), intent('c3', true))
    const recovered = entries('s.c.1', { type: 'recovered', messages: of([records]).unfinished.recovered })
    const rerun = entries('s.c.2', loopStart('s.c.1'), turnStart, intent('c1', true), toolResult(result('c1')), intent('c3', true))
    const { messages, unfinished } = of([records, [...recovered, ...rerun]])
    expect(unfinished).toEqual({ recovered: [], rerun: ['c3'] })
    expect(messages.at(-1)?.id).toBe('r-c1')
  })

  it('that wait for an approval go on waiting, unless they had begun after one', () => {
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

  it('are over where their loop ended, where somebody has spoken since, and where the answer failed', () => {
    expect(of([asked(intent('c1'), loopEnd)]).unfinished.recovered).toEqual([])
    expect(of([asked(intent('c1'), input(user('v')))]).unfinished.recovered).toEqual([])
    for (const stopReason of ['error', 'aborted'] as const) {
      const failed = entries('s.c.1', loopStart(), input(user('u')), assistant(answer('x', ['c1'], { stopReason })))
      expect(of([failed]).unfinished).toEqual({ recovered: [], rerun: [] })
    }
  })

  it('are not run where the output limit may have cut them', () => {
    const cut = entries('s.c.1', loopStart(), input(user('u')), assistant(answer('x', ['c1', 'c2'], { stopReason: 'length' })))
    expect(of([cut]).unfinished.rerun).toEqual(['c1'])
  })

  it('count by answer: services give the same ids again', () => {
    const again = asked(
      intent('c1'),
      toolResult(result('c1')),
      toolResult(result('c2')),
      toolResult(result('c3')),
      assistant(answer('y', ['c1'])),
    )
    expect(of([again]).unfinished.rerun).toEqual(['c1'])
  })

  it('of a stored tree may all have begun', () => {
    const stored = session([loop('s.c.1', { status: 'interrupted', messages: [user('u'), answer('x', ['c1'])] })])
    const { unfinished } = snapshotOf(log(recordsOf(stored)), { sessionId: 's' })
    expect(unfinished.recovered).toMatchObject([{ role: 'toolResult', toolCallId: 'c1', isError: true }])
  })

  it('a run cut off after any record is a history in which every call that began has one result, and none twice', () => {
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
