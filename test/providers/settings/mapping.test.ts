import { describe, expect, it } from 'vitest'
import { userMessage } from '../../../src/contract/message/message.ts'
import type { RequestSettings } from '../../../src/contract/model/request-settings.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import { google } from '../../../src/providers/google/index.ts'
import { openai, openaiCompatible, openrouter } from '../../../src/providers/openai/index.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { vertex } from '../../../src/providers/vertex/index.ts'
import type { Model } from '../../../src/types/model/model.ts'
import type { EncodedRequest, StreamRequest } from '../../../src/types/model/provider.ts'
import { plainRequest } from '../model-call.ts'

const tools = ['add', 'sub'].map((name) => ({ name, description: name, parameters: { type: 'object', properties: {} } }))
const apiKey = 'k'

function encoded({ config, provider }: Model, settings: RequestSettings, changes: Partial<StreamRequest> = {}): Promise<EncodedRequest> {
  return provider.encode(
    plainRequest(config, { messages: [userMessage('Hi.')], cache: { type: 'disabled' }, tools, ...changes, ...settings }),
  )
}

/** Models that take what is asked of them, where their protocol has a field for it. */
const models = {
  anthropic: anthropic('claude-sonnet-4-6', { apiKey }),
  chat: openai('gpt-4.1', { apiKey }),
  reasoning: openai('gpt-5.1', { apiKey }),
  local: openaiCompatible('llama', { backend: 'vllm' }),
  router: openrouter('meta/llama', { apiKey }),
  responses: openaiResponses('gpt-5.1', { apiKey }),
  google: google('gemini-2.0-flash', { apiKey }),
  vertex: vertex('gemini-2.0-flash', { apiKey }),
  bedrock: bedrock('anthropic.claude-sonnet-4-6', { apiKey }),
} satisfies Record<string, Model>
type Wire = keyof typeof models

/** What is sent for a setting, by protocol; `undefined`: it is left out, with a warning. */
const mapping: readonly (readonly [RequestSettings, { readonly [wire in Wire]?: object | undefined }])[] = [
  [
    { toolChoice: 'required' },
    {
      anthropic: { tool_choice: { type: 'any' } },
      chat: { tool_choice: 'required' },
      responses: { tool_choice: 'required' },
      google: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
      bedrock: { toolConfig: { toolChoice: { any: {} } } },
    },
  ],
  [
    { toolChoice: { tool: 'sub' } },
    {
      anthropic: { tool_choice: { type: 'tool', name: 'sub' } },
      chat: { tool_choice: { type: 'function', function: { name: 'sub' } } },
      responses: { tool_choice: { type: 'function', name: 'sub' } },
      google: { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['sub'] } } },
      bedrock: { toolConfig: { toolChoice: { tool: { name: 'sub' } } } },
    },
  ],
  [
    { toolChoice: 'none' },
    {
      anthropic: { tool_choice: { type: 'none' } },
      chat: { tool_choice: 'none' },
      google: { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
    },
  ],
  [
    { toolChoice: { allowed: ['add'], mode: 'required' } },
    {
      anthropic: { tool_choice: { type: 'any' }, tools: [{ name: 'add' }] },
      chat: {
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'add' } }] },
        },
      },
      responses: { tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'add' }] } },
      local: { tool_choice: 'required', tools: [{ function: { name: 'add' } }] },
    },
  ],
  [
    { parallelToolCalls: false },
    {
      anthropic: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      chat: { parallel_tool_calls: false },
      responses: { parallel_tool_calls: false },
      google: undefined,
      vertex: undefined,
    },
  ],
  [
    { temperature: 1.5 },
    {
      anthropic: { temperature: 1 },
      chat: { temperature: 1.5 },
      google: { generationConfig: { temperature: 1.5 } },
      bedrock: { inferenceConfig: { temperature: 1 } },
    },
  ],
  [
    { topP: 0.5 },
    {
      anthropic: { top_p: 0.5 },
      chat: { top_p: 0.5 },
      responses: { top_p: 0.5 },
      google: { generationConfig: { topP: 0.5 } },
      bedrock: { inferenceConfig: { topP: 0.5 } },
    },
  ],
  [
    { topK: 5 },
    {
      anthropic: { top_k: 5 },
      chat: undefined,
      local: { top_k: 5 },
      responses: undefined,
      google: { generationConfig: { topK: 5 } },
      bedrock: { additionalModelRequestFields: { top_k: 5 } },
    },
  ],
  [
    { stopSequences: ['A', 'B'] },
    {
      anthropic: { stop_sequences: ['A', 'B'] },
      chat: { stop: ['A', 'B'] },
      reasoning: undefined,
      responses: undefined,
      google: { generationConfig: { stopSequences: ['A', 'B'] } },
      bedrock: { inferenceConfig: { stopSequences: ['A', 'B'] } },
    },
  ],
  [
    { seed: 7 },
    {
      anthropic: undefined,
      chat: { seed: 7 },
      responses: undefined,
      google: { generationConfig: { seed: 7 } },
      vertex: { generationConfig: { seed: 7 } },
      bedrock: undefined,
    },
  ],
  [
    { frequencyPenalty: 1 },
    {
      anthropic: undefined,
      chat: { frequency_penalty: 1 },
      reasoning: undefined,
      responses: undefined,
      google: { generationConfig: { frequencyPenalty: 1 } },
      bedrock: undefined,
    },
  ],
  [{ presencePenalty: -1 }, { chat: { presence_penalty: -1 }, local: { presence_penalty: -1 }, anthropic: undefined }],
  [
    { verbosity: 'low' },
    {
      anthropic: undefined,
      chat: undefined,
      reasoning: { verbosity: 'low' },
      responses: { text: { verbosity: 'low' } },
      google: undefined,
      bedrock: undefined,
    },
  ],
  [
    { serviceTier: 'standard' },
    {
      anthropic: { service_tier: 'standard_only' },
      chat: { service_tier: 'default' },
      responses: { service_tier: 'default' },
      google: { serviceTier: 'standard' },
      bedrock: { serviceTier: { type: 'default' } },
      local: undefined,
    },
  ],
  [
    { serviceTier: 'priority' },
    { anthropic: { service_tier: 'auto' }, chat: { service_tier: 'priority' }, bedrock: { serviceTier: { type: 'priority' } } },
  ],
  [{ serviceTier: 'flex' }, { anthropic: undefined, responses: { service_tier: 'flex' }, google: { serviceTier: 'flex' } }],
  [{ serviceTier: 'fast' }, { anthropic: undefined, google: undefined, bedrock: { performanceConfig: { latency: 'optimized' } } }],
  [
    { user: 'u' },
    {
      anthropic: { metadata: { user_id: 'u' } },
      chat: { safety_identifier: 'u' },
      local: { user: 'u' },
      router: { user: 'u' },
      google: undefined,
      bedrock: undefined,
    },
  ],
  [
    { cacheTtl: '1h' },
    { reasoning: { prompt_cache_retention: '24h' }, responses: { prompt_cache_retention: '24h' }, google: undefined, local: undefined },
  ],
  [{ thinkingSummary: 'concise' }, { chat: {}, local: {} }],
  [{ thinkingBudget: 3000 }, { responses: undefined, reasoning: undefined }],
  [
    { body: { extra: { a: 1 } } },
    {
      anthropic: { extra: { a: 1 } },
      chat: { extra: { a: 1 } },
      responses: { extra: { a: 1 } },
      google: { extra: { a: 1 } },
      bedrock: { extra: { a: 1 } },
    },
  ],
]

describe('what is asked for is said in the words of each protocol', () => {
  const rows = mapping.flatMap(([settings, wires]) => Object.entries(wires).map(([wire, sent]) => ({ settings, wire: wire as Wire, sent })))
  it.each(rows.map((row) => [JSON.stringify(row.settings), row.wire, row] as const))('%s, %s', async (_name, wire, { settings, sent }) => {
    const { body, warnings } = await encoded(models[wire], settings)
    if (sent !== undefined) {
      expect(JSON.parse(body)).toMatchObject(sent)
      return
    }
    const name = Object.keys(settings)[0] ?? ''
    expect(warnings.some((warning) => warning.startsWith(`${name} left out`))).toBe(true)
    const { body: without } = await encoded(models[wire], {})
    expect(JSON.parse(body)).toEqual(JSON.parse(without))
  })

  it('the rest of a list of tools is not offered where the service knows no subsets', async () => {
    const { body } = await encoded(models.anthropic, { toolChoice: { allowed: ['sub'] } })
    expect(JSON.parse(body).tools.map(({ name }: { name: string }) => name)).toEqual(['sub'])
  })

  it('Vertex AI reads the tier from a header', async () => {
    const { headers, body } = await encoded(models.vertex, { serviceTier: 'flex' })
    expect(headers['x-vertex-ai-llm-shared-request-type']).toBe('flex')
    expect(body).not.toContain('serviceTier')
  })

  it.each(['anthropic', 'bedrock'] as const)('all breakpoints of the cache have one lifetime, %s', async (wire) => {
    const { body } = await encoded(
      models[wire],
      { cacheTtl: '1h' },
      { cache: { type: 'auto' }, systemPrompt: 'S', messages: [userMessage('a'), userMessage('b')] },
    )
    const marks = body.match(/"cache_control":\{[^}]*\}|"cachePoint":\{[^}]*\}/g) ?? []
    expect(marks.length).toBeGreaterThan(1)
    expect(marks.every((mark) => mark.includes('"ttl":"1h"'))).toBe(true)
  })
})

describe('what would be refused is left out', () => {
  it.each([
    ['topP beside temperature', { topP: 0.5, temperature: 0.5 }, {}, 'top_p', 'topP'],
    ['a temperature while it thinks', { temperature: 0.5 }, { thinkingLevel: 'high' }, 'temperature', 'temperature'],
    ['a tool choice without tools', { toolChoice: 'required' }, { tools: [] }, 'tool_choice', 'toolChoice'],
    ['one call at a time without tools', { parallelToolCalls: false }, { tools: [] }, 'tool_choice', undefined],
    ['a forced call while it thinks', { toolChoice: 'required' }, { thinkingLevel: 'high' }, 'tool_choice', 'toolChoice'],
    ['a tool that there is not', { toolChoice: { tool: 'mul' } }, {}, 'tool_choice', 'toolChoice'],
  ] as const)('%s', async (_name, settings, changes, field, warned) => {
    const { body, warnings } = await encoded(models.anthropic, settings, changes)
    expect(JSON.parse(body)).not.toHaveProperty(field)
    if (warned !== undefined) expect(warnings.join('\n')).toContain(`${warned} left out`)
  })

  it('a call that cannot be forced is asked for by the tools that are offered', async () => {
    const { body } = await encoded(models.anthropic, { toolChoice: { tool: 'sub' } }, { thinkingLevel: 'high' })
    expect(JSON.parse(body).tools.map(({ name }: { name: string }) => name)).toEqual(['sub'])
  })

  it('capabilities say which settings a model refuses', async () => {
    const { body, warnings } = await encoded(openai('gpt-4.1', { apiKey, capabilities: { refuses: ['seed'] } }), { seed: 7 })
    expect(JSON.parse(body)).not.toHaveProperty('seed')
    expect(warnings).toEqual(['seed left out: gpt-4.1 does not take it'])
    const taken = await encoded(google('gemini-2.5-pro', { apiKey, capabilities: { refuses: [] } }), { presencePenalty: 1 })
    expect(JSON.parse(taken.body)).toMatchObject({ generationConfig: { presencePenalty: 1 } })
  })

  it('with strict it is an error, before anything is sent', async () => {
    const { config, provider } = models.anthropic
    const request = plainRequest(config, { messages: [userMessage('Hi.')], seed: 7, strict: true })
    await expect(provider.encode(request)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/seed.*claude-sonnet-4-6/),
    })
  })
})

describe('thinking', () => {
  it.each([
    ['claude-sonnet-4-5', 'max', { thinking: { type: 'enabled', budget_tokens: 24_576 } }],
    ['claude-opus-4-6', 'xhigh', { output_config: { effort: 'max' } }],
    ['claude-opus-4-8', 'xhigh', { output_config: { effort: 'xhigh' } }],
  ] as const)('%s thinks at %s', async (id, thinkingLevel, sent) => {
    expect(JSON.parse((await encoded(anthropic(id, { apiKey }), {}, { thinkingLevel })).body)).toMatchObject(sent)
  })

  it('is lowered to what a model knows, with a warning', async () => {
    const { body, warnings } = await encoded(openai('o3', { apiKey }), {}, { thinkingLevel: 'max', tools: [] })
    expect(JSON.parse(body).reasoning_effort).toBe('high')
    expect(warnings).toEqual(['thinking lowered from max to high: o3 knows no more'])
  })

  it('a budget of tokens switches it on where a model counts', async () => {
    const claude = await encoded(anthropic('claude-sonnet-4-5', { apiKey }), { thinkingBudget: 3000, thinkingSummary: 'none' })
    expect(JSON.parse(claude.body).thinking).toEqual({ type: 'enabled', budget_tokens: 3000, display: 'omitted' })
    const gemini = await encoded(google('gemini-2.5-flash', { apiKey }), { thinkingBudget: 3000 })
    expect(JSON.parse(gemini.body).generationConfig.thinkingConfig).toMatchObject({ thinkingBudget: 3000 })
    const router = await encoded(openrouter('meta/llama', { apiKey, reasoning: true }), { thinkingBudget: 3000, thinkingSummary: 'none' })
    expect(JSON.parse(router.body).reasoning).toEqual({ max_tokens: 3000, exclude: true })
  })
})

describe('where a setting is said', () => {
  it('the request wins over the model', async () => {
    const model = openai('gpt-4.1', { apiKey, seed: 1, topP: 0.9, temperature: 0.3 })
    expect(JSON.parse((await encoded(model, { seed: 2 })).body)).toMatchObject({ seed: 2, top_p: 0.9, temperature: 0.3 })
  })

  it('fields of the body are merged last, and headers added', async () => {
    const model = openai('gpt-4.1', { apiKey, headers: { a: '1' } })
    const { body, headers } = await encoded(model, {
      body: { stream_options: { include_obfuscation: false } },
      headers: { A: '2', b: '3' },
    })
    expect(JSON.parse(body).stream_options).toEqual({ include_usage: true, include_obfuscation: false })
    expect(headers).toMatchObject({ a: '2', b: '3' })
  })

  it('a body may not speak for the conversation', () => {
    expect(() => openai('gpt-4.1', { apiKey, body: { messages: [] } })).toThrow(/body\.messages cannot be set/)
    expect(() => openai('gpt-4.1', { apiKey, body: { stream: false } })).toThrow(/body\.stream/)
  })

  it('a signature holds for the body as it is sent', async () => {
    const aws = { accessKeyId: 'AKIA', secretAccessKey: 'secret' }
    const model = bedrock('anthropic.claude-sonnet-4-6', { ...aws, region: 'us-east-1' })
    const request = plainRequest(model.config, {
      credential: 'AKIA:secret',
      messages: [userMessage('Hi.')],
      body: { requestMetadata: { a: 'b' } },
    })
    const { body, headers } = await model.provider.encode(request)
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body)))
    expect(body).toContain('requestMetadata')
    expect(headers['x-amz-content-sha256']).toBe(Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''))
  })
})
