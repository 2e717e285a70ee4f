import { describe, expect, it } from 'vitest'
import { compactMessages } from '../../src/context.ts'
import { Agent, userMessage } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { local, openai } from '../../src/providers/openai.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { tool } from '../support/play.ts'

/** `fields`, each without a value: what a program writes that has none, such as `maxTurns: Number(process.env.TURNS) || undefined`. */
const blank = (...fields: string[]): object => Object.fromEntries(fields.map((field) => [field, undefined]))

describe('an undefined option field', () => {
  it('applies the default limits for undefined fields', async () => {
    const model = scripted(() => ({ toolCalls: [{ name: 'again', arguments: {} }] }))
    const agent = new Agent({ model, tools: [tool('again', () => 'yes')], limits: blank('maxTurns', 'maxTotalTokens', 'maxSameRefusals') })
    const { status, limit } = await agent.prompt('go').result
    expect([status, limit?.name]).toEqual(['limit', 'maxTurns'])
  })

  it('applies the default retry settings for undefined fields', async () => {
    const model = scripted(() => ({ fail: { code: 'network', message: 'down', retryAfterMs: 0 } }))
    await new Agent({ model, retry: blank('maxRetries', 'maxDelayMs') }).prompt('go').result
    expect(model.provider.requests).toHaveLength(4)
  })

  it('applies the default compaction settings for undefined fields', () => {
    const sizes = { maxContextTokens: 2000, systemPromptTokens: 100 }
    const long = Array.from({ length: 30 }, () => ({ ...userMessage('word '.repeat(100)), id: crypto.randomUUID() }))
    const fitted = compactMessages(long, { ...sizes, compaction: blank('compactAtPct', 'keepFirstTurns', 'keepRecentTurns', 'strategy') })
    expect(fitted).toHaveLength(compactMessages(long, sizes).length)
    expect(fitted.length).toBeLessThan(long.length)
    expect(fitted.length).toBeGreaterThan(1)
  })

  it('applies the default model settings for undefined fields', () => {
    const scriptedOnes = blank('contextWindow', 'maxTokens', 'provider', 'cost', 'headers')
    expect(scripted([], { config: scriptedOnes }).config).toEqual(scripted([]).config)
    for (const make of [openai, anthropic]) {
      const capabilities = blank('media', 'mediaInToolResults', 'maxOutputTokens')
      const options = {
        ...blank('baseUrl', 'contextWindow', 'maxTokens', 'headers', 'cost', 'reasoning', 'name', 'firstByteTimeoutMs'),
        capabilities,
      }
      expect(make('m', { apiKey: 'k', ...options }).config).toStrictEqual(make('m', { apiKey: 'k' }).config)
    }
    const compat = blank('maxTokensField', 'thinkingFormat')
    expect(openai('m', { apiKey: 'k', compat }).config.compat).toEqual(openai('m', { apiKey: 'k' }).config.compat)
    expect(local('m', blank('capabilities', 'headers', 'baseUrl', 'provider')).config).toEqual(local('m').config)
  })
})
