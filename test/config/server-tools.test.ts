import { describe, expect, it } from 'vitest'
import { parseConfig, trustRequests } from '../../src/config.ts'
import { plainRequest } from '../providers/model-call.ts'
import { agentOf, provider } from '../support/agent-files.ts'

const search = `[[provider.server_tools]]
type = "web_search_20260318"
name = "web_search"
max_uses = 3
`
const server = `[[provider.server_tools]]
type = "mcp_toolset"
mcp_server_name = "docs"
server = { type = "url", name = "docs", url = "https://docs.test/mcp", authorization_token = "t-0123456789" }
`

describe('hosted tools in an agent file', () => {
  it('sends hosted tools unchanged, and keeps them out of the configuration', async () => {
    const { model } = (await agentOf(`${provider}\n${search}${server}`, { trust: true })).settings
    const { body } = await model.provider.encode(plainRequest(model.config))
    expect(JSON.stringify(model.config)).not.toContain('t-0123456789')
    expect(JSON.parse(body).tools).toMatchObject([
      { type: 'web_search_20260318', name: 'web_search', max_uses: 3 },
      { type: 'mcp_toolset', mcp_server_name: 'docs' },
    ])
    expect(JSON.parse(body).mcp_servers).toMatchObject([{ url: 'https://docs.test/mcp' }])
    expect(JSON.stringify(model.config)).not.toContain('t-0123456789')
  })

  it('requests trust for tools that name a URL', async () => {
    const asked = trustRequests((await parseConfig(`${provider}\n${search}${server}`, 'toml')).config)
    expect(asked.filter(({ field }) => field.includes('server_tools'))).toEqual([
      expect.objectContaining({ field: 'provider.server_tools[1].server.url', what: 'https://docs.test/mcp' }),
    ])
  })

  it('rejects hosted tools at their position if the provider has none', async () => {
    const text = `${provider}api = "openai"\n${search}`
    await expect(agentOf(text, { trust: true })).rejects.toThrow(/server_tools/)
  })
})

it.each([
  ['server_tools = [{ kind = "web" }]', 'server_tools'],
  ['body = { messages = [] }', 'body'],
])("reports a factory's rejection at the config key: %s", async (line, key) => {
  const refused: unknown = await agentOf(`[provider]\nmodel = "claude-sonnet-5"\napi_key = "k"\n${line}\n`).catch((error: unknown) => error)
  expect(String(refused)).toContain(`provider.${key} cannot be used`)
  expect(String(refused)).toContain('line 4')
})
