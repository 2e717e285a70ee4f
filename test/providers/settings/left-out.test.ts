import { describe, expect, it } from 'vitest'
import { userMessage } from '../../../src/contract/message/message.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { bedrock } from '../../../src/providers/bedrock/index.ts'
import { google } from '../../../src/providers/google/index.ts'
import { openai, openrouter } from '../../../src/providers/openai.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { vertex } from '../../../src/providers/vertex/index.ts'
import { plainRequest } from '../model-call.ts'
import { apiKey, encoded, models } from './asked-models.ts'

describe('unsupported settings', () => {
  it.each([
    ['topP next to temperature', { topP: 0.5, temperature: 0.5 }, {}, 'top_p', 'topP'],
    ['a temperature with thinking', { temperature: 0.5 }, { thinking: 'high' }, 'temperature', 'temperature'],
    ['a tool choice without tools', { toolChoice: 'required' }, { tools: [] }, 'tool_choice', 'toolChoice'],
    ['parallelToolCalls without tools', { parallelToolCalls: false }, { tools: [] }, 'tool_choice', undefined],
    ['a forced call with thinking', { toolChoice: 'required' }, { thinking: 'high' }, 'tool_choice', 'toolChoice'],
    ['an unknown tool', { toolChoice: { tool: 'mul' } }, {}, 'tool_choice', 'toolChoice'],
  ] as const)('omits an unsupported setting with a warning: %s', async (_name, settings, changes, field, warned) => {
    const { body, warnings } = await encoded(models.anthropic, settings, changes)
    expect(JSON.parse(body)).not.toHaveProperty(field)
    if (warned !== undefined) expect(warnings.join('\n')).toContain(`${warned} left out`)
  })

  it('offers only the required tool if a call cannot be forced', async () => {
    const { body } = await encoded(models.anthropic, { toolChoice: { tool: 'sub' } }, { thinking: 'high' })
    expect(JSON.parse(body).tools.map(({ name }: { name: string }) => name)).toEqual(['sub'])
  })

  it("uses the model's capabilities", async () => {
    const { body, warnings } = await encoded(openai('gpt-4.1', { apiKey, capabilities: { refuses: ['seed'] } }), { seed: 7 })
    expect(JSON.parse(body)).not.toHaveProperty('seed')
    expect(warnings).toEqual(['seed left out: gpt-4.1 does not accept it'])
    const taken = await encoded(google('gemini-2.5-pro', { apiKey, capabilities: { refuses: [] } }), { presencePenalty: 1 })
    expect(JSON.parse(taken.body)).toMatchObject({ generationConfig: { presencePenalty: 1 } })
  })

  it('rejects unsupported settings before sending with strict', async () => {
    const { config, provider } = models.anthropic
    const request = plainRequest(config, { messages: [userMessage('Hi.')], seed: 7, strict: true })
    await expect(provider.encode(request)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/seed.*claude-sonnet-4-6/),
    })
  })
})

describe('thinking', () => {
  const low = 'thinking lowered from'
  it.each([
    ['Anthropic', models.anthropic, 'xhigh', { output_config: { effort: 'max' } }, undefined],
    ['Anthropic', models.anthropic, 'max', { output_config: { effort: 'max' } }, undefined],
    ['Chat', models.reasoning, 'xhigh', { reasoning_effort: 'high' }, `${low} xhigh to high`],
    ['Chat', openai('gpt-5.6-sol', { apiKey }), 'max', {}, undefined],
    ['Responses', models.responses, 'max', { reasoning: { effort: 'high' } }, `${low} max to high`],
    ['Responses', openaiResponses('gpt-5.6-sol', { apiKey }), 'xhigh', { reasoning: { effort: 'xhigh' } }, undefined],
    ['Azure', models.azure, 'max', { reasoning: { effort: 'high' } }, `${low} max to high`],
    [
      'Gemini',
      google('gemini-3-pro', { apiKey }),
      'xhigh',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH' } } },
      `${low} xhigh to high`,
    ],
    ['Gemini', models.flash, 'max', { generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } } }, undefined],
    [
      'Vertex',
      vertex('gemini-3-pro', { apiKey }),
      'max',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'HIGH' } } },
      `${low} max to high`,
    ],
    ['Bedrock', models.bedrock, 'xhigh', { additionalModelRequestFields: { output_config: { effort: 'max' } } }, undefined],
  ] as const)('applies the thinking level of %s, warns, or rejects with strict: %#', async (_name, model, thinking, sent, warning) => {
    const { body, warnings } = await encoded(model, { thinking, tools: [] })
    expect(JSON.parse(body)).toMatchObject(sent)
    const strictly = encoded(model, { thinking, tools: [], strict: true })
    if (warning === undefined) {
      expect(warnings).toEqual([])
      await strictly
    } else {
      expect(warnings).toEqual([expect.stringContaining(warning)])
      await expect(strictly).rejects.toMatchObject({ code: 'unsupported' })
    }
  })

  it.each([
    ['claude-sonnet-4-5', 'max', { thinking: { type: 'enabled', budget_tokens: 24_576 } }],
    ['claude-opus-4-6', 'xhigh', { output_config: { effort: 'max' } }],
    ['claude-opus-4-8', 'xhigh', { output_config: { effort: 'xhigh' } }],
  ] as const)('maps %s to thinking at %s', async (id, thinking, sent) => {
    expect(JSON.parse((await encoded(anthropic(id, { apiKey }), {}, { thinking })).body)).toMatchObject(sent)
  })

  it.each([
    [anthropic('claude-sonnet-4-5', { apiKey }), { thinkingBudget: 500 }, 'thinkingBudget raised from 500 to 1024'],
    [anthropic('claude-sonnet-4-5', { apiKey }), { thinkingBudget: 3000, maxTokens: 1000 }, /^max_tokens raised from 1000 to 4000/],
    [google('gemini-2.5-flash', { apiKey }), { thinkingBudget: 99_999 }, /^thinkingBudget changed from 99999 to/],
    [google('gemini-2.5-flash', { apiKey }), { thinkingBudget: 3000, maxTokens: 1000 }, /^maxOutputTokens raised from 1000 to 4000/],
    [openaiResponses('gpt-5.1', { apiKey }), { maxTokens: 5 }, /^maxTokens raised from 5 to 16/],
  ] as const)('warns about an invalid budget, or rejects it with strict: %#', async (model, settings, sentence) => {
    const { warnings } = await encoded(model, settings)
    expect(warnings).toEqual([typeof sentence === 'string' ? sentence : expect.stringMatching(sentence)])
    await expect(encoded(model, { ...settings, strict: true })).rejects.toMatchObject({ code: 'unsupported' })
  })

  it('lowers the level to a supported one with a warning', async () => {
    const { body, warnings } = await encoded(openai('o3', { apiKey }), {}, { thinking: 'max', tools: [] })
    expect(JSON.parse(body).reasoning_effort).toBe('high')
    expect(warnings).toEqual(['thinking lowered from max to high: o3 knows no more'])
  })

  it('enables thinking by a token budget on models that count', async () => {
    const claude = await encoded(anthropic('claude-sonnet-4-5', { apiKey }), { thinkingBudget: 3000, thinkingSummary: 'none' })
    expect(JSON.parse(claude.body).thinking).toEqual({ type: 'enabled', budget_tokens: 3000, display: 'omitted' })
    const gemini = await encoded(google('gemini-2.5-flash', { apiKey }), { thinkingBudget: 3000 })
    expect(JSON.parse(gemini.body).generationConfig.thinkingConfig).toMatchObject({ thinkingBudget: 3000 })
    const router = await encoded(openrouter('meta/llama', { apiKey, reasoning: true }), { thinkingBudget: 3000, thinkingSummary: 'none' })
    expect(JSON.parse(router.body).reasoning).toEqual({ max_tokens: 3000, exclude: true })
  })
})

describe('precedence of settings', () => {
  it('prefers settings of the request over the model', async () => {
    const model = openai('gpt-4.1', { apiKey, seed: 1, topP: 0.9, temperature: 0.3 })
    expect(JSON.parse((await encoded(model, { seed: 2 })).body)).toMatchObject({ seed: 2, top_p: 0.9, temperature: 0.3 })
  })

  it('merges body fields last and adds headers', async () => {
    const model = openai('gpt-4.1', { apiKey, headers: { a: '1' } })
    const { body, headers } = await encoded(model, {
      body: { stream_options: { include_obfuscation: false } },
      headers: { A: '2', b: '3' },
    })
    expect(JSON.parse(body).stream_options).toEqual({ include_usage: true, include_obfuscation: false })
    expect(headers).toMatchObject({ a: '2', b: '3' })
  })

  it('rejects body fields that replace the conversation', () => {
    expect(() => openai('gpt-4.1', { apiKey, body: { messages: [] } })).toThrow(/body\.messages cannot be set/)
    expect(() => openai('gpt-4.1', { apiKey, body: { stream: false } })).toThrow(/body\.stream/)
  })

  it('signs the body that is sent', async () => {
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
