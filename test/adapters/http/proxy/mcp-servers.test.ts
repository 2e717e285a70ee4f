import { describe, expect, it } from 'vitest'
import { ConfigError } from '../../../../src/index.ts'
import { chat, fakeUpstream, proxyTo } from './fake-upstream.ts'

async function sent(body: object | string, mcpHosts?: readonly string[]) {
  const service = await fakeUpstream((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":1}'))
  const { app } = proxyTo({ api: 'openAiCompletions', baseUrl: `${service.url}/v1` }, mcpHosts === undefined ? {} : { mcpHosts })
  const response = await app.request('/up/chat/completions', chat(body))
  const problem: { code?: string; detail?: string } = await response.json()
  return { status: response.status, code: problem.code, detail: problem.detail, calls: service.seen.length }
}

const refused = { status: 403, code: 'mcpServerNotAllowed', calls: 0 }
const anthropic = (url: unknown) => ({ model: 'm', mcp_servers: [{ type: 'url', name: 'a', url }] })
const openai = (more: object) => ({ model: 'm', tools: [{ type: 'mcp', server_label: 'a', ...more }] })

describe('MCP servers in proxied calls', () => {
  it.each<[string, object]>([
    ['mcp_servers of Anthropic', anthropic('https://mcp.example.com/sse')],
    ['a list without URLs', { model: 'm', mcp_servers: [{ name: 'a' }] }],
    ['a single server instead of a list', { model: 'm', mcp_servers: { url: 'https://mcp.example.com' } }],
    ['a key in another case', { model: 'm', MCP_Servers: [{ url: 'https://mcp.example.com' }] }],
    ['an OpenAI tool', openai({ server_url: 'https://mcp.example.com/sse' })],
    ['an OpenAI connector', openai({ connector_id: 'connector_gmail' })],
    ['a tool without a server', openai({})],
    ['a tool of another type with a URL', { model: 'm', tools: [{ type: 'MCP', server_url: 'https://mcp.example.com' }] }],
    [
      'mcpServers of Gemini',
      { model: 'm', tools: [{ mcpServers: [{ name: 'a', streamableHttpTransport: { url: 'https://a.example.com' } }] }] },
    ],
    ['a nested body', { model: 'm', extra_body: anthropic('https://mcp.example.com') }],
    ['a namespace tool', { model: 'm', tools: [{ type: 'namespace', tools: openai({ server_url: 'https://a.example.com' }).tools }] }],
  ])('rejects a call with %s unless its host is allowed', async (_, body) => {
    expect(await sent(body)).toMatchObject(refused)
    expect(await sent(body, ['other.example.com'])).toMatchObject(refused)
  })

  it('reports the server and the option that allows it', async () => {
    expect((await sent(anthropic('https://mcp.example.com/sse'))).detail).toBe(
      'The MCP server "mcp.example.com" is not allowed through this proxy. Add its host to mcpHosts of the proxy.',
    )
  })

  it.each<[string, object, string[]]>([
    ['a host', anthropic('https://mcp.example.com/sse?a=b'), ['mcp.example.com']],
    ['a host in another case', anthropic('https://MCP.example.com'), ['mcp.Example.com']],
    ['a host with a port', anthropic('https://mcp.example.com:8443/'), ['mcp.example.com:8443']],
    ['a subdomain', openai({ server_url: 'https://a.b.example.com/mcp' }), ['*.example.com']],
    ['a connector', openai({ connector_id: 'connector_gmail' }), ['connector_gmail']],
    [
      'a Gemini server',
      { model: 'm', tools: [{ mcpServers: [{ streamableHttpTransport: { url: 'https://a.example.com/' } }] }] },
      ['a.example.com'],
    ],
    [
      'a tool set of an allowed server',
      { ...anthropic('https://mcp.example.com'), tools: [{ type: 'mcp_toolset', mcp_server_name: 'a' }] },
      ['mcp.example.com'],
    ],
  ])('accepts %s that is allowed', async (_, body, hosts) => {
    expect(await sent(body, hosts)).toMatchObject({ status: 200, calls: 1 })
  })

  it.each([
    'http://mcp.example.com',
    'https://mcp.example.com.evil.example',
    'https://mcp.example.com@evil.example',
    'https://evil.example#mcp.example.com',
    'https://evil.example\\@mcp.example.com',
    'https:\\\\mcp.example.com',
    'https://mcp.example.com:443',
    'https://evil.example/mcp.example.com',
    ' https://mcp.example.com',
    'https://xmcp.example.com',
    7,
    null,
    ['https://mcp.example.com'],
  ])('rejects %j although mcp.example.com is allowed', async (url) => {
    expect(await sent(anthropic(url), ['mcp.example.com'])).toMatchObject(refused)
  })

  it('rejects a call if any of its servers is not allowed', async () => {
    const both = [{ url: 'https://mcp.example.com' }, { url: 'https://evil.example' }]
    expect(await sent({ model: 'm', mcp_servers: both }, ['mcp.example.com'])).toMatchObject(refused)
    const hidden = { url: 'https://mcp.example.com', transport: { url: 'https://evil.example' } }
    expect(await sent({ model: 'm', mcp_servers: [hidden] }, ['mcp.example.com'])).toMatchObject(refused)
  })

  it.each([
    { model: 'm', messages: [{ role: 'user', content: 'mcp_servers', mcp_servers: [{ url: 'https://a.example' }] }] },
    { model: 'm', tools: [{ type: 'function', function: { name: 'f', parameters: { properties: { server_url: {}, mcp_servers: {} } } } }] },
    { model: 'm', tools: [{ name: 'f', input_schema: { properties: { server_url: { type: 'string' } } } }] },
    { model: 'm', tools: [{ functionDeclarations: [{ name: 'f', parameters: { properties: { connector_id: {} } } }] }] },
    { model: 'm', mcp_servers: [] },
  ])('accepts %j, which uses no MCP server', async (body) => {
    expect(await sent(body)).toMatchObject({ status: 200, calls: 1 })
  })

  it('rejects invalid hosts in mcpHosts', () => {
    for (const host of ['https://mcp.example.com', '*', '*.com', '', 'a b']) {
      expect(() => proxyTo({ api: 'openAiCompletions' }, { mcpHosts: [host] }), host).toThrow(ConfigError)
    }
  })
})
