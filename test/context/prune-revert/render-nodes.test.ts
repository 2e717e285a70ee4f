import { describe, expect, it } from 'vitest'
import { renderNodes, visibleTags } from '../../../src/context/prune-revert/render-nodes.ts'
import { planRevert } from '../../../src/context/prune-revert/revert.ts'
import { type ContextState, defaultRevertPolicy, type RevertRecord } from '../../../src/contract/context/context-change.ts'
import type { NodeTag } from '../../../src/contract/message/identity.ts'
import type { AgentMessage } from '../../../src/contract/message/message.ts'
import { unfenced } from '../../support/long-history.ts'
import { answer, numbered, result, user } from '../history.ts'

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

function applied(messages: readonly AgentMessage[], targetNodeId: number, state: ContextState, summary: string): RevertRecord {
  const change = { type: 'revert' as const, category: 'failure' as const, targetNodeId, summary }
  const planned = planRevert({ messages, state, change, turnIndex: 4 })
  if ('refused' in planned) throw new Error(planned.refused)
  return planned.record
}

const tag = (kind: NodeTag['kind'], createdAtTurn: number, text = `${kind} ${createdAtTurn}`): NodeTag => ({
  kind,
  text,
  createdAtTurn,
  abandonedNodeIds: [],
})

const textsOf = (message: AgentMessage | undefined) =>
  message === undefined || message.role === 'extension'
    ? []
    : message.content.map((block) => (block.type === 'text' ? unfenced(block.text) : block.type))

const at = (turnIndex: number, policy = defaultRevertPolicy) => ({ policy, turnIndex })

describe('visibleTags', () => {
  const lessons = [0, 1, 2, 3].map((turn) => tag('lesson', turn))

  it('shows recent tags, including the last turn of the window', () => {
    expect(visibleTags(lessons, defaultRevertPolicy, 5)).toEqual(lessons)
    expect(visibleTags(lessons, defaultRevertPolicy, 6)).toEqual(lessons.slice(1))
    expect(visibleTags(lessons, { windowTurns: 50, keepCount: 0 }, 53)).toEqual(lessons.slice(3))
  })

  it('shows the newest tag of each kind at any age', () => {
    const findings = [4, 5].map((turn) => tag('finding', turn))
    expect(visibleTags([...lessons, ...findings], defaultRevertPolicy, 99)).toEqual([...lessons.slice(1), ...findings])
    expect(visibleTags([...lessons, ...findings], { windowTurns: 1, keepCount: 1 }, 99)).toEqual([lessons[3], findings[1]])
  })

  it('always shows outcomes and checkpoints', () => {
    const pinned = [0, 0, 0, 0, 0].flatMap((turn) => [tag('outcome', turn), tag('checkpoint', turn)])
    expect(visibleTags(pinned, { windowTurns: 0, keepCount: 0 }, 1000)).toEqual(pinned)
  })
})

describe('renderNodes', () => {
  it('numbers user messages and results, but no responses', () => {
    const messages = [...history, user('steer', { nodeId: 7 })]
    const before = structuredClone(messages)
    const shown = renderNodes(messages, {}, at(0))
    expect(shown[0]).toBe(messages[0])
    expect(shown[1]).toBe(messages[1])
    expect(textsOf(shown[2])).toEqual(['[n1]', 'xxxx'])
    expect(textsOf(shown[8])).toEqual(['[n7]', 'steer'])
    expect(messages).toEqual(before)
  })

  it('appends a tag to the last result of its target', () => {
    const record = applied(history, 0, {}, 'Wrong port.')
    const rest = history.slice(0, 4)
    expect(textsOf(renderNodes(rest, { reverts: [record] }, at(0))[3])).toEqual(['[n2]', 'xxxx', '[lesson] Wrong port.'])
    const silent = { ...record, tag: tag('checkpoint', 0, '') }
    expect(textsOf(renderNodes(rest, { reverts: [record, silent] }, at(0))[3])).toEqual([
      '[n2]',
      'xxxx',
      '[lesson] Wrong port.',
      '[checkpoint]',
    ])
  })

  it('appends the tag of a response without results to the preceding message', () => {
    const messages = numbered(user('ask'), answer('a0', ['c1']), result('r1', 'c1'), answer('a2'), answer('a3'))
    const shown = renderNodes(messages.slice(0, 4), { reverts: [applied(messages, 2, {}, 'x')] }, at(0))
    expect(textsOf(shown[2])).toEqual(['[n1]', 'xxxx', '[lesson] x'])
  })

  it('shows a tag whose target is no longer sent', () => {
    const state = { reverts: [applied(history, 4, {}, 'x')] }
    const steer = user('steer', { nodeId: 7 })
    expect(textsOf(renderNodes([user('summary'), answer('a'), steer, user('more', { nodeId: 8 })], state, at(0))[2])).toEqual([
      '[n7]',
      'steer',
      '[lesson] x',
    ])
    expect(textsOf(renderNodes([user('summary'), answer('a')], state, at(0))[0])).toEqual(['summary', '[lesson] x'])
    expect(renderNodes([answer('a')], state, at(0))).toEqual([answer('a')])
  })

  it('drops a tag together with its branch', () => {
    const first = applied(history, 4, {}, 'old')
    const second = applied(history, 2, { reverts: [first] }, 'new')
    const shown = renderNodes(history.slice(0, 4), { reverts: [first, second] }, at(0))
    expect(JSON.stringify(shown)).not.toContain('old')
    expect(textsOf(shown[3])).toEqual(['[n2]', 'xxxx', '[lesson] new'])
  })

  it('shows tags on messages, oldest first, with decay', () => {
    const tags = [tag('lesson', 3, 'young'), tag('lesson', 0, 'old')]
    const messages = [user('ask'), answer('a0', ['c'], { nodeId: 0 }), result('r', 'c', { nodeId: 1, parentId: 0, tags })]
    expect(textsOf(renderNodes(messages, {}, at(4))[2])).toEqual(['[n1]', 'xxxx', '[lesson] old', '[lesson] young'])
    expect(textsOf(renderNodes(messages, {}, at(7, { windowTurns: 5, keepCount: 0 }))[2])).toEqual(['[n1]', 'xxxx', '[lesson] young'])
  })

  it('returns identical objects while nothing changes', () => {
    const state = { reverts: [applied(history, 4, {}, 'x')] }
    const rest = history.slice(0, 6)
    const first = renderNodes(rest, state, at(0))
    const second = renderNodes([...rest, user('more', { nodeId: 7 })], state, at(1))
    expect(first.every((message, index) => message === second[index])).toBe(true)
    const decayed = renderNodes(rest, state, at(99, { windowTurns: 1, keepCount: 0 }))
    expect(decayed.map((message, index) => message === first[index])).toEqual([true, true, true, true, true, false])
    expect(renderNodes(rest, state, at(2))[5]).toBe(first[5])
  })
})
