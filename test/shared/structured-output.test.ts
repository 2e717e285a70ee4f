import { describe, expect, it } from 'vitest'
import { Agent, parseOutput } from '../../src/index.ts'
import { ProviderRegistry, protocolOf } from '../../src/providers/registry.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

const schema = { type: 'object', properties: { city: { type: 'string', minLength: 2 } }, required: ['city'] }

describe('structured output', () => {
  it('requests a format and validates the response without code generation', async () => {
    const model = scripted([{ text: '{"city":"Oslo"}' }, { text: '{"city":"O"}' }])
    const agent = new Agent({ model, responseFormat: schema })
    expect(await parseOutput(await agent.prompt('Where?').result, schema)).toEqual({ city: 'Oslo' })
    expect(model.provider.requests[0]?.responseFormat).toEqual({ type: 'jsonSchema', name: 'answer', schema })
    const result = await agent.prompt('And?').result
    await expect(parseOutput(result, schema)).rejects.toThrow('city: expected at least 2 characters')
  })
})

describe('the registry', () => {
  it('loads each of the seven protocols', async () => {
    const registry = new ProviderRegistry()
    const { config } = scripted([])
    for (const api of registry.protocols()) {
      expect(protocolOf(api)).toBe(api)
      const model = { ...config, api, baseUrl: 'https://llm.example.com' }
      const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hi' }], timestamp: 1 }]
      const cache = { type: 'auto' as const }
      const request = { model, credential: 'key-0123456789', systemPrompt: '', messages, tools: [], thinking: 'off' as const, cache }
      const { url, body } = await registry.get(api).encode(request)
      expect(url.startsWith('https://llm.example.com/')).toBe(true)
      expect(JSON.parse(body)).not.toEqual({})
    }
    expect(registry.protocols().length).toBe(7)
  })
})
