import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ProviderState } from '../../../src/contract/message/content.ts'
import { emptyUsage } from '../../../src/contract/model/usage.ts'
import { isTakenAsIs, type NormaliseTarget } from '../../../src/providers/kit/history/target.ts'
import { cleanMessage } from '../../../src/providers/kit/optional/history/clean-message.ts'
import { runs } from '../../support/runs.ts'
import { anyMessage } from '../arbitraries.ts'

const target: NormaliseTarget = {
  ...{ api: 'anthropicMessages', provider: 'anthropic', model: 'm' },
  media: { media: ['image/*'], mediaByUrl: [], mediaById: [] },
  toolCallId: (id) => `legal ${id}`,
  keepsThinking: ({ signature }) => signature !== undefined,
}
const own: ProviderState = { api: 'anthropicMessages', model: 'm', payload: {} }

describe('isTakenAsIs', () => {
  const message = anyMessage({
    authors: [
      { provider: 'anthropic', model: 'm' },
      { provider: 'anthropic', model: 'other' },
    ],
    providerState: fc.constantFrom<ProviderState>(own, { ...own, model: 'other' }),
  })

  it('accepts only messages that cleanMessage returns unchanged', () => {
    let accepted = 0
    const isRight = fc.property(message, (given) => {
      if (!isTakenAsIs(given, target)) return
      accepted += 1
      expect(cleanMessage(given, target)).toBe(given)
    })
    fc.assert(isRight, { numRuns: runs(2000, 50_000) })
    expect(accepted).toBeGreaterThan(0)
  })

  it('accepts a call and reasoning of the same model', () => {
    const content = [
      { type: 'thinking' as const, thinking: 'Hm.', signature: 's', providerState: own },
      { type: 'toolCall' as const, id: 'a', name: 'f', arguments: {} },
    ]
    const answer = { role: 'assistant' as const, provider: 'anthropic', model: 'm', stopReason: 'toolUse' as const, usage: emptyUsage() }
    expect(isTakenAsIs({ ...answer, content, timestamp: 1 }, target)).toBe(true)
  })
})
