import { describe, expect, it } from 'vitest'
import { deriveView } from '../../src/context.ts'
import type { CompactionOverlay, ContextState, PruneRecord } from '../../src/contract/context/context-change.ts'
import type { AgentMessage } from '../../src/contract/message/message.ts'
import { said } from './compaction/compacting.ts'
import { answer, idsOf, numbered, result, user } from './history.ts'

const span = (firstId: string, lastId: string, turns: number) => ({ firstId, lastId, turns })
const history = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => user(id))
const overlay: CompactionOverlay = {
  id: 'o',
  createdAt: 1,
  loopId: 'l',
  keepFirst: span('a', 'a', 1),
  keepCompacted: { range: span('b', 'c', 2), messages: [user('summary')] },
  keepRecent: { range: span('d', 'e', 2), messages: [user('d'), { ...user('e'), timestamp: 2 }] },
}
const prune = (messageIds: string[], memo?: string): PruneRecord => ({
  id: `p-${messageIds[0]}`,
  at: 5,
  messageIds,
  tokensRemoved: 1,
  ...(memo !== undefined && { memo }),
})
const sent = (messages: readonly AgentMessage[], state: ContextState): string[] => idsOf(deriveView(messages, state))

describe('a compaction overlay', () => {
  it('returns the history itself without an overlay', () => {
    expect(deriveView(history, {})).toBe(history)
  })

  it('replaces the covered messages and appends newer ones', () => {
    expect(sent(history, { overlay })).toEqual(['a', 'summary', 'd', 'e', 'f'])
    const view = deriveView(history, { overlay })
    expect(view[0]).toBe(history[0])
    expect(view[3]).toBe(overlay.keepRecent?.messages[1])
    expect(view[4]).toBe(history[5])
  })

  it('works without the covered messages in memory', () => {
    const [a, , , , , f] = history
    expect(a && f && sent([a, f], { overlay })).toEqual(['a', 'summary', 'd', 'e', 'f'])
    const bare: CompactionOverlay = { id: 'o', createdAt: 1, loopId: 'l', keepCompacted: overlay.keepCompacted }
    expect(sent(history.slice(3), { overlay: bare })).toEqual(['summary', 'd', 'e', 'f'])
    expect(sent(history, { overlay: bare })).toEqual(['summary', 'd', 'e', 'f'])
    expect(sent([], { overlay: bare })).toEqual(['summary'])
  })

  it('returns identical objects each time', () => {
    const [once, again] = [deriveView(history, { overlay }), deriveView(history, { overlay })]
    expect(once.every((message, at) => message === again[at])).toBe(true)
  })
})

describe('a prune', () => {
  const called = [user('u'), answer('a', ['c']), result('r', 'c'), answer('b', ['d']), result('s', 'd'), answer('e')]

  it('omits pruned messages', () => {
    expect(sent(called, { prunes: [prune(['a', 'r'])] })).toEqual(['u', 'b', 's', 'e'])
  })

  it('puts one memo at the earliest pruned message', () => {
    const state = { prunes: [prune(['b', 's', 'a', 'r'], 'looked around')] }
    const view = deriveView(called, state)
    expect(idsOf(view)).toEqual(['u', 'p-b', 'e'])
    expect(view[1]).toMatchObject({ role: 'assistant', timestamp: 5 })
    expect(said(view[1])).toBe('[Pruned context summary: looked around]')
    expect(deriveView(called, state)[1]).toBe(view[1])
  })

  it('keeps a separate memo per record', () => {
    const prunes = [prune(['b', 's'], 'two'), prune(['a', 'r'], 'one')]
    expect(deriveView(called, { prunes }).map(said)).toEqual(['u', '[Pruned context summary: one]', '[Pruned context summary: two]', 'e'])
  })

  it('places a memo outside of call-result pairs', () => {
    const messages = [answer('a', ['c']), answer('b', ['d']), result('s', 'd'), result('r', 'c')]
    expect(sent(messages, { prunes: [prune(['b', 's'], 'm')] })).toEqual(['a', 'r', 'p-b'])
  })

  it('removes pruned messages from every section of an overlay', () => {
    expect(sent(history, { overlay, prunes: [prune(['a', 'e'], 'm')] })).toEqual(['p-a', 'summary', 'd', 'f'])
    expect(sent(history, { overlay, prunes: [prune(['e'], 'm')] })).toEqual(['a', 'summary', 'd', 'p-e', 'f'])
    expect(sent(history, { overlay, prunes: [prune(['e', 'f'], 'm')] })).toEqual(['a', 'summary', 'd', 'p-e'])
  })

  it('omits its memo if a later compaction covers it', () => {
    const taken: CompactionOverlay = { ...overlay, keepCompacted: { range: span('b', 'c', 2), messages: [user('summary with memo')] } }
    expect(sent(history, { overlay: taken, prunes: [prune(['b', 'f'], 'm')] })).toEqual(['a', 'summary with memo', 'd', 'e'])
    expect(sent(history, { overlay: taken, prunes: [prune(['b', 'c'], 'm')] })).toEqual(['a', 'summary with memo', 'd', 'e', 'f'])
  })
})

describe('a revert', () => {
  const messages = numbered(user('u'), answer('a', ['c']), result('r', 'c'), answer('b', ['d']), result('s', 'd'))
  const reverted: ContextState = {
    reverts: [
      {
        id: 'v',
        at: 1,
        category: 'failure',
        targetNodeId: 1,
        abandonedNodeIds: [2, 3],
        tag: { kind: 'lesson', text: 'Not so.', createdAtTurn: 1, abandonedNodeIds: [2, 3] },
      },
    ],
  }

  it('omits the messages of an abandoned branch', () => {
    expect(sent(messages, reverted)).toEqual(['u', 'a', 'r'])
  })

  it('omits memos of abandoned messages', () => {
    expect(sent(messages, { ...reverted, prunes: [prune(['b', 's'], 'm')] })).toEqual(['u', 'a', 'r'])
    expect(sent(messages, { ...reverted, prunes: [prune(['a', 'r', 'b', 's'], 'm')] })).toEqual(['u', 'p-a'])
  })
})
