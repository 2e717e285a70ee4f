import { describe, expect, it } from 'vitest'
import type { Content, FileContent, ImageContent } from '../../src/contract/message/content.ts'
import { Agent } from '../../src/index.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { agentOf, provider as providerOfFile } from '../support/agent-files.ts'
import { answerBy, authorOf, outcomeOf, plainRequest, result, user } from './model-call.ts'

const bmp: ImageContent = { type: 'image', mimeType: 'image/bmp', data: btoa('BM not a picture') }
const csv: FileContent = { type: 'file', mimeType: 'text/csv', data: btoa('a,b'), name: 'a.csv' }
const odd: FileContent = { type: 'file', mimeType: 'application/x-odd', data: btoa('odd'), name: 'odd.bin' }

let sent = 0
const options = {
  apiKey: 'k-0123456789',
  requireMedia: true,
  fetch: async () => {
    sent += 1
    return new Response('', { status: 400 })
  },
}
const models: [string, Model][] = [
  ['Anthropic', anthropic('claude-sonnet-5', options)],
  ['Chat', openai('gpt-5.1', options)],
  ['Responses', openaiResponses('gpt-5.1', options)],
  ['Azure', azure('gpt-5.1', { ...options, resource: 'r' })],
  ['Gemini', google('gemini-3-pro', options)],
  ['Vertex', vertex('gemini-3-pro', { ...options, project: 'p' })],
  ['Bedrock', bedrock('anthropic.claude-sonnet-4-5', { ...options, region: 'eu-west-1' })],
]
const asked = (...content: Content[]) => ({ messages: [{ role: 'user' as const, content, timestamp: 1 }] })

describe.each(models)('requireMedia: %s', (_name, { config, provider }) => {
  const request = (content: Content[]) => ({ ...plainRequest(config, asked(...content)), credential: 'k-0123456789' })

  it('rejects unsupported media before sending, naming block, model and supported types', async () => {
    sent = 0
    for (const block of [odd, bmp]) {
      const { error, events } = await outcomeOf(provider, request([block]))
      expect(error).toMatchObject({ code: 'unsupportedMedia', isRetryable: false })
      const { message } = error as Error
      expect(message).toContain(block.type === 'file' ? 'odd.bin (application/x-odd)' : 'image/bmp')
      expect(message).toContain(config.id)
      expect(message).toContain('image/png')
      expect(events).toEqual([])
      await expect(provider.encode(request([block]))).rejects.toMatchObject({ code: 'unsupportedMedia' })
    }
    expect(sent).toBe(0)
  })

  it('accepts text files as text, and ignores failed responses', async () => {
    const failed = answerBy(authorOf(config), [odd], { stopReason: 'error', errorMessage: 'gone' })
    const messages = [user('Hi'), failed, { role: 'user' as const, content: [csv], timestamp: 1 }]
    const { body } = await provider.encode({ ...plainRequest(config, { messages }), credential: 'k-0123456789' })
    expect(body).toContain('a.csv')
  })

  it('checks media in tool results', async () => {
    const call = { type: 'toolCall' as const, id: 'c1', name: 'read', arguments: {} }
    const messages = [user('Hi'), answerBy(authorOf(config), [call], { stopReason: 'toolUse' }), result('c1', [odd])]
    const { error } = await outcomeOf(provider, { ...plainRequest(config, { messages }), credential: 'k-0123456789' })
    expect(error).toMatchObject({ code: 'unsupportedMedia' })
  })

  it('prefers requireMedia of the request', async () => {
    const { body } = await provider.encode({ ...request([odd]), requireMedia: false })
    expect(body).toContain('left out')
  })
})

it('rejects a URL that the provider does not fetch', async () => {
  const { config, provider } = google('gemini-3-pro', options)
  const { error } = await outcomeOf(
    provider,
    plainRequest(config, asked({ type: 'file', mimeType: odd.mimeType, url: 'https://a.example/odd', name: 'odd.bin' })),
  )
  expect(error).toMatchObject({ code: 'unsupportedMedia', message: expect.stringContaining('does not fetch odd.bin') })
})

it('rejects media that cannot be fetched, or sends a note', async () => {
  const { config, provider } = google('gemini-2.0-flash', options)
  const reason = `Refused: ${'x'.repeat(2000)}`
  const request = {
    ...plainRequest(config, asked({ type: 'image', mimeType: 'image/png', url: 'https://a.example/a.png' })),
    resolveMedia: () => Promise.reject(new Error(reason)),
  }
  const said = `image/png could not be fetched: ${reason.slice(0, 500)}`
  const { error } = await outcomeOf(provider, request)
  expect(error).toMatchObject({ code: 'unsupportedMedia', message: expect.stringContaining(said) })
  const { body } = await provider.encode({ ...request, requireMedia: false })
  expect(body).toContain(`${said})`)
})

it('fails a run with unsupported media if the agent requires media', async () => {
  const { requireMedia: _, ...quiet } = options
  const agent = new Agent({ model: openai('gpt-5.1', quiet), requireMedia: true, logger: false })
  sent = 0
  const { status, error } = await agent.prompt({ role: 'user', content: [odd] }).result
  expect([status, error?.code, sent]).toEqual(['error', 'unsupportedMedia', 0])
})

it('applies the nearest setting: prompt, hook or agent', async () => {
  const { requireMedia: _, ...quiet } = options
  const agent = new Agent({ model: openai('gpt-5.1', quiet), logger: false, retry: false })
  const picture = { role: 'user' as const, content: [odd] }
  sent = 0
  const hooks = { prepareTurn: () => ({ requireMedia: true }) }
  const refused = [agent.with({}).prompt(picture, { requireMedia: true }), agent.with({ hooks }).prompt(picture, { requireMedia: false })]
  for (const { result } of refused) expect((await result).error?.code).toBe('unsupportedMedia')
  expect(sent).toBe(0)
  await agent.with({ requireMedia: true }).prompt(picture, { requireMedia: false }).result
  expect(sent).toBe(1)
})

it("reads a model's or agent's requireMedia from an agent file", async () => {
  const ofAgent = await agentOf(`${providerOfFile}[agent.profile]\nrequire_media = true\n`)
  expect(ofAgent.settings.requireMedia).toBe(true)
  const { model } = (await agentOf(`${providerOfFile}require_media = true\n`, { trust: true })).settings
  expect(model.config.settings).toEqual({ requireMedia: true })
  await expect(model.provider.encode(plainRequest(model.config, asked(odd)))).rejects.toMatchObject({ code: 'unsupportedMedia' })
})
