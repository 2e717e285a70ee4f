import { describe, expect, it, vi } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { catalogue } from '../../src/models/catalogue.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { agentOf, provider, refusal } from '../support/agent-files.ts'

describe('models from configuration', () => {
  const modelOf = async (text: string) => (await agentOf(text, { trust: true })).settings.model.config

  it('combines protocol defaults with the section', async () => {
    expect(
      await modelOf(`[provider]
model = "m"
api_key = "k"
api = "Anthropic"
base_url = "https://proxy.test/"
name = "N"
provider = "P"
reasoning = false
context_window = 5000
max_tokens = 50
headers = { a = "b" }
cost = { input_per_million = 3 }`),
    ).toMatchObject({
      id: 'm',
      api: 'anthropicMessages',
      baseUrl: 'https://proxy.test',
      name: 'N',
      provider: 'P',
      reasoning: false,
      contextWindow: 5000,
      maxTokens: 50,
      headers: { a: 'b' },
      cost: { inputPerMillion: 3, outputPerMillion: 0 },
    })
  })

  it('reads long-prompt rates, with short-prompt rates as default', async () => {
    const { cost } = await modelOf(`${provider}
[provider.cost]
input_per_million = 3
output_per_million = 15
cache_write_1h_per_million = 6
[[provider.cost.tiers]]
input_tokens_above = 200000
input_per_million = 6`)
    const free = { cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
    expect(cost).toEqual({
      ...{ inputPerMillion: 3, outputPerMillion: 15, ...free, cacheWrite1hPerMillion: 6 },
      tiers: [{ inputTokensAbove: 200_000, inputPerMillion: 6, outputPerMillion: 15, ...free }],
    })
    const refused = refusal(`${provider}[[provider.cost.tiers]]\ninput_per_million = 6`)
    expect(await refused).toMatchObject({ field: 'provider.cost.tiers[0].input_tokens_above' })
  })

  it('fills in missing model facts from the catalogue', async () => {
    const known = `[provider]\nmodel = "claude-opus-4-8"\napi_key = "k"\n`
    const { cost, contextWindow, capabilities } = anthropic('claude-opus-4-8', { apiKey: 'k', catalogue }).config
    expect(cost.outputPerMillion).toBeGreaterThan(0)
    expect(await modelOf(`${known}catalogue = true`)).toMatchObject({ cost, contextWindow, capabilities })
    expect(await modelOf(`${known}catalogue = true\ncontext_window = 5000`)).toMatchObject({ cost, contextWindow: 5000 })
    expect(await modelOf(`${known}catalogue = true\ncost = { input_per_million = 9 }`)).toMatchObject({ cost: { inputPerMillion: 9 } })
    expect((await modelOf(known)).cost.outputPerMillion).toBe(0)
  })

  it('requires catalogue prices for max_cost', async () => {
    const limited = (model: string, rest = '') =>
      `[provider]\nmodel = "${model}"\napi_key = "k"\ncatalogue = true\n${rest}[execution]\nmax_cost = 0.5`
    expect((await parseConfig(limited('claude-opus-4-8'), 'toml')).warnings).toEqual([])
    expect((await agentOf(limited('claude-opus-4-8'))).settings.limits).toMatchObject({ maxCost: 0.5 })
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    expect(await refusal(limited('claude-unheard-of-2'))).toMatchObject({
      code: 'invalidField',
      field: 'provider.catalogue',
      message: expect.stringContaining('no prices for "claude-unheard-of-2"'),
    })
    const own = await agentOf(limited('claude-unheard-of-2', 'cost = { output_per_million = 9 }\n'))
    expect(own.settings.limits).toMatchObject({ maxCost: 0.5 })
    expect(warn).toHaveBeenCalledTimes(1)
    warn.mockRestore()
  })

  it.each([
    ['gpt-5.4', 'openai_completions', 'openai', 'gpt-5.4'],
    ['openai/gpt-5.4', 'openai_completions', 'openai', 'gpt-5.4'],
    ['anthropic/claude-opus-4-8', 'openai_completions', 'anthropic', 'claude-opus-4-8'],
    ['claude-opus-4-8', 'anthropic_messages', 'anthropic', 'claude-opus-4-8'],
    ['gpt-5.4', 'anthropic_messages', 'openai', 'gpt-5.4'],
  ])('uses catalogue prices of %s by %s with a custom base_url', async (model, api, service, id) => {
    const section = `[provider]\nmodel = "${model}"\napi = "${api}"\nbase_url = "https://gateway.test/v1"\napi_key = "k"\ncatalogue = true\n`
    const agent = await agentOf(`${section}[execution]\nmax_cost = 0.5`, { trust: true })
    expect(agent.settings.model.config.cost).toEqual(catalogue.find(service, id)?.cost)
  })

  it.each([
    ['anthropic', '', 'anthropicMessages', 'https://api.anthropic.com'],
    ['openai', '', 'openAiCompletions', 'https://api.openai.com/v1'],
    ['openai_responses', '', 'openAiResponses', 'https://api.openai.com/v1'],
    ['azure', 'resource = "r"', 'azureOpenAiResponses', 'https://r.openai.azure.com'],
    ['gemini', '', 'googleGenerativeAi', 'https://generativelanguage.googleapis.com'],
    ['vertex', 'project = "p"\nlocation = "eu"', 'googleVertex', expect.stringContaining('aiplatform.eu.')],
    ['bedrock', 'region = "eu-west-1"', 'bedrockConverseStream', expect.stringContaining('eu-west-1')],
  ])('uses the default base URL of %s', async (api, more, protocol, baseUrl) => {
    expect(await modelOf(`${provider}api = "${api}"\n${more}`)).toMatchObject({ api: protocol, baseUrl })
  })

  it.each([
    ['provider = "openrouter"', 'openrouter', 'https://openrouter.ai/api/v1', 'openRouter'],
    ['url = "https://openrouter.ai/api/v1"\nprovider = "mine"', 'mine', 'https://openrouter.ai/api/v1', 'openRouter'],
    ['url = "https://any.test/v1"', 'openai-compatible', 'https://any.test/v1', 'openAi'],
    ['provider = "ollama"\nurl = "http://localhost:11434/v1"', 'ollama', 'http://localhost:11434/v1', 'openAi'],
    [
      'compat = { reasoning_format = "open_router", max_tokens_field = "max_completion_tokens" }',
      'openai',
      'https://api.openai.com/v1',
      'openRouter',
    ],
  ])('applies provider quirks to Chat Completions with %j', async (more, name, baseUrl, thinkingFormat) => {
    expect(await modelOf(`${provider}api = "openai"\n${more}`)).toMatchObject({ provider: name, baseUrl, compat: { thinkingFormat } })
  })

  it('rejects a missing key, naming field and variable', async () => {
    const error = await refusal('[provider]\nmodel = "m"')
    expect(error).toMatchObject({ code: 'invalidField', field: 'provider.api_key', message: expect.stringContaining('ANTHROPIC_API_KEY') })
  })

  it('rejects keys that the protocol does not support', async () => {
    expect(await refusal(`${provider}region = "eu"`)).toMatchObject({ code: 'invalidField', field: 'provider.region' })
    expect(await refusal(`${provider}compat = { supports_store = true }`)).toMatchObject({ field: 'provider.compat' })
    expect(await refusal(`${provider}api = "scripted"`)).toMatchObject({ code: 'unsupported', field: 'provider.api' })
  })

  it.each([
    ['api = "azure"\nresource = "a b"', 'provider.resource', 5],
    ['api = "azure"', 'provider', 1],
    ['api = "bedrock"\nregion = "a b"', 'provider.region', 5],
    ['base_url = "api.test/v1"', 'provider.base_url', 4],
    ['base_url = "ftp://api.test"', 'provider.base_url', 4],
    ['[[provider.instances]]\nid = "a"\nmodel = "m"\napi_key = "k"\napi = "azure"\nresource = "a b"', 'provider.instances[0].resource', 9],
  ])('rejects %j and names the field and the line', async (more, field, line) => {
    const used = more.includes('instances') ? '\n[[agent.instances]]\nprovider = "{{a}}"\n' : ''
    const error = await refusal(`${provider}${more}${used}`, { trust: true })
    expect(error).toMatchObject({ code: 'invalidField', field, line, message: expect.stringContaining(field) })
    expect(error.message).not.toMatch(/baseUrl|apiKey/)
  })

  it('keeps the API key out of the model configuration and errors', async () => {
    const env = { KEY: 'sk-very-secret-key', RESOURCE: 'not a resource name' }
    const agent = await agentOf('[provider]\nmodel = "m"\napi_key = "${KEY}"', { env })
    expect(JSON.stringify(agent.settings.model.config)).not.toContain('secret')
    for (const field of ['api', 'model = ""\napi_key']) {
      const error = await refusal(`[provider]\n${field === 'api' ? 'model = "m"\n' : ''}${field} = "\${KEY}"`, { env })
      expect(JSON.stringify([error, error.message])).not.toContain('secret')
    }
    const named = await refusal(`${provider}[[agent.instances]]\nprovider = "\${KEY}"`, { env })
    expect(JSON.stringify([named, named.message])).not.toContain('secret')
  })
})
