import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/agent/agent.ts'
import { ConfigError, LoadError, ProviderError } from '../../src/contract/errors.ts'
import type { ApiProtocol } from '../../src/contract/model/model-config.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { ProviderRegistry, protocolOf } from '../../src/providers/registry.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { answering, fixture } from './bytes.ts'
import { plainRequest } from './model-call.ts'

const seven: ApiProtocol[] = [
  'anthropicMessages',
  'openAiCompletions',
  'openAiResponses',
  'azureOpenAiResponses',
  'googleGenerativeAi',
  'googleVertex',
  'bedrockConverseStream',
]
const { config } = anthropic('claude-test')

describe('a new registry', () => {
  it('contains the seven built-in protocols', () => {
    const registry = new ProviderRegistry()
    expect(registry.protocols()).toEqual(seven)
    for (const protocol of seven) expect(registry.has(protocol)).toBe(true)
    expect(registry.has('scripted')).toBe(false)
  })

  it.each(seven)('supports %s once called', async (api) => {
    const provider = new ProviderRegistry().get(api)
    expect(provider.api).toBe(api)
    const baseUrl = 'https://resource.openai.azure.com'
    const encoded = await provider.encode({ ...plainRequest({ ...config, api, baseUrl }), credential: 'key-0123456789' })
    expect(JSON.parse(encoded.body)).toBeTypeOf('object')
    expect(encoded.url).toMatch(/^https:/)
  })

  it('returns the same provider each time', () => {
    const registry = new ProviderRegistry()
    expect(registry.get('openAiResponses')).toBe(registry.get('openAiResponses'))
  })
})

describe('a custom registry', () => {
  it('contains only registered protocols', async () => {
    const { provider, config: model } = scripted(() => ({ text: 'Hello.' }))
    const registry = new ProviderRegistry({})
    expect(registry.protocols()).toEqual([])
    let loads = 0
    registry.register('scripted', () => {
      loads += 1
      return provider
    })
    expect(registry.protocols()).toEqual(['scripted'])
    const agent = new Agent({ model: registry.createModel(model) })
    expect(loads).toBe(0)
    expect(await agent.prompt('Hi').text()).toBe('Hello.')
    await agent.prompt('And?').text()
    expect(loads).toBe(1)
  })

  it('names a protocol that is not registered', () => {
    const registry = new ProviderRegistry({})
    const refusals = [() => registry.get('googleVertex'), () => registry.createModel({ ...config, api: 'googleVertex' })]
    for (const refused of refusals) {
      expect(refused).toThrow(ConfigError)
      expect(refused).toThrow('No provider is registered for protocol googleVertex. Registered: none.')
    }
  })

  it('replaces a built-in protocol', async () => {
    const registry = new ProviderRegistry()
    const before = registry.get('anthropicMessages')
    const { provider } = scripted([{ text: 'Mine.' }])
    registry.register('anthropicMessages', async () => provider)
    expect(registry.protocols()).toHaveLength(7)
    expect(registry.get('anthropicMessages')).not.toBe(before)
    expect(await new Agent({ model: registry.createModel(config) }).prompt('Hi').text()).toBe('Mine.')
  })

  it('fails a call if its provider cannot load, and retries loading later', async () => {
    const registry = new ProviderRegistry({})
    let isOnline = false
    registry.register('scripted', async () => {
      if (!isOnline) throw new Error('offline')
      return scripted([{ text: 'Back.' }]).provider
    })
    const model = registry.createModel(scripted([]).config)
    const error: unknown = await model.provider.encode(plainRequest(model.config)).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(LoadError)
    expect(error).toMatchObject({ code: 'loadFailed', message: expect.stringContaining('offline') })
    expect(ProviderError.isInstance(error)).toBe(false)
    isOnline = true
    expect(await new Agent({ model }).prompt('Hi').text()).toBe('Back.')
  })
})

describe('an abort while a provider loads', () => {
  it('ends the call immediately and removes its listener', async () => {
    const registry = new ProviderRegistry({ scripted: () => new Promise(() => undefined) })
    const { config: model } = scripted([])
    const controller = new AbortController()
    const call = registry.get('scripted').stream(plainRequest(model), () => undefined, controller.signal)
    controller.abort(new Error('enough'))
    await expect(call).rejects.toMatchObject({ name: 'ProviderError', code: 'cancelled', message: expect.stringContaining('enough') })
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })

  it('ends the call even before the provider loads', async () => {
    const registry = new ProviderRegistry({ scripted: () => Promise.reject(new Error('offline')) })
    const { config: model } = scripted([])
    const call = registry.get('scripted').stream(plainRequest(model), () => undefined, AbortSignal.abort())
    await expect(call).rejects.toMatchObject({ name: 'ProviderError', code: 'cancelled' })
  })
})

describe('a model from a configuration', () => {
  it('passes the given key and fetch to the model', async () => {
    const sent: Headers[] = []
    const play = answering([fixture('anthropic/text.sse')])
    const send: typeof fetch = (input, init) => {
      sent.push(new Headers(init?.headers))
      return play(input, init)
    }
    const model = new ProviderRegistry().createModel(config, { credentials: 'key-0123456789', fetch: send })
    expect(JSON.stringify(model)).not.toContain('key-0123456789')
    expect((await new Agent({ model }).prompt('Hi').result).status).toBe('completed')
    expect(sent.map((headers) => headers.get('x-api-key'))).toEqual(['key-0123456789'])
  })

  it('accepts a credential provider or none', async () => {
    const registry = new ProviderRegistry()
    const credentials = { current: () => 'key', invalidate: () => undefined }
    expect(registry.createModel(config, { credentials }).credentials?.current(new AbortController().signal)).toBe('key')
    expect(registry.createModel(config)).not.toHaveProperty('credentials')
  })
})

describe('the protocol name', () => {
  it.each([
    ['anthropic_messages', 'anthropicMessages'],
    ['anthropic', 'anthropicMessages'],
    ['openai_completions', 'openAiCompletions'],
    ['open_ai_completions', 'openAiCompletions'],
    ['openai', 'openAiCompletions'],
    ['openai_responses', 'openAiResponses'],
    ['azure_openai_responses', 'azureOpenAiResponses'],
    ['azure', 'azureOpenAiResponses'],
    ['google_generative_ai', 'googleGenerativeAi'],
    ['google', 'googleGenerativeAi'],
    ['gemini', 'googleGenerativeAi'],
    ['google_vertex', 'googleVertex'],
    ['vertex', 'googleVertex'],
    ['bedrock_converse_stream', 'bedrockConverseStream'],
    ['bedrock', 'bedrockConverseStream'],
    ['scripted', 'scripted'],
  ])('maps the protocol name %s to %s', (name, api) => {
    expect(protocolOf(name)).toBe(api)
    expect(protocolOf(api)).toBe(api)
  })

  it('rejects any other protocol name', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'OpenAI', '')), (word) => {
        expect([undefined, ...seven, 'scripted']).toContain(protocolOf(word))
      }),
    )
    expect(protocolOf('OpenAI')).toBeUndefined()
  })
})
