import { describe, expect, it } from 'vitest'
import { type Message, userMessage } from '../../src/contract/message/message.ts'
import type { ModelCapabilities } from '../../src/contract/model/model-config.ts'
import { type AnthropicOptions, anthropic } from '../../src/providers/anthropic/index.ts'
import { type CapabilityRow, capabilitiesOf, plain } from '../../src/providers/kit/capabilities/capabilities.ts'
import { openaiCompatible } from '../../src/providers/openai.ts'
import type { Model } from '../../src/types/model/model.ts'
import type { StreamRequest } from '../../src/types/model/provider.ts'
import { answerBy, plainRequest, sentBody } from './model-call.ts'

const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
const schema = { type: 'object', properties: { a: { type: 'string' } } }
const messages: Message[] = [userMessage('Look.', [image])]

const bodyOf = ({ config, provider }: Model, changes: Partial<StreamRequest> = {}) =>
  sentBody(provider, plainRequest(config, { messages, cache: { type: 'disabled' }, ...changes }))

describe('the capabilities table', () => {
  const newest: ModelCapabilities = { ...plain, thinking: 'adaptive' }
  const table: CapabilityRow[] = [
    { ids: /^old/, capabilities: { ...plain, media: [] } },
    { ids: /^old-2/, capabilities: { ...plain, sampling: false } },
  ]
  const { config } = anthropic('x')

  it('describes a model by the first matching row', () => {
    expect(capabilitiesOf({ ...config, id: 'old-2' }, table, newest)).toMatchObject({ media: [], sampling: true })
  })

  it('treats an unknown model id like the newest model', () => {
    expect(capabilitiesOf({ ...config, id: 'never-heard-of' }, table, newest)).toEqual(newest)
  })

  it("prefers the model's capabilities, field by field", () => {
    const model = { ...config, id: 'old-1', capabilities: { media: ['image/png'], efforts: ['low'] } }
    expect(capabilitiesOf(model, table, newest)).toEqual({ ...plain, media: ['image/png'], efforts: ['low'] })
  })
})

/** Each field, and what differs in a request of Anthropic's protocol once it is overridden. */
const anthropicCases: [keyof ModelCapabilities, string, AnthropicOptions, Partial<StreamRequest>, object, object][] = [
  [
    'thinking',
    'claude-opus-4-8',
    { capabilities: { thinking: 'budget' } },
    { thinking: 'high' },
    { thinking: { type: 'adaptive' } },
    { thinking: { type: 'enabled', budget_tokens: 8192 } },
  ],
  ['sampling', 'claude-opus-4-8', { capabilities: { sampling: true, thinking: 'none' } }, { temperature: 0.5 }, {}, { temperature: 0.5 }],
  [
    'forcedToolChoice',
    'claude-opus-5-5',
    { capabilities: { forcedToolChoice: true } },
    { responseFormat: { type: 'jsonObject' } },
    {},
    { tool_choice: { type: 'tool', name: 'respond_json' } },
  ],
  ['thinkingOff', 'claude-opus-5-5', { capabilities: { thinkingOff: true } }, {}, {}, { thinking: { type: 'disabled' } }],
  [
    'jsonSchema',
    'claude-opus-4-8',
    { capabilities: { jsonSchema: false } },
    { responseFormat: { type: 'jsonSchema', name: 'x', schema } },
    { output_config: { format: { type: 'json_schema' } } },
    { tools: [{ name: 'respond_json' }] },
  ],
]

describe('capability overrides', () => {
  it.each(anthropicCases)('overrides %s', async (_field, id, options, changes, before, after) => {
    expect(await bodyOf(anthropic(id), changes)).toMatchObject(before)
    expect(await bodyOf(anthropic(id, options), changes)).toMatchObject(after)
  })

  it('overrides efforts', async () => {
    const id = 'claude-opus-4-8'
    expect(await bodyOf(anthropic(id), { thinking: 'high' })).toMatchObject({ output_config: { effort: 'high' } })
    const weak = anthropic(id, { capabilities: { efforts: ['low'] } })
    expect(await bodyOf(weak, { thinking: 'high' })).toMatchObject({ output_config: { effort: 'low' } })
  })

  it('overrides images', async () => {
    expect(JSON.stringify(await bodyOf(anthropic('claude-opus-4-8')))).toContain('AA==')
    expect(JSON.stringify(await bodyOf(anthropic('claude-opus-4-8', { capabilities: { media: [] } })))).not.toContain('AA==')
  })

  it('overrides boundReasoning', async () => {
    const id = 'claude-opus-4-8'
    const thought = { type: 'thinking', thinking: 'So.', signature: 's' } as const
    const answer = answerBy({ model: id, provider: 'anthropic' }, [thought, { type: 'text', text: 'A cat.' }])
    const history: Message[] = [...messages, answer, userMessage('Sure?')]
    // It carries no hash of the prefix it is bound to.
    expect(JSON.stringify(await bodyOf(anthropic(id), { messages: history }))).not.toContain('"signature"')
    const free = anthropic(id, { capabilities: { boundReasoning: false } })
    expect(JSON.stringify(await bodyOf(free, { messages: history }))).toContain('"signature":"s"')
  })

  it("overrides the model's context window", () => {
    expect(anthropic('x', { capabilities: { contextWindow: 1_000_000 } }).config.contextWindow).toBe(1_000_000)
    expect(anthropic('x', { capabilities: { contextWindow: 1 }, contextWindow: 2 }).config.contextWindow).toBe(2)
  })

  it('overrides fields of Chat Completions models', async () => {
    const baseUrl = 'http://127.0.0.1:9'
    const thinks = openaiCompatible('m', { baseUrl, reasoning: true, compat: { supportsReasoningEffort: true } })
    expect(await bodyOf(thinks, { thinking: 'high' })).toMatchObject({ reasoning_effort: 'high' })
    const capabilities = { efforts: ['low', 'max'], media: [], jsonSchema: false }
    const weak = openaiCompatible('m', { baseUrl, reasoning: true, compat: { supportsReasoningEffort: true }, capabilities })
    const body = await bodyOf(weak, { thinking: 'high', responseFormat: { type: 'jsonSchema', name: 'x', schema } })
    expect(body).toMatchObject({ reasoning_effort: 'max', tool_choice: { function: { name: 'respond_json' } } })
    expect(JSON.stringify(body)).not.toContain('AA==')
  })
})
