import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import type { Content } from '../../../src/contract/message/content.ts'
import type { AssistantMessage } from '../../../src/contract/message/message.ts'
import { runs } from '../../support/runs.ts'
import { answering, cutsOf, fixture, utf8 } from '../bytes.ts'
import { decodeLaws } from '../decode-laws.ts'
import { modern, signed, streamed } from './call.ts'

const usage = { input: 20, output: 42, reasoning: 0, cacheRead: 100, cacheWrite: 0, totalTokens: 162 }
const text = (value: string): Content => ({ type: 'text', text: value })
const calls = (id: string, name: string, args = {}): Content => ({ type: 'toolCall', id, name, arguments: args })

/** Ids that the decoder made are written `made` here. */
const own = (payload: object) => ({ providerState: { api: 'googleGenerativeAi', model: 'gemini-3.5-flash', payload } })

const finished: Record<string, Partial<AssistantMessage>> = {
  text: { content: [text('Grüße 🌍, wörld')], stopReason: 'stop', usage },
  thinking: {
    content: [
      { type: 'thinking', thinking: 'Let me see.' },
      text('Do'),
      signed(text('ne.'), 'c2lnbmVkIHRleHQ='),
      signed(text(''), 'dHJhaWxpbmc='),
    ],
    stopReason: 'stop',
    usage: { input: 20, output: 42, reasoning: 30, cacheRead: 0, cacheWrite: 0, totalTokens: 62 },
  },
  'signed-thought': {
    content: [signed({ type: 'thinking', thinking: 'Hm.' }, 'dGhvdWdodA=='), text('Yes.')],
    stopReason: 'stop',
  },
  'parallel-tools': {
    content: [
      text('Both.'),
      signed(calls('fc-1', 'read', { path: 'a.ts' }), 'Zmlyc3Q='),
      calls('fc-2', 'list', { depth: 2 }),
      calls('fc-3', 'read', { path: 'é.ts' }),
    ],
    stopReason: 'toolUse',
  },
  'calls-without-ids': {
    content: [calls('made', 'read', { path: 'a.ts' }), calls('made', 'read', { path: 'b.ts' })],
    stopReason: 'toolUse',
  },
  'empty-arguments': { content: [signed(calls('made', 'now'), 'bm93')], stopReason: 'toolUse' },
  'streamed-arguments': {
    content: [
      signed(
        calls('made', 'cook', { title: 'Lasagna', servings: 4, steps: [{ text: 'Boil.' }, { 'done by': null }], vegan: false }),
        'Y29vaw==',
      ),
      calls('made', 'ring', { minutes: 25 }),
    ],
    stopReason: 'toolUse',
  },
  safety: { content: [text('I can')], stopReason: 'guardRail' },
  recitation: { content: [text('To be, or')], stopReason: 'guardRail' },
  'blocked-prompt': { content: [], stopReason: 'guardRail' },
  'max-tokens': { content: [text('Once upon a time')], stopReason: 'length' },
  'partial-usage': {
    content: [text('xyz')],
    usage: { input: 21, output: 12, reasoning: 7, cacheRead: 10, cacheWrite: 0, totalTokens: 43 },
  },
  'server-parts': {
    content: [
      {
        ...{ type: 'serviceTool', id: 'made', name: 'code_execution', status: 'done', output: '1\n' },
        input: { language: 'PYTHON', code: 'print(1)' },
        ...own({
          call: { executableCode: { language: 'PYTHON', code: 'print(1)' } },
          result: { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1\n' } },
        }),
      },
      { type: 'image', mimeType: 'image/png', data: 'AA==', ...own({}) },
      text('One.'),
    ] as Content[],
    stopReason: 'stop',
  },
  'stop-everywhere': { content: [text('1 2 3')], stopReason: 'stop' },
}

const half = [text('Half')]
const failed: Record<string, { code: string; message: RegExp; retryAfterMs?: number; partial: Content[] }> = {
  'mid-stream-error': { code: 'api', message: /overloaded/, partial: half },
  'error-list': { code: 'rateLimited', message: /exhausted/, retryAfterMs: 34_000, partial: half },
  'malformed-call': { code: 'api', message: /MALFORMED_FUNCTION_CALL.*read\(path=/, partial: [text('Now')] },
  truncated: {
    code: 'network',
    message: /ended without finishReason/,
    partial: [text('Wri'), { type: 'toolCall', id: 'made', name: 'write', arguments: {}, invalidArguments: '' }],
  },
}

const names = [...Object.keys(finished), ...Object.keys(failed)]
const replay = (pieces: Iterable<Uint8Array>) => streamed(answering(pieces))
const frames = (...chunks: unknown[]) => utf8(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(''))
const ending = (parts: object[], finishReason = 'STOP') => ({ candidates: [{ content: { parts }, finishReason }] })

/** `value` with every id that the decoder made replaced. */
function withoutMadeIds<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value).replace(/call_[0-9a-f]{32}/g, 'made'))
}

describe('the Gemini decoder', () => {
  it.each(Object.entries(finished))('decodes the recorded stream %s', async (name, expected) => {
    const { message, error, events } = await replay([fixture(`google/${name}.sse`)])
    expect(error).toBeUndefined()
    expect(withoutMadeIds(message)).toMatchObject(expected)
    expect(withoutMadeIds(message?.content)).toEqual(expected.content)
    expect(events[0]).toEqual({ type: 'start', message })
  })

  it.each(Object.entries(failed))(
    'fails on the recorded stream %s and keeps the partial response',
    async (name, { partial, message, ...expected }) => {
      const { error } = await replay([fixture(`google/${name}.sse`)])
      expect(error).toBeInstanceOf(ProviderError)
      if (!(error instanceof ProviderError)) return
      expect(error.message).toMatch(message)
      expect({ ...error, code: error.code }).toMatchObject({ ...expected, isRetryable: true })
      expect(withoutMadeIds(error.partial?.content)).toEqual(partial)
      expect(error.partial).toMatchObject({ stopReason: 'error', errorMessage: error.message, usage: { input: 20 } })
    },
  )

  it('generates unique ids for calls without one, also across responses', async () => {
    const ids = new Set<string>()
    for (let turn = 0; turn < 5; turn++) {
      const { message } = await replay([fixture('google/calls-without-ids.sse')])
      for (const block of message?.content ?? []) if (block.type === 'toolCall') ids.add(block.id)
    }
    expect(ids.size).toBe(10)
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(40)
  })

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'length'],
    ['SAFETY', 'guardRail'],
    ['RECITATION', 'guardRail'],
    ['BLOCKLIST', 'guardRail'],
    ['PROHIBITED_CONTENT', 'guardRail'],
    ['SPII', 'guardRail'],
    ['IMAGE_SAFETY', 'guardRail'],
  ])('maps finish reason %s to %s', async (finishReason, stopReason) => {
    expect((await replay([frames(ending([{ text: 'a' }], finishReason))])).message).toMatchObject({ stopReason })
  })

  it.each([
    ['MALFORMED_FUNCTION_CALL', true],
    ['MALFORMED_RESPONSE', true],
    ['UNEXPECTED_TOOL_CALL', false],
    ['TOO_MANY_TOOL_CALLS', false],
    ['LANGUAGE', false],
    ['OTHER', false],
    ['NO_IMAGE', false],
    ['A_REASON_OF_TOMORROW', false],
  ])('reports finish reason %s as a failure', async (finishReason, isRetryable) => {
    const { error } = await replay([frames(ending([{ text: 'a' }], finishReason))])
    expect(error).toMatchObject({ code: 'api', isRetryable, message: expect.stringContaining(finishReason) })
  })

  it('keeps complete calls from a response with any stop reason', async () => {
    const part = { functionCall: { name: 'now', args: {} } }
    expect((await replay([frames(ending([part], 'MAX_TOKENS'))])).message?.stopReason).toBe('length')
    expect((await replay([frames(ending([part], 'STOP'))])).message?.stopReason).toBe('toolUse')
  })

  it('marks a call with unclosed arguments as invalid', async () => {
    const open = { functionCall: { name: 'write', willContinue: true, partialArgs: [{ jsonPath: '$.path', stringValue: 'a' }] } }
    const { message } = await replay([frames(ending([open], 'MAX_TOKENS'))])
    expect(message?.content).toMatchObject([{ arguments: {}, invalidArguments: '{"path":"a"' }])
    expect((await replay([frames(ending([open]))])).message?.content).toMatchObject([{ invalidArguments: '{"path":"a"' }])
  })

  it('applies only valid argument paths', async () => {
    const places = ['$.__proto__.polluted', '$.constructor.prototype.polluted', '$.list[4294967294]', '$', '$.a.b', '$.a[0]', '$.list.x', 7]
    const partialArgs = [
      { jsonPath: '$.a', stringValue: 'x' },
      { jsonPath: '$.list[0]', numberValue: 1 },
    ]
    const more = places.map((jsonPath) => ({ jsonPath, numberValue: 2 }))
    const { message } = await replay([frames(ending([{ functionCall: { name: 'f', partialArgs: [...partialArgs, ...more, null] } }]))])
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    const [block] = message?.content ?? []
    // What could not be placed was meant for something: the call is not run without it.
    expect(block?.type === 'toolCall' && block.invalidArguments).toMatch(/^\{"a":"x","list":\[1\],/)
  })

  it('marks non-object arguments as invalid', async () => {
    const { message } = await replay([frames(ending([{ functionCall: { name: 'f', args: 'x' } }]))])
    expect(message?.content).toMatchObject([{ arguments: {}, invalidArguments: '"x"' }])
  })

  it('ignores end markers, safety ratings and further candidates', async () => {
    const first = {
      promptFeedback: { safetyRatings: [] },
      candidates: [{ content: { parts: [{ text: 'a' }] } }, { content: { parts: [{ text: 'no' }] } }],
    }
    const bytes = utf8(`${new TextDecoder().decode(frames(first, ending([{ text: 'b' }])))}data: [DONE]\n\n`)
    expect((await replay([bytes])).message?.content).toEqual([text('ab')])
  })

  it('records the model that signed a part', async () => {
    const { message } = await replay([fixture('google/empty-arguments.sse')])
    expect(message?.content[0]?.type === 'toolCall' && message.content[0].providerState?.model).toBe(modern)
  })
})

describe('Gemini decoding laws', () =>
  decodeLaws({ names, bytesOf: (name) => fixture(`google/${name}.sse`), replay, fragmentations: runs(100, 10_000) }))

describe('a truncated or damaged stream', () => {
  const early = names.filter((name) => name !== 'stop-everywhere' && name !== 'error-list' && name !== 'mid-stream-error')
  it.each(early)('reports %s truncated at any byte as a network error', async (name) => {
    const bytes = fixture(`google/${name}.sse`)
    const terminal = new TextDecoder('latin1').decode(bytes).lastIndexOf('data: ')
    for (const end of cutsOf(bytes, { until: terminal + 1 })) {
      const { error } = await replay([bytes.subarray(0, end)])
      if (!(error instanceof ProviderError) || error.code !== 'network') expect.fail(`end at ${end}: ${error}`)
    }
  })

  it('reads a refusal only from a complete frame', async () => {
    const bytes = fixture('google/blocked-prompt.sse')
    const open = await replay([bytes.subarray(0, bytes.length - 2)])
    expect(open.error).toMatchObject({ code: 'network', isRetryable: true })
  })

  it('returns a message or an error for any JSON chunk', async () => {
    const odd = fc.jsonValue({ maxDepth: 2 })
    const call = fc.record({ name: odd, id: odd, args: odd, partialArgs: odd, willContinue: odd }, { requiredKeys: [] })
    const argument = fc.record(
      {
        jsonPath: fc.oneof(
          odd,
          fc.string().map((path) => `$.${path}`),
        ),
        stringValue: odd,
      },
      { requiredKeys: [] },
    )
    const streamedCall = fc.record({ name: fc.constantFrom('f', ''), partialArgs: fc.array(argument), willContinue: fc.boolean() })
    const part = fc.record(
      { text: odd, thought: odd, thoughtSignature: odd, functionCall: fc.oneof(odd, call, streamedCall) },
      { requiredKeys: [] },
    )
    const candidate = fc.record(
      { content: fc.oneof(odd, fc.record({ parts: fc.array(fc.oneof(odd, part)) })), finishReason: fc.oneof(odd, fc.constant('STOP')) },
      { requiredKeys: [] },
    )
    const chunk = fc.record(
      { candidates: fc.oneof(odd, fc.array(candidate)), usageMetadata: odd, promptFeedback: odd, error: odd },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(odd, chunk), { maxLength: 6 }), async (chunks) => {
        const { message, error } = await replay([frames(...chunks)])
        expect(message !== undefined || error instanceof ProviderError).toBe(true)
        if (message !== undefined) expect(JSON.parse(JSON.stringify(message))).toEqual(message)
      }),
      { numRuns: runs(150, 1000) },
    )
  })
})
