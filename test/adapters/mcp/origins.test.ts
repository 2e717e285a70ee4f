import { describe, expect, it } from 'vitest'
import { connectMcp } from '../../../adapters/mcp/index.ts'

const secret = 'key-4711-secret'

/** What was asked for, and with which `x-key`, while connecting to a server at `url` that names `login` as the place to log in. */
async function asked(
  url: string,
  login: string,
  { metadata = `${new URL(url).origin}/.well-known/oauth-protected-resource`, page = `${login}/authorize` } = {},
) {
  const requests: { url: string; key: string | null }[] = []
  const saved: string[] = []
  const fetch = async (input: string | URL, init?: RequestInit): Promise<Response> => {
    const target = new URL(input)
    requests.push({ url: target.href, key: new Headers(init?.headers).get('x-key') })
    if (target.href === url) {
      return new Response('', { status: 401, headers: { 'www-authenticate': `Bearer resource_metadata="${metadata}"` } })
    }
    if (target.href === metadata) return Response.json({ resource: url, authorization_servers: [login] })
    if (target.origin === new URL(login).origin && target.pathname.includes('.well-known')) {
      return Response.json({
        issuer: login,
        authorization_endpoint: page,
        token_endpoint: `${login}/token`,
        registration_endpoint: `${login}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      })
    }
    return new Response('', { status: 404 })
  }
  const authProvider = {
    redirectUrl: 'https://app.example/back',
    clientMetadata: { redirect_uris: ['https://app.example/back'] },
    clientInformation: () => ({ client_id: 'me' }),
    tokens: () => undefined,
    saveTokens: () => undefined,
    redirectToAuthorization: (to: URL) => void saved.push(to.href.split('?')[0] ?? ''),
    saveCodeVerifier: () => undefined,
    codeVerifier: () => 'verifier',
  }
  const error = await connectMcp({ url, headers: { 'x-key': secret }, authProvider, fetch }).catch((thrown: unknown) => thrown)
  return { requests, saved, error, elsewhere: requests.filter((one) => new URL(one.url).origin !== new URL(url).origin) }
}

describe('OAuth login URLs of an MCP server', () => {
  it('sends no server headers to the login server', async () => {
    const { requests, elsewhere, saved, error } = await asked('https://mcp.example/mcp', 'https://login.example')
    expect(requests[0]).toEqual({ url: 'https://mcp.example/mcp', key: secret })
    expect(elsewhere.length).toBeGreaterThan(0)
    expect(elsewhere.every(({ key }) => key === null)).toBe(true)
    expect(saved).toEqual(['https://login.example/authorize'])
    expect(String(error)).not.toContain(secret)
  })

  it.each([
    'https://10.0.0.1',
    'https://169.254.169.254',
    'https://localhost.',
    'https://127.0.0.1',
    'http://127.0.0.1:8080',
    'https://[::1]',
    'https://[fd00::1]',
    'https://metadata.google.internal',
    'https://nas.local',
    'http://login.example',
  ])('rejects %s for a public server', async (login) => {
    const { elsewhere, saved } = await asked('https://mcp.example/mcp', login)
    expect(elsewhere).toEqual([])
    const metadata = await asked('https://mcp.example/mcp', 'https://login.example', { metadata: `${login}/.well-known/x` })
    expect(metadata.elsewhere.filter(({ url }) => url.startsWith(login))).toEqual([])
    expect(saved).toEqual([])
  })

  it("accepts a login server in the MCP server's private network", async () => {
    expect((await asked('https://mcp.corp.internal/mcp', 'https://sso.corp.internal')).saved).toEqual([
      'https://sso.corp.internal/authorize',
    ])
    expect((await asked('http://127.0.0.1:9/mcp', 'http://localhost:8')).saved).toEqual(['http://localhost:8/authorize'])
  })

  it.each(['file:///etc/passwd', 'ms-msdt:/id', 'https://10.0.0.1/reset', 'http://localhost:8080/', 'http://login.example/'])(
    'rejects the login URL %s',
    async (page) => {
      const { saved, error } = await asked('https://mcp.example/mcp', 'https://login.example', { page })
      expect(saved).toEqual([])
      expect(error).toMatchObject({ name: 'McpError' })
    },
  )
})
