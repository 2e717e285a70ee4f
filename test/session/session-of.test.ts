import { describe, expect, it } from 'vitest'
import type { LoopRecord, Session } from '../../src/contract/session/session.ts'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { EventRecorder } from '../../src/rust.ts'
import { childrenOf, recordsOf, sessionOf, sharedStatesOf } from '../../src/session.ts'
import type { JournalRecord } from '../../src/types/session/journal.ts'
import type { NewSessionRecord } from '../../src/types/session/session-store.ts'
import { add } from '../support/play.ts'
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
  usageOf,
  user,
} from './tree.ts'

const formation = { type: 'firstLoop' as const, at: 5 }
const opening = { type: 'sessionStart' as const, agentId: 'a', formation, scope: 'persistent' as const }
const begin: NewSessionRecord = { entry: opening }
const ids = (messages: readonly { id: string }[]) => messages.map(({ id }) => id)

/** The records that one loop leaves: a prompt, a call, its result, an answer. */
const wholeLoop = entries(
  's.c.1',
  loopStart(),
  turnStart,
  input(user('u')),
  assistant(answer('call', ['c1'])),
  intent('c1'),
  toolResult(result('c1')),
  { type: 'turnStart', triggeredBy: 'continuation' },
  assistant(answer('last')),
  loopEnd,
)

function onlyLoop(tree: Session): LoopRecord {
  const [first] = tree.loops
  if (first === undefined || tree.loops.length > 1) throw new Error(`${tree.loops.length} loops`)
  return first
}

describe('sessionOf', () => {
  it("equals the session built from the run's events, without the events", async () => {
    const journalled: JournalRecord[] = []
    const model = scripted([{ toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'three' }, { text: 'again' }])
    const agent = new Agent({ model, tools: [add], journal: { append: async (record) => void journalled.push(record) } })
    const recorder = new EventRecorder()
    agent.subscribe((event) => recorder.accept(event))
    await agent.prompt('go').result
    await agent.prompt('more').result
    const records = journalled.map(({ entry, loopId, turnIndex, at }) => ({ entry, loopId, turnIndex, at }))
    const tree = sessionOf(log([{ entry: { ...opening, agentId: agent.agentId } }, ...records]), agent.sessionId)
    const [heard] = recorder.sessions()
    expect(withoutTimes(tree.loops)).toEqual(withoutTimes(heard?.loops ?? []))
    expect(tree.loops).toHaveLength(2)
  })

  it('restores header, times and turns', () => {
    const tree = sessionOf(log([begin, ...wholeLoop]), 's')
    expect(tree).toMatchObject({ sessionId: 's', agentId: 'a', createdAt: 10, lastActiveAt: 20, formation, scope: 'persistent' })
    const record = onlyLoop(tree)
    expect(record).toMatchObject({ status: 'completed', startedAt: 20, endedAt: 100, usage: usageOf(5), agentId: 'a', events: [] })
    expect(ids(record.messages)).toEqual(['u', 'call', 'r-c1', 'last'])
    expect(
      record.turns.map((turn) => [turn.turnId.turnIndex, ids(turn.inputMessages), turn.outputMessage?.id, ids(turn.toolResults)]),
    ).toEqual([
      [0, ['u'], 'call', ['r-c1']],
      [0, [], 'last', []],
    ])
    expect(record.turns.map(({ startedAt, endedAt }) => [startedAt, endedAt])).toEqual([
      [30, 70],
      [80, 90],
    ])
  })

  it('orders results by their calls, including those of an earlier loop', () => {
    const asked = entries(
      's.c.1',
      loopStart(),
      input(user('u')),
      assistant(answer('call', ['c1', 'c2', 'c3'])),
      toolResult(result('c3')),
      toolResult(result('c1')),
      loopEnd,
    )
    const resumed = entries(
      's.c.2',
      loopStart('s.c.1'),
      toolResult(result('c3')),
      toolResult(result('c2')),
      toolResult(result('none')),
      loopEnd,
    )
    const tree = sessionOf(log([begin, ...asked, ...resumed]), 's')
    expect(tree.loops.map((record) => ids(record.messages))).toEqual([
      ['u', 'call', 'r-c1', 'r-c3'],
      ['r-c2', 'r-c3', 'r-none'],
    ])
  })

  it("separates loop-generated messages from the turn's input", () => {
    const notice = { role: 'extension' as const, id: 'n', kind: 'k', data: null }
    const records = entries('s.c.1', loopStart(), turnStart, input(user('u')), assistant(answer('x')), input(notice), loopEnd)
    const record = onlyLoop(sessionOf(log([begin, ...records]), 's'))
    expect(ids(record.messages)).toEqual(['u', 'x', 'n'])
    expect(record.turns.map((turn) => ids(turn.inputMessages))).toEqual([['u']])
  })

  it('restores context changes, sub-agents, requests and history changes', () => {
    const range = { firstId: 'u', lastId: 'u', turns: 1 }
    const overlay = { id: 'o', createdAt: 1, loopId: 's.c.1', keepCompacted: { range, messages: [] } }
    const prune = { id: 'p', at: 1, messageIds: ['x'], tokensRemoved: 1 }
    const tag = { kind: 'lesson' as const, text: 't', createdAtTurn: 1, abandonedNodeIds: [2] }
    const revert = { id: 'r', at: 1, category: 'failure' as const, targetNodeId: 1, abandonedNodeIds: [2], tag }
    const ref = { toolCallId: 'c1', toolName: 'sub', childLoopId: 'k.sub.1', childSessionId: 'k' }
    const request = {
      systemPrompt: '',
      messages: [],
      provenance: [],
      tools: [],
      modelId: 'm',
      provider: 'p',
      api: 'openAiCompletions',
      thinkingLevel: 'off',
    } as const
    const records = entries(
      's.c.1',
      loopStart(),
      { type: 'history', messages: [user('old')], state: { overlay } },
      turnStart,
      { type: 'turnRequest', request: { ...request, messages: [], provenance: [], tools: [] } },
      assistant(answer('x')),
      { type: 'compaction', overlay },
      { type: 'prune', record: prune },
      { type: 'prune', record: { ...prune, id: 'q' } },
      { type: 'revert', record: revert },
      { type: 'childLoop', ref },
      { type: 'childLoop', ref },
      loopEnd,
    )
    const record = onlyLoop(sessionOf(log([begin, ...records]), 's'))
    expect(record).toMatchObject({ overlay, prunes: [prune, { id: 'q' }], reverts: [revert], childLoopRefs: [ref] })
    expect(record.base).toEqual({ messages: [user('old')], state: { overlay } })
    expect(record.turns[0]?.requestPayload).toEqual(request)
  })

  it('links loops to their parents and branches to their group', () => {
    const branches = ['l', 'r'].flatMap((id) => entries(id, loopStart('root'), loopEnd))
    const { isSelected: _, ...chosen } = group(['l', 'r'], 'r', 'r')
    const choice: NewSessionRecord = { loopId: 's.parallel.1', entry: { type: 'parallelGroup', group: chosen } }
    const tree = sessionOf(log([begin, ...entries('root', loopStart(), loopEnd), ...branches, choice]), 's')
    expect(tree.loops.map((record) => [record.loopId, record.childrenLoopIds])).toEqual([
      ['root', ['l', 'r']],
      ['l', []],
      ['r', []],
    ])
    expect(ids(childrenOf(tree, 'root').map(({ loopId }) => ({ id: loopId })))).toEqual(['l', 'r'])
    expect(tree.loops.map((record) => record.parallelGroup)).toEqual([undefined, group(['l', 'r'], 'r', 'l'), group(['l', 'r'], 'r', 'r')])
  })

  describe('sessionOf for an unfinished loop', () => {
    const cut = wholeLoop.slice(0, 5)

    it('reports status running until a newer writer exists', () => {
      const record = onlyLoop(sessionOf(log([begin, ...cut]), 's'))
      expect([record.status, record.endedAt, record.usage]).toEqual(['running', undefined, usageOf(1)])
    })

    it('reports status interrupted after a newer writer and omits the partial turn', () => {
      const next = entries('s.c.2', loopStart('s.c.1'))
      const [record] = sessionOf(log([begin, ...cut], next), 's').loops
      expect(record).toMatchObject({ status: 'interrupted', endedAt: 60, turns: [] })
      expect(ids(record?.messages ?? [])).toEqual(['u', 'call'])
    })

    it('includes the last turn once its calls have results', () => {
      const running = onlyLoop(sessionOf(log([begin, ...wholeLoop.slice(0, 6)]), 's'))
      expect(running.turns).toHaveLength(1)
      const recovered = entries('s.c.1', { type: 'recovered', messages: [result('c1', 'made up')] })
      const record = onlyLoop(sessionOf(log([begin, ...cut], recovered), 's'))
      expect(record).toMatchObject({ status: 'interrupted', endedAt: 60 })
      expect(ids(record.turns[0]?.toolResults ?? [])).toEqual(['made up'])
    })
  })

  it('ignores unknown records and missing data', () => {
    const unknown: NewSessionRecord[] = log([begin]).map((record) => ({ ...record, entry: { type: 'recovered', messages: [] } }))
    expect(sessionOf([], 's')).toEqual(
      session([], { agentId: '', createdAt: 0, lastActiveAt: 0, formation: { type: 'firstLoop', at: 0 }, scope: 'persistent' }),
    )
    expect(sessionOf(log(unknown), 's').loops).toEqual([])
    const strange = log([begin, ...wholeLoop]).map((record, at) =>
      at === 4 ? { ...record, entry: { type: 'unknown' as const, name: 'new', body: {} } } : record,
    )
    expect(ids(onlyLoop(sessionOf(strange, 's')).messages)).toEqual(['u', 'r-c1', 'last'])
  })

  it('does not modify the given records', () => {
    const records = log([begin, ...wholeLoop])
    const before = structuredClone(records)
    sessionOf(records, 's')
    expect(records).toEqual(before)
  })

  it('runs in linear time on a long log', () => {
    const turns = Array.from({ length: 40_000 }, (_, at) => [turnStart, input(user(`u${at}`)), assistant(answer(`a${at}`))])
    const record = onlyLoop(sessionOf(log([begin, ...entries('s.c.1', loopStart(), ...turns.flat(), loopEnd)]), 's'))
    expect([record.turns.length, record.messages.length]).toEqual([40_000, 80_000])
  })
})

describe('recordsOf', () => {
  const spawn = { parentSessionId: 'p', parentLoopId: 'p.c.1', toolCallId: 'c1', toolName: 'sub' }
  const full = session(
    [
      loop('s.c.1', { messages: [user('u'), answer('x')], usage: usageOf(2), childrenLoopIds: ['s.c.2'], metadata: { ticket: 1 } }),
      loop('s.c.2', { parentLoopId: 's.c.1', status: 'interrupted', parallelGroup: group(['s.c.2'], 's.c.2', 's.c.2') }),
      loop('s.c.3', { agentId: 'another', status: 'pending', config: { model: 'm' }, base: { messages: [user('old')], state: {} } }),
    ],
    { parentSpawnRef: spawn, lastActiveAt: 9999, scope: 'persistent' },
  )

  it('round-trips any session', () => {
    expect(sessionOf(log(recordsOf(full)), 's')).toEqual(full)
    const odd = Object.assign(structuredClone(full), { future: { a: 1 } })
    expect(sessionOf(log(recordsOf(odd)), 's')).toEqual(odd)
    expect(sessionOf(log(recordsOf(session([]))), 's')).toEqual(session([]))
  })

  it('omits events from the records', () => {
    const tree = sessionOf(log(recordsOf(session([loop('l', { events: [{ sequence: 0, event: JSON.parse('{}') }] })]))), 's')
    expect(tree.loops).toEqual([loop('l')])
  })

  it('returns a log that can continue without changing the source session', () => {
    const before = structuredClone(full)
    const tree = sessionOf(log(recordsOf(full), entries('s.c.4', loopStart('s.c.2'), input(user('v')), loopEnd)), 's')
    expect(tree.loops[1]?.childrenLoopIds).toEqual(['s.c.4'])
    expect(tree.lastActiveAt).toBe(50)
    expect(full).toEqual(before)
  })
})

/** Two clocks are read: when an event is reported and when it is recorded. */
function withoutTimes(loops: readonly LoopRecord[]): unknown {
  return loops.map((record) => ({
    ...record,
    startedAt: 0,
    endedAt: 0,
    events: [],
    turns: record.turns.map((turn) => ({ ...turn, startedAt: 0, endedAt: 0 })),
  }))
}

it('uses the first record as the start if the header is missing', () => {
  const at = 1234
  const records = wholeLoop.map((record) => ({ ...record, at }))
  expect(sessionOf(log(records), 's')).toMatchObject({ createdAt: at, formation: { type: 'firstLoop', at } })
})

describe('shared state in a log', () => {
  const change = (version: number, what: object): NewSessionRecord => ({
    entry: { type: 'sharedState', version, by: 'tool', ...what },
  })

  it('applies each change to the last full value', () => {
    const records = log([
      begin,
      change(0, { value: { old: true } }),
      change(1, { value: { list: ['a'] } }),
      change(2, { patch: [{ op: 'add', path: '/list/1', value: 'b' }] }),
      change(3, { patch: [{ op: 'add', path: '/done', value: true }] }),
    ])
    expect(sessionOf(records, 's').sharedState).toEqual({ version: 3, value: { list: ['a', 'b'], done: true } })
  })

  it('saves shared state as a change by the application', async () => {
    const sharedState = { version: 4, value: { list: ['a'] } }
    const saved = session([loop('s.c.1')], { sharedState })
    const store = memorySessionStore()
    await store.save(saved)
    expect((await store.load('s')).sharedState).toEqual(sharedState)
    expect(sharedStatesOf((await store.tail('s')).records)).toMatchObject([{ by: 'application', version: 4 }])
  })
})
