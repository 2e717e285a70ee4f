import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import type { AssistantMessage } from '../../../src/contract/message/message.ts'
import { runs } from '../../support/runs.ts'
import { answering, cutsOf, fixture } from '../bytes.ts'
import { decodeLaws } from '../decode-laws.ts'
import { streamed } from './call.ts'

/** claude-opus-4-6 binds no reasoning, so blocks are what the wire says. */
const model = 'claude-opus-4-6'
const usage = { input: 20, output: 42, reasoning: 0, cacheRead: 100, cacheWrite: 5, totalTokens: 167 }

const finished: Record<string, Partial<AssistantMessage>> = {
  text: { content: [{ type: 'text', text: 'Grüße 🌍, wörld' }], stopReason: 'stop', usage },
  thinking: {
    content: [
      { type: 'thinking', thinking: 'Let me see.', signature: 'c2ln' },
      { type: 'text', text: 'Done.' },
    ],
    usage: { ...usage, reasoning: 30 },
  },
  'omitted-thinking': {
    content: [
      { type: 'thinking', thinking: '', signature: 'b21p' },
      { type: 'text', text: 'Done.' },
    ],
  },
  redacted: {
    content: [
      { type: 'thinking', thinking: '', providerState: { api: 'anthropicMessages', model, payload: { redacted: 'cmVkYWN0ZWQ=' } } },
      { type: 'text', text: 'Done.' },
    ],
  },
  'parallel-tools': {
    content: [
      { type: 'text', text: 'Both.' },
      { type: 'toolCall', id: 'toolu_1', name: 'read', arguments: { path: 'a.ts' } },
      { type: 'toolCall', id: 'toolu_2', name: 'list', arguments: { depth: 2 } },
    ],
    stopReason: 'toolUse',
  },
  'empty-arguments': { content: [{ type: 'toolCall', id: 'toolu_1', name: 'now', arguments: {} }], stopReason: 'toolUse' },
  'prefilled-arguments': { content: [{ type: 'toolCall', id: 'toolu_1', name: 'roll', arguments: { sides: 6 } }], stopReason: 'toolUse' },
  refusal: { content: [{ type: 'text', text: 'I can' }], stopReason: 'guardRail' },
  'max-tokens': {
    content: [{ type: 'toolCall', id: 'toolu_1', name: 'write', arguments: {}, invalidArguments: '{"path": "a.ts", "text": "un' }],
    stopReason: 'length',
  },
  'gateway-usage': {
    content: [{ type: 'text', text: 'x' }],
    stopReason: 'stop',
    usage: { input: 7, output: 2, reasoning: 0, cacheRead: 3, cacheWrite: 0, totalTokens: 12 },
  },
  'server-tools': {
    content: [
      {
        type: 'serviceTool',
        id: 'srvtoolu_1',
        name: 'web_search',
        input: { query: 'x' },
        status: 'done',
        output: [],
        providerState: {
          api: 'anthropicMessages',
          model,
          payload: {
            call: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
            result: { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          },
        },
      },
      { type: 'text', text: 'Found.', providerState: { api: 'anthropicMessages', model, payload: { citations: [{ type: 'x' }] } } },
    ],
    stopReason: 'paused',
  },
}

const failed: Record<string, { code: string; message: RegExp; isRetryable: boolean; partial: AssistantMessage['content'] }> = {
  'mid-stream-error': { code: 'api', message: /Overloaded/, isRetryable: true, partial: [{ type: 'text', text: 'Half' }] },
  truncated: {
    code: 'network',
    message: /ended without message_stop/,
    isRetryable: true,
    partial: [{ type: 'toolCall', id: 'toolu_1', name: 'write', arguments: {}, invalidArguments: '{"path": "a.ts"' }],
  },
}

const names = [...Object.keys(finished), ...Object.keys(failed)]

const replay = (pieces: Iterable<Uint8Array>) => streamed(answering(pieces), {}, undefined, model)

describe('the Messages decoder', () => {
  it.each(Object.entries(finished))('decodes the recorded stream %s', async (name, expected) => {
    const { message, error, events } = await replay([fixture(`anthropic/${name}.sse`)])
    expect(error).toBeUndefined()
    expect(message).toMatchObject(expected)
    expect(message?.content).toEqual(expected.content)
    expect(events[0]).toEqual({ type: 'start', message })
  })

  it.each(Object.entries(failed))('fails on the recorded stream %s and keeps the partial response', async (name, expected) => {
    const { error } = await replay([fixture(`anthropic/${name}.sse`)])
    expect(error).toBeInstanceOf(ProviderError)
    if (!(error instanceof ProviderError)) return
    expect(error).toMatchObject({ code: expected.code, isRetryable: expected.isRetryable })
    expect(error.message).toMatch(expected.message)
    expect(error.partial?.content).toEqual(expected.partial)
    expect(error.partial).toMatchObject({ stopReason: 'error', errorMessage: error.message, usage: { input: 20 } })
  })
})

describe('Anthropic decoding laws', () =>
  decodeLaws({ names, bytesOf: (name) => fixture(`anthropic/${name}.sse`), replay, fragmentations: runs(100, 10_000) }))

describe('a truncated or damaged stream', () => {
  it.each(names)('reports %s truncated at any byte as a network error, and runs no partial call', async (name) => {
    const bytes = fixture(`anthropic/${name}.sse`)
    const text = new TextDecoder().decode(bytes)
    const terminal = Buffer.byteLength(text.slice(0, Math.max(0, text.indexOf('event: message_stop'))))
    const until = terminal === 0 ? bytes.length - 60 : terminal
    for (const end of cutsOf(bytes, { until })) {
      const { error } = await replay([bytes.subarray(0, end)])
      if (!(error instanceof ProviderError) || (error.code !== 'network' && name !== 'mid-stream-error'))
        expect.fail(`end at ${end}: ${error}`)
      for (const block of error.partial?.content ?? []) {
        if (block.type === 'toolCall' && JSON.stringify(block.arguments) === '{}' && name === 'parallel-tools') {
          expect(block.invalidArguments).toBeDefined()
        }
      }
    }
  })

  it('ignores an event or a delta without fields, whatever its name', async () => {
    const lines = new TextDecoder().decode(fixture('anthropic/text.sse'))
    const empty = [
      'event: message_stop\ndata: {}\n\n',
      'event: content_block_delta\ndata: {}\n\n',
      'data: {"type":"content_block_delta","index":0,"delta":{}}\n\n',
    ]
    const { message } = await replay([
      new TextEncoder().encode(lines.replace('event: content_block_stop', `${empty.join('')}event: content_block_stop`)),
    ])
    expect(message).toMatchObject(finished.text ?? {})
  })

  it('returns a message or an error for any JSON event', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.jsonValue(), anyEvent()), { maxLength: 6 }), async (events) => {
        const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
        const { message, error } = await replay([new TextEncoder().encode(text)])
        expect(message !== undefined || error instanceof ProviderError).toBe(true)
      }),
      { numRuns: runs(150, 1000) },
    )
  })
})

function anyEvent(): fc.Arbitrary<unknown> {
  const types = [
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
    'error',
  ]
  const kinds = ['text', 'tool_use', 'thinking', 'redacted_thinking', 'text_delta', 'input_json_delta', 'thinking_delta', 'signature_delta']
  const part = fc.dictionary(
    fc.constantFrom('text', 'id', 'name', 'input', 'data', 'partial_json', 'stop_reason', 'signature'),
    fc.jsonValue(),
  )
  const block = fc.tuple(part, fc.constantFrom(...kinds)).map(([fields, type]) => ({ ...fields, type }))
  return fc.record({
    type: fc.constantFrom(...types),
    index: fc.oneof(fc.nat(2), fc.jsonValue()),
    delta: fc.oneof(block, fc.jsonValue()),
    content_block: fc.oneof(block, fc.jsonValue()),
    usage: fc.jsonValue(),
    message: fc.jsonValue(),
    error: fc.jsonValue(),
  })
}
