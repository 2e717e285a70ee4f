import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outlineOf } from '../../../src/context/compaction/outline.ts'
import { cutToolOutputsToFit } from '../../../src/context/compaction/tool-output.ts'
import { planPrune } from '../../../src/context/prune-revert/prune.ts'
import { deriveView, heuristicTokenCounter, totalTokens, turnsOf } from '../../../src/context.ts'
import type { CompactionOverlay, ContextState } from '../../../src/contract/context/context-change.ts'
import type { AgentMessage } from '../../../src/contract/message/message.ts'
import type { CompactionConfig } from '../../../src/types/context/compaction.ts'
import { runs } from '../../support/runs.ts'
import { historyOf, seeds, tornPairs } from '../random-history.ts'
import { compact } from './compacting.ts'

const config: fc.Arbitrary<Partial<CompactionConfig>> = fc.record({
  keepFirstTurns: fc.nat(3),
  keepRecentTurns: fc.nat(6),
  maxSummaryTokens: fc.nat(300),
  toolOutputMaxLines: fc.nat(20),
  scope: fc.oneof(fc.record({ type: fc.constant('fixedCount' as const), count: fc.nat(3) }), fc.constant({ type: 'tokenBudget' as const })),
})

/** The least that can be sent: the present turn with its outputs cut as short as that goes. */
function least(messages: readonly AgentMessage[], state: ContextState, compaction: Partial<CompactionConfig>): number {
  const present = outlineOf(messages, state).parts.at(-1)?.messages ?? []
  return totalTokens(
    cutToolOutputsToFit(present, { maxTokens: 0, maxLines: compaction.toolOutputMaxLines ?? 50, counter: heuristicTokenCounter }),
  )
}

/** The sections follow each other from the first message to the last, bounded where turns are. */
function expectContiguous(messages: readonly AgentMessage[], { keepFirst, keepCompacted, keepRecent }: CompactionOverlay): void {
  const turns = turnsOf(messages)
  let at = 0
  for (const range of [keepFirst, keepCompacted.range, keepRecent?.range]) {
    if (range === undefined) continue
    expect(range.turns).toBeGreaterThan(0)
    expect(turns[at]?.[0]?.id).toBe(range.firstId)
    at = turns.findIndex((turn) => turn.at(-1)?.id === range.lastId) + 1
    expect(at).toBeGreaterThan(0)
  }
  expect(at).toBe(turns.length)
}

/** What stays in memory when the messages behind the overlay leave it. */
function inMemory(messages: readonly AgentMessage[], { overlay }: ContextState): AgentMessage[] {
  if (overlay === undefined) return [...messages]
  const at = (id: string | undefined) => messages.findIndex((message) => message.id === id)
  const end = at((overlay.keepRecent ?? overlay.keepCompacted).range.lastId)
  return [...messages.slice(0, at(overlay.keepFirst?.lastId) + 1), ...messages.slice(end + 1)]
}

function expectSameView(messages: readonly AgentMessage[], others: readonly AgentMessage[], state: ContextState): void {
  const view = deriveView(messages, state)
  const again = deriveView(others, state)
  expect(again.length).toBe(view.length)
  expect(view.every((message, at) => message === again[at])).toBe(true)
}

describe('compaction of any history', () => {
  it('fits the budget, keeps pairs and order, and is stable over three runs', async () => {
    const traits = fc.record({ force: fc.boolean(), evicts: fc.boolean(), prunes: fc.boolean(), steps: fc.tuple(fc.nat(100), fc.nat(100)) })
    const property = fc.asyncProperty(seeds(28), config, fc.nat(1200), traits, async (numbers, compaction, target, traits) => {
      const history = historyOf(numbers)
      let state: ContextState = {}
      for (const share of [...traits.steps.toSorted((a, b) => a - b), 100]) {
        const messages = history.slice(0, Math.ceil((history.length * share) / 100))
        const before = deriveView(messages, state)
        const done = await compact(messages, { state, target, force: traits.force, config: { compaction } })
        const view = done?.view ?? before
        expect(totalTokens(view) <= Math.max(target, least(messages, state, compaction))).toBe(true)
        if (done !== undefined) expect(totalTokens(view)).toBeLessThan(totalTokens(before))
        if (done !== undefined) expectContiguous(messages, done.overlay)
        state = done?.state ?? state
        expectSameView(messages, traits.evicts ? inMemory(messages, state) : messages, state)
        if (traits.prunes) state = pruned(view, state)
        expect(tornPairs(messages, deriveView(messages, state))).toEqual([])
      }
    })
    // A memo in the only turn that an earlier compaction left: it is no turn of the history.
    const memoAlone = [334207423, 641988111, 1034991984, 355405531]
    const smallest = {
      keepFirstTurns: 0,
      keepRecentTurns: 0,
      maxSummaryTokens: 0,
      toolOutputMaxLines: 0,
      scope: { type: 'tokenBudget' as const },
    }
    const traitsOfIt = { force: false, evicts: false, prunes: true, steps: [34, 17] as [number, number] }
    await fc.assert(property, { numRuns: runs(600, 10_000), examples: [[memoAlone, smallest, 67, traitsOfIt]] })
  })

  it('continues from the messages still in memory', async () => {
    const property = fc.asyncProperty(seeds(20), seeds(12), config, fc.nat(800), async (first, second, compaction, target) => {
      const history = historyOf([...first, ...second])
      const messages = historyOf(first)
      const once = await compact(messages, { target, config: { compaction } })
      const state = once?.state ?? {}
      const twice = await compact(inMemory(history, state), { state, target, config: { compaction } })
      const byAll = await compact(history, { state, target, config: { compaction } })
      expect(twice?.overlay.keepFirst).toEqual(byAll?.overlay.keepFirst)
      expect(twice?.overlay.keepCompacted.range).toEqual(byAll?.overlay.keepCompacted.range)
      expect(twice?.overlay.keepRecent).toEqual(byAll?.overlay.keepRecent)
      expect(twice?.view.length).toBe(byAll?.view.length)
    })
    await fc.assert(property, { numRuns: runs(150, 2000) })
  })
})

function pruned(view: readonly AgentMessage[], state: ContextState): ContextState {
  const currentTurn = { loopId: 'none', turnIndex: 0 }
  const record = planPrune({ view, tokens: 60, memo: 'gone', currentTurn, state, counter: heuristicTokenCounter })
  return record === undefined ? state : { ...state, prunes: [...(state.prunes ?? []), record] }
}
