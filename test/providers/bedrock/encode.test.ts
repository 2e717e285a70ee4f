import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../../src/contract/json.ts'
import type { Content } from '../../../src/contract/message/content.ts'
import type { CacheStrategy, ToolDefinition } from '../../../src/contract/model/request.ts'
import type { ResponseFormat, ThinkingLevel } from '../../../src/contract/model/request-settings.ts'
import { type BedrockOptions, bedrock } from '../../../src/providers/bedrock/index.ts'
import { answer, answering, bodyFor, bytesOf, call, claude, frame, request, result, streamed, user, wireMessages } from './call.ts'

const tool = (name: string, parameters: JsonSchema = { type: 'object', properties: {} }): ToolDefinition => ({
  name,
  description: 'A tool',
  parameters,
})
const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
const wireImage = { image: { format: 'png', source: { bytes: 'AA==' } } }
const point = { cachePoint: { type: 'default' } }
const nova = 'us.amazon.nova-2-lite-v1:0'
const llama = 'us.meta.llama4-scout-17b-instruct-v1:0'

describe('the request URL', () => {
  it.each<[string, BedrockOptions, string]>([
    ['amazon.nova-lite-v1:0', {}, 'https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-lite-v1%3A0/converse-stream'],
    [
      'eu.anthropic.claude-opus-4-6-v1',
      { region: 'eu-west-1' },
      'https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-opus-4-6-v1/converse-stream',
    ],
    ['x.y', { region: 'cn-north-1' }, 'https://bedrock-runtime.cn-north-1.amazonaws.com.cn/model/x.y/converse-stream'],
    [
      'arn:aws:bedrock:us-west-2:123456789012:application-inference-profile/a1b2',
      {},
      'https://bedrock-runtime.us-west-2.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aus-west-2%3A123456789012%3Aapplication-inference-profile%2Fa1b2/converse-stream',
    ],
    ['x.y', { baseUrl: 'https://proxy.example/aws/' }, 'https://proxy.example/aws/model/x.y/converse-stream'],
  ])('derives the URL for model %s and options %j', async (id, options, url) => {
    expect((await bedrock(id, options).provider.encode(request(id, {}, options))).url).toBe(url)
  })

  it.each<[string, BedrockOptions, string]>([
    ['x.y', {}, 'us-east-1'],
    ['x.y', { baseUrl: 'https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com' }, 'us-gov-west-1'],
    ['x.y', { baseUrl: 'https://proxy.example', region: 'ap-south-1' }, 'ap-south-1'],
    ['arn:aws:bedrock:eu-west-3::foundation-model/x.y', { baseUrl: 'https://proxy.example' }, 'eu-west-3'],
  ])('signs for the region of model %s with options %j', async (id, options, region) => {
    const { headers } = await bedrock(id, options).provider.encode(request(id, {}, options))
    expect(headers.authorization).toContain(`/${region}/bedrock/aws4_request`)
  })

  it('rejects an invalid base URL', () => {
    expect(() => bedrock('x.y', { baseUrl: 'proxy' })).toThrow(expect.objectContaining({ code: 'invalidOption' }))
  })
})

describe('the Converse request body', () => {
  it('contains messages, system and inferenceConfig.maxTokens (build_bedrock_body)', async () => {
    expect(await bodyFor(request(llama, { maxTokens: 100, temperature: 0.5 }))).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      system: [{ text: 'Be brief.' }],
      inferenceConfig: { maxTokens: 100, temperature: 0.5 },
    })
  })

  it('omits blank content', async () => {
    const body = await bodyFor(request(llama, { systemPrompt: ' \n', messages: [user('Hi'), user('  ')] }))
    expect(body).not.toHaveProperty('system')
    expect(body.messages).toEqual([{ role: 'user', content: [{ text: 'Hi' }, { text: '(empty message)' }] }])
  })

  it('encodes text, toolUse, toolResult and images (content_to_bedrock)', async () => {
    const history = [
      { ...user('Look'), content: [{ type: 'text', text: 'Look' } as const, image] },
      answer([{ type: 'text', text: 'I look.' }, call('a', { path: 'x' }), call('b')], { stopReason: 'toolUse' }),
      result('b', [{ type: 'text', text: 'broken' }, image], true),
      result('a', [image, { type: 'text', text: 'seen' }]),
      user('Go on'),
    ]
    expect(await wireMessages(history)).toEqual([
      { role: 'user', content: [{ text: 'Look' }, wireImage] },
      {
        role: 'assistant',
        content: [
          { text: 'I look.' },
          { toolUse: { toolUseId: 'a', name: 'read', input: { path: 'x' } } },
          { toolUse: { toolUseId: 'b', name: 'read', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'a', content: [wireImage, { text: 'seen' }], status: 'success' } },
          { toolResult: { toolUseId: 'b', content: [{ text: 'broken' }], status: 'error' } },
          wireImage,
          { text: 'Go on' },
        ],
      },
    ])
  })

  it('omits status and moves images after all results for families without support', async () => {
    const history = [user('x'), answer([call('a'), call('b')], { model: llama }), result('a', [image]), result('b')]
    expect((await wireMessages(history, {}, llama))[2]?.content).toEqual([
      { toolResult: { toolUseId: 'a', content: [{ text: '(see attached image)' }] } },
      { toolResult: { toolUseId: 'b', content: [{ text: 'ok' }] } },
      wireImage,
    ])
  })

  it.each([
    ['image/jpg', { image: { format: 'jpeg', source: { bytes: 'AA==' } } }],
    ['IMAGE/WEBP', { image: { format: 'webp', source: { bytes: 'AA==' } } }],
    ['image/tiff', { text: '(image left out: this model does not accept image/tiff)' }],
  ])('encodes an image of type %s', async (mimeType, block) => {
    const [message] = await wireMessages([{ ...user(''), content: [{ ...image, mimeType }] }])
    expect(message?.content).toEqual([block])
  })

  it('converts ids for Mistral models to nine letters and digits', async () => {
    const mistral = 'mistral.mistral-large-2407-v1:0'
    const messages = await wireMessages(
      [user('x'), answer([call('tooluse_1'), call('abcDEF123')]), result('tooluse_1'), result('abcDEF123')],
      {},
      mistral,
    )
    const ids = messages
      .flatMap(({ content }) => content.map(({ toolUse, toolResult }) => Object(toolUse ?? toolResult).toolUseId))
      .filter(Boolean)
    expect(ids).toEqual([expect.stringMatching(/^[a-z0-9]{9}$/), 'abcDEF123', ids[0], 'abcDEF123'])
  })
})

describe('tools', () => {
  it('declares tools, merges root unions and omits a blank description', async () => {
    const union = { anyOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'number' } } }] }
    const { toolConfig } = await bodyFor(request(llama, { tools: [tool('read'), { ...tool('pick', union), description: ' ' }] }))
    expect(toolConfig).toEqual({
      tools: [
        { toolSpec: { name: 'read', description: 'A tool', inputSchema: { json: { type: 'object', properties: {} } } } },
        {
          toolSpec: {
            name: 'pick',
            inputSchema: {
              json: {
                type: 'object',
                description: 'Give one of: {a?} or {b?}',
                properties: { a: { type: 'string' }, b: { type: 'number' } },
              },
            },
          },
        },
      ],
    })
  })

  it('merges untyped constants into a union without excluding them', async () => {
    const union = { anyOf: [{ properties: { a: { type: 'string', const: 'x' } } }, { properties: { a: { const: 7 } } }] }
    const { toolConfig } = await bodyFor(request(llama, { tools: [tool('pick', union)] }))
    const { inputSchema } = Object(toolConfig?.tools[0]?.toolSpec)
    expect(inputSchema.json.properties).toEqual({ a: { anyOf: [{ type: 'string', const: 'x' }, { const: 7 }] } })
  })

  it('keeps declaring removed tools that the history uses', async () => {
    const messages = [user('x'), answer([call('a'), call('b', {}, 'odd name')]), result('a'), result('b')]
    const { toolConfig } = await bodyFor(request(llama, { messages }))
    expect(toolConfig?.tools.map((each) => Object(each.toolSpec).name)).toEqual(['read', 'odd_name'])
    expect(await bodyFor(request(llama))).not.toHaveProperty('toolConfig')
  })
})

describe('reasoning', () => {
  const signed: Content = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
  const redacted: Content = {
    type: 'thinking',
    thinking: '',
    providerState: { api: 'bedrockConverseStream', model: claude, payload: { redacted: 'eA==' } },
  }
  const said: Content = { type: 'text', text: 'So.' }
  const second = async (content: Content[], changes = {}, id = claude) =>
    (await wireMessages([user('x'), answer(content, { model: id, ...changes }), user('y')], {}, id))[1]?.content

  it('sends reasoning back byte for byte to its own model', async () => {
    expect(await second([signed, redacted, said])).toEqual([
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: 'eA==' } },
      { text: 'So.' },
    ])
  })

  it('sends reasoning to no other model and no unsigned reasoning to Claude', async () => {
    expect(await second([signed, redacted, said], { model: 'us.anthropic.claude-opus-4-5' })).toEqual([{ text: 'So.' }])
    expect(await second([{ type: 'thinking', thinking: 'Hm.' }, said])).toEqual([{ text: 'So.' }])
  })

  it('sends reasoning of other families back without a signature', async () => {
    expect(await second([{ type: 'thinking', thinking: 'Hm.' }, said], {}, nova)).toEqual([
      { reasoningContent: { reasoningText: { text: 'Hm.' } } },
      { text: 'So.' },
    ])
  })

  it('sends prefix-bound reasoning while the prefix is unchanged', async () => {
    const id = 'us.anthropic.claude-opus-4-8'
    const { message } = await streamed(answering([bytesOf('thinking')]), request(id))
    if (message === undefined) throw new Error('no answer')
    const next = (systemPrompt: string) => wireMessages([user('Hi'), message, user('y')], { systemPrompt }, id)
    expect((await next('Be brief.'))[1]?.content).toEqual([
      { reasoningContent: { reasoningText: { text: 'Let me see.', signature: 'c2lnbmF0' } } },
      { text: 'Done.' },
    ])
    expect((await next('Be long.'))[1]?.content).toEqual([{ text: 'Done.' }])
  })
})

describe('thinking', () => {
  const opus8 = 'us.anthropic.claude-opus-4-8'
  const adaptive = (effort: string) => ({ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort } })
  it.each<[string, ThinkingLevel, unknown, unknown]>([
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'high', { thinking: { type: 'enabled', budget_tokens: 8192 } }, { maxTokens: 12_288 }],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'off', undefined, { maxTokens: 8192, temperature: 0.5 }],
    [opus8, 'medium', adaptive('medium'), { maxTokens: 8192 }],
    [opus8, 'off', { thinking: { type: 'disabled' } }, { maxTokens: 8192 }],
    ['anthropic.claude-v2:1', 'high', undefined, { maxTokens: 8192, temperature: 0.5 }],
    [nova, 'medium', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }, { maxTokens: 8192, temperature: 0.5 }],
    [nova, 'high', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } }, undefined],
    [nova, 'off', undefined, { maxTokens: 8192, temperature: 0.5 }],
    ['amazon.nova-pro-v1:0', 'high', undefined, { maxTokens: 8192, temperature: 0.5 }],
    ['openai.gpt-oss-120b-1:0', 'minimal', { reasoning_effort: 'low' }, { maxTokens: 8192, temperature: 0.5 }],
    ['openai.gpt-6-sol', 'high', { reasoning: { effort: 'high' } }, { maxTokens: 8192 }],
    [llama, 'high', undefined, { maxTokens: 8192, temperature: 0.5 }],
  ])('maps thinking for %s, %s', async (id, thinking, additional, inferenceConfig) => {
    const body = await bodyFor(request(id, { thinking, temperature: 0.5, maxTokens: 8192 }))
    expect(body.additionalModelRequestFields).toEqual(additional)
    expect(body.inferenceConfig).toEqual(inferenceConfig)
  })

  it('warns about thinking that the model does not support', async () => {
    const { warnings } = await bedrock(llama).provider.encode(request(llama, { thinking: 'high' }))
    expect(warnings).toEqual([expect.stringContaining('thinking level high left out')])
  })

  it('uses the underlying model that the caller names for an ARN', async () => {
    const arn = 'arn:aws:bedrock:us-west-2:123456789012:application-inference-profile/a1b2'
    const made = request(arn, { thinking: 'medium' })
    expect(await bodyFor(made)).not.toHaveProperty('additionalModelRequestFields')
    expect((await bodyFor(made, { underlyingModel: 'anthropic.claude-opus-4-8' })).additionalModelRequestFields).toEqual(adaptive('medium'))
  })
})

describe('caching', () => {
  const history = [user('a'), answer([call('t')], { stopReason: 'toolUse' }), result('t'), answer([{ type: 'text', text: 'b' }]), user('c')]
  const places = async (id: string, cache: CacheStrategy, messages = history) => {
    const body = await bodyFor(request(id, { cache, messages, tools: [tool('read')] }))
    const has = (value: unknown) => JSON.stringify(value ?? '').includes(JSON.stringify(point))
    return [has(body.system), has(body.toolConfig), body.messages.flatMap(({ content }, at) => (has(content.at(-1)) ? [at] : []))]
  }

  it.each<[string, CacheStrategy, unknown[]]>([
    [claude, { type: 'auto' }, [true, true, [2, 4]]],
    [claude, { type: 'disabled' }, [false, false, []]],
    [claude, { type: 'manual', cacheSystem: true, cacheTools: false, cacheMessages: false }, [true, false, []]],
    [claude, { type: 'manual', cacheSystem: false, cacheTools: true, cacheMessages: true }, [false, true, [2, 4]]],
    ['anthropic.claude-3-haiku-20240307-v1:0', { type: 'auto' }, [false, false, []]],
    [nova, { type: 'auto' }, [true, false, [2, 4]]],
    [llama, { type: 'auto' }, [false, false, []]],
  ])('marks the cache points of %s with strategy %j', async (id, cache, expected) => {
    expect(await places(id, cache)).toEqual(expected)
  })
})

describe('structured output', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const asked: ResponseFormat = { type: 'jsonSchema', name: 'City info', schema }
  const format = (body: Record<string, unknown>) => Object(body.outputConfig).textFormat

  it.each(['us.anthropic.claude-opus-4-8', 'openai.gpt-oss-120b-1:0', 'qwen.qwen3-32b-v1:0'])(
    'uses native structured output for %s',
    async (id) => {
      const { type, structure } = format(await bodyFor(request(id, { responseFormat: asked })))
      expect([type, structure.jsonSchema.name]).toEqual(['json_schema', 'City_info'])
      expect(JSON.parse(structure.jsonSchema.schema)).toEqual({ ...schema, additionalProperties: false })
    },
  )

  it('forces an answer tool for Claude models without native structured output', async () => {
    const id = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
    const { toolConfig, additionalModelRequestFields } = await bodyFor(request(id, { responseFormat: asked, thinking: 'high' }))
    expect(toolConfig).toMatchObject({
      tools: [{ toolSpec: { name: 'respond_json', inputSchema: { json: schema } } }, point],
      toolChoice: { tool: { name: 'respond_json' } },
    })
    expect(additionalModelRequestFields).toBeUndefined()
    const withOthers = await bodyFor(request(id, { responseFormat: { type: 'jsonObject' }, tools: [tool('read')] }))
    expect(withOthers.toolConfig?.toolChoice).toEqual({ any: {} })
  })

  it('returns the arguments of the answer tool as text', async () => {
    const id = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
    const frames = [
      frame('contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { toolUseId: 't', name: 'respond_json' } } }),
      frame('contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: '{"city":"Rome"}' } } }),
      frame('messageStop', { stopReason: 'tool_use' }),
    ]
    const { message } = await streamed(answering(frames), request(id, { responseFormat: asked }))
    expect(message).toMatchObject({ content: [{ type: 'text', text: '{"city":"Rome"}' }], stopReason: 'stop' })
  })

  it.each<[string, ResponseFormat]>([
    ['amazon.nova-pro-v1:0', asked],
    [llama, asked],
    ['amazon.titan-text-express-v1', { type: 'jsonObject' }],
    ['qwen.qwen3-32b-v1:0', { type: 'jsonObject' }],
  ])(
    'rejects a schema for a model other than Claude (bedrock_rejects_structured_output_on_non_anthropic_model): %s',
    async (id, responseFormat) => {
      const encoded = bedrock(id).provider.encode(request(id, { responseFormat }))
      await expect(encoded).rejects.toMatchObject({ code: 'schemaMismatch', isRetryable: false, message: expect.stringContaining(id) })
    },
  )
})
