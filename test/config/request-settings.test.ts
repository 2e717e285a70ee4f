import { describe, expect, it } from 'vitest'
import { agentFromConfig, agentsFromConfig, parseConfig, trustRequests } from '../../src/config.ts'

const read = async (config: object) => (await parseConfig(JSON.stringify(config), 'json')).config
const made = async (config: object) => agentFromConfig(await read(config), { trust: true })

const provider = { model: 'gpt-4.1', api: 'openai', api_key: 'k' }

describe('request settings in an agent file', () => {
  it('accepts snake_case options on models and profiles', async () => {
    const { settings } = await made({
      provider: { ...provider, seed: 3, top_p: 0.5, body: { metadata: { a: 'b' } } },
      agent: {
        profile: { tool_choice: 'required', stop_sequences: ['END'], service_tier: 'Flex', parallel_tool_calls: false, strict: true },
      },
    })
    expect(settings.model.config.settings).toEqual({ seed: 3, topP: 0.5, body: { metadata: { a: 'b' } } })
    expect(settings).toMatchObject({
      toolChoice: 'required',
      stopSequences: ['END'],
      serviceTier: 'flex',
      parallelToolCalls: false,
      strict: true,
    })
  })

  it('prefers a variation over the profile', async () => {
    const agent = { profile: { seed: 1, top_k: 2 }, instances: [{ name: 'a', profile: { seed: 4 } }] }
    const [first] = (await agentsFromConfig(await read({ provider, agent }), { trust: true })).values()
    expect(first?.settings).toMatchObject({ seed: 4, topK: 2 })
  })

  it('reads any other tool_choice as the name of a required tool', async () => {
    const { settings } = await made({ provider, agent: { profile: { tool_choice: 'search_web' } } })
    expect(settings.toolChoice).toEqual({ tool: 'search_web' })
  })

  it.each([
    [{ agent: { profile: { top_p: 2 } } }, /agent\.profile\.top_p/],
    [{ agent: { profile: { service_tier: 'gold' } } }, /agent\.profile\.service_tier/],
    [{ provider: { ...provider, body: { messages: [] } } }, /body\.messages cannot be set/],
  ])('rejects %j and names the setting', async (config, message) => {
    await expect(made({ provider, ...config })).rejects.toThrow(message)
  })

  it('requests trust for a URL in a body', async () => {
    const body = { tools: [{ type: 'mcp', server_url: 'https://attacker.example/mcp' }] }
    const config = await read({ provider: { ...provider, body } })
    expect(trustRequests(config)).toContainEqual(expect.objectContaining({ what: 'https://attacker.example/mcp' }))
  })
})
