import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../../src/contract/json.ts'
import type { Message } from '../../../src/contract/message/message.ts'
import type { CacheStrategy, ToolDefinition } from '../../../src/contract/model/request.ts'
import type { ThinkingLevel } from '../../../src/contract/model/request-settings.ts'
import { type AnthropicOptions, anthropic } from '../../../src/providers/anthropic/index.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answering, fixture } from '../bytes.ts'
import { answer, bodyFor, call, request, result, user, wireMessages } from './call.ts'

const tool = (name: string, parameters: JsonSchema = { type: 'object', properties: {} }): ToolDefinition => ({
  name,
  description: 'A tool',
  parameters,
})
const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
const breakpoint = { cache_control: { type: 'ephemeral' } }

describe('the request URL and headers', () => {
  const encoded = (options: AnthropicOptions, changes: Partial<StreamRequest> = {}) =>
    anthropic('claude-test', options).provider.encode(request('claude-test', changes, options))

  it.each([
    [undefined, 'https://api.anthropic.com/v1/messages'],
    ['https://proxy.example/', 'https://proxy.example/v1/messages'],
    ['https://proxy.example/anthropic', 'https://proxy.example/anthropic/v1/messages'],
    ['https://proxy.example/v1/', 'https://proxy.example/v1/messages'],
    ['https://proxy.example/a?tenant=1', 'https://proxy.example/a/v1/messages?tenant=1'],
  ])('derives the URL from baseUrl %s', async (baseUrl, url) => {
    expect((await encoded(baseUrl === undefined ? {} : { baseUrl })).url).toBe(url)
  })

  it('rejects an invalid base URL', () => {
    expect(() => encoded({ baseUrl: 'proxy' })).toThrow(
      expect.objectContaining({
        code: 'invalidOption',
        message: expect.stringContaining('"proxy"'),
      }),
    )
  })

  it('sends the browser header only if configured', async () => {
    const name = 'anthropic-dangerous-direct-browser-access'
    expect((await encoded({})).headers).not.toHaveProperty(name)
    expect((await encoded({ dangerouslyAllowBrowser: true })).headers[name]).toBe('true')
  })

  it('prefers model headers in any letter case, and redacts secrets', async () => {
    const made = await encoded({ headers: { 'Anthropic-Version': '2026-10-21', 'X-Gateway-Token': 'hush', 'anthropic-beta': 'a' } })
    expect(made.headers).toMatchObject({ 'anthropic-version': '2026-10-21', 'x-gateway-token': 'hush', 'anthropic-beta': 'a' })
    expect(made.redactedHeaders).toMatchObject({
      'anthropic-version': '2026-10-21',
      'x-gateway-token': '[redacted]',
      'anthropic-beta': 'a',
    })
  })

  it('sends no key header if there is no key', async () => {
    const { credential: _, ...keyless } = request('claude-test')
    expect((await anthropic('claude-test').provider.encode(keyless)).headers).not.toHaveProperty('x-api-key')
  })
})

describe('thinking', () => {
  const fields = async (id: string, level: ThinkingLevel, changes: Partial<StreamRequest> = {}) => {
    const { thinking, output_config, max_tokens, temperature } = await bodyFor(request(id, { thinking: level, ...changes }))
    return { thinking, output_config, max_tokens, temperature }
  }
  const adaptive = { type: 'adaptive', display: 'summarized' }

  it.each([
    ['claude-3-5-sonnet-20241022', 'high', undefined, undefined],
    ['claude-3-7-sonnet-20250219', 'low', { type: 'enabled', budget_tokens: 1024 }, undefined],
    ['claude-sonnet-4-20250514', 'minimal', { type: 'enabled', budget_tokens: 1024 }, undefined],
    ['claude-opus-4-1-20250805', 'medium', { type: 'enabled', budget_tokens: 2048 }, undefined],
    ['claude-sonnet-4-5-20250929', 'high', { type: 'enabled', budget_tokens: 8192 }, undefined],
    ['anthropic/claude-haiku-4.5', 'off', undefined, undefined],
    ['claude-opus-4-6', 'minimal', adaptive, { effort: 'low' }],
    ['claude-opus-4-6', 'off', { type: 'disabled' }, undefined],
    ['claude-opus-4-7', 'medium', adaptive, { effort: 'medium' }],
    ['claude-sonnet-5', 'high', adaptive, { effort: 'high' }],
    ['claude-sonnet-5-20260101', 'off', { type: 'disabled' }, undefined],
    ['claude-opus-5', 'off', { type: 'disabled' }, undefined],
    ['claude-haiku-5-5', 'off', { type: 'disabled' }, undefined],
    ['claude-fable-5', 'off', undefined, { effort: 'low' }],
    ['claude-fable-5-1', 'high', adaptive, { effort: 'high' }],
    ['claude-opus-5-5', 'off', undefined, { effort: 'low' }],
    ['claude-sonnet-5-5', 'off', undefined, { effort: 'low' }],
    ['claude-unheard-of-9', 'high', adaptive, { effort: 'high' }],
    ['claude-opus-4-6', 'max', adaptive, { effort: 'max' }],
    ['claude-sonnet-5', 'xhigh', adaptive, { effort: 'xhigh' }],
    ['claude-unheard-of-9', 'max', adaptive, { effort: 'max' }],
  ] as const)('maps thinking for %s at %s', async (id, level, thinking, output_config) => {
    expect(await fields(id, level)).toMatchObject({ thinking, output_config })
  })

  it('omits thinking for MiniMax-M3 if thinking is off', async () => {
    const gateway = { baseUrl: 'https://gateway.example' }
    const body = await bodyFor(request('MiniMax-M3', { thinking: 'off' }, gateway), gateway)
    expect(body).toMatchObject({ model: 'MiniMax-M3' })
    expect(body).not.toHaveProperty('thinking')
    expect(body).not.toHaveProperty('output_config')
  })

  it('keeps a budget of at least 1024 below max_tokens', async () => {
    for (const level of ['minimal', 'low', 'medium', 'high'] as const) {
      for (const maxTokens of [1, 1024, 1025, 8192, 8193, 20_000]) {
        const { thinking, max_tokens } = await fields('claude-sonnet-4-5', level, { maxTokens })
        expect(thinking).toMatchObject({ budget_tokens: expect.any(Number) })
        const budget = (thinking as { budget_tokens: number }).budget_tokens
        expect(budget).toBeGreaterThanOrEqual(1024)
        expect(max_tokens).toBeGreaterThan(budget)
        expect(max_tokens).toBeGreaterThanOrEqual(maxTokens)
      }
    }
  })

  it('sends a temperature only if the model accepts it, and warns', async () => {
    const warm = { temperature: 0.5 }
    expect((await fields('claude-sonnet-4-5', 'off', warm)).temperature).toBe(0.5)
    expect((await fields('claude-opus-4-6', 'off', warm)).temperature).toBe(0.5)
    for (const [id, level] of [
      ['claude-sonnet-4-5', 'low'],
      ['claude-opus-4-6', 'low'],
      ['claude-opus-4-7', 'off'],
    ] as const) {
      expect((await fields(id, level, warm)).temperature).toBeUndefined()
      const { warnings } = await anthropic(id).provider.encode(request(id, { thinking: level, ...warm }))
      expect(warnings.join()).toContain('temperature')
    }
  })

  it('prefers the configuration over the capabilities table', async () => {
    const options: AnthropicOptions = { capabilities: { thinking: 'budget', sampling: true } }
    const body = await bodyFor(request('claude-opus-5-5', { thinking: 'low' }, options))
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 1024 })
    expect(await bodyFor(request('claude-opus-5-5', {}, { reasoning: false }))).not.toHaveProperty('output_config')
  })

  it('omits the budget in a tool loop that started without thinking', async () => {
    const messages = [user('Hi'), answer([call('c1')], { model: 'claude-sonnet-4-5' }), result('c1')]
    const made = request('claude-sonnet-4-5', { messages, thinking: 'low' })
    expect(await bodyFor(made)).not.toHaveProperty('thinking')
    expect((await anthropic('claude-sonnet-4-5').provider.encode(made)).warnings.join()).toContain('thinking')
  })
})

describe('cache breakpoints', () => {
  const messages = [user('one'), answer([{ type: 'text', text: 'two' }]), user('three')]
  const marks = async (cache: CacheStrategy, history: Message[] = messages) => {
    const body = await bodyFor(request('claude-test', { messages: history, tools: [tool('a'), tool('b')], cache }))
    return JSON.stringify(body, (key, value) => (key === 'input_schema' ? undefined : value))
  }

  it('sets cache breakpoints on system, last tool, previous request end and last block with auto', async () => {
    const body = await bodyFor(request('claude-test', { messages, tools: [tool('a'), tool('b')] }))
    expect(body.system).toEqual([{ type: 'text', text: 'Be brief.', ...breakpoint }])
    expect(body.tools).toMatchObject([{ name: 'a' }, { name: 'b', ...breakpoint }])
    expect(body.messages).toMatchObject([
      { content: [{ text: 'one', ...breakpoint }] },
      { role: 'assistant' },
      { content: [{ text: 'three', ...breakpoint }] },
    ])
    expect(JSON.stringify(body).split('cache_control')).toHaveLength(5)
  })

  it('sets no cache breakpoint if disabled', async () => {
    expect(await marks({ type: 'disabled' })).not.toContain('cache_control')
  })

  it('sets only the requested cache breakpoints with manual', async () => {
    const none = { cacheSystem: false, cacheTools: false, cacheMessages: false }
    for (const [part, count] of [
      ['cacheSystem', 1],
      ['cacheTools', 1],
      ['cacheMessages', 2],
    ] as const) {
      expect((await marks({ type: 'manual', ...none, [part]: true })).split('cache_control')).toHaveLength(count + 1)
    }
  })

  it('sets no cache breakpoint on a thinking block', async () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's' } as const
    const body = await bodyFor(
      request('claude-opus-4-6', { messages: [user('a'), answer([thinking, call('c1')], { model: 'claude-opus-4-6' }), result('c1')] }),
    )
    expect(JSON.stringify(Object(body.messages)[1])).not.toContain('cache_control')
  })

  it('sets a cache breakpoint on the last block after media are omitted', async () => {
    const asked: Message = { ...user('What?'), content: [image, image, { type: 'text', text: 'What?' }] }
    const body = await bodyFor(request('claude-test', { messages: [asked] }))
    expect(body.messages).toMatchObject([
      { content: [{ type: 'image' }, { type: 'image', ...breakpoint }, { type: 'text', text: 'What?', ...breakpoint }] },
    ])
    expect(JSON.stringify(body).split('cache_control')).toHaveLength(4)
    const full = [user('a'), answer([{ type: 'text', text: 'b' }]), asked]
    expect((await marks({ type: 'auto' }, full)).split('cache_control')).toHaveLength(5)
    expect(await marks({ type: 'auto' }, full)).toContain('"text":"What?","cache_control"')
    const seen = [user('a'), answer([call('c1'), call('c2')]), result('c1', [image]), result('c2')]
    const results = (await bodyFor(request('claude-test', { messages: seen }))).messages
    expect(results).toMatchObject([
      { content: [{ ...breakpoint }] },
      { content: [{}, {}] },
      { content: [{ tool_use_id: 'c1' }, { tool_use_id: 'c2', ...breakpoint }] },
    ])
    const failed = [user('a'), answer([call('c1')]), result('c1', [image], true)]
    expect((await bodyFor(request('claude-test', { messages: failed }))).messages).toMatchObject([
      ...[{ content: [{ ...breakpoint }] }, {}],
      { content: [{ type: 'tool_result' }, { type: 'image', ...breakpoint }] },
    ])
    const later = (await bodyFor(request('claude-test', { messages: [asked, answer([{ type: 'text', text: 'A dot.' }]), user('Sure?')] })))
      .messages
    expect(JSON.stringify(later).split('cache_control')).toHaveLength(3)
    expect(await marks({ type: 'manual', cacheSystem: true, cacheTools: false, cacheMessages: false }, [asked])).not.toContain(
      '"data":"AA==","cache',
    )
  })

  it('sets a cache breakpoint on a single message', async () => {
    expect((await marks({ type: 'auto' }, [user('one')])).split('cache_control')).toHaveLength(4)
  })
})

describe('messages', () => {
  it('encodes a text-only result as a string and one with an image as a list', async () => {
    const messages = [user('a'), answer([call('c1'), call('c2')]), result('c1'), result('c2', [{ type: 'text', text: 'see' }, image])]
    expect((await wireMessages(messages))[2]?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'c1', content: 'ok' },
      {
        type: 'tool_result',
        tool_use_id: 'c2',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
        ],
      },
    ])
  })

  it('moves images of a failed result after all results, before user text', async () => {
    const messages = [user('a'), answer([call('c1'), call('c2')]), result('c1', [image], true), result('c2'), user('why?')]
    expect((await wireMessages(messages))[2]?.content).toMatchObject([
      { type: 'tool_result', tool_use_id: 'c1', is_error: true, content: '(see attached image)' },
      { type: 'tool_result', tool_use_id: 'c2' },
      { type: 'image' },
      { type: 'text', text: 'why?' },
    ])
  })

  it('replaces images for a text-only model, and lone surrogates for every model', async () => {
    const [first] = await wireMessages(
      [{ ...user('a\ud800 \\ud800 😀'), content: [{ type: 'text', text: 'a\ud800 \\ud800 😀' }, image] }],
      {
        model: anthropic('claude-test', { capabilities: { media: [] } }).config,
      },
    )
    expect(first?.content).toMatchObject([{ text: 'a\ufffd \\ud800 😀' }, { type: 'text', text: expect.stringContaining('image') }])
  })

  it('replaces invalid tool names, and merges root unions into properties', async () => {
    const union = tool('u', { anyOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'number' } } }] })
    const history = [user('a'), answer([{ type: 'toolCall', id: 'c1', name: 'functions.read file', arguments: {} }]), result('c1')]
    const body = await bodyFor(request('claude-test', { messages: history, tools: [union] }))
    expect(body.tools).toMatchObject([{ input_schema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } } }])
    expect(JSON.stringify(body.tools)).not.toContain('anyOf')
    expect(body.messages).toMatchObject([{}, { content: [{ name: 'functions_read_file' }] }, {}])
  })

  it('omits absent system and tools', async () => {
    const body = await bodyFor(request('claude-test', { systemPrompt: ' ' }))
    expect(body).not.toHaveProperty('system')
    expect(body).not.toHaveProperty('tools')
  })

  it('encodes the same history to the same bytes, and each message only once', async () => {
    const { provider } = anthropic('claude-test')
    let reads = 0
    const counted = {
      ...user('x'),
      get content() {
        reads++
        return [{ type: 'text' as const, text: 'x' }]
      },
    }
    const made = request('claude-test', { messages: [counted, answer([{ type: 'text', text: 'y' }]), user('z')] })
    const { body } = await provider.encode(made)
    const before = reads
    expect((await provider.encode(made)).body).toBe(body)
    expect(reads).toBe(before)
  })
})

describe('reasoning that is bound to its prefix', () => {
  const id = 'claude-opus-4-8'

  /** One real answer with thinking, made on `history`. */
  async function answered(name: string, history: Message[]): Promise<Message> {
    const { provider, config } = anthropic(id, { fetch: answering([fixture(`anthropic/${name}.sse`)]) })
    const message = await provider.stream(
      { ...request(id), model: config, messages: history },
      () => undefined,
      new AbortController().signal,
    )
    // As it comes back from storage.
    return JSON.parse(JSON.stringify(message))
  }
  const sent = async (messages: Message[], changes: Partial<StreamRequest> = {}, model = id) =>
    JSON.stringify((await bodyFor(request(model, { messages, ...changes }))).messages)

  it.each([
    ['thinking', '{"type":"thinking","thinking":"Let me see.","signature":"c2ln"}'],
    ['omitted-thinking', '{"type":"thinking","thinking":"","signature":"b21p"}'],
    ['redacted', '{"type":"redacted_thinking","data":"cmVkYWN0ZWQ="}'],
  ])('sends %s back byte for byte over many turns while the prefix is unchanged', async (name, block) => {
    const first = await answered(name, [user('Hi')])
    expect(await sent([user('Hi'), first, user('More')])).toContain(block)
    const second = await answered(name, [user('Hi'), first, user('More')])
    expect((await sent([user('Hi'), first, user('More'), second, user('And?')])).split(block)).toHaveLength(3)
  })

  it('omits reasoning after its prefix changed', async () => {
    const first = await answered('thinking', [user('Hi')])
    expect(await sent([user('Hello'), first, user('More')])).not.toContain('thinking')
    expect(await sent([user('Hi'), first, user('More')], { systemPrompt: 'Be long.' })).not.toContain('thinking')
    expect(await sent([user('Hi'), first, user('More')], { tools: [tool('new')] })).not.toContain('thinking')
  })

  it('omits reasoning for another model or provider', async () => {
    const first = await answered('thinking', [user('Hi')])
    expect(await sent([user('Hi'), first, user('More')], {}, 'claude-opus-4-7')).not.toContain('thinking')
    const model = anthropic(id, { provider: 'gateway' }).config
    expect(await sent([user('Hi'), first, user('More')], { model })).not.toContain('thinking')
  })

  it('binds later reasoning to the prefix without omitted reasoning', async () => {
    const first = await answered('thinking', [user('Hi')])
    const compacted = [user('Summary'), first, user('More')]
    const second = await answered('thinking', compacted)
    expect((await sent([...compacted, second, user('And?')])).split('"signature"')).toHaveLength(2)
  })
})
