import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import { emptyUsage } from '../../../src/contract/model/usage.ts'
import { runs } from '../../support/runs.ts'
import { answering, cutsOf, fixture, sse, utf8 } from '../bytes.ts'
import { decodeLaws } from '../decode-laws.ts'
import { streamed } from './call.ts'

const usage = { input: 20, output: 42, reasoning: 30, cacheRead: 100, cacheWrite: 5, totalTokens: 167 }
const state = (payload: object) => ({ providerState: { api: 'openAiResponses', model: 'gpt-test', payload } })
const reasoning = (summary: string[], more: object = { encrypted_content: 'ZW5jcnlwdGVk' }) => ({
  item: { id: 'rs_1', type: 'reasoning', summary: summary.map((text) => ({ type: 'summary_text', text })), ...more },
})
const after = 'rs_1'

const finished: Record<string, { content: object[]; stopReason: string; usage?: object; refusal?: string }> = {
  text: {
    content: [{ type: 'text', text: 'Grüße 🌍, wörld', ...state({ id: 'msg_1', phase: 'final_answer' }) }],
    stopReason: 'stop',
    usage,
  },
  reasoning: {
    content: [
      { type: 'thinking', thinking: '**Plan**\n\nLook first.', ...state(reasoning(['**Plan**\n\nLook first.', '**Then** answer.'])) },
      { type: 'thinking', thinking: '**Then** answer.' },
      { type: 'text', text: 'Done.', ...state({ id: 'msg_1', phase: 'final_answer', after }) },
    ],
    stopReason: 'stop',
  },
  'empty-arguments': {
    content: [
      { type: 'thinking', thinking: '', ...state(reasoning([])) },
      { type: 'toolCall', id: 'call_1', name: 'now', arguments: {}, ...state({ id: 'fc_1', after }) },
    ],
    stopReason: 'toolUse',
  },
  'parallel-tools': {
    content: [
      { type: 'thinking', thinking: 'Two things.', ...state(reasoning(['Two things.'])) },
      { type: 'text', text: 'Both.', ...state({ id: 'msg_1', phase: 'commentary', after }) },
      { type: 'toolCall', id: 'call_1', name: 'read', arguments: { path: 'é.ts' }, ...state({ id: 'fc_1' }) },
      { type: 'toolCall', id: 'call_2', name: 'list', arguments: { depth: 2 }, ...state({ id: 'fc_2' }) },
    ],
    stopReason: 'toolUse',
  },
  refusal: { content: [], stopReason: 'guardRail', refusal: "I'm sorry, no." },
  'max-tokens': {
    content: [
      {
        type: 'toolCall',
        id: 'call_1',
        name: 'write',
        arguments: {},
        invalidArguments: '{"path":"a.ts","text":"un',
        ...state({ id: 'fc_1' }),
      },
    ],
    stopReason: 'length',
  },
  'content-filter': { content: [{ type: 'text', text: 'I can', ...state({ id: 'msg_1' }) }], stopReason: 'guardRail' },
  'late-encryption': {
    content: [
      { type: 'thinking', thinking: 'Hm.', ...state(reasoning(['Hm.'], { encrypted_content: 'bGF0ZQ==' })) },
      { type: 'text', text: 'Yes.', ...state({ id: 'msg_1', after }) },
    ],
    stopReason: 'stop',
  },
  'raw-reasoning': {
    content: [
      {
        type: 'thinking',
        thinking: 'Two and two.',
        ...state(reasoning([], { content: [{ type: 'reasoning_text', text: 'Two and two.' }] })),
      },
      { type: 'text', text: '4', ...state({ id: 'msg_1', after }) },
    ],
    stopReason: 'stop',
  },
  'whole-answer': {
    content: [
      { type: 'thinking', thinking: 'Short.', ...state(reasoning(['Short.'])) },
      { type: 'text', text: 'All at once.', ...state({ id: 'msg_1', phase: 'commentary', after }) },
      { type: 'toolCall', id: 'call_1', name: 'roll', arguments: { sides: 6 }, ...state({ id: 'fc_1' }) },
    ],
    stopReason: 'toolUse',
  },
  'old-events': {
    content: [
      { type: 'thinking', thinking: 'Think.' },
      { type: 'text', text: 'Say. ' },
      { type: 'toolCall', id: 'call_1', name: 'roll', arguments: { sides: 6 } },
    ],
    stopReason: 'toolUse',
    usage: { input: 7, output: 2, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 9 },
  },
  'server-tools': {
    content: [
      { type: 'thinking', thinking: '', ...state(reasoning([])) },
      {
        type: 'serviceTool',
        id: 'ws_1',
        name: 'web_search',
        status: 'done',
        ...state({ items: [{ id: 'ws_1', type: 'web_search_call', status: 'completed' }], after }),
      },
      { type: 'text', text: 'Found.', ...state({ id: 'msg_1' }) },
    ],
    stopReason: 'stop',
  },
  gateway: { content: [{ type: 'text', text: 'Hello', ...state({ id: 'msg_tmp_1' }) }], stopReason: 'stop', usage: emptyUsage() },
}

const failed: Record<string, { code: string; message: RegExp; isRetryable: boolean; partial?: object[] }> = {
  'mid-stream-error': { code: 'api', message: /The server had an error/, isRetryable: true, partial: [{ type: 'text', text: 'I can' }] },
  failed: { code: 'contextOverflow', message: /context window/, isRetryable: false },
  truncated: {
    code: 'network',
    message: /ended without response\.completed/,
    isRetryable: true,
    partial: [{ type: 'toolCall', id: 'call_1', name: 'write', arguments: {}, invalidArguments: '{"path":"a.ts"' }],
  },
}

const names = [...Object.keys(finished), 'renamed-ids', ...Object.keys(failed)]

const replay = (pieces: Iterable<Uint8Array>) => streamed(answering(pieces))
const read = (name: string) => fixture(`openai-responses/${name}.sse`)

describe('the Responses decoder', () => {
  it.each(Object.entries(finished))('decodes the recorded stream %s', async (name, expected) => {
    const { message, error, events } = await replay([read(name)])
    expect(error).toBeUndefined()
    expect(message?.content).toEqual(expected.content)
    expect(message).toMatchObject({ stopReason: expected.stopReason, usage: expected.usage ?? usage })
    expect(message?.refusal).toBe(expected.refusal)
    expect(events[0]).toEqual({ type: 'start', message })
  })

  it('reads items whose id changes with every event', async () => {
    const { message } = await replay([read('renamed-ids')])
    expect(message?.content).toMatchObject([
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'toolCall', id: 'call_1', name: 'roll', arguments: { sides: 6 } },
    ])
    expect(message?.content).toHaveLength(2)
  })

  it.each(Object.entries(failed))('fails on the recorded stream %s and keeps the partial response', async (name, expected) => {
    const { error } = await replay([read(name)])
    expect(error).toBeInstanceOf(ProviderError)
    if (!(error instanceof ProviderError)) return
    expect(error).toMatchObject({ code: expected.code, isRetryable: expected.isRetryable })
    expect(error.message).toMatch(expected.message)
    expect(error.partial?.content).toEqual(expected.partial)
  })

  it('stops with guardRail if a filter is reported as an error', async () => {
    const error = { code: 'content_filter', message: 'The response was filtered.' }
    for (const last of [
      { type: 'error', error },
      { type: 'error', ...error },
      { type: 'response.failed', response: { error } },
    ]) {
      const { message } = await replay([sse({ type: 'response.output_text.delta', output_index: 0, delta: 'I ' }, last)])
      expect(message).toMatchObject({ stopReason: 'guardRail', content: [{ type: 'text', text: 'I ' }] })
    }
  })

  it('reports an unknown incomplete reason', async () => {
    const response = { status: 'incomplete', incomplete_details: { reason: 'moonrise' } }
    const { message } = await replay([sse({ type: 'response.incomplete', response })])
    expect(message).toMatchObject({ stopReason: 'error', errorMessage: expect.stringContaining('moonrise') })
  })

  it('completes arguments from the finished item, also from an object', async () => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f' }
    const added = { type: 'response.output_item.added', output_index: 0, item }
    const delta = { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a"' }
    const end = { type: 'response.completed', response: {} }
    for (const args of ['{"a":1}', { a: 1 }]) {
      const done = { type: 'response.output_item.done', output_index: 0, item: { ...item, arguments: args } }
      expect((await replay([sse(added, delta, done, end)])).message?.content).toMatchObject([{ arguments: { a: 1 } }])
      expect((await replay([sse(added, done, end)])).message?.content).toMatchObject([{ arguments: { a: 1 } }])
    }
  })
})

describe('Responses decoding laws', () => decodeLaws({ names, bytesOf: read, replay, fragmentations: runs(100, 10_000) }))

describe('a truncated or damaged stream', () => {
  it.each(names.filter((name) => !/error|failed/.test(name)))('reports %s truncated at any byte as a network error', async (name) => {
    const bytes = read(name)
    const text = new TextDecoder().decode(bytes)
    const terminal = /(event: response\.(completed|incomplete)\n)?data: {"type":"response\.(completed|incomplete)"/.exec(text)
    const until = terminal === null ? bytes.length : utf8(text.slice(0, terminal.index)).length
    for (const end of cutsOf(bytes, { until })) {
      const { error } = await replay([bytes.subarray(0, end)])
      if (!(error instanceof ProviderError) || error.code !== 'network') expect.fail(`end at ${end}: ${error}`)
    }
  })

  it('returns a message or an error for any JSON event', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.jsonValue(), anyEvent()), { maxLength: 6 }), async (events) => {
        const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
        const { message, error } = await replay([utf8(text)])
        expect(message !== undefined || (error instanceof ProviderError && error.code !== 'other')).toBe(true)
      }),
      { numRuns: runs(200, 2000) },
    )
  })
})

function anyEvent(): fc.Arbitrary<unknown> {
  const types = [
    'output_text.annotation.added',
    'image_generation_call.partial_image',
    'shell_call_command.done',
    'mcp_call_arguments.done',
    'output_item.added',
    'output_item.done',
    'output_text.delta',
    'refusal.delta',
    'reasoning_summary_text.delta',
    'reasoning_text.delta',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'completed',
    'incomplete',
    'failed',
  ].map((type) => `response.${type}`)
  const part = fc.oneof(fc.record({ type: fc.constantFrom('output_text', 'refusal'), text: fc.jsonValue() }), fc.jsonValue())
  const item = fc.record(
    {
      type: fc.constantFrom(
        'message',
        'reasoning',
        'function_call',
        'web_search_call',
        'code_interpreter_call',
        'image_generation_call',
        'mcp_list_tools',
        'mcp_call',
        'mcp_approval_request',
        'shell_call',
        'shell_call_output',
        'tool_search_call',
        'tool_search_output',
        'hologram',
      ),
      status: fc.oneof(fc.constantFrom('completed', 'failed', 'incomplete'), fc.jsonValue()),
      action: fc.jsonValue(),
      environment: fc.oneof(fc.constant({ type: 'container_reference' }), fc.jsonValue()),
      outputs: fc.oneof(
        fc.array(fc.record({ type: fc.constantFrom('logs', 'image'), url: fc.jsonValue(), logs: fc.jsonValue() })),
        fc.jsonValue(),
      ),
      tools: fc.jsonValue(),
      result: fc.jsonValue(),
      error: fc.jsonValue(),
      output: fc.jsonValue(),
      id: fc.oneof(fc.constantFrom('a', 'b'), fc.jsonValue()),
      call_id: fc.jsonValue(),
      name: fc.jsonValue(),
      arguments: fc.jsonValue(),
      content: fc.oneof(fc.array(part), fc.jsonValue()),
      summary: fc.oneof(fc.array(part), fc.jsonValue()),
    },
    { requiredKeys: ['type'] },
  )
  return fc.record(
    {
      type: fc.constantFrom(...types, 'error'),
      output_index: fc.oneof(fc.nat(2), fc.jsonValue()),
      item_id: fc.oneof(fc.constantFrom('a', 'b'), fc.jsonValue()),
      content_index: fc.oneof(fc.nat(2), fc.jsonValue()),
      delta: fc.oneof(fc.string(), fc.jsonValue()),
      arguments: fc.jsonValue(),
      annotation: fc.jsonValue(),
      partial_image_b64: fc.jsonValue(),
      command: fc.jsonValue(),
      command_index: fc.oneof(fc.nat(3), fc.jsonValue()),
      logprobs: fc.jsonValue(),
      item: fc.oneof(item, fc.jsonValue()),
      response: fc.oneof(fc.record({ output: fc.array(item), usage: fc.jsonValue(), status: fc.jsonValue() }), fc.jsonValue()),
      error: fc.jsonValue(),
    },
    { requiredKeys: ['type'] },
  )
}
