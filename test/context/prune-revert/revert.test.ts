import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planPrune } from '../../../src/context/prune-revert/prune.ts'
import { renderNodes } from '../../../src/context/prune-revert/render-nodes.ts'
import { abandonedIds, activeNodeId, nextNodeId, planRevert, tagKindOf } from '../../../src/context/prune-revert/revert.ts'
import { heuristicTokenCounter } from '../../../src/context/tokens/estimate.ts'
import { type ContextState, defaultRevertPolicy, type RevertRecord } from '../../../src/contract/context/context-change.ts'
import { formatNodeId, parseNodeId } from '../../../src/contract/message/identity.ts'
import { type AgentMessage, extensionMessage, type LlmMessage } from '../../../src/contract/message/message.ts'
import { answer, brokenPairs, idsOf, numbered, result, user, without } from '../history.ts'

/** n0 to n6: two turns with calls, an answer. */
const history = numbered(
  user('ask'),
  answer('a0', ['c1', 'c2']),
  result('r1', 'c1'),
  result('r2', 'c2'),
  answer('a3', ['c4']),
  result('r4', 'c4'),
  answer('a5', ['c6']),
  result('r6', 'c6'),
)

function revert(messages: readonly AgentMessage[], targetNodeId: number, state: ContextState = {}, summary?: string) {
  const change = { type: 'revert' as const, category: 'failure' as const, targetNodeId, ...(summary !== undefined && { summary }) }
  return planRevert({ messages, state, change, turnIndex: 4 })
}

function applied(...args: Parameters<typeof revert>): RevertRecord {
  const planned = revert(...args)
  if ('refused' in planned) throw new Error(planned.refused)
  return planned.record
}

const sent = (messages: readonly AgentMessage[], reverts: readonly RevertRecord[]) =>
  idsOf(without(messages, abandonedIds(messages, reverts)))

const at = (turnIndex: number, policy = defaultRevertPolicy) => ({ policy, turnIndex })

describe('node ids', () => {
  it('formats ids as n12 and parses variants', () => {
    expect(formatNodeId(12)).toBe('n12')
    expect(['n12', '12', ' N12 ', '[n12]'].map(parseNodeId)).toEqual([12, 12, 12, 12])
    expect(['', 'n', 'twelve', '-1', '1.5', 'n12x', '[n12', 'n1 n2', `n${'9'.repeat(30)}`].map(parseNodeId)).toEqual(
      Array(9).fill(undefined),
    )
  })

  it('numbers nodes from 0 and continues after the highest id', () => {
    expect(nextNodeId([])).toBe(0)
    expect(nextNodeId([user('a'), extensionMessage('note', 1)])).toBe(0)
    expect(nextNodeId(history)).toBe(7)
    expect(nextNodeId([...history].reverse())).toBe(7)
    expect(nextNodeId([...history, user('no number')])).toBe(7)
  })
})

describe('planRevert', () => {
  it('stores a tag with the abandoned branch, and keeps the history', () => {
    const before = structuredClone(history)
    const record = applied(history, 4, {}, 'The port was wrong.')
    const abandonedNodeIds = [5, 6]
    expect(record).toMatchObject({
      category: 'failure',
      targetNodeId: 4,
      abandonedNodeIds,
      tag: { kind: 'lesson', text: 'The port was wrong.', createdAtTurn: 4, abandonedNodeIds },
    })
    expect(history).toEqual(before)
    expect(applied(history, 4).tag.text).toBe('')
  })

  it('stores the tag kind that matches the revert category', () => {
    expect((['failure', 'tangent', 'completion', 'stepSummary'] as const).map(tagKindOf)).toEqual([
      'lesson',
      'finding',
      'outcome',
      'checkpoint',
    ])
  })

  it('keeps all results of the response that contains the target', () => {
    for (const target of [0, 1, 2]) {
      const record = applied(history, target)
      expect(record).toMatchObject({ targetNodeId: 2, abandonedNodeIds: [3, 4, 5, 6] })
      expect(sent(history, [record])).toEqual(['ask', 'a0', 'r1', 'r2'])
    }
  })

  it('rejects an unknown target', () => {
    expect(revert(history, 9)).toEqual({ refused: 'revert target n9 not found in message history' })
    expect(revert([], 0)).toHaveProperty('refused')
  })

  it('refuses to revert past a user message', () => {
    const refused = 'revert refused: abandoned span contains a user message; auto-rebase is not implemented'
    expect(revert([...history, user('steer', { nodeId: 7, parentId: 6 })], 4)).toEqual({ refused })
    expect(revert([...history, user('next prompt')], 4)).toEqual({ refused })
    expect(revert([...history, extensionMessage('note', 1)], 4)).toHaveProperty('record')
  })

  it('rejects a target that an earlier revert abandoned', () => {
    const reverts = [applied(history, 4)]
    expect(revert(history, 6, { reverts })).toEqual({ refused: 'revert refused: n6 was abandoned by an earlier revert' })
  })

  it('rejects a target before the end of a compaction', () => {
    const overlay = {
      id: 'o',
      createdAt: 1,
      loopId: 'l',
      keepFirst: { firstId: 'ask', lastId: 'r2', turns: 1 },
      keepCompacted: { range: { firstId: 'a3', lastId: 'r4', turns: 1 }, messages: [user('summary')] },
    }
    for (const target of [0, 2, 3, 4])
      expect(revert(history, target, { overlay })).toEqual({ refused: expect.stringContaining('compacted') })
    expect(revert(history, 5, { overlay })).toHaveProperty('record')
  })
})

describe('the active trunk', () => {
  it('returns the whole history without reverts', () => {
    expect(abandonedIds(history, []).size).toBe(0)
    expect(activeNodeId([user('a')], [])).toBeUndefined()
    expect(activeNodeId(history, [])).toBe(6)
  })

  it('omits the abandoned branch and continues from the target', () => {
    const record = applied(history, 4)
    expect(activeNodeId(history, [record])).toBe(4)
    const more = [...history, user('steer', { nodeId: 7, parentId: 4 }), answer('a8', [], { nodeId: 8, parentId: 7 })]
    expect(activeNodeId(more, [record])).toBe(8)
    expect(sent(more, [record])).toEqual(['ask', 'a0', 'r1', 'r2', 'a3', 'r4', 'steer', 'a8'])
  })

  it('supports two reverts in one turn', () => {
    const first = applied(history, 4)
    const second = applied(history, 2, { reverts: [first] })
    expect(second.abandonedNodeIds).toEqual([3, 4])
    expect(activeNodeId(history, [first, second])).toBe(2)
    expect(sent(history, [first, second])).toEqual(['ask', 'a0', 'r1', 'r2'])
  })

  it('assigns unnumbered messages to their successor, and keeps trailing ones', () => {
    const record = applied([...history, answer('plain'), answer('a7', [], { nodeId: 7, parentId: 6 })], 4)
    const more = [...history, answer('plain'), answer('a7', [], { nodeId: 7, parentId: 6 }), user('prompt'), answer('after')]
    expect(sent(more, [record])).toEqual(['ask', 'a0', 'r1', 'r2', 'a3', 'r4', 'prompt', 'after'])
  })

  it('keeps extension messages', () => {
    const note = extensionMessage('note', 1)
    const messages = [...history.slice(0, 7), note, ...history.slice(7)]
    expect(sent(messages, [applied(messages, 4)])).toContain(note.id)
  })

  it('keeps a late result with its call', () => {
    const late = result('late', 'c6', { nodeId: 7, parentId: 4 })
    const messages = [...history.slice(0, 7), late]
    expect(sent(messages, [applied(history.slice(0, 7), 4)])).toEqual(['ask', 'a0', 'r1', 'r2', 'a3', 'r4'])
  })

  it('stops at a cycle or missing parent without losing messages', () => {
    const record = { ...applied(history, 4), abandonedNodeIds: [5, 6] }
    const broken = (parentId: number) => history.map((message) => (message.id === 'r2' ? { ...message, parentId } : message))
    for (const parentId of [4, 2, 77]) expect(sent(broken(parentId), [record])).toEqual(idsOf(history).slice(0, 6))
  })

  it('keeps all messages that no revert names if the target is missing', () => {
    const record = { ...applied(history, 4), targetNodeId: -7 }
    expect(sent(history, [record])).toEqual(idsOf(history).slice(0, 6))
    expect(abandonedIds(history, [{ ...record, abandonedNodeIds: [99] }]).size).toBe(0)
  })

  it('handles a compacted history', () => {
    const record = applied(history, 4)
    const left = [...history.slice(0, 2), user('summary'), ...history.slice(6), answer('a8', [], { nodeId: 7, parentId: 4 })]
    expect(sent(left, [record])).toEqual(['ask', 'a0', 'summary', 'a8'])
    expect(sent(left.slice(0, -1), [record])).toEqual(['ask', 'a0', 'summary'])
  })

  it('uses the target itself if the revert also abandons it', () => {
    const record = { ...applied(history, 4), abandonedNodeIds: [4, 5, 6] }
    expect(activeNodeId(history, [record])).toBe(4)
  })

  it('honors tags on messages, as Rust sessions store them', () => {
    const tags = [{ kind: 'lesson' as const, text: 'x', createdAtTurn: 1, abandonedNodeIds: [5, 6] }]
    const messages = history.map((message) => (message.id === 'r4' ? { ...message, tags } : message))
    expect(activeNodeId(messages, [])).toBe(4)
    expect(sent(messages, [])).toEqual(idsOf(history).slice(0, 6))
  })
})

/** One step of a random run: a turn with calls, words of the user, or a change asked for by the turn before it. */
type Step = { type: 'turn'; calls: number } | { type: 'user' } | { type: 'prune'; tokens: number } | { type: 'revert'; back: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('turn' as const), calls: fc.nat(3) }) },
  fc.constant({ type: 'user' as const }),
  fc.record({ type: fc.constant('prune' as const), tokens: fc.integer({ min: 1, max: 60 }) }),
  { weight: 2, arbitrary: fc.record({ type: fc.constant('revert' as const), back: fc.nat(8) }) },
)

/** A run in revert mode, as the loop numbers and derives it. */
class Run {
  messages: AgentMessage[] = [user('prompt')]
  state: ContextState = {}
  #turn = 0

  take(next: Step): void {
    if (next.type === 'turn') this.#addTurn(next.calls)
    else if (next.type === 'user') this.#add(user(`u${this.messages.length}`))
    else if (next.type === 'prune') this.#prune(next.tokens)
    else this.#revert(next.back)
  }

  get sent(): AgentMessage[] {
    const { prunes = [], reverts = [] } = this.state
    const gone = new Set([...prunes.flatMap((record) => record.messageIds), ...abandonedIds(this.messages, reverts)])
    return without(this.messages, gone)
  }

  get view(): readonly AgentMessage[] {
    return renderNodes(this.sent, this.state, at(this.#turn))
  }

  #addTurn(calls: number): void {
    this.#turn += 1
    // Ids repeat over turns, as some services have it.
    const ids = Array.from({ length: calls }, (_, index) => `c${index}`)
    this.#add(answer(`a${this.messages.length}`, ids))
    for (const id of ids) this.#add(result(`r${this.messages.length}`, id))
  }

  #add(message: LlmMessage): void {
    const parentId = activeNodeId(this.messages, this.state.reverts ?? [])
    const nodeId = nextNodeId(this.messages)
    const turnId = { loopId: 'l', turnIndex: this.#turn }
    this.messages.push({ ...message, turnId, nodeId, ...(parentId !== undefined && { parentId }) })
  }

  #prune(tokens: number): void {
    const currentTurn = { loopId: 'l', turnIndex: this.#turn }
    const record = planPrune({ view: this.view, tokens, currentTurn, state: this.state, counter: heuristicTokenCounter })
    if (record !== undefined) this.state = { ...this.state, prunes: [...(this.state.prunes ?? []), record] }
  }

  #revert(back: number): void {
    const change = { type: 'revert' as const, category: 'tangent' as const, targetNodeId: nextNodeId(this.messages) - 1 - back }
    const planned = planRevert({ messages: this.messages, state: this.state, change, turnIndex: this.#turn })
    if ('record' in planned) this.state = { ...this.state, reverts: [...(this.state.reverts ?? []), planned.record] }
  }
}

function expectSame(view: readonly AgentMessage[], before: readonly AgentMessage[]): void {
  for (const [index, message] of before.entries()) expect(view[index]).toBe(message)
}

describe('random runs with prunes and reverts', () => {
  it('keeps call-result pairs, user text and object identity', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const run = new Run()
        let last: { view: readonly AgentMessage[]; state: ContextState } | undefined
        for (const next of steps) {
          run.take(next)
          const { sent: list, view, state } = run
          expect(brokenPairs(list)).toEqual([])
          expect(list.filter((message) => message.role === 'user')).toEqual(run.messages.filter((message) => message.role === 'user'))
          expect(idsOf(view)).toEqual(idsOf(list))
          // Without a change of state, tags that decay are the only reason for a new copy.
          const tagged = (state.reverts ?? []).length > 0
          if (last?.state === state && !tagged) expectSame(view, last.view)
          view.forEach((message, index) => {
            if (message.role === 'assistant') expect(message).toBe(list[index])
          })
          expectSame(run.view, view)
          last = { view, state }
        }
        const gone = abandonedIds(run.messages, run.state.reverts ?? [])
        const named = new Set(run.state.reverts?.flatMap((record) => record.abandonedNodeIds))
        for (const message of run.messages) {
          if (message.role !== 'extension' && message.nodeId !== undefined) expect(gone.has(message.id)).toBe(named.has(message.nodeId))
        }
      }),
      { numRuns: 500 },
    )
  })
})
