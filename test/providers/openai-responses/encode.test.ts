import { describe, expect, it } from 'vitest'
import type { ModelCapabilities } from '../../../src/contract/model/model-config.ts'
import type { ThinkingLevel } from '../../../src/contract/model/request-settings.ts'
import { type OpenAiResponsesOptions, openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import type { StreamRequest } from '../../../src/types/model/provider.ts'
import { answering, fixture } from '../bytes.ts'
import { answer, bodyFor, called, canary, inputFor, request, result, user } from './call.ts'

const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
const imagePart = { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'auto' }
const xai = { provider: 'xai', baseUrl: 'https://api.x.ai/v1' }

const body = (id: string, changes: Partial<StreamRequest> = {}, options: OpenAiResponsesOptions = {}) =>
  bodyFor(openaiResponses(id, options), changes)
const encoded = (id: string, changes: Partial<StreamRequest> = {}, options: OpenAiResponsesOptions = {}) => {
  const model = openaiResponses(id, options)
  return model.provider.encode(request(model, changes))
}

describe('the request URL and headers', () => {
  it.each([
    [undefined, 'https://api.openai.com/v1/responses'],
    ['https://proxy.example/', 'https://proxy.example/v1/responses'],
    ['https://openrouter.ai/api/v1', 'https://openrouter.ai/api/v1/responses'],
    ['https://proxy.example/a/v1?tenant=1', 'https://proxy.example/a/v1/responses?tenant=1'],
  ])('derives the URL from baseUrl %s', async (baseUrl, url) => {
    expect((await encoded('gpt-test', {}, baseUrl === undefined ? {} : { baseUrl })).url).toBe(url)
  })

  it('rejects an invalid base URL', () => {
    expect(() => encoded('gpt-test', {}, { baseUrl: 'proxy' })).toThrow(expect.objectContaining({ code: 'invalidOption' }))
  })

  it("sends the key in one redacted header, and prefers the model's headers", async () => {
    const made = await encoded('gpt-test', {}, { headers: { 'OpenAI-Project': 'p' } })
    expect(made.headers).toEqual({ 'content-type': 'application/json', authorization: `Bearer ${canary}`, 'openai-project': 'p' })
    expect(JSON.stringify([made.redactedHeaders, made.body, made.url])).not.toContain(canary)
    expect((await encoded('gpt-test', { credential: '' })).headers).not.toHaveProperty('authorization')
  })
})

describe('the Responses request', () => {
  it('disables storage, requests encrypted reasoning and sends the system prompt as an item', async () => {
    expect(await body('gpt-test', { systemPrompt: 'Be brief.', maxTokens: 100 })).toEqual({
      model: 'gpt-test',
      stream: true,
      store: false,
      max_output_tokens: 100,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      ],
    })
  })

  it('requests no reasoning from a model without it', async () => {
    const made = await body('gpt-4o', { thinking: 'high', temperature: 0.5 })
    expect(made).not.toHaveProperty('include')
    expect(made).not.toHaveProperty('reasoning')
    expect(made.temperature).toBe(0.5)
    expect((await encoded('gpt-4o', { thinking: 'high' })).warnings).toHaveLength(1)
    expect(await body('some-model', {}, { ...xai, reasoning: false })).not.toHaveProperty('include')
  })

  it('requests at least 16 output tokens', async () => {
    expect((await body('gpt-test', { maxTokens: 5 })).max_output_tokens).toBe(16)
    expect((await encoded('gpt-test', { maxTokens: 5 })).warnings).toEqual([expect.stringContaining('16')])
  })

  it('sends flat, non-strict tools with an object root', async () => {
    const tools = [
      { name: 'a', description: 'A', parameters: { type: 'object' } },
      { name: 'b', description: 'B', parameters: { anyOf: [{ type: 'object', properties: { x: { type: 'string' } } }] } },
    ]
    expect((await body('gpt-test', { tools })).tools).toEqual([
      { type: 'function', name: 'a', description: 'A', parameters: { type: 'object', properties: {} }, strict: false },
      {
        type: 'function',
        name: 'b',
        description: 'B',
        parameters: { type: 'object', properties: { x: { type: 'string' } } },
        strict: false,
      },
    ])
  })

  it('emits encoder warnings with the start event', async () => {
    const model = openaiResponses('gpt-test', { fetch: answering([fixture('openai-responses/text.sse')]) })
    const { events } = await called(model, { temperature: 1 })
    expect(events[0]).toMatchObject({ type: 'start', warnings: [expect.stringContaining('temperature')] })
  })
})

describe('reasoning effort', () => {
  const cases: [string, Partial<Record<ThinkingLevel, string>>][] = [
    ['o3', { off: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high' }],
    ['gpt-5', { off: 'minimal', minimal: 'minimal', low: 'low', medium: 'medium', high: 'high' }],
    ['gpt-5.1', { off: 'none', minimal: 'low', low: 'low', medium: 'medium', high: 'high' }],
    ['gpt-5.5', { off: 'none', minimal: 'low', low: 'low', medium: 'medium', high: 'high' }],
    ['gpt-5-pro', { off: 'high', minimal: 'high', low: 'high', medium: 'high', high: 'high' }],
    ['gpt-5.2-pro', { off: 'medium', minimal: 'medium', low: 'medium', medium: 'medium', high: 'high' }],
    ['gpt-5.1-codex', { off: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high' }],
    ['gpt-5.1-codex-max', { off: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high' }],
    ['gpt-5.2-chat-latest', { off: 'medium', minimal: 'medium', low: 'medium', medium: 'medium', high: 'medium' }],
    ['openai/gpt-5.6', { off: 'none', minimal: 'low', low: 'low', medium: 'medium', high: 'high' }],
    ['gpt-6-astra', { off: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high' }],
    ['gpt-unheard-of', { off: 'low', minimal: 'low', low: 'low', medium: 'medium', high: 'high' }],
  ]
  it.each(cases)('maps thinking levels to efforts of %s', async (id, efforts) => {
    for (const level of ['off', 'minimal', 'low', 'medium', 'high'] as const) {
      const { reasoning } = await body(id, { thinking: level })
      const summary = level === 'off' ? {} : { summary: 'auto' }
      expect(reasoning).toEqual({ effort: efforts[level], ...summary })
    }
  })

  it('applies the effort rules of other providers and the configuration', async () => {
    expect((await body('grok-4.3', {}, xai)).reasoning).toBeUndefined()
    expect((await body('grok-4.3', { thinking: 'minimal' }, xai)).reasoning).toEqual({ effort: 'low', summary: 'auto' })
    const capabilities: Partial<ModelCapabilities> = { efforts: [] }
    const options = { ...xai, capabilities, reasoningSummary: 'none' } as const
    expect((await body('grok-4.20', { thinking: 'high' }, options)).reasoning).toBeUndefined()
    const concise = { reasoningSummary: 'concise' } as const
    expect((await body('gpt-5.1', { thinking: 'high' }, concise)).reasoning).toEqual({ effort: 'high', summary: 'concise' })
  })

  it('sends a temperature only to models without active reasoning', async () => {
    expect((await body('gpt-5.1', { temperature: 0 })).temperature).toBe(0)
    expect(await body('gpt-5.1', { temperature: 0, thinking: 'low' })).not.toHaveProperty('temperature')
    expect(await body('gpt-5', { temperature: 0 })).not.toHaveProperty('temperature')
    expect((await body('grok-4.3', { temperature: 0, thinking: 'low' }, xai)).temperature).toBe(0)
  })
})

describe('messages', () => {
  it('sends a system message to other providers', async () => {
    expect((await body('grok-4.3', { systemPrompt: 'x' }, xai)).input).toMatchObject([{ role: 'system', content: 'x' }, {}])
  })

  it("sends another model's responses as text, and its calls without ids", async () => {
    const foreign = { model: 'claude', provider: 'anthropic' }
    const call = { type: 'toolCall', id: 'toolu_1', name: 'read it!', arguments: { a: 1 } } as const
    const state = { api: 'anthropicMessages', model: 'claude', payload: { id: 'msg_9', after: 'rs_9' } } as const
    const input = await inputFor([
      user('a'),
      answer(
        [
          { type: 'thinking', thinking: 'secret', signature: 's' },
          { type: 'text', text: 'b', providerState: state },
          { ...call, providerState: state },
        ],
        foreign,
      ),
      result('toolu_1'),
    ])
    expect(input).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'a' }] },
      { role: 'assistant', content: 'b' },
      { type: 'function_call', call_id: 'toolu_1', name: 'read_it_', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'toolu_1', output: 'ok' },
    ])
  })

  it('sends result images natively to OpenAI, and in a user message elsewhere', async () => {
    const history = [
      user('a'),
      answer([
        { type: 'toolCall', id: 'c1', name: 'f', arguments: {} },
        { type: 'toolCall', id: 'c2', name: 'f', arguments: {} },
      ]),
      result('c1', [{ type: 'text', text: 'see' }, image]),
      result('c2', [image]),
    ]
    expect((await inputFor(history)).slice(3)).toEqual([
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'see' }, imagePart] },
      { type: 'function_call_output', call_id: 'c2', output: [imagePart] },
    ])
    expect((await inputFor(history, openaiResponses('grok-4.3', xai))).slice(3)).toEqual([
      { type: 'function_call_output', call_id: 'c1', output: 'see' },
      { type: 'function_call_output', call_id: 'c2', output: '(see attached image)' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Files of call c1 (read):' },
          imagePart,
          { type: 'input_text', text: 'Files of call c2 (read):' },
          imagePart,
        ],
      },
    ])
  })
})

describe('structured output', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const format = (responseFormat: StreamRequest['responseFormat'], id = 'gpt-test', options = {}) =>
    body(id, responseFormat === undefined ? {} : { responseFormat }, options)

  it('sends a schema, closed if it is strict', async () => {
    expect((await format({ type: 'jsonSchema', name: 'x', schema })).text).toEqual({
      format: { type: 'json_schema', name: 'x', schema, strict: false },
    })
    expect((await format({ type: 'jsonSchema', name: 'x', schema, strict: true })).text).toEqual({
      format: { type: 'json_schema', name: 'x', schema: { ...schema, additionalProperties: false }, strict: true },
    })
    expect(await format({ type: 'text' })).not.toHaveProperty('text')
  })

  it('sends JSON mode and adds a JSON instruction if the prompt has none', async () => {
    const made = await format({ type: 'jsonObject' })
    expect(made.text).toEqual({ format: { type: 'json_object' } })
    expect(made.input).toMatchObject([{ role: 'developer', content: 'Respond with a JSON object.' }, {}])
    const said = await body('gpt-test', { systemPrompt: 'Speak json', responseFormat: { type: 'jsonObject' } })
    expect(said.input).toMatchObject([{ content: 'Speak json' }, {}])
  })

  it('uses an answer tool if the model has no structured output and reads it as text', async () => {
    const options = { capabilities: { jsonSchema: false } }
    const made = await format({ type: 'jsonSchema', name: 'x', schema }, 'gpt-4o', options)
    expect(made).toMatchObject({ tool_choice: { type: 'function', name: 'respond_json' }, tools: [{ name: 'respond_json' }] })
    const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'respond_json', arguments: '{"a":"b"}' }
    const events = [
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { status: 'completed' } },
    ]
    const bytes = new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
    const model = openaiResponses('gpt-4o', { ...options, fetch: answering([bytes]) })
    const { message } = await called(model, { responseFormat: { type: 'jsonSchema', name: 'x', schema } })
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: '{"a":"b"}' }] })
  })
})
