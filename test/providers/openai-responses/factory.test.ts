import { expect, it } from 'vitest'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { canary } from './call.ts'

it('sets documented defaults, without a key in the configuration', async () => {
  const { config, provider, credentials } = openaiResponses('gpt-6-sol', { apiKey: canary })
  expect(config).toEqual({
    id: 'gpt-6-sol',
    name: 'gpt-6-sol',
    api: 'openAiResponses',
    provider: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    reasoning: true,
    contextWindow: 272_000,
    maxTokens: 128_000,
    cost: { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 },
    headers: {},
  })
  expect(provider.api).toBe('openAiResponses')
  expect(JSON.stringify({ config, provider, credentials })).not.toContain(canary)
  expect(await credentials?.current(new AbortController().signal)).toBe(canary)
  expect(openaiResponses('gpt-6-sol')).not.toHaveProperty('credentials')
})

it('lists the models without reasoning', () => {
  expect(openaiResponses('gpt-4o').config.reasoning).toBe(false)
  expect(openaiResponses('gpt-4o', { reasoning: true }).config.reasoning).toBe(true)
})

it('prefers options over defaults', () => {
  const changes = { name: 'Grok', provider: 'xai', contextWindow: 1_000_000, maxTokens: 64_000, headers: { a: 'b' } }
  expect(openaiResponses('grok-4.3', { ...changes, baseUrl: 'https://api.x.ai/v1/' }).config).toMatchObject({
    ...changes,
    baseUrl: 'https://api.x.ai/v1',
  })
})
