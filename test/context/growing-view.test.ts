import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planPrune } from '../../src/context/prune-revert/prune.ts'
import { PromptMeter } from '../../src/context/tokens/prompt-size.ts'
import { GrowingView } from '../../src/context/view/derive-view.ts'
import { bridged, isAnswer, isStandIn } from '../../src/context/view/stand-in.ts'
import { deriveView, heuristicTokenCounter, totalTokens } from '../../src/context.ts'
import type { ContextState } from '../../src/contract/context/context-change.ts'
import { type AgentMessage, isLlmMessage } from '../../src/contract/message/message.ts'
import type { TokenCounter } from '../../src/types/context/compaction.ts'
import { runs } from '../support/runs.ts'
import { compact } from './compaction/compacting.ts'
import { answer, result, user } from './history.ts'
import { historyOf, seeds } from './random-history.ts'

/** A prune or a compaction, or nothing. */
async function changed(messages: readonly AgentMessage[], state: ContextState, kind: number): Promise<ContextState> {
  if (kind === 0) return (await compact(messages, { state, target: 200, config: { compaction: { keepRecentTurns: 2 } } }))?.state ?? state
  if (kind !== 1) return state
  const currentTurn = { loopId: 'none', turnIndex: 0 }
  const view = deriveView(messages, state)
  const record = planPrune({ view, tokens: 30, memo: 'gone', currentTurn, state, counter: heuristicTokenCounter })
  return record === undefined ? state : { ...state, prunes: [...(state.prunes ?? []), record] }
}

describe('GrowingView', () => {
  it('matches a freshly derived view and its size at every step', async () => {
    const property = fc.asyncProperty(seeds(30), fc.array(fc.nat(9), { minLength: 1, maxLength: 12 }), async (numbers, kinds) => {
      const history = historyOf(numbers)
      const messages: AgentMessage[] = []
      const growing = new GrowingView()
      const meter = new PromptMeter({ counter: heuristicTokenCounter, systemPromptTokens: 7 })
      let state: ContextState = {}
      for (const [at, kind] of kinds.entries()) {
        const step = Math.ceil(history.length / kinds.length)
        messages.push(...history.slice(at * step, (at + 1) * step))
        state = await changed(messages, state, kind)
        const view = growing.of(messages, state)
        const anew = bridged(deriveView(messages, state))
        expect(view.length).toBe(anew.length)
        expect(view.every((message, index) => message === anew[index])).toBe(true)
        expect(meter.measure(view, state)).toEqual(
          new PromptMeter({ counter: heuristicTokenCounter, systemPromptTokens: 7 }).measure(view, state),
        )
        expect(meter.measure(view, state).messageTokens).toBe(totalTokens(view))
        // No answer right behind what stands in for others.
        const shown = view.filter(isLlmMessage)
        expect(shown.some((message, index) => isAnswer(message) && index > 0 && isStandIn(shown[index - 1] ?? message))).toBe(false)
      }
    })
    await fc.assert(property, { numRuns: runs(300, 3000) })
  })

  it('estimates each message only once', () => {
    let asked = 0
    const counter: TokenCounter = {
      text: () => 1,
      message: () => {
        asked += 1
        return 1
      },
    }
    const meter = new PromptMeter({ counter, systemPromptTokens: 0 })
    const state: ContextState = {}
    const messages: AgentMessage[] = []
    const reads = { count: 0 }
    const watched = new Proxy(messages, {
      get: (list, key, receiver) => {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads.count += 1
        return Reflect.get(list, key, receiver)
      },
    })
    let before = 0
    for (let turn = 0; turn < 500; turn += 1) {
      messages.push(user(`u${turn}`), answer(`a${turn}`, [`c${turn}`]), result(`r${turn}`, `c${turn}`))
      before = reads.count
      expect(meter.measure(watched, state).messageTokens).toBe(3 * (turn + 1))
      expect(reads.count - before).toBeLessThan(20)
    }
    expect(asked).toBe(1500)
  })
})

describe('PromptMeter', () => {
  const usage = (input: number) => ({ input, output: 10, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: input + 10 })
  const counted = (id: string, input: number, timestamp = 1) => ({ ...answer(id), usage: usage(input), timestamp })
  const measure = (view: readonly AgentMessage[], state: ContextState = {}) =>
    new PromptMeter({ counter: { text: () => 1, message: () => 100 }, systemPromptTokens: 50 }).measure(view, state)

  it('adds an estimate of newer messages to the reported count', () => {
    expect(measure([user('u'), counted('a', 1000), user('v')])).toEqual({ messageTokens: 300, promptTokens: 1110 })
  })

  it('uses its own estimate if the provider reports less or nothing', () => {
    expect(measure([user('u'), counted('a', 5), user('v')])).toEqual({ messageTokens: 300, promptTokens: 350 })
    expect(measure([user('u'), answer('a'), user('v')])).toEqual({ messageTokens: 300, promptTokens: 350 })
  })

  it('ignores a count from before the last context change', () => {
    const state = { prunes: [{ id: 'p', at: 5, messageIds: [], tokensRemoved: 1 }] }
    expect(measure([user('u'), counted('a', 1000, 5), user('v')], state).promptTokens).toBe(350)
    expect(measure([user('u'), counted('a', 1000, 6), user('v')], state).promptTokens).toBe(1110)
  })
})
