import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/models/catalogue.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { local, openai, openaiCompatible, openrouter } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'

const baseUrl = 'http://127.0.0.1:9'

describe('the context window of a model', () => {
  it.each([
    ['gpt-3.5-turbo', 16_385],
    ['gpt-4', 8192],
    ['gpt-4-0613', 8192],
    ['gpt-4-32k', 32_768],
    ['gpt-4-turbo', 128_000],
    ['gpt-4-1106-preview', 128_000],
    ['gpt-4o-mini', 128_000],
    ['chatgpt-4o-latest', 128_000],
    ['gpt-4.1-nano', 1_047_576],
    ['gpt-5', 400_000],
    ['gpt-5-chat-latest', 128_000],
    ['gpt-5.1-codex', 400_000],
    ['gpt-5.4', 272_000],
    ['gpt-5.4-mini', 400_000],
    ['gpt-5.5-pro', 1_050_000],
    ['gpt-6-sol', 272_000],
    ['o1-mini', 128_000],
    ['o3', 200_000],
    ['o4-mini', 200_000],
    ['ft:gpt-4o:acme::x', 128_000],
  ])('matches the window of its model family in every factory: %s', (id, tokens) => {
    expect(openai(id).config.contextWindow).toBe(tokens)
    expect(openaiResponses(id).config.contextWindow).toBe(tokens)
    expect(openaiCompatible(id, { baseUrl }).config.contextWindow).toBe(tokens)
    expect(openrouter(`openai/${id}`).config.contextWindow).toBe(tokens)
    expect(azure(id, { resource: 'r' }).config.contextWindow).toBe(tokens)
    expect(azure('mine', { resource: 'r', underlyingModel: id }).config.contextWindow).toBe(tokens)
  })

  it('never exceeds the catalogue limit of an OpenAI model', () => {
    const others = catalogue.list('openai').filter(({ id, contextWindow }) => openai(id).config.contextWindow !== contextWindow)
    // Aliases that name no family.
    expect(others.map(({ id }) => id)).toEqual(others.map(({ id }) => id).filter((id) => /^(chat-latest|gpt-daybreak-)/.test(id)))
    for (const { id, contextWindow } of others) expect(openai(id).config.contextWindow, id).toBeLessThan(contextWindow)
  })

  it('prefers an option or the catalogue over the family', () => {
    expect(openai('gpt-5', { contextWindow: 50_000 }).config.contextWindow).toBe(50_000)
    expect(openai('gpt-5', { capabilities: { contextWindow: 60_000 } }).config.contextWindow).toBe(60_000)
    expect(openai('gpt-daybreak-red-latest', { catalogue }).config.contextWindow).toBe(400_000)
  })

  it('uses the default window for unknown models', () => {
    expect(openai('gpt-of-tomorrow').config.contextWindow).toBe(128_000)
    expect(openaiResponses('grok-4.3', { baseUrl }).config.contextWindow).toBe(128_000)
    expect(local('qwen3').config.contextWindow).toBe(128_000)
    expect(local('gpt-oss:20b').config.contextWindow).toBe(131_072)
    expect(openrouter('vendor/model').config.contextWindow).toBe(200_000)
    expect(azure('mine', { resource: 'r' }).config.contextWindow).toBe(128_000)
  })
})
