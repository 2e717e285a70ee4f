import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import { type ToolResultMessage, userMessage } from '../../../src/contract/message/message.ts'
import { defaultCompat } from '../../../src/providers/openai/compat.ts'
import { openAiProvider } from '../../../src/providers/openai/provider.ts'
import { compatPresets, local, openai, openaiCompatible, openrouter } from '../../../src/providers/openai.ts'
import { answerBy } from '../model-call.ts'
import { requestFor } from './call.ts'

const answering = (block: Content) => answerBy({ model: 'm', provider: 'p' }, [block], { stopReason: 'toolUse' })

function resultOf(toolCallId: string): ToolResultMessage {
  return { role: 'toolResult', toolCallId, toolName: 'look', content: [{ type: 'text', text: 'A cat.' }], isError: false, timestamp: 1 }
}

describe('factories', () => {
  it('creates an openai model', async () => {
    const { config, provider, credentials } = openai('gpt-4o', { apiKey: 'sk-1' })
    expect(config).toMatchObject({
      id: 'gpt-4o',
      name: 'gpt-4o',
      api: 'openAiCompletions',
      provider: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      contextWindow: 128_000,
      maxTokens: 16_384,
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

  it('creates openrouter and local models', () => {
    expect(openrouter('a/b').config).toMatchObject({
      provider: 'openrouter',
      baseUrl: 'https://openrouter.ai/api/v1',
      contextWindow: 200_000,
      maxTokens: 0,
      compat: { supportsDeveloperRole: true, maxTokensField: 'maxTokens', thinkingFormat: 'openRouter' },
    })
    expect(local('qwen', { baseUrl: 'http://localhost:11434/v1/' }).config).toMatchObject({
      id: 'qwen',
      provider: 'local',
      baseUrl: 'http://localhost:11434/v1',
      contextWindow: 128_000,
      compat: defaultCompat,
    })
  })

  it('requires the id first in local(), and defaults to Ollama', () => {
    expect(local('qwen3').config).toMatchObject({ id: 'qwen3', provider: 'local', baseUrl: compatPresets.ollama.baseUrl })
    expect(() => local('http://localhost:1234/v1', 'qwen3' as never)).toThrow(/is a URL/)
    expect(() => local('http://localhost:1234/v1')).toThrow(/is a URL\. The model comes first: local\('qwen3', \{ baseUrl \}\)\./)
  })

  it('accepts a preset, flags or a base URL in openaiCompatible', () => {
    const grok = openaiCompatible('grok', { backend: 'xai', compat: { supportsReasoningEffort: true }, name: 'Grok' })
    expect(grok.config).toMatchObject({ name: 'Grok', provider: 'xai', baseUrl: 'https://api.x.ai/v1' })
    expect(grok.config.compat).toEqual({ ...compatPresets.xai.compat, supportsReasoningEffort: true })
    expect(() => openaiCompatible('m', {})).toThrow(/backend or a baseUrl/)
  })

  it('exports the documented presets as data', () => {
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

  it('exports a preset for every backend', () => {
    const named = ['openai', 'openrouter', 'xai', 'groq', 'cerebras', 'mistral', 'deepseek', 'together', 'fireworks', 'ollama', 'lmstudio']
    const more = ['vllm', 'llamacpp', 'qwen', 'moonshot', 'kimi', 'minimax', 'zai', 'copilot']
    expect(Object.keys(compatPresets).sort()).toEqual([...named, ...more].sort())
  })

  it('sends Copilot headers with the initiator of a request', async () => {
    const model = openaiCompatible('gpt-4o', { backend: 'copilot', headers: { 'Editor-Version': 'mine/1' } })
    const first = await model.provider.encode(requestFor(model))
    expect(first.url).toBe('https://api.individual.githubcopilot.com/chat/completions')
    expect(first.headers).toMatchObject({ 'x-initiator': 'user', 'openai-intent': 'conversation-edits', 'editor-version': 'mine/1' })
    expect(first.headers).not.toHaveProperty('copilot-vision-request')
    const image = { type: 'image', data: 'AA==', mimeType: 'image/png' } as const
    const call = { type: 'toolCall', id: 'c', name: 'look', arguments: {} } as const
    const messages = [userMessage('Look.', [image]), answering(call), resultOf('c')]
    const later = await model.provider.encode(requestFor(model, { messages }))
    expect(later.headers).toMatchObject({ 'x-initiator': 'agent', 'copilot-vision-request': 'true' })
  })

  it('serves any model with one provider', () => {
    expect(Object.keys(openAiProvider()).sort()).toEqual(['api', 'checkMedia', 'encode', 'stream'])
  })
})
