import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ApiProtocol } from '../../../src/contract/model/model-config.ts'
import { runs } from '../../support/runs.ts'
import { anyHistory } from '../arbitraries.ts'
import { issuedIds } from '../model-call.ts'
import { bodyFor, request, type WireMessages } from './call.ts'
import { anthropicFaults } from './grammar.ts'

const models = ['claude-opus-4-8', 'claude-opus-4-6', 'gpt-5']
const history = anyHistory({
  authors: models.flatMap((model) => ['anthropic', 'openai'].map((provider) => ({ model, provider }))),
  providerState: fc.record(
    {
      api: fc.constantFrom<ApiProtocol>('anthropicMessages', 'googleGenerativeAi'),
      model: fc.constantFrom('claude-opus-4-8', 'claude-opus-4-6'),
      payload: fc.oneof(fc.constant({}), fc.constant({ redacted: 'eA==' })),
      prefixHash: fc.constantFrom('0', '1'),
    },
    { requiredKeys: ['api', 'model', 'payload'] },
  ),
})

describe('any history', () => {
  it.each(['claude-opus-4-8', 'claude-opus-4-6', 'claude-unheard-of-9'])('encodes any history to a valid request: %s', async (model) => {
    await fc.assert(
      fc.asyncProperty(history, fc.constantFrom('off' as const, 'high' as const), async (messages, thinking) => {
        // Half an answer may be the end of a request: the service goes on with it.
        fc.pre(!messages.some((message) => message.role === 'assistant' && message.stopReason === 'paused'))
        const asked = request(model, { messages, thinking })
        const body = await bodyFor(asked)
        // Checked by the grammar.
        expect(anthropicFaults(body.messages as WireMessages, issuedIds(asked.model, messages))).toEqual([])
        expect(JSON.stringify(body).split('"cache_control":{"type":"ephemeral"}').length - 1).toBeLessThanOrEqual(4)
      }),
      { numRuns: runs(120, 4000) },
    )
  })

  it('leaves the history unchanged, and encodes it the same each time', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (messages) => {
        const before = JSON.stringify(messages)
        const made = request('claude-opus-4-8', { messages })
        expect(await bodyFor(made)).toEqual(await bodyFor({ ...made, messages: structuredClone(messages) }))
        expect(JSON.stringify(messages)).toBe(before)
      }),
      { numRuns: runs(60, 2000) },
    )
  })
})
