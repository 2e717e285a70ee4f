/** What sessions and the model proxy have in common holds for both: the same requests, the same answers. */
import { describe, expect, it } from 'vitest'
import { createAgentApp, createModelProxy } from '../../../adapters/http/index.ts'
import { Agent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

interface Shared {
  authorize?: 'loopbackOnly' | (() => boolean)
  /** In which a body must be there. */
  patienceMs?: number
}

const agent = () => new Agent({ model: scripted(() => ({ text: 'hello' })) })
const answering = () => Promise.resolve(Response.json({ ok: true }))

const apps = {
  sessions: ({ authorize = () => true, patienceMs = 30_000 }: Shared) => ({
    fetch: createAgentApp({ agent, authorize, bodyTimeoutMs: patienceMs }).fetch,
    path: '/runs',
    body: '{"prompt":"hi"}',
  }),
  proxy: ({ authorize = () => true, patienceMs = 30_000 }: Shared) => ({
    fetch: createModelProxy({
      upstreams: { up: { api: 'openAiCompletions', apiKey: 'k' } },
      allow: { up: ['*'] },
      budget: 'unlimited',
      authorize,
      idleTimeoutMs: patienceMs,
      fetch: answering,
    }).fetch,
    path: '/up/chat/completions',
    body: '{"model":"m","messages":[]}',
  }),
}

/** The status of an answer to a prompt at `host`. */
async function ask(of: keyof typeof apps, options: Shared, headers: Record<string, string> = {}, host = 'localhost'): Promise<number> {
  const { fetch, path, body } = apps[of](options)
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
  const response = await fetch(new Request(`http://${host}${path}`, init))
  await response.text()
  return response.status
}

/** The same with a body of which the first half comes at once, the other after 50 ms. */
async function askSlowly(of: keyof typeof apps, options: Shared): Promise<number> {
  const { fetch, path, body } = apps[of](options)
  const [first, second] = [body.slice(0, 5), body.slice(5)].map((part) => new TextEncoder().encode(part))
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(first ?? new Uint8Array())
      setTimeout(() => {
        controller.enqueue(second ?? new Uint8Array())
        controller.close()
      }, 50)
    },
  })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: stream, duplex: 'half' }
  const response = await fetch(new Request(`http://localhost${path}`, init as RequestInit))
  await response.text()
  return response.status
}

describe.each(['sessions', 'proxy'] as const)('the %s app', (of) => {
  it('accepts only its own origin behind a proxy that rewrites Host', async () => {
    const headers = { origin: 'https://app.example', host: 'internal:3000' }
    expect(await ask(of, {}, { ...headers, 'sec-fetch-site': 'same-origin' })).toBe(200)
    for (const site of ['cross-site', 'same-site', 'none'])
      expect(await ask(of, {}, { ...headers, 'sec-fetch-site': site }), site).toBe(403)
    expect(await ask(of, {}, headers)).toBe(403)
  })

  it.each([3e9, Number.MAX_SAFE_INTEGER])('waits up to %d ms for a slow body', async (patienceMs) => {
    expect(await askSlowly(of, { patienceMs })).toBe(200)
  })

  it('rejects compressed bodies', async () => {
    expect(await ask(of, {}, { 'content-encoding': 'gzip' })).toBe(415)
  })

  const forwarding = [
    ['forwarded', 'for=127.0.0.1'],
    ['forwarded', 'proto=https'],
    ['via', '1.1 tunnel'],
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-for', 'unknown'],
    ['x-forwarded-host', 'localhost'],
    ['x-forwarded-proto', 'https'],
    ['x-forwarded', '1'],
    ['x-original-forwarded-for', '10.0.0.1'],
    ['x-original-host', 'app.example'],
    ['x-real-ip', '127.0.0.1'],
    ['x-client-ip', '127.0.0.1'],
    ['x-cluster-client-ip', '10.0.0.1'],
    ['x-remote-addr', '10.0.0.1'],
    ['x-proxyuser-ip', '10.0.0.1'],
    ['x-envoy-external-address', '10.0.0.1'],
    ['x-appengine-user-ip', '10.0.0.1'],
    ['x-azure-clientip', '10.0.0.1'],
    ['x-arr-ssl', '2048'],
    ['true-client-ip', '127.0.0.1'],
    ['client-ip', '127.0.0.1'],
    ['cf-connecting-ip', '203.0.113.9'],
    ['cf-ray', '8f2'],
    ['cf-visitor', '{"scheme":"https"}'],
    ['cdn-loop', 'cloudflare'],
    ['fly-client-ip', '203.0.113.9'],
    ['fastly-client-ip', '203.0.113.9'],
    ['tailscale-user-login', 'ada'],
    ['ngrok-trace-id', 'x'],
    ['x-scheme', 'https'],
    ['x-vercel-ip-country', 'DE'],
    ['x-anything', '203.0.113.9'],
    ['x-anything', '127.0.0.1, 10.0.0.1'],
    ['x-anything', '[2001:db8::1]:443'],
    ['x-anything', '::1'],
  ]
  it.each(forwarding)('rejects forwarded requests with loopbackOnly: %s: %s', async (name, value) => {
    expect(await ask(of, { authorize: 'loopbackOnly' }, { [name]: value })).toBe(403)
  })

  it('accepts local browsers and programs with loopbackOnly', async () => {
    const usual = {
      accept: 'text/event-stream',
      'accept-language': 'de, en;q=0.5',
      authorization: 'Bearer 1',
      'cache-control': 'no-cache',
      cookie: 'a=127.0.0.1',
      dnt: '1',
      'idempotency-key': '00000000-0000-4000-8000-000000000000',
      'last-event-id': '12',
      origin: 'http://localhost',
      priority: 'u=1, i',
      referer: 'http://localhost/',
      'sec-ch-ua': '"Chromium";v="140"',
      'sec-fetch-mode': 'cors',
      'sec-fetch-site': 'same-origin',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'user-agent': 'ai-sdk/7.0.0',
      'x-request-id': '17',
      'x-vercel-ai-ui-message-stream': 'v1',
    }
    for (const host of ['localhost:3000', '127.0.0.1', '[::1]:80']) {
      const headers = { ...usual, origin: `http://${host}` }
      expect(await ask(of, { authorize: 'loopbackOnly' }, headers, host)).toBe(200)
    }
    for (const host of ['localhost@evil.example', 'localhost/x', 'evil.example', '0.0.0.0', 'localhost.evil.example'])
      expect(await ask(of, { authorize: 'loopbackOnly' }, { host }), host).toBe(403)
  })
})
