import { describe, expect, it } from 'vitest'
import { renderNodes } from '../../src/context/prune-revert/render-nodes.ts'
import { provenanceOf } from '../../src/context/requests/provenance.ts'
import { diffTurnRequests } from '../../src/context/requests/request-diff.ts'
import { estimateTokens, totalTokens } from '../../src/context/tokens/estimate.ts'
import { defaultRevertPolicy } from '../../src/contract/context/context-change.ts'
import { isLlmMessage, type LlmMessage } from '../../src/contract/message/message.ts'
import type { AnnotatedRequest, ToolDefinition } from '../../src/contract/model/request.ts'
import { answer, result, user } from './history.ts'

const turn = (turnIndex: number) => ({ turnId: { loopId: 'l', turnIndex } })
const tool = (name: string): ToolDefinition => ({ name, description: `The tool ${name}`, parameters: { type: 'object' } })

const history: LlmMessage[] = [
  user('ask', turn(0)),
  answer('a1', ['c1'], turn(0)),
  result('r1', 'c1', { ...turn(0), nodeId: 1 }),
  answer('a2', ['c2'], turn(1)),
  result('r2', 'c2', { ...turn(1), nodeId: 3 }),
]

function request(messages: readonly LlmMessage[], changes: Partial<AnnotatedRequest> = {}): AnnotatedRequest {
  return {
    systemPrompt: 'You are careful.',
    messages,
    provenance: provenanceOf(messages, messages),
    tools: [tool('look'), tool('write')],
    modelId: 'm',
    provider: 'p',
    api: 'scripted',
    thinkingLevel: 'off',
    ...changes,
  }
}

const before = request(history)
const toolTokens = (tools: readonly ToolDefinition[]) => tools.reduce((sum, each) => sum + estimateTokens(JSON.stringify(each)), 0)
const headTokens = toolTokens(before.tools) + estimateTokens(before.systemPrompt)

describe('diffTurnRequests', () => {
  it('reports no change for appended messages', () => {
    const all = { commonMessages: 5, commonTokens: headTokens + totalTokens(history) }
    expect(diffTurnRequests(before, before)).toEqual(all)
    expect(diffTurnRequests(before, request([...history, answer('a3'), user('more')]))).toEqual(all)
    expect(diffTurnRequests(request([]), request([]))).toEqual({ commonMessages: 0, commonTokens: headTokens })
  })

  it('ignores copies, ids, times, usage and fields outside the prompt', () => {
    const stored = structuredClone(history).map((message) => ({ ...message, id: `${message.id}-copy`, timestamp: 99 }))
    const diff = diffTurnRequests(before, request(stored, { maxTokens: 5, temperature: 1, responseFormat: { type: 'text' } }))
    expect(diff).toMatchObject({ commonMessages: 5 })
    expect(diff).not.toHaveProperty('firstChange')
  })

  it('names a removed message with its provenance', () => {
    const diff = diffTurnRequests(before, request([...history.slice(0, 1), ...history.slice(3)]))
    expect(diff).toEqual({
      commonMessages: 1,
      commonTokens: headTokens + totalTokens(history.slice(0, 1)),
      firstChange: {
        part: 'messages',
        index: 1,
        reason: 'removed',
        provenance: { kind: 'loopTurn', turnIndex: 0, role: 'toolCallRequest', messageIndex: 1 },
        before: expect.stringContaining('assistant: a1'),
      },
    })
    expect(diffTurnRequests(before, request(history.slice(0, 3))).firstChange).toMatchObject({ index: 3, reason: 'removed' })
  })

  it('names an inserted message', () => {
    const memo = user('memo', { provenanceHint: { kind: 'memoryTier', tier: 'short', recordId: '1' } })
    const { commonMessages, firstChange } = diffTurnRequests(before, request([...history.slice(0, 3), memo, ...history.slice(3)]))
    expect(commonMessages).toBe(3)
    expect(firstChange).toEqual({
      part: 'messages',
      index: 3,
      reason: 'inserted',
      provenance: memo.provenanceHint,
      after: 'user: memo',
    })
  })

  it('names the changed block and shows the difference', () => {
    const long = (end: string) => ({
      ...result('r1', 'c1', turn(0)),
      content: [{ type: 'text' as const, text: `${'-'.repeat(500)}${end}` }],
    })
    const [ask, first, , ...rest] = history
    if (ask === undefined || first === undefined) throw new Error('no history')
    const diff = diffTurnRequests(request([ask, first, long('old'), ...rest]), request([ask, first, long('new'), ...rest]))
    expect(diff.commonMessages).toBe(2)
    expect(diff.firstChange).toMatchObject({ part: 'messages', index: 2, blockIndex: 0, reason: 'changed' })
    expect(diff.firstChange?.before).toMatch(/^…-{30}old$/)
    expect(diff.firstChange?.after).toMatch(/^…-{30}new$/)
  })

  it('counts the blocks before the first change', () => {
    const tagged = history.map((message, index) =>
      index === 2 ? { ...message, content: [...message.content, { type: 'text' as const, text: '[lesson] x' }] } : message,
    )
    const diff = diffTurnRequests(before, request(tagged))
    expect(diff.firstChange).toMatchObject({ index: 2, blockIndex: 1, reason: 'inserted', after: '[lesson] x' })
    expect(diff.commonTokens).toBe(headTokens + totalTokens(history.slice(0, 3)))
    expect(diffTurnRequests(request(tagged), before).firstChange).toMatchObject({
      index: 2,
      blockIndex: 1,
      reason: 'removed',
      before: '[lesson] x',
    })
    const shown = renderNodes(history, {}, { policy: defaultRevertPolicy, turnIndex: 0 }).filter(isLlmMessage)
    expect(diffTurnRequests(before, request(shown)).firstChange).toMatchObject({
      index: 2,
      blockIndex: 0,
      reason: 'inserted',
      after: expect.stringContaining('[n1]'),
    })
  })

  it('detects a different message kind, call and signature', () => {
    const swap = (index: number, message: LlmMessage) => request(history.map((each, at) => (at === index ? message : each)))
    const other = diffTurnRequests(before, swap(1, user('summary'))).firstChange
    expect(other).toMatchObject({ index: 1, reason: 'changed' })
    expect(other).not.toHaveProperty('blockIndex')
    expect(diffTurnRequests(before, swap(2, result('r1', 'c9'))).firstChange).toMatchObject({ index: 2, reason: 'changed' })
    const signed = (signature: string): LlmMessage => ({
      ...answer('a1', ['c1']),
      content: [{ type: 'thinking', thinking: 'hm', signature }],
    })
    const { firstChange } = diffTurnRequests(swap(1, signed('old')), swap(1, signed('new')))
    expect(firstChange).toMatchObject({ index: 1, blockIndex: 0, reason: 'changed', before: expect.stringContaining('old') })
  })

  it('compares tools first', () => {
    const more = diffTurnRequests(before, request(history, { tools: [...before.tools, tool('run')], systemPrompt: 'Other.' }))
    expect(more).toEqual({
      commonMessages: 0,
      commonTokens: toolTokens(before.tools),
      firstChange: { part: 'tools', index: 2, reason: 'inserted', after: expect.stringContaining('"run"') },
    })
    const fewer = diffTurnRequests(before, request(history, { tools: [tool('write')] }))
    expect(fewer).toMatchObject({ commonTokens: 0, firstChange: { part: 'tools', index: 0, reason: 'removed' } })
    const changed = diffTurnRequests(before, request(history, { tools: [tool('look'), { ...tool('write'), description: 'Now other' }] }))
    expect(changed.firstChange).toMatchObject({ part: 'tools', index: 1, reason: 'changed', after: expect.stringContaining('Now other') })
  })

  it('compares the system prompt, then thinking, then messages', () => {
    const system = diffTurnRequests(before, request([], { systemPrompt: 'You are quick.', thinkingLevel: 'high' }))
    expect(system).toEqual({
      commonMessages: 0,
      commonTokens: toolTokens(before.tools),
      firstChange: { part: 'systemPrompt', reason: 'changed', before: 'You are careful.', after: 'You are quick.' },
    })
    const thinking = diffTurnRequests(before, request([], { thinkingLevel: 'high' }))
    expect(thinking).toEqual({
      commonMessages: 0,
      commonTokens: headTokens,
      firstChange: { part: 'settings', reason: 'changed', before: 'thinking off', after: 'thinking high' },
    })
  })

  it('reports no common prefix for another model or response format', () => {
    for (const changes of [{ modelId: 'other' }, { provider: 'other' }, { api: 'openAiResponses' as const }]) {
      const diff = diffTurnRequests(before, request(history, changes))
      expect(diff).toMatchObject({ commonMessages: 0, commonTokens: 0, firstChange: { part: 'model', reason: 'changed' } })
    }
    const diff = diffTurnRequests(before, request(history, { responseFormat: { type: 'jsonObject' } }))
    expect(diff).toMatchObject({ commonMessages: 0, commonTokens: 0, firstChange: { part: 'settings' } })
  })
})
