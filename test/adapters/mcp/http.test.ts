import { describe, expect, it, onTestFinished } from 'vitest'
import { connectMcp, type McpHttpOptions, type McpToolSet, mcpTools } from '../../../adapters/mcp/index.ts'
import { freePort, type Heard, json, mcpAnswer, startEverything, webServer } from './http-server.ts'
import { told } from './told.ts'

const token = 'token-4711-secret'
const headers = { authorization: `Bearer ${token}` }

async function toolsOf(options: McpHttpOptions): Promise<McpToolSet> {
  const set = await mcpTools(await connectMcp(options))
  onTestFinished(() => set.close())
  return set
}

describe('connectMcp with the official server', () => {
  it('connects over Streamable HTTP', async () => {
    const tools = await toolsOf({ url: `${(await startEverything('streamableHttp')).url}/mcp` })
    expect(await told(tools, 'echo', { message: 'over http' })).toMatchObject({
      text: expect.stringContaining('over http'),
      isError: false,
    })
  })

  it('falls back to SSE for older servers', async () => {
    const tools = await toolsOf({ url: `${(await startEverything('sse')).url}/sse` })
    expect(await told(tools, 'echo', { message: 'over sse' })).toMatchObject({ text: expect.stringContaining('over sse'), isError: false })
  })
})

describe('connectMcp over HTTP', () => {
  const answering = (call?: () => unknown) => (heard: Heard, response: Parameters<typeof json>[0]) => {
    const answer = mcpAnswer(heard, call)
    if (heard.method === 'GET') response.writeHead(405).end()
    else if (answer === undefined) response.writeHead(202).end()
    else json(response, answer)
  }

  it.each([
    ['nothing', 404, 'text/plain', 'Not found', /neither Streamable HTTP \(.*404.*\) nor SSE \(.*404.*\)/],
    [
      'a web page',
      404,
      'text/html',
      '<!doctype html><title>Lost</title><p>long text',
      /Streamable HTTP \(.*a web page called "Lost".*\) nor SSE \(/,
    ],
    [
      'another web page',
      500,
      'text/html',
      '<html><head><title>Oops</title></head></html>',
      /a web page called "Oops", which is not of the API/,
    ],
    ['an API of another type', 200, 'application/json', '{"hello":1}', /Cannot connect: the server sent an invalid MCP message\./],
  ])('reports in one sentence that the URL leads to %s', async (_, status, type, body, sentence) => {
    const { url } = await webServer((_heard, response) => response.writeHead(status, { 'content-type': type }).end(body))
    const warnings: unknown[] = []
    const logger = { warn: (...all: unknown[]) => void warnings.push(all) }
    const failure: unknown = await connectMcp({ url: `${url}/mcp`, logger }).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      name: 'McpError',
      code: 'connection',
      message: expect.stringMatching(/^Cannot connect: .*Check the server URL\.$/),
    })
    expect(failure).toMatchObject({ message: expect.stringMatching(sentence) })
    expect(String(failure)).not.toMatch(/<\w/)
    expect(warnings).toEqual([])
  })

  it('restarts an expired session once and repeats the call', async () => {
    let sessions = 0
    let current = ''
    const { url, heard } = await webServer((one, response) => {
      if (one.method === 'GET') return response.writeHead(405).end()
      if (one.body.method === 'initialize') {
        current = `s${++sessions}`
        return json(response, mcpAnswer(one), { 'mcp-session-id': current })
      }
      if (one.headers['mcp-session-id'] !== current)
        return json(response, { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }, {}, 404)
      return answering()(one, response)
    })
    const tools = await toolsOf({ url: `${url}/mcp` })
    current = 'forgotten'
    expect(await told(tools)).toEqual({ text: 'ok', isError: false })
    expect(sessions).toBe(2)
    await tools.close()
    expect(heard.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 's2' } })
  })

  it('reports missing authorization, even if only listing requires it', async () => {
    const { url } = await webServer((one, response) =>
      one.body.method === 'tools/list' ? json(response, { error: 'expired', token }, {}, 401) : answering()(one, response),
    )
    const failure = await toolsOf({ url, headers }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'McpError', code: 'unauthorized' })
    expect(String(failure)).not.toContain(token)
  })

  it('restarts a session that the server rejects with 400', async () => {
    let current = 's1'
    const { url } = await webServer((one, response) => {
      if (one.body.method === 'initialize') return json(response, mcpAnswer(one), { 'mcp-session-id': current })
      if (one.method === 'POST' && one.headers['mcp-session-id'] !== current)
        return json(response, { error: { message: 'Bad Request: No valid session ID provided' } }, {}, 400)
      return answering()(one, response)
    })
    const tools = await toolsOf({ url })
    current = 's2'
    expect(await told(tools)).toEqual({ text: 'ok', isError: false })
  })

  it('leaves no timer running after repeated stream reconnects', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const { url } = await webServer((one, response) => {
      if (one.body.method === 'initialize' || one.body.method === 'tools/list') return answering()(one, response)
      if (one.body.id === undefined && one.method !== 'GET') return response.writeHead(202).end()
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\nretry: 3600000\ndata:\n\n')
    })
    const before = timers()
    const client = await connectMcp({ url })
    const calls = [1, 2, 3].map(() => client.callTool({ name: 'act' }).catch(() => undefined))
    const waiting = () => new Promise((resolve) => setImmediate(resolve))
    while (timers() < before + 4) await waiting()
    await client.close()
    await Promise.all(calls)
    expect(timers()).toBeLessThanOrEqual(before)
  })

  it('sends no token to another origin', async () => {
    const other = await webServer(answering())
    const { url, heard } = await webServer((_one, response) => response.writeHead(307, { location: `${other.url}/mcp` }).end())
    await expect(connectMcp({ url: `${url}/mcp`, headers })).rejects.toMatchObject({ name: 'McpError' })
    expect(heard.length).toBeGreaterThan(0)
    expect(other.heard).toEqual([])
  })

  it("redacts secrets in errors regardless of the server's response", async () => {
    const { url } = await webServer((one, response) => json(response, { heard: one.headers }, {}, 403))
    const failure = await connectMcp({ url: `${url}/mcp?key=${token}x`, headers }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'McpError', code: 'unauthorized' })
    expect(String(failure)).toContain('****')
    expect(JSON.stringify(failure) + String(failure)).not.toContain(token)
  })

  it('aborts an endless response', async () => {
    const { url } = await webServer((one, response) => {
      if (one.body.method !== 'tools/call') return answering()(one, response)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.on('error', () => undefined)
      const flood = () => {
        while (response.write(`data: ${'x'.repeat(65_536)}`));
        response.once('drain', flood)
      }
      flood()
    })
    const set = await mcpTools(await connectMcp({ url }), { timeoutMs: 3000 })
    onTestFinished(() => set.close())
    expect(await told(set)).toMatchObject({ isError: true })
  })

  it('throws while the server is down and reconnects later', async () => {
    await expect(connectMcp({ url: `http://127.0.0.1:${await freePort()}` })).rejects.toMatchObject({
      code: 'connection',
      message: 'Cannot connect: fetch failed (ECONNREFUSED). Check the server URL.',
    })
    await expect(connectMcp({ url: 'http://nowhere.invalid/mcp' })).rejects.toMatchObject({
      message: expect.stringMatching(/^Cannot connect: fetch failed \((?:ENOTFOUND|EAI_AGAIN)\)\. Check the server URL\.$/),
    })
    let isDown = false
    const { url } = await webServer((one, response) => (isDown ? response.destroy() : answering()(one, response)))
    const tools = await toolsOf({ url })
    isDown = true
    expect(await told(tools)).toMatchObject({ isError: true })
    isDown = false
    expect(await told(tools)).toEqual({ text: 'ok', isError: false })
  })

  it('opens the login page and continues with the code', async () => {
    const { url } = await webServer((one, response) => {
      const origin = `http://${one.headers.host}`
      const meta = {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      }
      if (one.url.startsWith('/.well-known/oauth-protected-resource'))
        return json(response, { resource: `${origin}/mcp`, authorization_servers: [origin] })
      if (one.url.startsWith('/.well-known/')) return json(response, meta)
      if (one.url === '/token') return json(response, { access_token: token, token_type: 'Bearer' })
      if (one.headers.authorization !== `Bearer ${token}`) return response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
      return answering()(one, response)
    })
    let sentTo = ''
    let tokens: { access_token: string; token_type: string } | undefined
    const authProvider = {
      redirectUrl: 'http://127.0.0.1/back',
      clientMetadata: { redirect_uris: ['http://127.0.0.1/back'] },
      clientInformation: () => ({ client_id: 'me' }),
      tokens: () => tokens,
      saveTokens: (given: { access_token: string; token_type: string }) => {
        tokens = given
      },
      redirectToAuthorization: (to: URL) => {
        sentTo = to.pathname
      },
      saveCodeVerifier: () => undefined,
      codeVerifier: () => 'verifier',
    }
    await expect(connectMcp({ url: `${url}/mcp`, authProvider })).rejects.toMatchObject({ code: 'unauthorized' })
    expect(sentTo).toBe('/authorize')
    expect(await told(await toolsOf({ url: `${url}/mcp`, authProvider, authorizationCode: 'code-from-there' }))).toEqual({
      text: 'ok',
      isError: false,
    })
  })
})
