import { describe, expect, it } from 'vitest'
import {
  compatPresets,
  defaultCompat,
  local,
  openAiProvider,
  openai,
  openaiCompatible,
  openrouter,
} from '../../../src/providers/openai/index.ts'

describe('factories', () => {
  it('openai', async () => {
    const { config, provider, credentials } = openai('gpt-4o', { apiKey: 'sk-1' })
    expect(config).toMatchObject({
      id: 'gpt-4o',
      name: 'gpt-4o',
      api: 'openAiCompletions',
      provider: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      contextWindow: 128_000,
      maxTokens: 4096,
      reasoning: false,
      cost: { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 },
      compat: { supportsStore: true, supportsDeveloperRole: true, supportsReasoningEffort: true, maxTokensField: 'maxCompletionTokens' },
    })
    expect(provider.api).toBe('openAiCompletions')
    expect(JSON.stringify(config)).not.toContain('sk-1')
    expect(await credentials?.current(new AbortController().signal)).toBe('sk-1')
    expect(openai('gpt-6-sol').config.reasoning).toBe(true)
    expect(openai('gpt-6-sol').credentials).toBeUndefined()
  })

  it('openrouter and local', () => {
    expect(openrouter('a/b').config).toMatchObject({
      provider: 'openrouter',
      baseUrl: 'https://openrouter.ai/api/v1',
      contextWindow: 200_000,
      maxTokens: 4096,
      compat: { supportsDeveloperRole: true, maxTokensField: 'maxTokens', thinkingFormat: 'openRouter' },
    })
    expect(local('http://localhost:11434/v1/', 'qwen').config).toMatchObject({
      id: 'qwen',
      provider: 'local',
      baseUrl: 'http://localhost:11434/v1',
      contextWindow: 128_000,
      compat: defaultCompat,
    })
  })

  it('openaiCompatible takes a preset, single deviations, or just an address', () => {
    const grok = openaiCompatible('grok', { backend: 'xai', compat: { supportsReasoningEffort: true }, name: 'Grok' })
    expect(grok.config).toMatchObject({ name: 'Grok', provider: 'xai', baseUrl: 'https://api.x.ai/v1' })
    expect(grok.config.compat).toEqual({ ...compatPresets.xai.compat, supportsReasoningEffort: true })
    expect(() => openaiCompatible('m', {})).toThrow(/backend or a baseUrl/)
  })

  it('presets are data: the documented variants', () => {
    expect(compatPresets.xai.compat.thinkingFormat).toBe('xai')
    expect(compatPresets.groq.compat).toEqual(defaultCompat)
    expect(compatPresets.deepseek.compat.maxTokensField).toBe('maxTokens')
    expect(defaultCompat.supportsUsageInStreaming).toBe(true)
    for (const { baseUrl, compat } of Object.values(compatPresets)) {
      expect(URL.canParse(baseUrl)).toBe(true)
      expect(Object.keys(compat).sort()).toEqual(Object.keys(defaultCompat).sort())
    }
    expect(JSON.parse(JSON.stringify(compatPresets))).toEqual(compatPresets)
  })

  it('one provider serves any model', () => {
    expect(Object.keys(openAiProvider()).sort()).toEqual(['api', 'encode', 'stream'])
  })
})
