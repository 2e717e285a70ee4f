import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ApiProtocol } from '../../../src/contract/model/model-config.ts'
import { runs } from '../../support/runs.ts'
import { anyHistory } from '../arbitraries.ts'
import { issuedIds } from '../model-call.ts'
import { bodyFor, request } from './call.ts'
import { bedrockFaults } from './grammar.ts'

const models = [
  'us.anthropic.claude-opus-4-8',
  'us.anthropic.claude-opus-4-6-v1',
  'us.amazon.nova-2-lite-v1:0',
  'mistral.mistral-large-2407-v1:0',
  'x.unheard-of',
]
const history = anyHistory({
  authors: [...models, 'gpt-5'].flatMap((model) => ['bedrock', 'openai'].map((provider) => ({ model, provider }))),
  ids: ['a', 'b', 'call:1', 'call;1', 'call_1', '', 'x'.repeat(80), `${'x'.repeat(80)}y`, 'é', 'abcDEF123'],
  mimeTypes: ['image/png', 'image/tiff'],
  providerState: fc.record(
    {
      api: fc.constantFrom<ApiProtocol>('bedrockConverseStream', 'anthropicMessages'),
      model: fc.constantFrom(...models),
      payload: fc.oneof(fc.constant({}), fc.constant({ redacted: 'eA==' })),
      prefixHash: fc.constantFrom('0', '1'),
    },
    { requiredKeys: ['api', 'model', 'payload'] },
  ),
})
/** Not signed: nothing here depends on it. */
const credential = 'bearer-key'

describe('any history', () => {
  it.each(models)('encodes any history to a valid request: %s', async (model) => {
    const rules = { ids: model.startsWith('mistral') ? /^[a-zA-Z0-9]{9}$/ : /^[a-zA-Z0-9_-]{1,64}$/, signed: model.includes('claude') }
    await fc.assert(
      fc.asyncProperty(history, fc.constantFrom('off' as const, 'high' as const), async (messages, thinking) => {
        const asked = request(model, { messages, thinking, credential })
        expect(bedrockFaults(await bodyFor(asked), { ...rules, issued: issuedIds(asked.model, messages) })).toEqual([])
      }),
      { numRuns: runs(100, 3000) },
    )
  })

  it('leaves the history unchanged, and encodes it the same each time', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (messages) => {
        const before = JSON.stringify(messages)
        const made = request('us.anthropic.claude-opus-4-8', { messages, credential })
        expect(await bodyFor(made)).toEqual(await bodyFor({ ...made, messages: structuredClone(messages) }))
        expect(JSON.stringify(messages)).toBe(before)
      }),
      { numRuns: runs(50, 1500) },
    )
  })
})
