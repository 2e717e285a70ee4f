import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import type { Content } from '../../../src/contract/message/content.ts'
import type { AssistantMessage } from '../../../src/contract/message/message.ts'
import { awsFrame } from '../../harness/server/bedrock.ts'
import { runs } from '../../support/runs.ts'
import { cutsOf, utf8 } from '../bytes.ts'
import { decodeLaws } from '../decode-laws.ts'
import { answering, bytesOf, claude, frame, framesOf, linesOf, request, streamed } from './call.ts'

const usage = { input: 20, output: 9, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 29 }
const state = (redacted: string) => ({ api: 'bedrockConverseStream' as const, model: claude, payload: { redacted } })
const tools = ['read', 'list'].map((name) => ({ name, description: '', parameters: { type: 'object' } }))

const finished: Record<string, Partial<AssistantMessage>> = {
  text: { content: [{ type: 'text', text: 'Grüße 🌍, wörld' }], stopReason: 'stop', usage },
  thinking: {
    content: [
      { type: 'thinking', thinking: 'Let me see.', signature: 'c2lnbmF0' },
      { type: 'text', text: 'Done.' },
    ],
  },
  'omitted-thinking': {
    content: [
      { type: 'thinking', thinking: '', signature: 'b21p' },
      { type: 'text', text: 'Done.' },
    ],
  },
  redacted: {
    content: [
      { type: 'thinking', thinking: '', providerState: state('cmVkYWN0ZWQ=') },
      { type: 'thinking', thinking: '', providerState: state('cGFydHBhcnQ=') },
      { type: 'text', text: 'Done.' },
    ],
  },
  'parallel-tools': {
    content: [
      { type: 'text', text: 'Both.' },
      { type: 'toolCall', id: 'tooluse_1', name: 'read', arguments: { path: 'a.ts' } },
      { type: 'toolCall', id: 'tooluse_2', name: 'list', arguments: { depth: 2 } },
    ],
    stopReason: 'toolUse',
  },
  'empty-arguments': { content: [{ type: 'toolCall', id: 'tooluse_1', name: 'now', arguments: {} }], stopReason: 'toolUse' },
  // A typed call of a tool that was offered is ours; the service's own calls and their results are not.
  'server-tools': {
    content: [
      {
        ...{ type: 'serviceTool', id: 'tooluse_1', name: 'nova_code_interpreter', input: { snippet: '1+1' } },
        ...{ status: 'done', output: { stdOut: '2' } },
        providerState: {
          ...{ api: 'bedrockConverseStream', model: claude },
          payload: {
            call: {
              toolUse: { toolUseId: 'tooluse_1', name: 'nova_code_interpreter', input: { snippet: '1+1' }, type: 'server_tool_use' },
            },
            result: { toolResult: { toolUseId: 'tooluse_1', content: [{ json: { stdOut: '2' } }], status: 'success' } },
          },
        },
      },
      { type: 'toolCall', id: 'tooluse_2', name: 'read', arguments: { path: 'b' } },
    ] as Content[],
    stopReason: 'toolUse',
  },
  guardrail: { content: [{ type: 'text', text: 'I can' }], stopReason: 'guardRail' },
  'max-tokens': {
    content: [{ type: 'toolCall', id: 'tooluse_1', name: 'write', arguments: {}, invalidArguments: '{"path":"a.ts","text":"un' }],
    stopReason: 'length',
  },
  cached: {
    content: [{ type: 'text', text: 'x' }],
    stopReason: 'stop',
    usage: { input: 7, output: 2, reasoning: 0, cacheRead: 100, cacheWrite: 5, totalTokens: 114, cacheWrite1h: 3 },
  },
  'no-metadata': { content: [{ type: 'text', text: 'x' }], usage: { ...usage, input: 0, output: 0, totalTokens: 0 } },
  'one-index': {
    content: [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Read it.' },
      { type: 'toolCall', id: 'tooluse_1', name: 'read', arguments: { path: 'a' } },
    ],
    stopReason: 'toolUse',
  },
}

const failed: Record<string, { code: string; message: RegExp; isRetryable: boolean; partial: AssistantMessage['content'] }> = {
  'mid-stream-error': { code: 'api', message: /broke off/, isRetryable: true, partial: [{ type: 'text', text: 'Half' }] },
  throttled: { code: 'rateLimited', message: /Too many tokens/, isRetryable: true, partial: [{ type: 'text', text: 'Half' }] },
  malformed: { code: 'api', message: /malformed_tool_use/, isRetryable: true, partial: [{ type: 'text', text: 'I call' }] },
  overflow: { code: 'contextOverflow', message: /too long/, isRetryable: false, partial: [] },
  truncated: {
    code: 'network',
    message: /ended without messageStop/,
    isRetryable: true,
    partial: [{ type: 'toolCall', id: 'tooluse_1', name: 'write', arguments: {}, invalidArguments: '{"path":"a.ts"' }],
  },
}

const names = [...Object.keys(finished), ...Object.keys(failed)]
// A key that is not signed with: these tests make many calls.
const made = request(claude, { tools, credential: 'bearer-key' })
const ndjson = 'application/x-ndjson; charset=utf-8'
const replay = (pieces: Iterable<Uint8Array>) => streamed(answering(pieces), made)
const replayLines = (pieces: Iterable<Uint8Array>) => streamed(answering(pieces, 'close', ndjson), made)

describe('the ConverseStream decoder', () => {
  it.each(Object.entries(finished))('decodes the recorded stream %s, binary and as lines', async (name, expected) => {
    for (const outcome of [await replay([bytesOf(name)]), await replayLines([linesOf(name)])]) {
      expect(outcome.error).toBeUndefined()
      expect(outcome.message).toMatchObject(expected)
      expect(outcome.message?.content).toEqual(expected.content)
      expect(outcome.events[0]).toEqual({ type: 'start', message: outcome.message })
    }
  })

  it.each(Object.entries(failed))(
    'fails on the recorded stream %s, binary and as lines, and keeps the partial response',
    async (name, expected) => {
      for (const { error } of [await replay([bytesOf(name)]), await replayLines([linesOf(name)])]) {
        expect(error).toBeInstanceOf(ProviderError)
        if (!(error instanceof ProviderError)) continue
        expect(error).toMatchObject({ code: expected.code, isRetryable: expected.isRetryable })
        expect(error.message).toMatch(expected.message)
        expect(error.partial?.content).toEqual(expected.partial)
        expect(error.partial).toMatchObject({ stopReason: 'error', errorMessage: error.message })
      }
    },
  )

  it('reads an error sent only in the headers', async () => {
    const error = awsFrame({ ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'oops' }, '')
    const outcome = await replay([...framesOf('truncated'), error])
    expect(outcome.error).toMatchObject({ code: 'api', isRetryable: true, message: expect.stringContaining('oops') })
  })

  it.each([
    ['internalServerException', 'api', true],
    ['serviceUnavailableException', 'api', true],
    ['modelTimeoutException', 'api', true],
    ['accessDeniedException', 'auth', false],
    ['validationException', 'api', false],
  ])('classifies %s', async (type, code, isRetryable) => {
    expect((await replay([frame(type, { message: 'm' })])).error).toMatchObject({ code, isRetryable })
  })

  it('reports an unknown stop reason', async () => {
    const { error } = await replay([frame('messageStop', { stopReason: 'bored' })])
    expect(error).toMatchObject({ code: 'other', message: expect.stringContaining('bored') })
  })

  it('binds reasoning to its prefix for models that require it', async () => {
    const bound = await streamed(answering([bytesOf('thinking')]), request('us.anthropic.claude-opus-4-8'))
    expect(bound.message?.content[0]).toMatchObject({
      providerState: { model: 'us.anthropic.claude-opus-4-8', prefixHash: expect.any(String) },
    })
  })

  it('rejects an HTML response as a network error', async () => {
    const page = utf8('<html><body>Sign in to the network first</body></html>')
    const { error } = await streamed(answering([page], 'close', 'text/html'))
    expect(error).toMatchObject({ code: 'network', message: expect.stringContaining('baseUrl') })
  })
})

describe('the end of a message', () => {
  const complete = framesOf('no-metadata')
  const metadata = framesOf('text').at(-1) ?? new Uint8Array()

  it.each(['hang', 'break', 'close'] as const)(
    'accepts messageStop without metadata when the connection ends with "%s"',
    async (ending) => {
      const { message } = await streamed(answering(complete, ending), undefined, undefined, { idleTimeoutMs: 50 })
      expect(message?.stopReason).toBe('stop')
    },
  )

  it('waits for metadata that has started, and fails if truncated', async () => {
    const { error } = await streamed(answering([...complete, metadata.subarray(0, 20)]))
    expect(error).toMatchObject({ code: 'network', isRetryable: true, message: expect.stringContaining('the rest of its last event') })
  })

  it('fails on metadata with a wrong checksum', async () => {
    const damaged = metadata.slice()
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1
    expect((await streamed(answering([...complete, damaged]))).error).toMatchObject({
      code: 'network',
      message: expect.stringContaining('checksum'),
    })
  })

  it('ignores data after messageStop and metadata', async () => {
    const { message } = await replay([bytesOf('text'), bytesOf('throttled')])
    expect(message).toMatchObject({ stopReason: 'stop', usage })
  })
})

describe('Bedrock decoding laws, binary', () => decodeLaws({ names, bytesOf, replay, fragmentations: runs(100, 5_000) }))
describe('Bedrock decoding laws, as lines', () =>
  decodeLaws({ names, bytesOf: linesOf, replay: replayLines, fragmentations: runs(50, 500) }))

describe('a damaged stream', () => {
  it.each(names)('reports %s as an error, wherever a bit is flipped', async (name) => {
    const bytes = bytesOf(name)
    for (const at of cutsOf(bytes)) {
      const damaged = bytes.slice()
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8))
      const { message, error } = await replay([damaged])
      if (message !== undefined || !(error instanceof ProviderError)) expect.fail(`flipped at ${at}: ${error}`)
    }
  })

  it('returns a message or throws a ProviderError for any JSON events', async () => {
    const types = ['messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata', 'xException']
    const event = fc.record({
      contentBlockIndex: fc.oneof(fc.nat(2), fc.jsonValue()),
      start: fc.oneof(
        fc.record({ toolUse: fc.jsonValue() }),
        fc.record({ toolUse: fc.dictionary(fc.constantFrom('toolUseId', 'name', 'type'), fc.jsonValue()) }),
        fc.jsonValue(),
      ),
      delta: fc.oneof(
        fc.dictionary(fc.constantFrom('text', 'toolUse', 'reasoningContent', 'input', 'redactedContent'), fc.jsonValue()),
        fc.jsonValue(),
      ),
      stopReason: fc.oneof(fc.constantFrom('end_turn', 'tool_use', 'constructor'), fc.jsonValue()),
      usage: fc.jsonValue(),
      message: fc.jsonValue(),
    })
    const stream = fc.array(fc.tuple(fc.constantFrom(...types), fc.oneof(event, fc.jsonValue())), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(stream, async (events) => {
        for (const outcome of [
          await replay(events.map(([type, fields]) => frame(type, fields))),
          await replayLines(events.map(([type, fields]) => utf8(`${JSON.stringify({ [type]: fields })}\n`))),
        ]) {
          expect(outcome.message !== undefined || outcome.error instanceof ProviderError).toBe(true)
        }
      }),
      { numRuns: runs(100, 1000) },
    )
  })
})
