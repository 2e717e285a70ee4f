import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../../src/contract/message/message.ts'
import type { CacheStrategy } from '../../../src/contract/model/request.ts'
import type { ResponseFormat } from '../../../src/contract/model/request-settings.ts'
import { cacheHitRate } from '../../../src/contract/model/usage.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { runs } from '../../support/runs.ts'
import { answer, bodyFor, call, request, result, user } from './call.ts'

const breakpoint = '"cache_control":{"type":"ephemeral"}'
const countIn = (value: unknown): number => JSON.stringify(value ?? []).split(breakpoint).length - 1
const look = { name: 'look', description: 'Looks.', parameters: { type: 'object' } }

const messages: fc.Arbitrary<Message[]> = fc.array(
  fc.oneof(
    fc.constantFrom<Message>(user('Hi'), user(breakpoint), answer([{ type: 'text', text: 'Yes.' }]), answer([call('a'), call('b')])),
    fc.constantFrom<Message>(result('a'), result('b', [{ type: 'image', data: 'AA==', mimeType: 'image/png' }])),
  ),
  { maxLength: 12 },
)
const flag = fc.boolean()
const cache: fc.Arbitrary<CacheStrategy> = fc.oneof(
  fc.constantFrom<CacheStrategy>({ type: 'auto' }, { type: 'disabled' }),
  fc.record({ type: fc.constant('manual' as const), cacheSystem: flag, cacheTools: flag, cacheMessages: flag }),
)
const responseFormat = fc.constantFrom<ResponseFormat>(
  { type: 'text' },
  { type: 'jsonObject' },
  { type: 'jsonSchema', name: 'x', schema: { type: 'object', properties: {} } },
)

describe('cache breakpoints', () => {
  it('sets at most four breakpoints, as the strategy requires', async () => {
    const tools = fc.constantFrom([], [look], [look, { ...look, name: 'more' }])
    const systemPrompt = fc.constantFrom('', ' ', 'Be brief.')
    const id = fc.constantFrom('claude-sonnet-4-5', 'claude-opus-4-8', 'claude-opus-5-5')
    const input = fc.record({ messages, cache, tools, systemPrompt, responseFormat })
    await fc.assert(
      fc.asyncProperty(input, id, flag, async (changes, model, oauth) => {
        const body = await bodyFor(request(model, changes), { oauth })
        const strategy = changes.cache
        const wants = (part: 'cacheSystem' | 'cacheTools' | 'cacheMessages') =>
          strategy.type === 'auto' || (strategy.type === 'manual' && strategy[part]) ? 1 : 0
        // A text that looks like a breakpoint is none: its quotes are escaped.
        expect(countIn(body)).toBeLessThanOrEqual(4)
        expect(countIn(body.system)).toBe(body.system === undefined ? 0 : wants('cacheSystem'))
        expect(countIn(body.tools)).toBe(body.tools === undefined ? 0 : wants('cacheTools'))
        // The last block, that of the request before, and media in the last message.
        expect(countIn(body.messages)).toBeLessThanOrEqual(3 * wants('cacheMessages'))
      }),
      { numRuns: runs(100, 3000) },
    )
  })

  it('places a breakpoint at a prefix of the next request', async () => {
    const first = [user('One'), answer([{ type: 'text', text: 'Two.' }]), user('Three')]
    const before = await bodyFor(request('claude-test', { messages: first }))
    const after = await bodyFor(request('claude-test', { messages: [...first, answer([{ type: 'text', text: 'Four.' }]), user('Five')] }))
    const plain = (body: Record<string, unknown>) => JSON.stringify(body.messages).replaceAll(`,${breakpoint}`, '').slice(0, -1)
    expect(plain(after).startsWith(plain(before))).toBe(true)
    expect(after.system).toEqual(before.system)
  })

  it('counts each cached token only once', async () => {
    const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 80, cache_creation_input_tokens: 10 }
    const frames = [
      { type: 'message_start', message: { usage } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ]
    const body = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')
    const send = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    const { provider } = anthropic('claude-test', { fetch: send })
    const message = await provider.stream(request('claude-test'), () => undefined, new AbortController().signal)
    expect(message.usage).toMatchObject({ input: 10, cacheRead: 80, cacheWrite: 10, totalTokens: 105 })
    expect(cacheHitRate(message.usage)).toBe(0.8)
  })
})
