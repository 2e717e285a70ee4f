import { describe, expect, it } from 'vitest'
import { userMessage } from '../../src/contract/message/message.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai, openaiCompatible, openrouter } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import type { StreamRequest } from '../../src/types/model/provider.ts'
import { plainRequest, sentBody } from './model-call.ts'

const baseUrl = 'http://127.0.0.1:9'
const fields = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'generationConfig', 'inferenceConfig'] as const

/** What a request says about the length of its answer, wherever the protocol says it. */
async function saidBy({ config, provider }: Model, changes: Partial<StreamRequest> = {}): Promise<unknown> {
  const body = await sentBody(provider, plainRequest(config, { messages: [userMessage('Hi.')], ...changes }))
  const found: unknown = fields.map((name) => body[name]).find((value) => value !== undefined)
  if (typeof found !== 'object' || found === null) return found
  return Object.entries(found).find(([name]) => name.startsWith('max'))?.[1]
}

describe('the output limit without maxTokens', () => {
  it.each([
    ['claude-3-haiku-20240307', anthropic, 4096],
    ['claude-3-5-haiku-latest', anthropic, 8192],
    ['claude-3-7-sonnet-20250219', anthropic, 64_000],
    ['claude-opus-4-1', anthropic, 32_000],
    ['claude-opus-4-20250514', anthropic, 32_000],
    ['claude-sonnet-4-20250514', anthropic, 64_000],
    ['claude-opus-4-5', anthropic, 64_000],
    ['claude-sonnet-4-6', anthropic, 64_000],
    ['claude-opus-4-6', anthropic, 128_000],
    ['claude-opus-5-5', anthropic, 128_000],
    ['claude-of-tomorrow', anthropic, 64_000],
    ['us.anthropic.claude-sonnet-4-6', bedrock, 64_000],
    ['gpt-3.5-turbo', openai, 4096],
    ['gpt-4', openai, 8192],
    ['gpt-4-turbo', openai, 4096],
    ['gpt-4o-mini', openai, 16_384],
    ['gpt-4.1', openai, 32_768],
    ['o1-preview', openai, 32_768],
    ['o3', openai, 100_000],
    ['gpt-5.1', openai, 128_000],
    ['gpt-5-pro', openaiResponses, 272_000],
    ['gpt-5.6', openaiResponses, 128_000],
    ['gpt-of-tomorrow', openaiResponses, 128_000],
    ['gemini-2.0-flash', google, 8192],
    ['gemini-2.5-pro', google, 65_536],
    ['gemini-3.8-flash', vertex, 65_536],
    ['gemini-3-pro-image', google, 32_768],
    ['gemma-3-27b-it', google, 8192],
  ])('defaults to the output limit of the model: %s', (id, factory, tokens) => {
    expect(factory(id, {}).config.maxTokens).toBe(tokens)
  })

  it("defaults to the output limit of a deployment's underlying model", () => {
    expect(azure('mine', { resource: 'r', underlyingModel: 'gpt-4o' }).config.maxTokens).toBe(16_384)
  })

  it('sends 0 for an unknown model, so the provider decides', () => {
    for (const model of [
      openrouter('vendor/model'),
      openaiCompatible('house-model', { baseUrl }),
      openaiResponses('grok-4.3', { provider: 'xai', baseUrl }),
      bedrock('meta.llama3-3-70b-instruct-v1:0'),
    ])
      expect(model.config.maxTokens).toBe(0)
  })

  it('defaults to maxOutputTokens of a custom model, after maxTokens', () => {
    expect(anthropic('house', { capabilities: { maxOutputTokens: 12_000 } }).config.maxTokens).toBe(12_000)
    expect(openaiCompatible('house', { baseUrl, capabilities: { maxOutputTokens: 12_000 }, maxTokens: 500 }).config.maxTokens).toBe(500)
  })
})

describe('the output limit in a request', () => {
  it('sends an output limit in every request to Claude, which requires it', async () => {
    expect(await saidBy(anthropic('claude-opus-4-8'))).toBe(128_000)
    expect(await saidBy(bedrock('us.anthropic.claude-opus-4-8'))).toBe(128_000)
    expect(await saidBy(anthropic('house-model'))).toBe(8192)
    const { config, provider } = anthropic('claude-opus-4-8')
    expect(await saidBy({ config: { ...config, maxTokens: 0 }, provider })).toBe(128_000)
  })

  // A service counts what it is told against the tokens per minute, whether they are used or not.
  it.each<[string, Model]>([
    ['openai', openai('gpt-5.1')],
    ['openaiResponses', openaiResponses('gpt-5.1')],
    ['azure', azure('gpt-5.1', { resource: 'r' })],
    ['openrouter', openrouter('vendor/model')],
    ['openaiCompatible', openaiCompatible('house', { baseUrl })],
    ['openaiCompatible with capabilities', openaiCompatible('house', { baseUrl, capabilities: { maxOutputTokens: 12_000 } })],
    ['google', google('gemini-3.5-flash')],
    ['bedrock', bedrock('us.amazon.nova-2-lite-v1:0')],
  ])("omits the model's own limit, and sends a smaller one: %s", async (_name, model) => {
    expect(await saidBy(model)).toBeUndefined()
    expect(await saidBy(model, { maxTokens: 700 })).toBe(700)
    expect(await saidBy({ ...model, config: { ...model.config, maxTokens: 900 } })).toBe(900)
  })

  it('reserves the thinking budget without an explicit output limit', async () => {
    const { config, provider } = google('gemini-2.5-flash')
    const request = plainRequest(config, { messages: [userMessage('Hi.')], thinking: 'high' })
    expect((await sentBody(provider, request)).generationConfig).toEqual({
      thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
    })
    expect((await provider.encode(request)).warnings).toEqual([])
  })
})
