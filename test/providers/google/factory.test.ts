import { expect, it } from 'vitest'
import { google, googleProvider } from '../../../src/providers/google/index.ts'

it('sets documented defaults, without a key in the configuration', async () => {
  const { config, provider, credentials } = google('gemini-3.5-flash', { apiKey: 'AIza-canary' })
  expect(config).toEqual({
    id: 'gemini-3.5-flash',
    name: 'gemini-3.5-flash',
    api: 'googleGenerativeAi',
    provider: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com',
    reasoning: true,
    contextWindow: 1_000_000,
    maxTokens: 65_536,
    cost: { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 },
    headers: {},
  })
  expect(provider.api).toBe('googleGenerativeAi')
  expect(JSON.stringify({ config, provider, credentials })).not.toContain('AIza-canary')
  expect(await credentials?.current(new AbortController().signal)).toBe('AIza-canary')
  expect(google('gemini-3.5-flash')).not.toHaveProperty('credentials')
})

it('sets the smaller documented context window for Gemma', () => {
  expect(google('gemma-3-27b-it').config.contextWindow).toBe(131_072)
  expect(google('gemma-3-27b-it', { contextWindow: 8192 }).config.contextWindow).toBe(8192)
})

it('serves any model with one provider', () => {
  expect(Object.keys(googleProvider()).toSorted()).toEqual(['api', 'checkMedia', 'encode', 'stream'])
})
