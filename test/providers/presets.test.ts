import { describe, expect, it } from 'vitest'
import type { Content } from '../../src/contract/message/content.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { openai, openaiCompatible } from '../../src/providers/openai.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import type { StreamRequest } from '../../src/types/model/provider.ts'
import { answerBy, authorOf, plainRequest, result, sentBody, user } from './model-call.ts'

const bodyOf = (model: Model, changes: Partial<StreamRequest> = {}) => sentBody(model.provider, plainRequest(model.config, changes))

describe('Kimi', () => {
  const kimi = (id: string) => openaiCompatible(id, { backend: 'kimi' })

  it.each(['kimi-k3.1-pro', 'kimi-k2.7-code', 'kimi-k2.7-code-highspeed', 'kimi-k3', 'kimi-k4'])(
    'sends an effort and no thinking switch to newer Kimi models: %s',
    async (id) => {
      for (const [thinking, effort] of [
        ['off', 'low'],
        ['medium', 'high'],
        ['max', 'max'],
      ] as const) {
        const body = await bodyOf(kimi(id), { thinking })
        expect(body).toMatchObject({ reasoning_effort: effort })
        expect(body).not.toHaveProperty('thinking')
      }
    },
  )

  it.each(['kimi-k2.6', 'kimi-k2.5', 'kimi-k2-0905-preview'])('sends a thinking switch to older Kimi models: %s', async (id) => {
    expect(await bodyOf(kimi(id))).toMatchObject({ thinking: { type: 'disabled' } })
    expect(await bodyOf(kimi(id), { thinking: 'high' })).toMatchObject({ thinking: { type: 'enabled' } })
  })
})

describe('models that always think', () => {
  it.each([
    ['qwen', 'qwen3-235b-a22b-thinking-2507'],
    ['qwen', 'qwq-plus'],
    ['vllm', 'Qwen/Qwen3-4B-Thinking-2507'],
    ['together', 'deepseek-ai/DeepSeek-R1'],
    ['together', 'moonshotai/Kimi-K2-Thinking'],
    ['together', 'moonshotai/Kimi-K2.7-Code'],
    ['vllm', 'moonshotai/Kimi-K3.1-Pro'],
    ['qwen', 'kimi-k4'],
  ] as const)('never sends a thinking off switch to %s: %s', async (backend, id) => {
    const body = JSON.stringify(await bodyOf(openaiCompatible(id, { backend, reasoning: true })))
    expect(body).not.toMatch(/enable_thinking|"enabled":false|disabled/)
  })

  it('never sends an off switch if the configuration forbids it', async () => {
    const capabilities = { thinkingOff: false }
    const model = openaiCompatible('some-model', { backend: 'qwen', reasoning: true, capabilities })
    expect(await bodyOf(model)).not.toHaveProperty('enable_thinking')
    expect(await bodyOf(openaiCompatible('qwen3.5-plus', { backend: 'qwen', reasoning: true }))).toMatchObject({ enable_thinking: false })
  })
})

describe('reasoning models of OpenAI', () => {
  it.each([
    ['copilot', 'gpt-5.4', undefined],
    ['copilot', 'o4-mini', undefined],
    [undefined, 'openai/gpt-6-sol', 'https://gateway.test/v1'],
    [undefined, 'gpt-7', 'https://gateway.test/v1'],
  ] as const)('sends max_completion_tokens to OpenAI reasoning models on %s: %s', async (backend, id, baseUrl) => {
    const model = openaiCompatible(id, { ...(backend && { backend }), ...(baseUrl && { baseUrl }) })
    const body = await bodyOf(model, { maxTokens: 100 })
    expect(body).toMatchObject({ max_completion_tokens: 100 })
    expect(body).not.toHaveProperty('max_tokens')
  })

  it.each(['gpt-4o', 'gpt-oss-120b', 'llama-4'])('sends max_tokens to other models: %s', async (id) => {
    expect(await bodyOf(openaiCompatible(id, { baseUrl: 'https://gateway.test/v1' }), { maxTokens: 100 })).toMatchObject({
      max_tokens: 100,
    })
  })

  it.each([
    ['gpt-5.7', 'gpt-5.6'],
    ['gpt-5.10', 'gpt-5.6'],
    ['gpt-6.2-sol', 'gpt-6-astra'],
    ['gpt-7', 'gpt-6-astra'],
    ['gpt-10-luna', 'gpt-6-astra'],
  ])('treats a newer OpenAI model like the newest known: %s as %s', async (id, known) => {
    for (const thinking of ['off', 'minimal', 'max'] as const) {
      const changes = { thinking, temperature: 0.5, tools: [{ name: 'a', description: 'A.', parameters: { type: 'object' } }] }
      expect({ ...(await bodyOf(openai(id), changes)), model: '' }).toEqual({ ...(await bodyOf(openai(known), changes)), model: '' })
    }
  })
})

describe("Anthropic's protocol with other models", () => {
  const thinking: Content = { type: 'thinking', thinking: 'Hm.' }
  const call: Content = { type: 'toolCall', id: 'c1', name: 'read', arguments: {} }
  const messagesOf = async (model: Model, author: Model) => {
    const answer = answerBy(authorOf(author.config), [thinking, call], { stopReason: 'toolUse' })
    return JSON.stringify((await bodyOf(model, { messages: [user('a'), answer, result('c1')] })).messages)
  }
  const minimax = anthropic('MiniMax-M2.5', { baseUrl: 'https://api.minimax.io/anthropic' })

  it('sends unsigned thinking back to the model that wrote it', async () => {
    expect(await messagesOf(minimax, minimax)).toContain('"thinking":"Hm."')
  })

  it('sends unsigned thinking to no other model, and never to Claude', async () => {
    const claude = anthropic('claude-opus-4-6')
    expect(await messagesOf(minimax, claude)).not.toContain('Hm.')
    expect(await messagesOf(claude, claude)).not.toContain('Hm.')
  })
})

describe('Claude on Vertex AI', () => {
  it.each(['claude-opus-5', 'anthropic/claude-sonnet-5', 'CLAUDE-3-haiku'])('rejects the model name of Claude on Vertex AI: %s', (id) => {
    expect(() => vertex(id, { project: 'p' })).toThrow(/anthropic\(.*bedrock\(/)
  })

  it('rejects the Anthropic publisher on Vertex AI', () => {
    expect(() => vertex('sonnet', { project: 'p', publisher: 'anthropic' })).toThrow(/Claude/)
  })
})
