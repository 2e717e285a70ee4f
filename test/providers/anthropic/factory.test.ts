import { expect, it } from 'vitest'
import { anthropic } from '../../../src/providers/anthropic/index.ts'

it('sets documented defaults, without a key in the configuration', async () => {
  const { config, provider, credentials } = anthropic('claude-sonnet-4-6', { apiKey: 'sk-canary' })
  expect(config).toEqual({
    id: 'claude-sonnet-4-6',
    name: 'claude-sonnet-4-6',
    api: 'anthropicMessages',
    provider: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    reasoning: true,
    contextWindow: 200_000,
    maxTokens: 64_000,
    cost: { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 },
    headers: {},
  })
  expect(provider.api).toBe('anthropicMessages')
  expect(JSON.stringify({ config, provider, credentials })).not.toContain('sk-canary')
  expect(await credentials?.current(new AbortController().signal)).toBe('sk-canary')
  expect(anthropic('claude-sonnet-4-6')).not.toHaveProperty('credentials')
})

it('prefers options over defaults, and strips a trailing slash from the base URL', () => {
  const cost = { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 }
  const changes = {
    name: 'Sonnet',
    provider: 'proxy',
    contextWindow: 1_000_000,
    maxTokens: 64_000,
    cost,
    headers: { a: 'b' },
    reasoning: false,
  }
  expect(anthropic('x', { ...changes, baseUrl: 'https://proxy.example/anthropic/' }).config).toMatchObject({
    ...changes,
    baseUrl: 'https://proxy.example/anthropic',
  })
})
