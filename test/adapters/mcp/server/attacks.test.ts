import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { serveMcp } from '../../../../adapters/mcp/server/index.ts'
import { Agent, defineTool } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { runs } from '../../../support/runs.ts'
import { deployTool } from '../../http/openai/served.ts'
import { connected, helper, listening, textOf } from './served.ts'

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const headers = (user: string, more: Record<string, string> = {}) => ({
  authorization: `Bearer key-of-${user}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  ...more,
})
const post = (url: string, body: unknown, given: Record<string, string>) =>
  fetch(url, { method: 'POST', headers: given, body: typeof body === 'string' ? body : JSON.stringify(body) })

describe('access control of an MCP server', () => {
  it('rejects requests without a key, from another origin or with another host name', async () => {
    const { url } = await listening({ agents: helper([{ text: 'hi' }]) })
    const { authorization: _, ...nobody } = headers('ada')
    expect((await post(url, initialize, nobody)).status).toBe(401)
    expect((await post(url, initialize, headers('ada', { origin: 'https://evil.example' }))).status).toBe(403)
    const local = serveMcp({ agents: helper([{ text: 'hi' }]), authorize: 'loopbackOnly' })
    const asked = (host: string) =>
      local.request(`http://${host}/mcp`, {
        method: 'POST',
        headers: headers('ada', { host, origin: `http://${host}` }),
        body: JSON.stringify(initialize),
      })
    expect([(await asked('evil.example')).status, (await asked('localhost')).status]).toEqual([403, 200])
    await local.close()
  })

  it('isolates the sessions of different callers', async () => {
    const { url } = await listening({ agents: helper([{ text: 'hi' }]) })
    const { transport } = await connected(url)
    const id = transport.sessionId ?? ''
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    for (const user of ['mallory', 'ada']) {
      const given = headers(user, { 'mcp-session-id': id })
      const expected = user === 'ada' ? [200, 202] : [404, 404]
      expect([(await post(url, list, given)).status, (await post(url, cancelled, given)).status]).toEqual(expected)
    }
    const mallory = headers('mallory', { 'mcp-session-id': id })
    expect((await fetch(url, { method: 'DELETE', headers: mallory })).status).toBe(404)
    expect((await fetch(url, { headers: mallory })).status).toBe(404)
    expect((await post(url, list, headers('ada', { 'mcp-session-id': 'x' }))).status).toBe(404)
    expect((await post(url, list, headers('ada'))).status).toBe(400)
  })

  it('limits sessions and calls per caller and evicts idle sessions', async () => {
    const gate = { open: (): void => undefined }
    const held = new Promise<void>((resolve) => {
      gate.open = resolve
    })
    const agents = helper(() => ({ text: 'ok' }), {}, { gate: () => held })
    const { url } = await listening({ agents, maxSessionsPerCaller: 2, maxCalls: 1 })
    const call = { name: 'helper', arguments: { prompt: 'hi' } }
    const busy = [await connected(url), await connected(url)]
    const first = busy.map(({ client }) => client.callTool(call))
    await Promise.all(busy.map(({ client }) => client.ping()))
    expect((await post(url, initialize, headers('ada'))).status).toBe(429)
    expect(textOf((await busy[0]?.client.callTool(call)) ?? { content: [] })).toMatch(/limit of \d+ concurrent calls/)
    expect((await post(url, initialize, headers('bob'))).status).toBe(200)
    gate.open()
    await Promise.all(first)
    expect((await post(url, initialize, headers('ada'))).status).toBe(200)
  })
})

describe('MCP request bodies', () => {
  it('responds to any message with a result or an error', async () => {
    const app = serveMcp({ agents: helper(() => ({ text: 'ok' })), authorize: () => true })
    const begun = await app.request('/mcp', { method: 'POST', headers: headers('ada'), body: JSON.stringify(initialize) })
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
    await begun.text()
    const methods = fc.constantFrom('tools/call', 'tools/list', 'logging/setLevel', 'prompts/get', 'ping', 'x', 'notifications/cancelled')
    const message = fc.record(
      {
        jsonrpc: fc.constantFrom('2.0', 1),
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
        method: methods,
        params: fc.jsonValue({ maxDepth: 3 }),
      },
      { requiredKeys: ['jsonrpc', 'method'] },
    )
    const call = fc.record({
      jsonrpc: fc.constant('2.0'),
      id: fc.integer(),
      method: fc.constant('tools/call'),
      params: fc.record({
        name: fc.constantFrom('helper', 'nobody', ''),
        arguments: fc.jsonValue({ maxDepth: 2 }),
        _meta: fc.jsonValue({ maxDepth: 1 }),
      }),
    })
    const bodies = fc.oneof(message, call, fc.array(message, { maxLength: 3 }), fc.jsonValue()).map((body) => JSON.stringify(body))
    await fc.assert(
      fc.asyncProperty(fc.oneof(bodies, fc.string()), async (body) => {
        const response = await app.request('/mcp', { method: 'POST', headers: headers('ada', session), body })
        // Each answer ends by itself: nothing is left to be waited for.
        await response.text()
        expect(response.status).toBeLessThan(500)
      }),
      { numRuns: runs(300, 20_000) },
    )
    const pinged = await app.request('/mcp', {
      method: 'POST',
      headers: headers('ada', session),
      body: '{"jsonrpc":"2.0","id":7,"method":"ping"}',
    })
    expect(await pinged.text()).toContain('"id":7')
    await app.close()
  })

  it('limits a body to 16 MiB', async () => {
    const app = serveMcp({ agents: helper([{ text: 'ok' }]), authorize: () => true })
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        sent += 1
        controller.enqueue(new Uint8Array(65_536).fill(32))
      },
    })
    const response = await app.request('/mcp', { method: 'POST', headers: headers('ada'), body, duplex: 'half' } as RequestInit)
    expect([response.status, sent < 300]).toEqual([413, true])
  })

  it('rejects approval requests for calls too long to display', async () => {
    const { deploy, done } = deployTool()
    const { url } = await listening({ tools: [deploy] })
    const { client } = await connected(url, () => ({ action: 'accept', content: { approve: true } }))
    const result = await client.callTool({ name: 'deploy', arguments: { version: 'x'.repeat(20_000) } })
    expect([result.isError, textOf(result), done]).toEqual([true, expect.stringContaining('too long to show'), []])
  })
})

describe('stateless MCP hosts', () => {
  it('handles each request separately and denies calls that need approval', async () => {
    const { deploy, done } = deployTool()
    const model = scripted([{ toolCalls: [{ name: 'deploy', arguments: { version: '2' } }] }, { text: 'I may not.' }])
    const agents = { helper: { description: 'Helps.', agent: () => new Agent({ model, tools: [deploy] }) } }
    const { url } = await listening({ agents, sessions: false })
    const { client, transport } = await connected(url, () => ({ action: 'accept', content: { approve: true } }))
    expect(transport.sessionId).toBeUndefined()
    expect(textOf(await client.callTool({ name: 'helper', arguments: { prompt: 'Deploy.' } }))).toBe('I may not.')
    expect(done).toEqual([])
  })
})

describe('invalid MCP server options', () => {
  it.each([
    [{}, /nothing to offer/],
    [{ agents: { 'two words': { description: 'x', agent: () => new Agent({ model: scripted([]) }) } } }, /no name of a tool/],
    [
      {
        ...{ agents: helper([]) },
        tools: [defineTool({ name: 'helper', description: 'x', parameters: { type: 'object' }, execute: () => '' })],
      },
      /Two tools/,
    ],
    [{ agents: helper([]), colour: 'red' }, /colour/],
  ])('throws an error that explains the option: %#', (options, message) => {
    expect(() => serveMcp({ authorize: () => true, ...options })).toThrow(message)
  })
})
