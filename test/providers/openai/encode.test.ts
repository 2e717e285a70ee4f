import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import type { Content } from '../../../src/contract/message/content.ts'
import type { Message, ToolResultMessage } from '../../../src/contract/message/message.ts'
import { userMessage } from '../../../src/contract/message/message.ts'
import type { ThinkingLevel } from '../../../src/contract/model/request-settings.ts'
import { openAiProvider } from '../../../src/providers/openai/provider.ts'
import { openai, openaiCompatible, openrouter } from '../../../src/providers/openai.ts'
import type { Model } from '../../../src/types/model/model.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answerBy, authorOf } from '../model-call.ts'
import { requestFor } from './call.ts'

const image: Content = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
const tools = [{ name: 'add', description: 'Adds', parameters: { type: 'object', properties: { a: { type: 'number' } } } }]

async function encode(model: Model, more: Partial<StreamRequest> = {}) {
  const encoded = await model.provider.encode(requestFor(model, more))
  return { ...encoded, body: JSON.parse(encoded.body) }
}

const answer = ({ config }: Model, ...content: Content[]) => answerBy(authorOf(config), content)

function result(toolCallId: string, ...content: Content[]): ToolResultMessage {
  return { role: 'toolResult', toolCallId, toolName: 'add', content, isError: false, timestamp: 0 }
}

const call = (id: string): Content => ({ type: 'toolCall', id, name: 'add', arguments: { a: 1 } })
const text = (value: string): Content => ({ type: 'text', text: value })

describe('Chat Completions request', () => {
  it('matches the OpenAI format', async () => {
    const model = openai('gpt-4o', { headers: { 'OpenAI-Project': 'p1' } })
    const { url, headers, redactedHeaders, body, warnings } = await encode(model, {
      systemPrompt: 'Be brief.',
      tools,
      credential: 'sk-secret',
      maxTokens: 99,
      temperature: 0.5,
    })
    expect(url).toBe('https://api.openai.com/v1/chat/completions')
    expect(headers).toEqual({ 'content-type': 'application/json', authorization: 'Bearer sk-secret', 'openai-project': 'p1' })
    expect(JSON.stringify(redactedHeaders)).not.toContain('sk-secret')
    expect(warnings).toEqual([])
    expect(body).toEqual({
      model: 'gpt-4o',
      stream: true,
      stream_options: { include_usage: true },
      store: false,
      max_completion_tokens: 99,
      temperature: 0.5,
      tools: [{ type: 'function', function: tools[0] }],
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'hi' },
      ],
    })
  })

  it('omits optional fields for an unknown backend', async () => {
    const model = openaiCompatible('m', { baseUrl: 'http://127.0.0.1:1234/v1/' })
    const { url, headers, body } = await encode(model, { systemPrompt: 'S', temperature: 1 })
    expect(url).toBe('http://127.0.0.1:1234/v1/chat/completions')
    expect(headers).toEqual({ 'content-type': 'application/json' })
    expect(body).toEqual({
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      temperature: 1,
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'hi' },
      ],
    })
  })

  it.each([
    ['http://127.0.0.1:1', 'http://127.0.0.1:1/v1/chat/completions'],
    ['http://127.0.0.1:1/', 'http://127.0.0.1:1/v1/chat/completions'],
    ['https://h.example/api/v9/', 'https://h.example/api/v9/chat/completions'],
    ['https://h.example/v1?key=x', 'https://h.example/v1/chat/completions?key=x'],
  ])('joins base URL and path: %s', async (baseUrl, url) => {
    expect((await encode(openaiCompatible('m', { baseUrl }))).url).toBe(url)
  })

  it('reports an invalid baseUrl of a configuration', async () => {
    const { config, provider } = openaiCompatible('m', { baseUrl: 'https://h/v1' })
    const model = { config: { ...config, baseUrl: 'nonsense' }, provider }
    await expect(encode(model)).rejects.toThrow(/nonsense/)
    await expect(encode(model)).rejects.toBeInstanceOf(ProviderError)
  })

  it('applies the compatibility flags of the configuration', async () => {
    const compat = { supportsUsageInStreaming: false, maxTokensField: 'maxCompletionTokens', supportsDeveloperRole: true } as const
    const { body } = await encode(openaiCompatible('m', { baseUrl: 'http://h/v1', compat }), { systemPrompt: 'S' })
    expect(body).toEqual({
      model: 'm',
      stream: true,
      messages: [
        { role: 'developer', content: 'S' },
        { role: 'user', content: 'hi' },
      ],
    })
  })

  it('uses the OpenAI flags for a configuration without flags', async () => {
    const { compat: _none, ...config } = openai('gpt-4o').config
    const encoded = await openAiProvider().encode(requestFor({ config, provider: openAiProvider() }, { maxTokens: 700 }))
    expect(JSON.parse(encoded.body)).toMatchObject({ store: false, max_completion_tokens: 700 })
  })
})

describe('Chat Completions messages', () => {
  const model = openai('gpt-4o')
  const messagesOf = async (messages: Message[], from: Model = model) => (await encode(from, { messages })).body.messages

  it('sends a single text as a string, and several as parts', async () => {
    const mixed: Message = { role: 'user', content: [text('look'), image], timestamp: 0 }
    expect(await messagesOf([mixed])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
    ])
  })

  it('sends calls with null content, text results, then their images', async () => {
    const history: Message[] = [
      userMessage('go'),
      answer(model, call('a'), call('b')),
      result('a', text('one'), image),
      result('b', image),
      userMessage('and now?'),
    ]
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    expect(await messagesOf(history)).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
          { id: 'b', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      { role: 'tool', tool_call_id: 'b', content: '(see attached image)' },
      { role: 'user', content: [picture, picture, { type: 'text', text: 'and now?' }] },
    ])
  })

  it('merges consecutive messages of one role', async () => {
    const history = [userMessage('a'), userMessage('b'), answer(model, text('c')), answer(model, text('d')), userMessage('e')]
    expect(await messagesOf(history)).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      { role: 'assistant', content: 'cd' },
      { role: 'user', content: 'e' },
    ])
  })

  it('shortens foreign ids in calls and results only if necessary', async () => {
    const long = 'x'.repeat(60)
    const other = `${'x'.repeat(59)}y`
    const history = [
      userMessage('go'),
      answer(openai('gpt-other'), call('functions.add:0'), call(long), call(other)),
      result(other),
      result(long),
      result('functions.add:0'),
    ]
    const [, calls, ...results] = await messagesOf(history)
    const ids = calls.tool_calls.map((one: { id: string }) => one.id)
    expect(ids[0]).toBe('functions.add:0')
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(40)
    expect(results.map((one: { tool_call_id: string }) => one.tool_call_id)).toEqual(ids)
  })

  it('bridges results and prompts for Mistral, with tool names and short ids', async () => {
    const mistral = openaiCompatible('m', { backend: 'mistral' })
    const history = [userMessage('go'), answer(model, call('call_123456789')), result('call_123456789', text('1')), userMessage('next')]
    const [, calls, toolMessage, bridge, next] = await messagesOf(history, mistral)
    expect(calls.tool_calls[0].id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(toolMessage).toMatchObject({ role: 'tool', name: 'add', tool_call_id: calls.tool_calls[0].id })
    expect(bridge.role).toBe('assistant')
    expect(next).toEqual({ role: 'user', content: 'next' })
  })

  it('replaces images for a text-only model, and lone surrogates', async () => {
    const [only] = await messagesOf([{ role: 'user', content: [text('\ud800!'), image], timestamp: 0 }], openai('gpt-3.5-turbo'))
    expect(only.content[0].text).toBe('\ufffd!')
    expect(JSON.stringify(only)).not.toContain('image_url')
  })

  it('sends OpenRouter reasoning details back unmodified, but to no other model', async () => {
    const from = openrouter('anthropic/claude-sonnet-5')
    const reasoningDetails = [{ type: 'reasoning.text', text: 'Hmm', signature: 's', index: 0 }]
    const thinking: Content = {
      type: 'thinking',
      thinking: 'Hmm',
      providerState: { api: 'openAiCompletions', model: from.config.id, payload: { reasoningDetails } },
    }
    const history = [userMessage('go'), answer(from, thinking, text('ok')), userMessage('more')]
    expect((await messagesOf(history, from))[1]).toEqual({ role: 'assistant', content: 'ok', reasoning_details: reasoningDetails })
    expect((await messagesOf(history, openrouter('openai/gpt-6-sol')))[1]).toEqual({ role: 'assistant', content: 'ok' })
    expect((await messagesOf(history))[1]).toEqual({ role: 'assistant', content: 'ok' })
  })

  it('sends DeepSeek its reasoning back, or an empty string', async () => {
    const from = openaiCompatible('deepseek-v4', { backend: 'deepseek' })
    const history = [
      userMessage('go'),
      answer(from, { type: 'thinking', thinking: 'I add.' }, call('a')),
      result('a', text('1')),
      answer(from, text('done')),
      userMessage('more'),
    ]
    const [, first, , second] = await messagesOf(history, from)
    expect(first).toMatchObject({ reasoning_content: 'I add.', content: null })
    expect(second).toEqual({ role: 'assistant', content: 'done', reasoning_content: '' })
  })

  it('marks cache breakpoints for Anthropic models on OpenRouter unless disabled', async () => {
    const from = openrouter('anthropic/claude-sonnet-5')
    const mark = { cache_control: { type: 'ephemeral' } }
    const { body } = await encode(from, { systemPrompt: 'S' })
    expect(body.messages).toEqual([
      { role: 'developer', content: [{ type: 'text', text: 'S', ...mark }] },
      { role: 'user', content: [{ type: 'text', text: 'hi', ...mark }] },
    ])
    const off = await encode(from, { systemPrompt: 'S', cache: { type: 'disabled' } })
    expect(JSON.stringify(off.body)).not.toContain('cache_control')
    const other = await encode(openrouter('google/gemini-4'), { systemPrompt: 'S' })
    expect(other.body.messages[0]).toEqual({ role: 'system', content: 'S' })
  })
})

it('marks the end of the previous request for Anthropic models on OpenRouter', async () => {
  const from = openrouter('anthropic/claude-sonnet-5')
  const history: Message[] = [userMessage('go')]
  const marked = async () => {
    const { body } = await encode(from, { systemPrompt: 'S', messages: history })
    return body.messages.flatMap((each: object, at: number) => (JSON.stringify(each).includes('cache_control') ? [at] : []))
  }
  expect(await marked()).toEqual([0, 1])
  history.push(answer(from, call('a'), call('b')), result('a', text('1')), result('b', text('2')))
  expect(await marked()).toEqual([0, 1, 4])
  history.push(answer(from, call('c')), result('c', text('3')))
  expect(await marked()).toEqual([0, 4, 6])
})

describe('Chat Completions reasoning', () => {
  const effortOf = async (id: string, thinking: ThinkingLevel, withTools = false) => {
    const { body, warnings } = await encode(openai(id), { thinking, tools: withTools ? tools : [] })
    return [body.reasoning_effort, warnings.length]
  }

  it.each<[string, ThinkingLevel, string | undefined]>([
    ['o3', 'off', 'low'],
    ['o4-mini', 'minimal', 'low'],
    ['gpt-5', 'off', 'minimal'],
    ['gpt-5-mini', 'minimal', 'minimal'],
    ['gpt-5.1', 'off', 'none'],
    ['gpt-5.1', 'minimal', 'low'],
    ['gpt-5.4', 'high', 'high'],
    ['gpt-5.6', 'medium', 'medium'],
    ['gpt-6-sol', 'off', 'none'],
    ['gpt-6-astra', 'off', 'low'],
    ['gpt-9-unheard-of', 'medium', 'medium'],
    ['ft:gpt-4o:mine', 'off', undefined],
  ])('maps thinking for %s at %s to effort %s', async (id, level, effort) => {
    expect(await effortOf(id, level)).toEqual([effort, 0])
  })

  it('omits the effort or sends none if the model rejects it with tools', async () => {
    expect(await effortOf('gpt-5.4', 'high', true)).toEqual([undefined, 1])
    expect(await effortOf('gpt-5.5', 'off', true)).toEqual([undefined, 0])
    expect(await effortOf('gpt-5.6', 'high', true)).toEqual(['none', 1])
    expect(await effortOf('gpt-5.2', 'high', true)).toEqual(['high', 0])
  })

  it('warns about an unsupported level and about models of other endpoints', async () => {
    expect(await effortOf('gpt-4o', 'high')).toEqual([undefined, 1])
    expect((await encode(openai('gpt-5-pro'))).warnings).toHaveLength(1)
  })

  it.each<[string, ThinkingLevel, boolean]>([
    ['gpt-4o', 'off', true],
    ['o3', 'off', false],
    ['gpt-5', 'low', false],
    ['gpt-5.2', 'off', true],
    ['gpt-5.2', 'low', false],
    ['gpt-6-sol', 'off', false],
    ['gpt-9-unheard-of', 'off', false],
  ])('sends the temperature for %s at %s: %s', async (id, thinking, isSent) => {
    const { body, warnings } = await encode(openai(id), { thinking, temperature: 0.2 })
    expect([body.temperature, warnings.length]).toEqual(isSent ? [0.2, 0] : [undefined, 1])
  })

  it('prefers the configuration over the table', async () => {
    const model = openai('gpt-9-unheard-of', { capabilities: { efforts: ['none', 'high'], sampling: true } })
    const { body } = await encode(model, { temperature: 0.2 })
    expect(body).toMatchObject({ reasoning_effort: 'none', temperature: 0.2 })
  })

  it.each<[Model, object, object]>([
    [openrouter('x/y'), {}, { reasoning: { effort: 'high' } }],
    [openrouter('x/y', { capabilities: { thinkingOff: true } }), { reasoning: { enabled: false } }, { reasoning: { effort: 'high' } }],
    [
      openaiCompatible('m', { backend: 'qwen', reasoning: true }),
      { enable_thinking: false },
      { enable_thinking: true, thinking_budget: 8192 },
    ],
    [
      openaiCompatible('m', { backend: 'deepseek' }),
      { thinking: { type: 'disabled' } },
      { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
    ],
    [openaiCompatible('kimi-k2.6', { backend: 'moonshot' }), { thinking: { type: 'disabled' } }, { thinking: { type: 'enabled' } }],
    [openaiCompatible('m', { backend: 'together', reasoning: true }), { reasoning: { enabled: false } }, { reasoning: { enabled: true } }],
    [
      openaiCompatible('m', { backend: 'vllm', reasoning: true }),
      { chat_template_kwargs: { enable_thinking: false } },
      { chat_template_kwargs: { enable_thinking: true } },
    ],
    [openaiCompatible('m', { backend: 'mistral', reasoning: true }), { reasoning_effort: 'none' }, { reasoning_effort: 'high' }],
    [openaiCompatible('m', { backend: 'xai', reasoning: true }), {}, {}],
    [openaiCompatible('gpt-oss-120b', { backend: 'ollama' }), {}, {}],
  ])('uses the request format of the backend', async (model, off, high) => {
    const known = ['model', 'stream', 'stream_options', 'max_tokens', 'messages']
    const askedFor = async (thinking: ThinkingLevel) => {
      const { body } = await encode(model, { thinking })
      return Object.fromEntries(Object.entries(body).filter(([field]) => !known.includes(field)))
    }
    expect(await askedFor('off')).toEqual(off)
    expect(await askedFor('high')).toEqual(high)
  })
})
