import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import type { ApiProtocol } from '../../../src/contract/model/model-config.ts'
import { vertex } from '../../../src/providers/vertex/index.ts'
import { runs } from '../../support/runs.ts'
import { anyHistory } from '../arbitraries.ts'
import { issuedIds } from '../model-call.ts'
import { answer, bodyFor, modern, old, request, user } from './call.ts'
import { geminiFaults } from './grammar.ts'

const history = anyHistory({
  authors: [modern, old, 'gpt-5'].flatMap((model) => ['google', 'vertex', 'openai'].map((provider) => ({ model, provider }))),
  ids: ['a', 'b', 'call 1', 'call\t1', 'call_1', '', 'x'.repeat(300), `${'x'.repeat(300)}y`, 'é', 'functions.a:0'],
  names: fc.oneof(fc.constantFrom('read', 'list', 'functions.read file', '9lives', ''), fc.string({ maxLength: 80 })),
  // Every signature is unique to its model, so that it can be seen who got it back.
  providerState: fc.record({
    api: fc.constantFrom<ApiProtocol>('googleGenerativeAi', 'googleVertex', 'anthropicMessages'),
    model: fc.constantFrom(modern, old),
    payload: fc.oneof(fc.constant({}), fc.constant({ thoughtSignature: 'c2ln' }), fc.constant({ thoughtSignature: 7 })),
  }),
})

describe('any history', () => {
  it.each([
    [modern, true],
    ['gemini-unheard-of-9', true],
    [old, false],
    ['gemini-2.0-flash', false],
    ['gemma-3-27b-it', false],
  ])('encodes any history to a valid request: %s', async (model, isModern) => {
    await fc.assert(
      fc.asyncProperty(history, fc.constantFrom('off' as const, 'high' as const), async (messages, thinking) => {
        const asked = request(model, { messages, thinking })
        const { contents } = await bodyFor(asked)
        expect(geminiFaults(contents, { isModern, issued: issuedIds(asked.model, messages) })).toEqual([])
      }),
      { numRuns: runs(120, 4000) },
    )
  })

  it.each([
    [modern, true],
    [old, false],
  ])('encodes any history to a valid request on Vertex AI: %s', async (model, isModern) => {
    const { config, provider } = vertex(model, { project: 'p' })
    await fc.assert(
      fc.asyncProperty(history, async (messages) => {
        const { body } = await provider.encode(request(model, { model: config, messages }))
        expect(geminiFaults(JSON.parse(body).contents, { isModern, issued: issuedIds(config, messages) })).toEqual([])
      }),
      { numRuns: runs(60, 2000) },
    )
  })

  it('leaves the history unchanged, and encodes it the same each time', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (messages) => {
        const before = JSON.stringify(messages)
        const made = request(modern, { messages })
        expect(await bodyFor(made)).toEqual(await bodyFor({ ...made, messages: structuredClone(messages) }))
        expect(JSON.stringify(messages)).toBe(before)
      }),
      { numRuns: runs(60, 2000) },
    )
  })

  it('sends responses of the same model back part by part with their signatures', async () => {
    const signature = fc.base64String({ minLength: 1 })
    const sign = (thoughtSignature: string) => ({ api: 'googleGenerativeAi' as const, model: modern, payload: { thoughtSignature } })
    const ownText = fc.record({ text: fc.constantFrom('', 'a', 'b'), signature })
    const own = fc.oneof(
      ownText.map(({ text: value, signature: s }): Content => ({ type: 'text', text: value, providerState: sign(s) })),
      ownText.map(({ text: value, signature: s }): Content => ({ type: 'thinking', thinking: value, providerState: sign(s) })),
      fc.constantFrom('a', 'b').map((value): Content => ({ type: 'text', text: value })),
      signature.map((s): Content => ({ type: 'toolCall', id: s, name: 'read', arguments: {}, providerState: sign(s) })),
    )
    const answers = fc.uniqueArray(own, { minLength: 1, maxLength: 6, selector: (block) => JSON.stringify(block) })
    await fc.assert(
      fc.asyncProperty(answers, async (content) => {
        const last: Content = { type: 'text', text: 'end' }
        const said = answer([...content, last])
        const { contents } = await bodyFor(request(modern, { messages: [user('Hi'), said, user('More')] }))
        const sent = contents[1]?.parts.map((part) => part.thoughtSignature)
        expect(sent).toEqual(said.content.map((block) => (block.type === 'image' ? '' : block.providerState?.payload.thoughtSignature)))
      }),
      { numRuns: runs(60, 2000) },
    )
  })
})
