import { describe, expect, it } from 'vitest'
import { compactionTrigger, resolveContext } from '../../../src/context/tokens/context-limits.ts'
import { deriveView, totalTokens } from '../../../src/context.ts'
import type { CompactionOverlay } from '../../../src/contract/context/context-change.ts'
import type { AgentMessage } from '../../../src/contract/message/message.ts'
import type { CompactionScope } from '../../../src/types/context/compaction.ts'
import { answer, idsOf, result, user } from '../history.ts'
import { compact, isWhole, lines, said, turns } from './compacting.ts'

const recent = (keepRecentTurns: number, more = {}) => ({ compaction: { keepRecentTurns, ...more } })
const middle = (overlay: CompactionOverlay | undefined): string[] => (overlay?.keepCompacted.messages ?? []).map(said)
const span = (firstId: string, lastId: string, count: number) => ({ firstId, lastId, turns: count })

describe('compaction trigger', () => {
  /** Tokens of messages from which on a conversation that no service has counted is compacted. */
  const trigger = (contextWindow: number, config = {}) => {
    const context = resolveContext(config, { contextWindow, maxTokens: 0 })
    return context && compactionTrigger(context) - context.systemPromptTokens
  }

  it('starts at 85 % of the window minus the system prompt tokens', () => {
    expect(trigger(0)).toBe(81_000)
    expect(trigger(200_000)).toBe(166_000)
    expect(trigger(50_000)).toBe(38_500)
    expect(
      trigger(0, {
        maxContextTokens: 200_000,
        systemPromptTokens: 0,
        compaction: { compactAtPct: 0.8, compactBudgetThresholdPct: 0.3 },
      }),
    ).toBe(100_000)
  })

  it('stays off if compaction is off', () => {
    expect(resolveContext(false, { contextWindow: 1000, maxTokens: 0 })).toBeUndefined()
    expect(resolveContext({ compaction: false }, { contextWindow: 1000, maxTokens: 0 })).toBeUndefined()
  })

  it('skips a history below the target unless forced', async () => {
    const messages = turns('l', 20)
    expect(await compact(messages, { target: totalTokens(messages) })).toBeUndefined()
    expect(await compact(messages, { target: totalTokens(messages), force: true })).toBeDefined()
    expect(await compact([], { force: true })).toBeUndefined()
  })
})

describe('compaction sections', () => {
  it('builds an overlay of first turns, one line per response, and recent turns', async () => {
    const messages = turns('l', 20)
    const done = await compact(messages, { target: 100_000, force: true, config: recent(5) })
    const { overlay } = done ?? {}
    expect(overlay?.keepFirst).toEqual(span('l0u', 'l1r', 2))
    expect(overlay?.keepCompacted.range).toEqual(span('l2u', 'l14r', 13))
    expect(overlay?.keepRecent?.range).toEqual(span('l15u', 'l19r', 5))
    expect(middle(overlay).filter((text) => text.startsWith('[Summary] '))).toHaveLength(13)
    expect(middle(overlay).slice(0, 3)).toEqual(['l2u', '[Summary] [Assistant used 1 tool(s)]', 'l3u'])
    expect(overlay).toMatchObject({ loopId: 'now' })
    expect(idsOf(done?.view ?? []).slice(0, 6)).toEqual(idsOf(messages.slice(0, 6)))
    expect(done?.view.slice(-15)).toEqual(messages.slice(-15))
    expect(totalTokens(done?.view ?? [])).toBeLessThan(totalTokens(messages))
  })

  it('survives JSON serialization', async () => {
    const messages = turns('l', 20)
    const done = await compact(messages, { target: 100_000, force: true })
    expect(deriveView(messages, JSON.parse(JSON.stringify(done?.state)))).toEqual(done?.view)
  })

  it('returns nothing for a short history with short outputs', async () => {
    expect(await compact(turns('l', 12), { target: 100_000, force: true })).toBeUndefined()
  })

  it('omits first turns with keepFirstTurns 0', async () => {
    const done = await compact(turns('l', 20), { target: 100_000, force: true, config: recent(5, { keepFirstTurns: 0 }) })
    expect(done?.overlay.keepFirst).toBeUndefined()
    expect(done?.overlay.keepCompacted.range).toEqual(span('l0u', 'l14r', 15))
  })

  it('supports a history without turn ids', async () => {
    const messages = Array.from({ length: 20 }, (_, n) =>
      n % 2 === 0 ? user(`u${n}`) : { ...answer(`a${n}`), content: [{ type: 'text' as const, text: lines(60) }] },
    )
    const done = await compact(messages, { target: 100_000, force: true, config: recent(4) })
    expect(done?.overlay.keepCompacted.range).toEqual(span('u2', 'a15', 14))
  })
})

describe('degrees of compaction', () => {
  it('truncates only tool outputs if that suffices', async () => {
    const messages = turns('l', 20, 200)
    const done = await compact(messages, { target: 0.7 * totalTokens(messages) })
    expect(done?.view).toHaveLength(messages.length)
    expect(said(done?.view[2])).toBe(lines(200))
    for (const at of [8, 59]) expect(said(done?.view[at])).toContain('line 24\n\n[... 150 lines truncated ...]\n\nline 175')
    expect(idsOf(done?.view ?? [])).toEqual(idsOf(messages))
    expect(totalTokens(done?.view ?? [])).toBeLessThanOrEqual(0.7 * totalTokens(messages))
  })

  it('truncates outputs of a history without a middle', async () => {
    const messages = turns('l', 5, 200)
    const done = await compact(messages, { target: 0.8 * totalTokens(messages) })
    expect(idsOf(done?.view ?? [])).toEqual(idsOf(messages))
    expect(done?.overlay.keepFirst).toEqual(span('l0u', 'l1r', 2))
    expect(done?.overlay.keepCompacted.range).toEqual(span('l2u', 'l2r', 1))
    expect(done?.overlay.keepRecent?.range).toEqual(span('l3u', 'l4r', 2))
  })

  it('leaves already truncated outputs unchanged', async () => {
    const messages = turns('l', 20, 200)
    const once = await compact(messages, { target: 0.7 * totalTokens(messages) })
    const more = [...messages, ...turns('m', 20)]
    const twice = await compact(more, { state: once?.state ?? {}, target: totalTokens(once?.view ?? []), config: recent(25) })
    expect(said(twice?.view.find((message) => message.id === 'l19r'))).toBe(said(once?.view.at(-1)))
  })

  it('keeps the newest lines and counts the missing ones', async () => {
    const messages = turns('l', 30)
    const done = await compact(messages, { target: 100_000, force: true, config: recent(5, { maxSummaryTokens: 100 }) })
    expect(middle(done?.overlay)[0]).toBe('[Context compacted: 40 messages removed to fit context window]')
    expect(middle(done?.overlay).at(-1)).toBe('[Summary] [Assistant used 1 tool(s)]')
    expect(totalTokens(done?.overlay.keepCompacted.messages ?? [])).toBeLessThanOrEqual(100)
  })

  it('keeps older lines next to a message larger than the budget', async () => {
    const messages = turns('l', 20)
    messages[30] = { ...user('paste', { turnId: { loopId: 'l', turnIndex: 10 } }), content: [{ type: 'text', text: lines(2000) }] }
    const done = await compact(messages, { target: 100_000, force: true, config: recent(5) })
    expect(middle(done?.overlay)[0]).toBe('[Context compacted: 1 messages removed to fit context window]')
    expect(middle(done?.overlay)).toHaveLength(26)
  })

  it('replaces the middle with a marker if one line per response is too much', async () => {
    const messages = turns('l', 20)
    const kept = [...messages.slice(0, 6), ...messages.slice(-15)]
    const done = await compact(messages, { target: totalTokens(kept) + 22, config: recent(5) })
    expect(middle(done?.overlay)).toEqual(['[Context compacted: 26 messages removed to fit context window]'])
    expect(idsOf(done?.view ?? []).filter((id) => id.startsWith('l'))).toEqual(idsOf(kept))
  })

  it('keeps only the newest recent turns if dropping the middle is not enough', async () => {
    const messages = turns('l', 20)
    const done = await compact(messages, { target: totalTokens(messages.slice(0, 15)) })
    const ids = idsOf(done?.view ?? [])
    expect(ids.slice(0, 6)).toEqual(idsOf(messages.slice(0, 6)))
    expect(ids.slice(-6)).toEqual(idsOf(messages.slice(-6)))
    expect(middle(done?.overlay)[0]).toMatch(/^\[Context compacted: \d+ messages removed\]$/)
    expect(totalTokens(done?.view ?? [])).toBeLessThanOrEqual(totalTokens(messages.slice(0, 15)))
  })

  it('drops first turns that take more than half of the budget', async () => {
    const messages = turns('l', 20)
    messages[0] = { ...user('l0u', { turnId: { loopId: 'l', turnIndex: 0 } }), content: [{ type: 'text', text: lines(400) }] }
    const target = Math.floor(1.5 * totalTokens(messages.slice(0, 1)))
    const done = await compact(messages, { target })
    expect(done?.overlay.keepFirst).toBeUndefined()
    // All recent turns stay instead.
    expect(done?.overlay.keepRecent?.range.turns).toBe(10)
    expect(totalTokens(done?.view ?? [])).toBeLessThanOrEqual(target)
  })

  it('truncates outputs of the current turn as a last resort', async () => {
    const messages = turns('l', 3, 5000)
    const done = await compact(messages, { target: 150 })
    expect(idsOf(done?.view ?? []).slice(-3)).toEqual(['l2u', 'l2a', 'l2r'])
    expect(totalTokens(done?.view ?? [])).toBeLessThanOrEqual(150)
    expect(said(done?.view.at(-1))).toMatch(/^line 0\n.*lines truncated.*line 4999$/s)
  })

  it('truncates an output that is one long line', async () => {
    const wide: AgentMessage = { ...result('r', 'c'), content: [{ type: 'text', text: '🙂'.repeat(20_000) }] }
    const done = await compact([user('u'), answer('a', ['c']), wide], { target: 200 })
    expect(idsOf(done?.view ?? []).slice(-2)).toEqual(['a', 'r'])
    expect(totalTokens(done?.view ?? [])).toBeLessThanOrEqual(200)
    expect(isWhole(said(done?.view.at(-1)))).toBe(true)
  })

  it('keeps the current turn and calls without results', async () => {
    const long = { ...user('now'), content: [{ type: 'text' as const, text: lines(500) }] }
    const done = await compact([...turns('l', 5), long], { target: 10 })
    expect(done?.view).toEqual([long])
    const waiting = [...turns('l', 5), answer('a', ['open']), user('meanwhile')]
    const ids = idsOf((await compact(waiting, { target: 10 }))?.view ?? [])
    expect(ids.slice(-2)).toEqual(['a', 'meanwhile'])
    const sole = await compact([answer('a', ['c']), { ...result('r', 'c'), content: [{ type: 'text' as const, text: lines(300) }] }], {
      target: 100,
    })
    expect(idsOf(sole?.view ?? [])).toEqual(['a', 'r'])
    expect(sole?.overlay.keepCompacted.range).toEqual(span('a', 'r', 1))
  })

  it('drops failed responses from the middle', async () => {
    const failed = { ...answer('f', [], { turnId: { loopId: 'l', turnIndex: 3 } }), stopReason: 'error' as const }
    const messages = [...turns('l', 3), failed, ...turns('m', 12)]
    const done = await compact(messages, { target: 100_000, force: true })
    expect(middle(done?.overlay)).toEqual([
      'l2u',
      '[Summary] [Assistant used 1 tool(s)]',
      'm0u',
      '[Summary] [Assistant used 1 tool(s)]',
      'm1u',
      '[Summary] [Assistant used 1 tool(s)]',
    ])
  })
})

describe('compaction scope', () => {
  const loops = ['a', 'b', 'c', 'd', 'e'].flatMap((loopId) => turns(loopId, 4))
  const summarised = async (scope: CompactionScope, maxContextTokens = 100_000) => {
    const config = { maxContextTokens, compaction: { keepFirstTurns: 1, keepRecentTurns: 2, scope } }
    const done = await compact(loops, { target: 100_000, force: true, config })
    return middle(done?.overlay).map((text) => text.slice(0, 2))
  }

  it('includes the current loop and a fixed count of earlier loops', async () => {
    const texts = await summarised({ type: 'fixedCount', count: 1 })
    expect(texts).toEqual(['[C', ...['d0', 'd1', 'd2', 'd3', 'e0', 'e1'].flatMap((text) => [text, '[S'])])
    const done = await compact(loops, {
      target: 100_000,
      force: true,
      config: recent(2, { keepFirstTurns: 1, scope: { type: 'fixedCount', count: 1 } }),
    })
    expect(middle(done?.overlay)[0]).toBe('[Context compacted: 33 messages removed to fit context window]')
    expect(done?.loopsCompacted).toBe(5)
    expect((await summarised({ type: 'fixedCount', count: 0 })).slice(0, 3)).toEqual(['[C', 'e0', '[S'])
    expect((await summarised({ type: 'fixedCount', count: 9 }))[0]).toBe('a1')
  })

  it('includes as many loops as fit the token budget', async () => {
    const oneLoop = totalTokens(turns('a', 4))
    const fitting = (maxContextTokens: number) => summarised({ type: 'tokenBudget' }, maxContextTokens)
    expect((await fitting(5 * oneLoop))[0]).toBe('a1')
    expect((await fitting(5 * oneLoop - 1)).slice(0, 2)).toEqual(['[C', 'b0'])
    expect((await fitting(2 * oneLoop)).slice(0, 2)).toEqual(['[C', 'd0'])
    expect((await fitting(1)).slice(0, 2)).toEqual(['[C', 'e0'])
  })

  it('keeps earlier summaries when loops leave the scope', async () => {
    const config = recent(2, { keepFirstTurns: 1, scope: { type: 'fixedCount', count: 1 } })
    const once = await compact(loops, { target: 100_000, force: true, config })
    const more = [...loops, ...turns('f', 4)]
    const twice = await compact(more, { state: once?.state ?? {}, target: 100_000, force: true, config })
    expect(middle(twice?.overlay).map((text) => text.slice(0, 2))).toEqual([
      '[C',
      ...['d0', 'd1', 'd2', 'd3', 'e0', 'e1', 'e2', 'e3', 'f0', 'f1'].flatMap((text) => [text, '[S']),
    ])
    expect(middle(twice?.overlay)[0]).toBe(middle(once?.overlay)[0])
  })
})

describe('a second compaction', () => {
  const config = recent(3)
  const first = turns('l', 20)
  const all = [...first, ...turns('m', 10)]

  it('continues from the first compaction and keeps its summaries first', async () => {
    const once = await compact(first, { target: 100_000, force: true, config })
    const twice = await compact(all, { state: once?.state ?? {}, target: 100_000, force: true, config })
    expect(twice?.overlay.keepFirst).toEqual(span('l0u', 'l1r', 2))
    expect(twice?.overlay.keepCompacted.range).toEqual(span('l2u', 'm6r', 25))
    expect(twice?.overlay.keepRecent?.range).toEqual(span('m7u', 'm9r', 3))
    expect(twice?.overlay.keepCompacted.messages.slice(0, 30)).toEqual(once?.overlay.keepCompacted.messages)
  })

  it('needs no messages that the first compaction covers', async () => {
    const once = await compact(first, { target: 100_000, force: true, config })
    const inMemory = [...all.slice(0, 6), ...all.slice(60)]
    const twice = await compact(inMemory, { state: once?.state ?? {}, target: 100_000, force: true, config })
    expect(twice?.overlay.keepCompacted.range).toEqual(span('l2u', 'm6r', 25))
    const again = [...inMemory, ...turns('n', 5)]
    expect(idsOf(deriveView(again, twice?.state ?? {}).slice(-15))).toEqual(idsOf(turns('n', 5)))
  })

  it('does nothing without new messages', async () => {
    const once = await compact(first, { target: 100_000, force: true, config })
    expect(await compact(first, { state: once?.state ?? {}, target: 100_000, force: true, config })).toBeUndefined()
  })

  it('keeps a prune memo in a second compaction', async () => {
    const prunes = [{ id: 'memo', at: 1, messageIds: ['l5a', 'l5r'], memo: 'Looked.', tokensRemoved: 9 }]
    const once = await compact(first, { state: { prunes }, target: 100_000, force: true, config })
    const memos = once?.view.filter((message) => said(message) === '[Pruned context summary: Looked.]')
    expect(memos).toHaveLength(1)
    expect(idsOf(once?.view ?? [])).not.toContain('l5r')
    const late = [{ id: 'late', at: 1, messageIds: ['l17a', 'l17r', 'm0a', 'm0r'], memo: 'Late.', tokensRemoved: 9 }]
    const state = { ...once?.state, prunes: late }
    expect(
      deriveView(all, state)
        .map(said)
        .filter((text) => text.includes('Late')),
    ).toHaveLength(1)
    const twice = await compact(all, { state, target: 100_000, force: true, config })
    expect(twice?.view.map(said).filter((text) => text.includes('Late'))).toHaveLength(1)
  })

  it('keeps requests bounded over a thousand turns', async () => {
    const messages: AgentMessage[] = []
    let state = {}
    let largest = 0
    let longest = 0
    for (let turn = 0; turn < 1000; turn += 1) {
      messages.push(...turns(`t${turn}-`, 1, 30))
      const done = await compact(messages, { state, target: 3000, config: { compaction: { scope: { type: 'fixedCount', count: 1000 } } } })
      if (totalTokens(deriveView(messages, state)) > 4000 && done !== undefined) state = done.state
      const view = deriveView(messages, state)
      largest = Math.max(largest, totalTokens(view))
      longest = Math.max(longest, JSON.stringify(state).length)
    }
    expect(largest).toBeLessThanOrEqual(4000 + totalTokens(turns('t', 1, 30)))
    expect(longest).toBeLessThan(100_000)
    expect(messages).toHaveLength(3000)
  })
})
