import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Agent } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { local, openaiCompatible } from '../../src/providers/openai.ts'
import { answering, sse } from './bytes.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

const claude = (...events: object[]) => {
  const { provider, config } = anthropic('m', { apiKey: 'k', fetch: answering([sse(...events, { type: 'message_stop' })]) })
  return outcomeOf(provider, plainRequest(config))
}

it("includes Anthropic's explanation of a refusal", async () => {
  const stop_details = { type: 'refusal', category: 'bio', explanation: 'This is dangerous.' }
  const { message } = await claude(
    { type: 'message_start', message: {} },
    { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details } },
  )
  expect(message).toMatchObject({ stopReason: 'guardRail', errorMessage: 'Anthropic refused to respond (bio): This is dangerous.' })
})

it('treats a compaction by Anthropic as a pause', async () => {
  const { message } = await claude({ type: 'message_start', message: {} }, { type: 'message_delta', delta: { stop_reason: 'compaction' } })
  expect(message?.stopReason).toBe('paused')
})

it.each([
  [{ promptTokenCount: 12, cachedContentTokenCount: 2, toolUsePromptTokenCount: 30 }, 10],
  [{ promptTokenCount: 12, cachedContentTokenCount: 20, toolUsePromptTokenCount: 30 }, 22],
  [{ toolUsePromptTokenCount: 30 }, 30],
])('keeps the prompt count at zero or above with Google tool input: %j', async (usageMetadata, input) => {
  const body = sse({ candidates: [{ content: { parts: [{ text: 'A' }] }, finishReason: 'STOP' }], usageMetadata })
  const { provider, config } = google('m', { apiKey: 'k', fetch: answering([body]) })
  expect((await outcomeOf(provider, plainRequest(config))).message?.usage.input).toBe(input)
})

describe('a local server that is not running', () => {
  it('fails immediately, without advice about browsers', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    // Whoever waits for a timer now waits for ever.
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    for (const model of [
      local('m', { baseUrl: `http://localhost:${port}/v1` }),
      openaiCompatible('m', { backend: 'ollama', baseUrl: `http://127.0.0.1:${port}/v1` }),
    ]) {
      const run = new Agent({ model }).prompt('hi')
      const retries: unknown[] = []
      run.subscribe((event) => event.type === 'providerRetry' && retries.push(event))
      const { error } = await run.result
      expect(retries).toEqual([])
      expect(error).toMatchObject({ code: 'network', message: expect.stringContaining(`not running at http://`) })
      expect(error?.message).not.toMatch(/browser|proxy/)
    }
  })
})

it('gives no browser advice if the cause is known', async () => {
  const fetch = async () => {
    throw new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND api.example') })
  }
  const { provider, config } = anthropic('m', { apiKey: 'k', fetch })
  const { error } = await outcomeOf(provider, plainRequest(config))
  expect(String(error)).toMatch(/\(getaddrinfo ENOTFOUND api\.example\)\. Check the network and baseUrl\.$/)
})

it('explains how to pass the key from the environment', () => {
  expect(() => new Agent({ model: anthropic('m', {}) })).toThrow(
    'pass apiKey: process.env.ANTHROPIC_API_KEY, or use modelFromEnv of phi-core/env.',
  )
})
