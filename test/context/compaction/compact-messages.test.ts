import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compactMessages, totalTokens } from '../../../src/context.ts'
import type { AgentMessage, LlmMessage } from '../../../src/contract/message/message.ts'
import type { CompactionConfig } from '../../../src/types/context/compaction.ts'
import { runs } from '../../support/runs.ts'
import { answer, result, user } from '../history.ts'
import { historyOf, seeds, tornPairs } from '../random-history.ts'
import { said } from './compacting.ts'

const lines = (count: number, line = 'a line of output'): string => Array.from({ length: count }, (_, n) => `${line} ${n}`).join('\n')
const output = (id: string, call: string, text: string): AgentMessage => ({
  ...result(id, call),
  role: 'toolResult',
  toolCallId: call,
  toolName: 'look',
  isError: false,
  content: [{ type: 'text', text }],
})
const compact = (messages: readonly AgentMessage[], budget: number, compaction: Partial<CompactionConfig> = {}): AgentMessage[] =>
  compactMessages(messages, { maxContextTokens: budget, systemPromptTokens: 0, compaction })
const long = 'What the assistant said at length. '.repeat(10)
const spoken = (id: string): LlmMessage => ({ ...answer(id), content: [{ type: 'text', text: long }] })

describe('compactMessages', () => {
  it('rejects an unknown option and names it', () => {
    const misspelt = { maxContextTokens: 10, maxContextToken: 10 }
    expect(() => compactMessages([], misspelt)).toThrow(/maxContextToken \(10\) is not an option/)
    expect(() => compactMessages([], { maxContextTokens: -1 })).toThrow(/maxContextTokens is -1/)
  })

  it('leaves messages that fit unchanged', () => {
    const messages = [user('a'), answer('b')]
    expect(compactMessages(messages)).toEqual(messages)
    expect(compact(messages, totalTokens(messages))).toEqual(messages)
    expect(compactMessages([])).toEqual([])
  })

  it('subtracts the tokens of the system prompt', () => {
    const messages = [user('a'), answer('b')]
    const config = { maxContextTokens: totalTokens(messages) + 10, systemPromptTokens: 10 }
    expect(compactMessages(messages, config)).toEqual(messages)
    expect(compactMessages(messages, { ...config, systemPromptTokens: 11 })).not.toEqual(messages)
  })

  it('changes nothing if compaction is off', () => {
    const messages = [spoken('a')]
    expect(compactMessages(messages, { maxContextTokens: 5, systemPromptTokens: 0, compaction: false })).toEqual(messages)
  })

  it('truncates tool outputs to head and tail first', () => {
    const messages = [user('a'), answer('b', ['c']), output('d', 'c', lines(101))]
    const [, , cut] = compact(messages, 300, { toolOutputMaxLines: 5 })
    const all = lines(101).split('\n')
    expect(said(cut)).toBe(`${all.slice(0, 2).join('\n')}\n\n[... 96 lines truncated ...]\n\n${all.slice(98).join('\n')}`)
    expect(cut?.id).toBe('d')
    expect(said(messages[2])).toBe(lines(101))
  })

  it('keeps 25 lines of each end by default', () => {
    const messages = [user('a'), answer('b', ['c']), output('d', 'c', `${lines(60)}\n`)]
    const cut = said(compact(messages, totalTokens(messages) - 1).at(-1))
    expect(cut).toContain('\n\n[... 10 lines truncated ...]\n\n')
    expect(cut.split('\n')).toHaveLength(53)
    expect(compact(messages, totalTokens(messages) - 1)[0]).toBe(messages[0])
  })

  it('reduces older responses to one line each if truncating outputs is not enough', () => {
    const quiet: LlmMessage = { ...answer('q', ['c', 'c2']), content: answer('q', ['c', 'c2']).content.slice(1) }
    const big = { ...quiet, content: [{ type: 'text' as const, text: long }, ...quiet.content] }
    const messages = [
      user('first'),
      answer('short'),
      big,
      output('r', 'c', 'x'),
      output('r2', 'c2', 'x'),
      spoken('s'),
      output('orphan', 'none', 'x'),
      user('last'),
    ]
    const compacted = compact(messages, 75, { keepRecentTurns: 1 })
    expect(compacted.map(said)).toEqual([
      'first',
      '[Summary] short',
      '[Summary] [Assistant used 2 tool(s)]',
      '[Summary] [Assistant response]',
      'last',
    ])
    expect(compacted[0]).toBe(messages[0])
    expect(compacted.slice(1, 4).every((message) => message.role === 'assistant')).toBe(true)
  })

  it('joins short texts, measured in bytes', () => {
    const texts = ['one', 'é'.repeat(101), 'two', ' ']
    const message: LlmMessage = { ...answer('a'), content: texts.map((text) => ({ type: 'text', text })) }
    expect(compact([message, user('b')], 40, { keepRecentTurns: 1 }).map(said)).toEqual(['[Summary] one two', 'b'])
  })

  it('replaces the middle with a marker if one line per response is too much', () => {
    const messages = Array.from({ length: 20 }, (_, n) => user(`message ${n}`))
    const compacted = compact(messages, 60, { keepFirstTurns: 2, keepRecentTurns: 3 })
    const marker = '[Context compacted: 15 messages removed to fit context window]'
    expect(compacted.map(said)).toEqual(['message 0', 'message 1', marker, 'message 17', 'message 18', 'message 19'])
  })

  it('keeps only the newest messages that fit as a last resort', () => {
    const messages = Array.from({ length: 20 }, (_, n) => user(`message ${n}`))
    const compacted = compact(messages, 40)
    expect(compacted.map(said)).toEqual(['[Context compacted: 17 messages removed]', 'message 17', 'message 18', 'message 19'])
    expect(compact([user('x'.repeat(400))], 50).map(said)).toEqual(['[Context compacted: 1 messages removed]'])
    expect(compact(messages, 5)).toEqual([])
    expect(compact(messages, 0)).toEqual([])
  })

  it('shrinks a hundred messages below the budget', () => {
    const messages = Array.from({ length: 100 }, (_, n) => user(`${n} ${'x'.repeat(400)}`))
    const compacted = compactMessages(messages, { maxContextTokens: 2000, systemPromptTokens: 100 })
    expect(compacted.length).toBeLessThan(100)
    expect(totalTokens(compacted)).toBeLessThanOrEqual(1900)
    expect(compacted.at(-1)).toBe(messages.at(-1))
  })

  it('keeps every call together with its result', () => {
    const messages = [answer('a', ['c1', 'c2']), output('r1', 'c1', 'x'.repeat(200)), output('r2', 'c2', 'y'), user('b')]
    for (let budget = 10; budget <= totalTokens(messages); budget += 1) {
      const ids = compact(messages, budget).map((message) => message.id)
      expect(ids.includes('r2')).toBe(ids.includes('a'))
    }
  })

  it('counts tokens with the configured counter', () => {
    const counter = { text: (text: string) => text.length, message: () => 10 }
    const messages = [user('a'), user('b'), user('c')]
    const compacted = compactMessages(messages, { maxContextTokens: 20, systemPromptTokens: 0, tokenCounter: counter })
    expect(compacted.map(said)).toEqual(['[Context compacted: 2 messages removed]', 'c'])
  })

  it('fits any history into the budget with call-result pairs intact', () => {
    const config = fc.record({
      budget: fc.integer({ min: 0, max: 4000 }),
      keepFirstTurns: fc.nat(3),
      keepRecentTurns: fc.nat(8),
      toolOutputMaxLines: fc.nat(30),
    })
    const property = fc.property(seeds(25), config, (numbers, { budget, ...compaction }) => {
      const messages = historyOf(numbers)
      const compacted = compact(messages, budget, compaction)
      expect(compacted.length === 0 || totalTokens(compacted) <= budget).toBe(true)
      expect(tornPairs(messages, compacted)).toEqual([])
      if (totalTokens(messages) <= budget) expect(compacted).toEqual(messages)
    })
    fc.assert(property, { numRuns: runs(2000, 10_000) })
  })
})
