import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Upstream } from '../../../../adapters/http/index.ts'
import { chat, type FakeUpstream, fakeUpstream, proxyTo, secret, serving } from './fake-upstream.ts'

const upstreamOf = (service: FakeUpstream): Upstream => ({ api: 'openAiCompletions', baseUrl: `${service.url}/v1` })
const sse = { 'content-type': 'text/event-stream' }
const path = '/up/chat/completions'

async function textAndFailure(response: Response): Promise<{ text: string; failure: string | undefined }> {
  let text = ''
  try {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream('latin1')) ?? []) text += chunk
    return { text, failure: undefined }
  } catch (error) {
    return { text, failure: String(error) }
  }
}

describe('proxied responses', () => {
  it('forwards every byte unchanged at any chunk boundary', async () => {
    // Every byte there is, and beginnings of the key everywhere.
    const bytes = Buffer.concat([
      Buffer.from(Array.from({ length: 4096 }, (_, at) => at % 256)),
      ...Array.from({ length: secret.length }, (_, at) => Buffer.from(`${secret.slice(0, at)}|`)),
      Buffer.from(secret.slice(0, -1)),
    ])
    for (const size of [1, 3, 7, 64, 10_000]) {
      const service = await fakeUpstream(async (_, response) => {
        response.writeHead(200, sse)
        for (let at = 0; at < bytes.length; at += size) {
          response.write(bytes.subarray(at, at + size))
          if (at % 64 === 0) await new Promise((resolve) => setImmediate(resolve))
        }
        response.end()
      })
      const { app, reports, over } = proxyTo(upstreamOf(service))
      const response = await fetch((await serving(app)) + path, chat())
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes), `in pieces of ${size}`).toBe(true)
      await over(1)
      expect(reports[0]).toMatchObject({ ending: 'whole', bytes: bytes.length })
    }
  })

  it('streams only as fast as the client reads', async () => {
    let written = 0
    const service = await fakeUpstream(async (_, response) => {
      response.writeHead(200, sse)
      const closed = once(response, 'close')
      const chunk = Buffer.alloc(256 * 1024, 'x')
      while (!response.destroyed && written < 400) {
        written++
        if (!response.write(chunk)) await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed])
      }
      response.end()
    })
    const { app, over, reports } = proxyTo(upstreamOf(service))
    const response = await app.request(path, chat())
    const reader = response.body?.getReader()
    await reader?.read()
    // The service stands still once the buffers of the connection are full: it has written no more after a while without reading.
    let before = -1
    while (before !== written) {
      before = written
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(written).toBeLessThan(200)
    await reader?.cancel()
    await over(1)
    expect(reports[0]?.ending).toBe('left')
    expect(reports[0]?.bytes).toBeLessThan(1024 * 1024)
  })

  it('aborts the provider call on a disconnect before or after its start', async () => {
    for (const hasBegun of [false, true]) {
      let asked = (): void => undefined
      const isAsked = new Promise<void>((resolve) => {
        asked = resolve
      })
      let closed = (): void => undefined
      const isClosed = new Promise<void>((resolve) => {
        closed = resolve
      })
      const service = await fakeUpstream((_, response) => {
        response.once('close', closed)
        if (hasBegun) response.writeHead(200, sse).write('data: {}\n\n')
        asked()
      })
      const { app, over, reports } = proxyTo(upstreamOf(service))
      const leaving = new AbortController()
      const answer = fetch((await serving(app)) + path, chat(undefined, { signal: leaving.signal }))
      await isAsked
      if (hasBegun) await (await answer).body?.getReader().read()
      leaving.abort()
      await answer.catch(() => undefined)
      await isClosed
      await over(1)
      expect(reports[0]).toMatchObject({ ending: 'left' })
      expect(reports[0]?.usage.totalTokens).toBeGreaterThan(0)
    }
  })

  it('aborts the response if the provider aborts it', async () => {
    const service = await fakeUpstream((_, response) => {
      response.writeHead(200, sse).write('data: {}\n\n', () => response.destroy())
    })
    const { app, over, reports } = proxyTo(upstreamOf(service))
    const { text, failure } = await textAndFailure(await fetch((await serving(app)) + path, chat()))
    expect(text).toBe('data: {}\n\n')
    expect(failure).toBeDefined()
    await over(1)
    expect(reports[0]?.ending).toBe('broken')
  })

  it('aborts the response before the key reaches the client', async () => {
    for (let cut = 0; cut <= secret.length; cut += 3) {
      const service = await fakeUpstream(async (_, response) => {
        response.writeHead(200, sse)
        response.write(`data: {"error":"Incorrect API key: ${secret.slice(0, cut)}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
        response.end(`${secret.slice(cut)}"}\n\n`)
      })
      const logged: unknown[] = []
      const { app } = proxyTo(upstreamOf(service), { logger: { warn: (...line) => logged.push(line) } })
      const { text, failure } = await textAndFailure(await app.request(path, chat()))
      expect(text).toMatch(/^(data: \{"error":"Incorrect API key: .{0,7})?$/)
      expect(failure).toContain('secret')
      expect(failure).not.toContain(secret)
      expect(logged).toEqual([['answerBroken', { upstream: 'up', why: expect.any(String) }]])
    }
  })
})

describe('responses with status 200 that echo the key', () => {
  const [half, rest] = [secret.slice(0, 20), secret.slice(20)]
  const forms: [form: string, echo: string, isPassedOn: boolean][] = [
    ['whole', secret, false],
    ['whole, after its scheme', `Bearer ${secret}`, false],
    ['base64', Buffer.from(secret).toString('base64'), true],
    ['hex', Buffer.from(secret).toString('hex'), true],
    ['escaped', secret.replaceAll('-', '\\u002d'), true],
    ['split in two', `${half} ${rest}`, true],
    ['in another case', secret.toUpperCase(), true],
  ]
  it.each(forms)('forwards or blocks the echo as documented in SECURITY.md: %s', async (_form, echo, isPassedOn) => {
    const service = await fakeUpstream((_, response) => void response.writeHead(200, sse).end(`data: {"text":"${echo}"}\n\n`))
    const { text, failure } = await textAndFailure(await proxyTo(upstreamOf(service)).app.request(path, chat()))
    expect(text.includes(echo)).toBe(isPassedOn)
    expect(failure === undefined).toBe(isPassedOn)
  })

  it.each([15, 16])('detects keys of 16 characters or more: %d', async (length) => {
    const apiKey = secret.slice(-length)
    const service = await fakeUpstream((_, response) => void response.writeHead(200, sse).end(`data: {"text":"${apiKey}"}\n\n`))
    const { text, failure } = await textAndFailure(await proxyTo({ ...upstreamOf(service), apiKey }).app.request(path, chat()))
    expect(text.includes(apiKey)).toBe(length < 16)
    expect(failure === undefined).toBe(length < 16)
  })
})

describe('provider errors behind the proxy', () => {
  it.each([400, 401, 403, 404, 413, 429, 500, 503, 529])('keeps status %d and removes the key', async (status) => {
    const echo = { error: { message: `Incorrect API key provided: ${secret}`, also: Buffer.from(secret).toString('base64') } }
    const service = await fakeUpstream((_, response) => {
      const headers = {
        'content-type': 'application/json',
        'retry-after': '7',
        'x-request-id': `req-${secret}`,
        'set-cookie': 'a=b',
        server: 'x',
      }
      response.writeHead(status, headers).end(JSON.stringify(echo))
    })
    const { app, over, reports } = proxyTo(upstreamOf(service))
    const response = await fetch((await serving(app)) + path, chat())
    expect(response.status).toBe(status)
    const headers = Object.fromEntries(response.headers)
    expect(headers).toMatchObject({ 'retry-after': '7', 'content-type': 'application/json', 'cache-control': 'no-store' })
    expect(headers['set-cookie'] ?? headers.server).toBeUndefined()
    const text = await response.text()
    expect(text).toContain('Incorrect API key provided')
    expect(text + JSON.stringify(headers)).not.toMatch(/proxy-0123|YWJjZGVm/)
    await over(1)
    expect(reports[0]).toMatchObject({ status, ending: 'whole', usage: { totalTokens: 0 } })
  })

  it('returns no HTML that a browser would execute', async () => {
    const service = await fakeUpstream(
      (_, response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<script>1</script>'),
    )
    const response = await proxyTo(upstreamOf(service)).app.request(path, chat())
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('truncates an endless error body', async () => {
    const service = await fakeUpstream((_, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' })
      const more = (): void => void (response.destroyed || response.write('x'.repeat(65_536), more))
      more()
    })
    const response = await proxyTo(upstreamOf(service)).app.request(path, chat())
    expect((await response.text()).length).toBe(65_536)
  })

  it.each([301, 302, 303, 307, 308])('does not follow a redirect with status %d', async (status) => {
    const canary = await fakeUpstream((_, response) => void response.end('{}'))
    const service = await fakeUpstream((_, response) => void response.writeHead(status, { location: `${canary.url}/${secret}` }).end())
    const response = await proxyTo(upstreamOf(service)).app.request(path, chat())
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ code: 'upstreamRedirected' })
    expect(response.headers.get('location')).toBeNull()
    expect(canary.seen).toEqual([])
  })

  it.each([300, 304, 305])('responds with 502 to provider status %d', async (status) => {
    const service = await fakeUpstream((_, response) => void response.writeHead(status).end())
    const response = await proxyTo(upstreamOf(service)).app.request(path, chat())
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({
      code: 'upstreamUnreachable',
      detail: expect.stringContaining(`responded with ${status}`),
    })
  })

  it('hides the base URL of an unreachable provider', async () => {
    const { app, reports } = proxyTo({ api: 'openAiCompletions', baseUrl: 'http://127.0.0.1:1/v1?key=hunter2' })
    const response = await app.request(path, chat())
    expect(response.status).toBe(502)
    expect(await response.text()).not.toMatch(/127\.0\.0\.1|hunter2/)
    expect(reports[0]).toMatchObject({ ending: 'broken', usage: { totalTokens: 0 } })
  })
})

describe('proxy deadlines', () => {
  it('ends a call without a response', async () => {
    for (const limit of ['firstByteTimeoutMs', 'maxDurationMs']) {
      const service = await fakeUpstream(() => undefined)
      const { app, reports } = proxyTo(upstreamOf(service), { [limit]: 30 })
      const response = await app.request(path, chat())
      expect(response.status).toBe(504)
      expect(await response.json()).toMatchObject({ code: 'upstreamTimedOut', detail: expect.stringContaining(limit) })
      expect(reports[0]).toMatchObject({ ending: 'broken' })
    }
  })

  it('ends a call that stalls or exceeds its total time', async () => {
    for (const limit of ['idleTimeoutMs', 'maxDurationMs']) {
      const service = await fakeUpstream((_, response) => void response.writeHead(200, sse).write('data: {}\n\n'))
      // Long enough for the first byte on a machine that does much else.
      const { app, reports } = proxyTo(upstreamOf(service), { [limit]: 1500 })
      const { text, failure } = await textAndFailure(await app.request(path, chat()))
      expect(text).toBe('data: {}\n\n')
      expect(failure).toContain(limit === 'idleTimeoutMs' ? 'sent nothing' : limit)
      expect(reports[0]).toMatchObject({ ending: 'broken' })
      // It may have been thinking all the time.
      expect(reports[0]?.usage.output).toBeGreaterThan(5)
    }
  })
})

describe('the provider key of the proxy', () => {
  it('ends the call if the key never arrives', async () => {
    const service = await fakeUpstream((_, response) => void response.end('{}'))
    const never = (): Promise<string> => new Promise(() => undefined)
    for (const apiKey of [never, { current: never, invalidate: () => undefined }]) {
      const { app, reports } = proxyTo({ ...upstreamOf(service), apiKey }, { firstByteTimeoutMs: 20 })
      expect((await app.request(path, chat())).status).toBe(504)
      expect(reports).toHaveLength(1)
    }
    expect(service.seen).toEqual([])
  })

  it('refreshes a rejected key once with a credential provider', async () => {
    for (const good of ['second-key-0123456789', 'none']) {
      const service = await fakeUpstream(({ headers }, response) => {
        const isGood = headers.authorization === `Bearer ${good}`
        response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' }).end('{}')
      })
      let current = 'first-key-0123456789'
      const invalidate = (): void => {
        current = 'second-key-0123456789'
      }
      const { app } = proxyTo({ ...upstreamOf(service), apiKey: { current: () => current, invalidate } })
      expect((await app.request(path, chat())).status).toBe(good === 'none' ? 401 : 200)
      expect(service.seen).toHaveLength(2)
    }
  })

  it('reads the key from the request on Workers and requires it', async () => {
    const service = await fakeUpstream((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
    const logged: unknown[] = []
    const { app } = proxyTo(
      { ...upstreamOf(service), apiKey: (c) => (c.env as { KEY: string }).KEY },
      { logger: { warn: (...line) => logged.push(line) } },
    )
    expect((await app.request(path, chat(), { KEY: 'from-the-environment' })).status).toBe(200)
    expect(service.seen[0]?.headers.authorization).toBe('Bearer from-the-environment')
    for (const KEY of [undefined, '', '  ']) expect((await app.request(path, chat(), { KEY })).status).toBe(500)
    expect(service.seen).toHaveLength(1)
    expect(JSON.stringify(logged)).toContain('upstreams.up.apiKey')
  })

  it.each(['sk-with-a-\n-line-break', '"sk-with-a-quote"', 'sk-with-a-line-break\n', 'sk-with-a-\u200b'])(
    'rejects %j from any source and never logs it',
    async (wrong) => {
      const service = await fakeUpstream((_, response) => void response.end())
      for (const apiKey of [() => wrong, async () => wrong, { current: () => wrong, invalidate: () => undefined }]) {
        const logged: unknown[] = []
        const { app } = proxyTo({ ...upstreamOf(service), apiKey }, { logger: { warn: (...line) => logged.push(line) } })
        const response = await app.request(path, chat())
        expect(response.status).toBe(500)
        expect(JSON.stringify(logged)).toContain('The key that upstreams.up.apiKey gave')
        expect((await response.text()) + JSON.stringify(logged)).not.toContain('sk-with-a')
      }
      expect(service.seen).toEqual([])
    },
  )

  it("overrides client headers with the server's key and configured headers", async () => {
    const service = await fakeUpstream((_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
    const { app } = proxyTo({
      api: 'anthropicMessages',
      baseUrl: service.url,
      headers: { 'Anthropic-Version': 'ours', 'x-team': 't' },
      passHeaders: ['Anthropic-Beta'],
    })
    const headers = {
      'anthropic-version': 'theirs',
      'anthropic-beta': 'b1',
      'x-team': 'u',
      'x-api-key': 'mine',
      authorization: 'Bearer mine',
    }
    expect((await app.request('/up/v1/messages', chat(undefined, { headers }))).status).toBe(200)
    expect(service.seen[0]?.headers).toMatchObject({
      'anthropic-version': 'ours',
      'anthropic-beta': 'b1',
      'x-team': 't',
      'x-api-key': secret,
    })
    expect(service.seen[0]?.headers.authorization).toBeUndefined()
  })
})
