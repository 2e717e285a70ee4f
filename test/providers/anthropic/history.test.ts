import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/types/content.ts'
import type { JsonObject } from '../../../src/types/json.ts'
import type { Message } from '../../../src/types/message.ts'
import type { ApiProtocol } from '../../../src/types/model-config.ts'
import { bodyFor, request, type WireMessages } from './call.ts'
import { anthropicFaults } from './grammar.ts'

const anyText = fc.oneof(fc.constantFrom('', ' ', '\n\t', 'hello', '\ud800', 'a\udfff\\ud83d b', '😀'), fc.string({ unit: 'binary' }))
/** Few ids, so that they repeat, and illegal ones that sanitise to the same text. */
const anyId = fc.constantFrom('a', 'b', 'call:1', 'call;1', 'call_1', '', 'x'.repeat(80), `${'x'.repeat(80)}y`, 'é', 'functions.a:0')
const providerState = fc.record(
  {
    api: fc.constantFrom<ApiProtocol>('anthropicMessages', 'googleGenerativeAi'),
    model: fc.constantFrom('claude-opus-4-8', 'claude-opus-4-6'),
    payload: fc.oneof(fc.constant({}), fc.constant({ redacted: 'eA==' })),
    prefixHash: fc.constantFrom('0', '1'),
  },
  { requiredKeys: ['api', 'model', 'payload'] },
)
const text = fc.record({ type: fc.constant('text' as const), text: anyText, providerState }, { requiredKeys: ['type', 'text'] })
const image = fc.constant({ type: 'image' as const, data: 'AA==', mimeType: 'image/png' })
const thinking = fc.record(
  { type: fc.constant('thinking' as const), thinking: anyText, signature: fc.constantFrom('s', 'c2ln'), providerState },
  { requiredKeys: ['type', 'thinking'] },
)
/** JSON values, as fast-check types them: `unknown` underneath. */
const anyArguments = fc
  .dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
  .map((value): JsonObject => JSON.parse(JSON.stringify(value)))
const call = fc.record(
  { type: fc.constant('toolCall' as const), id: anyId, name: anyText, arguments: anyArguments, invalidArguments: anyText, providerState },
  { requiredKeys: ['type', 'id', 'name', 'arguments'] },
)

const blocks: fc.Arbitrary<Content[]> = fc.array(fc.oneof(text, image, thinking, call), { maxLength: 4 })
const message = fc.oneof(
  fc.record({ role: fc.constant('user' as const), content: blocks, timestamp: fc.constant(1) }),
  fc.record({
    role: fc.constant('assistant' as const),
    content: blocks,
    stopReason: fc.constantFrom(
      'stop' as const,
      'toolUse' as const,
      'length' as const,
      'error' as const,
      'aborted' as const,
      'paused' as const,
    ),
    model: fc.constantFrom('claude-opus-4-8', 'claude-opus-4-6', 'gpt-5'),
    provider: fc.constantFrom('anthropic', 'openai'),
    usage: fc.constant({ input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }),
    timestamp: fc.constant(1),
  }),
  fc.record({
    role: fc.constant('toolResult' as const),
    toolCallId: anyId,
    toolName: anyText,
    content: blocks,
    isError: fc.boolean(),
    timestamp: fc.constant(1),
  }),
)
const history: fc.Arbitrary<Message[]> = fc.array(message, { maxLength: 10 })

describe('any history sends', { timeout: 60_000 }, () => {
  it.each(['claude-opus-4-8', 'claude-opus-4-6', 'claude-unheard-of-9'])('to %s', async (model) => {
    await fc.assert(
      fc.asyncProperty(history, fc.constantFrom('off' as const, 'high' as const), async (messages, thinkingLevel) => {
        const body = await bodyFor(request(model, { messages, thinkingLevel }))
        // Checked by the grammar.
        expect(anthropicFaults(body.messages as WireMessages)).toEqual([])
        expect(JSON.stringify(body).split('"cache_control":{"type":"ephemeral"}').length - 1).toBeLessThanOrEqual(4)
      }),
      { numRuns: 400 },
    )
  })

  it('and is not changed by it, and encodes the same twice', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (messages) => {
        const before = JSON.stringify(messages)
        const made = request('claude-opus-4-8', { messages })
        expect(await bodyFor(made)).toEqual(await bodyFor({ ...made, messages: structuredClone(messages) }))
        expect(JSON.stringify(messages)).toBe(before)
      }),
      { numRuns: 200 },
    )
  })
})
