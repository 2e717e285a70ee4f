import { describe, expect, it } from 'vitest'
import { defaultCompaction, totalTokens } from '../../../src/context.ts'
import type { CompactionInput, CompactionStrategy } from '../../../src/types/context/compaction.ts'
import { idsOf, user } from '../history.ts'
import { type CompactOptions, compact, lines, said, turns } from './compacting.ts'

const messages = turns('l', 20)
const run = (strategy: CompactionStrategy, options: CompactOptions = {}, more = {}) =>
  compact(messages, { target: 100_000, force: true, ...options, config: { compaction: { keepRecentTurns: 5, strategy, ...more } } })

describe('a custom compaction strategy', () => {
  it('awaits the strategy and sends its section', async () => {
    let input: CompactionInput | undefined
    const strategy: CompactionStrategy = {
      keepCompacted: async (given) => {
        input = given
        await Promise.resolve()
        return [user('a summary of everything')]
      },
    }
    const signal = new AbortController().signal
    const done = await run(strategy, { signal }, { focusMessage: 'the paths' })
    expect(done?.overlay.keepCompacted.messages.map(said)).toEqual(['a summary of everything'])
    expect(done?.overlay.keepFirst?.turns).toBe(2)
    expect(done?.overlay.keepRecent?.range.turns).toBe(5)
    expect(input?.turns.map((turn) => idsOf(turn))).toEqual(
      Array.from({ length: 13 }, (_, n) => ['u', 'a', 'r'].map((part) => `l${n + 2}${part}`)),
    )
    expect(input).toMatchObject({ maxTokens: 2000, config: { focusMessage: 'the paths', keepFirstTurns: 2, toolOutputMaxLines: 50 } })
    expect(input?.signal).toBe(signal)
    expect(input?.budget.exceeded()).toBeUndefined()
    expect(input?.counter.text('abcd')).toBe(1)
    expect(done?.warnings).toEqual([])
  })

  it('overrides any of the three sections with sync or async methods', async () => {
    class Mine implements CompactionStrategy {
      readonly words = 'mine'
      keepFirst = () => 4
      keepCompacted = async () => [user(this.words)]
      keepRecent({ turns: recent }: CompactionInput) {
        return [user(`${this.words}: ${recent.length}`)]
      }
    }
    const done = await run(new Mine())
    expect(done?.overlay.keepFirst).toEqual({ firstId: 'l0u', lastId: 'l3r', turns: 4 })
    expect(done?.view.slice(-2).map(said)).toEqual(['mine', 'mine: 5'])
    expect(done?.overlay.keepRecent?.range).toEqual({ firstId: 'l15u', lastId: 'l19r', turns: 5 })
  })

  it('extends the result of the default strategy', async () => {
    const done = await run({ keepCompacted: (input) => [user('before'), ...defaultCompaction.keepCompacted(input)] })
    expect(done?.overlay.keepCompacted.messages).toHaveLength(27)
  })

  it('matches the default when defaultCompaction is passed', async () => {
    const done = await run(defaultCompaction)
    const plain = await run({})
    expect(done?.view.map(said)).toEqual(plain?.view.map(said))
  })

  it('skips the strategy if truncating outputs of a short history suffices', async () => {
    const short = turns('l', 5, 300)
    const strategy = { keepCompacted: () => [user('not asked')] }
    const done = await compact(short, { target: 0.8 * totalTokens(short), config: { compaction: { strategy } } })
    expect(idsOf(done?.view ?? [])).toEqual(idsOf(short))
  })

  it('continues from its own earlier summary, which stays in scope', async () => {
    const seen: string[][] = []
    const strategy: CompactionStrategy = {
      keepCompacted: ({ turns: middle }) => {
        seen.push(middle.flat().map(said))
        return [user(`summary ${seen.length}`)]
      },
    }
    const loops = (names: string) => [...names].flatMap((name) => turns(name, 4))
    const config = { compaction: { strategy, keepFirstTurns: 1, keepRecentTurns: 2, scope: { type: 'fixedCount' as const, count: 1 } } }
    const once = await compact(loops('abc'), { target: 100_000, force: true, config })
    expect(seen[0]?.[0]).toBe('b0u')
    expect(once?.overlay.keepCompacted.messages.map(said)).toEqual([
      '[Context compacted: 9 messages removed to fit context window]',
      'summary 1',
    ])
    const twice = await compact(loops('abcd'), { state: once?.state ?? {}, target: 100_000, force: true, config })
    expect(seen[1]?.slice(0, 2)).toEqual(['summary 1', 'c2u'])
    expect(twice?.overlay.keepCompacted.messages.map(said)).toEqual([
      '[Context compacted: 9 messages removed to fit context window]',
      'summary 2',
    ])
  })
})

describe('a failing compaction strategy', () => {
  it.each<[string, CompactionStrategy]>([
    [
      'throws',
      {
        keepCompacted: () => {
          throw new Error('no model')
        },
      },
    ],
    ['rejects', { keepCompacted: async () => Promise.reject(new Error('no model')) }],
  ])('logs a strategy that %s and uses the default', async (_how, strategy) => {
    const done = await run(strategy)
    expect(done?.warnings).toEqual([{ event: 'compactionStrategyFailed', fields: { part: 'keepCompacted', message: 'no model' } }])
    expect(done?.view.map(said)).toEqual((await run({}))?.view.map(said))
  })

  it('falls back to the default when the strategy does not respond', async () => {
    // What plain JavaScript may return.
    const wrong = { keepFirst: () => Number.NaN, keepCompacted: () => 'text', keepRecent: () => undefined } as unknown as CompactionStrategy
    const done = await run(wrong)
    expect(done?.warnings.map(({ fields }) => fields.part)).toEqual(['keepFirst', 'keepRecent', 'keepCompacted'])
    expect(done?.view.map(said)).toEqual((await run({}))?.view.map(said))
  })

  it('keeps the newest messages of a summary that is too long', async () => {
    const many = Array.from({ length: 100 }, (_, n) => user(`m${n} ${'x'.repeat(100)}`))
    const done = await run({ keepCompacted: () => many }, {}, { maxSummaryTokens: 200 })
    const texts = done?.overlay.keepCompacted.messages.map(said) ?? []
    expect(texts[0]).toBe('[Context compacted: 94 messages removed to fit context window]')
    expect(texts.at(-1)).toBe(said(many.at(-1)))
    expect(totalTokens(done?.overlay.keepCompacted.messages ?? [])).toBeLessThanOrEqual(200)
  })

  it('keeps the newest turn if recent turns exceed the budget', async () => {
    const recent = turns('x', 5, 100)
    const strategy = { keepRecent: () => recent }
    const target = 600
    const done = await compact(messages, { target, config: { compaction: { strategy, keepRecentTurns: 5 } } })
    expect(idsOf(done?.view ?? []).slice(-3)).toEqual(['x4u', 'x4a', 'x4r'])
    expect(totalTokens(done?.view ?? [])).toBeLessThanOrEqual(target)
  })

  it('limits the first turns to what fits', async () => {
    const done = await compact(messages, {
      target: 900,
      config: { compaction: { strategy: { keepFirst: () => 1000 }, keepRecentTurns: 5 } },
    })
    expect(totalTokens(done?.view ?? [])).toBeLessThanOrEqual(900)
    expect(idsOf(done?.view ?? []).slice(-3)).toEqual(idsOf(messages.slice(-3)))
  })

  it('skips the compaction if it saves nothing', async () => {
    const same: CompactionStrategy = {
      keepCompacted: ({ turns: middle }) => middle.flat(),
      keepRecent: ({ turns: recent }) => recent.flat(),
    }
    expect(await run(same)).toBeUndefined()
  })

  it('reserves room for a summary by keeping fewer recent turns', async () => {
    const rooms: number[] = []
    const strategy: CompactionStrategy = {
      keepCompacted: ({ maxTokens }) => {
        rooms.push(maxTokens)
        return [{ ...user('s'), content: [{ type: 'text', text: lines(30) }] }]
      },
    }
    const done = await compact(messages, { target: 1000, config: { compaction: { strategy } } })
    expect(rooms[0]).toBeGreaterThanOrEqual(250)
    expect(done?.overlay.keepRecent?.range.turns).toBeLessThan(10)
    expect(totalTokens(done?.view ?? [])).toBeLessThanOrEqual(1000)
  })

  it('stops waiting for a hanging strategy on an abort', async () => {
    const reason = new Error('enough')
    const controller = new AbortController()
    const strategy: CompactionStrategy = {
      keepCompacted: () => {
        queueMicrotask(() => controller.abort(reason))
        return new Promise(() => undefined)
      },
    }
    await expect(run(strategy, { signal: controller.signal })).rejects.toBe(reason)
    await expect(run({}, { signal: controller.signal })).rejects.toBe(reason)
  })

  it('does not log an abort as a failure of the strategy', async () => {
    const controller = new AbortController()
    const strategy: CompactionStrategy = {
      keepCompacted: () => {
        controller.abort('stop')
        throw new Error('stopped')
      },
    }
    await expect(run(strategy, { signal: controller.signal })).rejects.toBe('stop')
  })
})
