import { describe, expect, it } from 'vitest'
import { planPrune } from '../../../src/context/prune-revert/prune.ts'
import { heuristicTokenCounter, messageTokens, totalTokens } from '../../../src/context/tokens/estimate.ts'
import type { ContextState } from '../../../src/contract/context/context-change.ts'
import type { AgentMessage } from '../../../src/contract/message/message.ts'
import { answer, idsOf, result, user } from '../history.ts'

const turn = (turnIndex: number, loopId = 'l') => ({ turnId: { loopId, turnIndex } })

/** Two turns with calls, and the one that asks for the prune. */
const history = [
  user('ask', turn(0)),
  answer('a1', ['c1', 'c2'], turn(0)),
  result('r1', 'c1', turn(0), 400),
  result('r2', 'c2', turn(0), 400),
  user('steer', turn(1)),
  answer('a2', ['c3'], turn(1)),
  result('r3', 'c3', turn(1), 800),
  answer('a3', ['c4'], turn(2)),
  result('r4', 'c4', turn(2)),
]

function prune(view: readonly AgentMessage[], tokens: number, options: { memo?: string; state?: ContextState; turnIndex?: number } = {}) {
  const { memo, state = {}, turnIndex = 2 } = options
  const currentTurn = { loopId: 'l', turnIndex }
  return planPrune({ view, tokens, currentTurn, state, counter: heuristicTokenCounter, ...(memo !== undefined && { memo }) })
}

describe('planPrune', () => {
  it('removes whole responses with results, newest first, except the current turn', () => {
    expect(prune(history, 1)?.messageIds).toEqual(['a2', 'r3'])
    const both = prune(history, 10_000)
    expect(both?.messageIds).toEqual(['a1', 'r1', 'r2', 'a2', 'r3'])
    expect(both?.tokensRemoved).toBe(totalTokens(history.filter((message) => both?.messageIds.includes(message.id))))
  })

  it('stops once enough tokens are removed', () => {
    const newest = history.slice(5, 7).reduce((sum, message) => sum + messageTokens(message), 0)
    expect(prune(history, newest)?.messageIds).toEqual(['a2', 'r3'])
    expect(prune(history, newest + 1)?.messageIds).toEqual(['a1', 'r1', 'r2', 'a2', 'r3'])
  })

  it('keeps user messages, and returns undefined if nothing is left', () => {
    expect(prune([user('a'), user('b'), user('c', turn(1))], 100)).toBeUndefined()
    expect(prune(history.slice(7), 100)).toBeUndefined()
    expect(prune(history, 0)).toBeUndefined()
  })

  it('groups a response without calls or without a turn by itself', () => {
    expect(prune([user('a'), answer('b'), user('c'), answer('d'), ...history.slice(7)], 1)?.messageIds).toEqual(['d'])
  })

  it('distinguishes equal turn numbers of different loops', () => {
    const view = [user('a', turn(2, 'old')), answer('b', [], turn(2, 'old')), ...history.slice(7)]
    expect(prune(view, 1)?.messageIds).toEqual(['b'])
  })

  it('skips messages that are already pruned', () => {
    const first = prune(history, 1)
    const state = { prunes: first === undefined ? [] : [first] }
    expect(prune(history, 1, { state })?.messageIds).toEqual(['a1', 'r1', 'r2'])
  })

  it('stores a memo with content', () => {
    expect(prune(history, 1, { memo: 'JWT, one hour' })).toMatchObject({ memo: 'JWT, one hour' })
    expect(prune(history, 1, { memo: ' ' })).not.toHaveProperty('memo')
    expect(prune(history, 1)).not.toHaveProperty('memo')
  })

  it('keeps messages that a compaction retained', () => {
    const summary = user('summary')
    const overlay = {
      id: 'o',
      createdAt: 1,
      loopId: 'l',
      keepFirst: { firstId: 'ask', lastId: 'r2', turns: 1 },
      keepCompacted: { range: { firstId: 'x', lastId: 'z', turns: 3 }, messages: [summary] },
    }
    const view = [...history.slice(0, 4), summary, ...history.slice(4)]
    expect(prune(view, 10_000, { state: { overlay } })?.messageIds).toEqual(['a2', 'r3'])
    const keepRecent = { range: { firstId: 'steer', lastId: 'r3', turns: 1 }, messages: history.slice(4, 7) }
    expect(prune(view, 10_000, { state: { overlay: { ...overlay, keepRecent } } })).toBeUndefined()
  })

  it('keeps pending calls, failed responses and orphaned results', () => {
    const failed = { ...answer('failed'), stopReason: 'error' as const }
    const view = [user('ask'), answer('waits', ['p1', 'p2']), result('half', 'p1'), failed, result('orphan', 'zz'), ...history.slice(7)]
    expect(prune(view, 10_000)).toBeUndefined()
  })

  it('assigns a result from the current turn and its call to that turn', () => {
    const view = [user('ask'), answer('a1', ['c1'], turn(0)), result('r1', 'c1', turn(2)), ...history.slice(7)]
    expect(prune(view, 10_000)).toBeUndefined()
  })

  it('assigns a result to the latest call with its id', () => {
    const view = [user('ask'), answer('a1', ['c']), result('r1', 'c'), answer('a2', ['c']), result('r2', 'c')]
    expect(prune(view, 1)?.messageIds).toEqual(['a2', 'r2'])
    expect(prune(view, 10_000)?.messageIds).toEqual(idsOf(view).slice(1))
  })
})
