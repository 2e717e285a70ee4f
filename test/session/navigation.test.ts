import { describe, expect, it } from 'vitest'
import type { LoopRecord, LoopStatus } from '../../src/contract/session/session.ts'
import { type LedgerStatus, toLedgerStatus } from '../../src/rust.ts'
import { childrenOf, getLoop, loopChainTo, parallelSiblings, rootLoops, totalUsage } from '../../src/session.ts'
import { group, loop, session, usageOf } from './tree.ts'

const ids = (loops: readonly LoopRecord[]) => loops.map((record) => record.loopId)

/** root → (left | right) → last, with the branches in one group, and a loop whose parent is elsewhere. */
const tree = session([
  loop('root', { usage: usageOf(1) }),
  loop('left', { parentLoopId: 'root', usage: usageOf(10), parallelGroup: group(['left', 'right'], 'right', 'left') }),
  loop('right', { parentLoopId: 'root', usage: usageOf(100), parallelGroup: group(['left', 'right'], 'right', 'right') }),
  loop('last', { parentLoopId: 'right', usage: usageOf(1000) }),
  loop('stray', { parentLoopId: 'elsewhere' }),
])

describe('session tree navigation', () => {
  it('finds loops by id, roots, and children in start order', () => {
    expect(getLoop(tree, 'left')?.loopId).toBe('left')
    expect(getLoop(tree, 'none')).toBeUndefined()
    expect(ids(rootLoops(tree))).toEqual(['root', 'stray'])
    expect(ids(childrenOf(tree, 'root'))).toEqual(['left', 'right'])
    expect(childrenOf(tree, 'last')).toEqual([])
  })

  it('returns the branches of a group in configuration order', () => {
    expect(ids(parallelSiblings(tree, 'right'))).toEqual(['left', 'right'])
    expect(parallelSiblings(tree, 'right').find((record) => record.parallelGroup?.isSelected)?.loopId).toBe('right')
    expect(parallelSiblings(tree, 'root')).toEqual([])
    expect(parallelSiblings(tree, 'none')).toEqual([])
  })

  it('omits branches that never started', () => {
    const lonely = session([loop('a', { parallelGroup: group(['a', 'b'], 'a', 'a') })])
    expect(ids(parallelSiblings(lonely, 'a'))).toEqual(['a'])
  })

  it('returns the chain from the root to a loop through selected branches', () => {
    expect(loopChainTo(tree, 'last')).toEqual(['root', 'right', 'last'])
    expect(loopChainTo(tree, 'stray')).toEqual(['stray'])
    expect(loopChainTo(tree, 'none')).toEqual([])
  })

  it('stops at a cycle of parents', () => {
    expect(loopChainTo(session([loop('a', { parentLoopId: 'a' })]), 'a')).toEqual(['a'])
    const circle = session([loop('a', { parentLoopId: 'b' }), loop('b', { parentLoopId: 'a' }), loop('c', { parentLoopId: 'a' })])
    expect(loopChainTo(circle, 'c')).toEqual(['b', 'a', 'c'])
    expect(rootLoops(circle)).toEqual([])
  })

  it('sums the usage of all loops', () => {
    expect(totalUsage(tree)).toEqual(usageOf(1111))
    expect(totalUsage(session([]))).toEqual(usageOf(0))
  })
})

describe('toLedgerStatus', () => {
  it.each<[LoopStatus, LedgerStatus]>([
    ['pending', 'Pending'],
    ['running', 'Running'],
    ['completed', 'Completed'],
    ['limit', 'Completed'],
    ['paused', 'Completed'],
    ['rejected', 'Rejected'],
    ['error', 'Aborted'],
    ['aborted', 'Aborted'],
    ['interrupted', 'Aborted'],
  ])('converts %s to %s', (status, word) => {
    expect(toLedgerStatus(status)).toBe(word)
  })
})
