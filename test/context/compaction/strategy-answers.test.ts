import { describe, expect, it } from 'vitest'
import { llmCompaction } from '../../../src/context.ts'
import type { Usage } from '../../../src/contract/model/usage.ts'
import { Agent, ConfigError, userMessage } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { CompactionStrategy } from '../../../src/types/context/compaction.ts'
import { answer, result, user } from '../history.ts'
import { anyBudget, compact, said, turns } from './compacting.ts'

const messages = turns('l', 20)
const run = (strategy: CompactionStrategy) =>
  compact(messages, { target: 100_000, force: true, config: { compaction: { keepRecentTurns: 5, strategy } } })

/** What plain JavaScript may return. */
const answering = (part: keyof CompactionStrategy, answer: unknown): CompactionStrategy => ({ [part]: () => answer })

const circular: Record<string, unknown> = {}
circular.self = circular

describe('a strategy that returns invalid values', () => {
  it.each([
    ['keepFirst', Number.NaN, 'NaN'],
    ['keepFirst', -1, '-1'],
    ['keepFirst', 1.5, '1.5'],
    ['keepFirst', Infinity, 'Infinity'],
    ['keepFirst', '2', '"2"'],
    ['keepFirst', null, 'null'],
    ['keepCompacted', 'a summary', '"a summary"'],
    ['keepCompacted', undefined, 'undefined'],
    ['keepCompacted', {}, 'an object'],
    ['keepCompacted', [null], 'entry 0'],
    ['keepCompacted', ['a summary'], 'entry 0'],
    ['keepCompacted', [{ role: 'system', content: [] }], 'role is "system"'],
    ['keepCompacted', [{ role: '__proto__', content: [] }], 'role is "__proto__"'],
    ['keepCompacted', [{ role: 'user', content: 'hi', timestamp: 1 }], 'content is "hi"'],
    ['keepCompacted', [user('a'), { role: 'user', content: [{ type: 'text' }], timestamp: 1 }], 'entry 1 is no message: content[0].text'],
    ['keepCompacted', [{ role: 'user', content: [{ type: 'video' }], timestamp: 1 }], 'content[0].type is "video"'],
    ['keepCompacted', [{ role: 'user', content: [7], timestamp: 1 }], 'content[0] is 7'],
    ['keepCompacted', [{ role: 'user', content: [], timestamp: Number.NaN }], 'timestamp is NaN'],
    ['keepCompacted', [{ role: 'assistant', content: [], timestamp: 1, stopReason: 'stop' }], 'model is undefined'],
    ['keepCompacted', [{ ...answer('a'), usage: null }], 'usage is null'],
    ['keepCompacted', [{ ...result('r', 'c'), toolCallId: 3 }], 'toolCallId is 3'],
    ['keepCompacted', [{ ...user('a'), id: 3 }], 'id is 3'],
    ['keepCompacted', [{ role: 'extension', id: 'e', kind: 'note', data: circular }], 'JSON cannot represent'],
    ['keepCompacted', [{ role: 'extension', id: 'e', kind: 'note', data: 1n }], 'JSON cannot represent'],
    ['keepRecent', [[]], 'entry 0'],
  ] as const)('rejects an invalid value from %s: %o', async (part, answer, words) => {
    const done = await run(answering(part, answer))
    expect(done?.warnings).toEqual([{ event: 'compactionStrategyFailed', fields: { part, message: expect.stringContaining(words) } }])
    expect(done?.warnings[0]?.fields.message).toMatch(new RegExp(`^${part} returned `))
    expect(done?.view.map(said)).toEqual((await run({}))?.view.map(said))
  })

  it('accepts messages of any role', async () => {
    const list = [userMessage('a'), answer('b', ['c']), result('r', 'c'), { role: 'extension', id: 'e', kind: 'note', data: null }]
    const done = await run(answering('keepCompacted', list))
    expect(done?.warnings).toEqual([])
    expect(done?.overlay.keepCompacted.messages).toHaveLength(4)
  })

  it.each(['default', 7, null, { keepCompacted: 'summary' }, { keepFirst: 2 }])(
    'rejects %j as a strategy when the agent is constructed',
    (strategy) => {
      const contextConfig = { compaction: { strategy: strategy as unknown as CompactionStrategy } }
      const make = () => new Agent({ model: scripted([]), contextConfig })
      expect(make).toThrow(ConfigError)
      expect(make).toThrow(/compaction\.strategy/)
    },
  )
})

describe('reported usage of a strategy', () => {
  const spending = async (strategy: CompactionStrategy, signal?: AbortSignal) => {
    const spent: Usage[] = []
    const charged: Usage[] = []
    const budget = { ...anyBudget, charge: (usage: Usage) => void charged.push(usage) }
    const done = await compact(messages, {
      target: 100_000,
      force: true,
      budget,
      spent: (usage) => void spent.push(usage),
      ...(signal && { signal }),
      config: { compaction: { keepRecentTurns: 5, strategy } },
    }).catch(() => undefined)
    return { spent, charged, done }
  }

  it('reports the same usage that it charges', async () => {
    const model = scripted([{ text: 'They looked.', usage: { input: 70, output: 5 } }])
    const { spent, charged } = await spending(llmCompaction({ model }))
    expect(spent).toMatchObject([{ input: 70, output: 5 }])
    expect(charged).toEqual(spent)
  })

  it('reports usage without a summary and after an abort', async () => {
    const failing = scripted([{ toolCalls: [{ name: 'look', arguments: {} }], usage: { input: 9 } }])
    expect((await spending(llmCompaction({ model: failing }))).spent).toMatchObject([{ input: 9 }])
    const controller = new AbortController()
    const cost = { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
    const stopping: CompactionStrategy = {
      keepCompacted: ({ budget }) => {
        budget.charge({ input: 3, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 3 }, cost)
        controller.abort()
        return []
      },
    }
    const { spent, done } = await spending(stopping, controller.signal)
    expect(spent).toMatchObject([{ input: 3 }])
    expect(done).toBeUndefined()
  })
})
