import { describe, expect, it } from 'vitest'
import { createAgentApp, onLoopback } from '../../../adapters/http/index.ts'
import { remoteSession } from '../../../src/client.ts'
import { Agent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const agent = () => new Agent({ model: scripted(() => ({ text: 'hello' })) })

function prompt(url: string, headers: Record<string, string> = {}): Request {
  return new Request(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{"prompt":"hi"}' })
}

async function statusOf(response: Response | Promise<Response>): Promise<number> {
  const { status, body } = await response
  await body?.cancel()
  return status
}

describe('authorize', () => {
  it.each([false, undefined, null, 0, 1, '', {}, ['ada'], '\ud800', 'x'.repeat(2000)])(
    'rejects all requests if it returns %j',
    async (answer) => {
      const app = createAgentApp({ agent, authorize: () => answer as never })
      expect(await statusOf(app.fetch(prompt('http://test/runs')))).toBe(401)
    },
  )

  it('rejects all requests if it throws and hides the error', async () => {
    const app = createAgentApp({
      agent,
      authorize: () => {
        throw new Error('hunter2')
      },
    })
    const response = await app.fetch(prompt('http://test/runs'))
    expect([response.status, (await response.text()).includes('hunter2')]).toEqual([500, false])
  })

  it.each([undefined, true, 'loopback', null])('rejects %j when the app is created', (authorize) => {
    expect(() => createAgentApp({ agent, authorize: authorize as never })).toThrow(/authorize/)
  })
})

describe('loopbackOnly', () => {
  const app = createAgentApp({ agent, authorize: 'loopbackOnly' })

  it.each([
    ['http://localhost:3000/runs', {}],
    ['http://127.0.0.1/runs', {}],
    ['http://[::1]:80/runs', {}],
    ['http://app.localhost/runs', { origin: 'http://app.localhost' }],
  ])('accepts %s with %j', async (url, headers) => {
    expect(await statusOf(app.fetch(prompt(url, headers)))).toBe(200)
  })

  it.each([
    ['http://evil.example/runs', {}],
    ['http://localhost.evil.example/runs', {}],
    ['http://127.0.0.1.evil.example/runs', {}],
    ['http://0.0.0.0/runs', {}],
    ['http://192.168.0.7/runs', {}],
    ['http://localhost/runs', { 'x-forwarded-for': '127.0.0.1, ::1' }],
    ['http://localhost/runs', { 'cf-connecting-ip': '203.0.113.9' }],
    ['http://localhost/runs', { origin: 'https://evil.example' }],
    ['http://localhost/runs', { origin: 'null' }],
  ])('rejects %s with %j', async (url, headers) => {
    expect(await statusOf(app.fetch(prompt(url, headers)))).toBe(403)
  })

  it.each([
    { incoming: { socket: { remoteAddress: '10.0.0.1' } } },
    { remoteAddr: { hostname: '10.0.0.1' } },
    { requestIP: () => ({ address: '10.0.0.1' }) },
    { server: { requestIP: () => ({ address: '10.0.0.1' }) } },
  ])('checks the socket address, not the host name: %j', async (env) => {
    expect(await statusOf(app.fetch(prompt('http://localhost/runs'), env))).toBe(403)
  })

  it.each([
    { incoming: { socket: { remoteAddress: '::ffff:127.0.0.1' } } },
    { remoteAddr: { hostname: '127.0.0.1' } },
    { requestIP: () => ({ address: '::1' }) },
  ])('accepts a local socket address: %j', async (env) => {
    expect(await statusOf(app.fetch(prompt('http://localhost/runs'), env))).toBe(200)
  })

  it('exports its check as onLoopback', () => {
    expect(onLoopback(new Request('http://localhost/'))).toBe(true)
    expect(onLoopback(new Request('http://example.org/'))).toBe(false)
  })
})

describe('cors', () => {
  const app = createAgentApp({ agent, authorize: () => true, cors: ['https://app.example'] })
  const preflight = (origin: string) =>
    app.request('http://api.example/runs', { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } })

  it("accepts requests from listed origins and the server's own origin", async () => {
    const answer = await preflight('https://app.example')
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, 'https://app.example'])
    const response = await app.fetch(prompt('http://api.example/runs', { origin: 'https://app.example' }))
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example')
    await response.body?.cancel()
    expect(await statusOf(app.fetch(prompt('http://api.example/runs', { origin: 'http://api.example' })))).toBe(200)
  })

  it.each(['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null'])(
    'rejects %s without reading the body',
    async (origin) => {
      expect((await preflight(origin)).status).toBe(403)
      const refused = await app.fetch(prompt('http://api.example/runs', { origin }))
      expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([403, null])
    },
  )

  it('adds CORS headers to problem responses', async () => {
    const refused = await app.request('http://api.example/none', { headers: { origin: 'https://app.example' } })
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([404, 'https://app.example'])
  })
})

describe('request bodies and streams', () => {
  it('times out if a body arrives too slowly', async () => {
    const app = createAgentApp({ agent, authorize: () => true, bodyTimeoutMs: 5 })
    const body = new ReadableStream({ pull: () => new Promise(() => undefined) })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' }
    const response = await app.fetch(new Request('http://test/runs', init as RequestInit))
    expect([response.status, (await response.json()).code]).toEqual([408, 'bodyTooSlow'])
  })

  it('responds with 400 to a body that ends early', async () => {
    const app = createAgentApp({ agent, authorize: () => true })
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('connection reset')) })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' }
    const response = await app.fetch(new Request('http://test/runs', init as RequestInit))
    expect([response.status, (await response.json()).code]).toEqual([400, 'invalidBody'])
  })

  it('rejects a body with invalid UTF-8', async () => {
    const app = createAgentApp({ agent, authorize: () => true })
    const body = Uint8Array.of(...new TextEncoder().encode('{"prompt":"'), 0xff, ...new TextEncoder().encode('"}'))
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    const response = await app.fetch(new Request('http://test/runs', init))
    expect([response.status, (await response.json()).code]).toEqual([400, 'invalidBody'])
  })

  it('limits the number of concurrent streams', async () => {
    const app = createAgentApp({ agent, authorize: () => true, maxOpenStreams: 1 })
    const first = await app.fetch(prompt('http://test/runs'))
    const second = await app.fetch(prompt('http://test/runs'))
    expect([second.status, (await second.json()).code]).toEqual([429, 'tooManyStreams'])
    await first.text()
    const third = await app.fetch(prompt('http://test/runs'))
    expect(third.status).toBe(200)
    await third.body?.cancel()
    expect(await statusOf(app.fetch(prompt('http://test/runs')))).toBe(200)
  })
})

describe('requests from unlisted origins', () => {
  it('logs each origin once with a hint, up to a limit', async () => {
    const told: unknown[] = []
    const logger = { warn: (event: string, fields: object) => void told.push([event, fields]) }
    const app = createAgentApp({ agent, authorize: () => true, logger })
    for (const origin of [
      'http://localhost:5173',
      'http://localhost:5173',
      ...Array.from({ length: 50 }, (_, at) => `https://${at}.example`),
    ])
      expect(await statusOf(app.fetch(prompt('http://api.example/runs', { origin })))).toBe(403)
    expect(told[0]).toEqual(['foreignOrigin', { message: expect.stringMatching(/"http:\/\/localhost:5173".*cors/) }])
    expect(told).toHaveLength(20)
  })

  it('suggests CORS as a possible cause in the client error', async () => {
    const fetch = () => Promise.reject(new TypeError('Failed to fetch'))
    const session = remoteSession({ url: 'http://api.example', sessionId: 's', fetch, logger: false, reconnect: { maxRetries: 0 } })
    await expect(session.load()).rejects.toThrow('in cors?')
    session.close()
  })
})
