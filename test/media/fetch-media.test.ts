import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/index.ts'
import type { FetchMediaOptions } from '../../src/media/fetch-media.ts'
import { fetchMedia, MediaError } from '../../src/models.ts'

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
const mimeType = 'image/png'
/** 200 MB in 200 kB. */
const bomb = gzipSync(new Uint8Array(200_000_000))
type Answer = (response: ServerResponse, request: IncomingMessage) => void

/** What each path answers. */
const answers: Record<string, Answer> = {
  '/a.png': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(png),
  '/untyped': (response) => response.writeHead(200).end(png),
  '/empty': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end(),
  '/gone': (response) => response.writeHead(404).end('no'),
  '/login': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Log in</html>'),
  '/liar': (response) => response.writeHead(200, { 'content-type': 'image/png' }).end('<html>Log in</html>'),
  '/declared': (response) => response.writeHead(200, { 'content-type': 'image/png', 'content-length': '99999999' }).write(png),
  '/bomb': (response) => response.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' }).end(bomb),
  '/once': (response) => response.writeHead(302, { location: '/a.png?secret=1' }).end(),
  '/round': (response) => response.writeHead(302, { location: '/round' }).end(),
  '/private': (response) => response.writeHead(302, { location: 'https://10.0.0.7/meta?token=s3cret' }).end(),
  '/metadata': (response) => response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  '/file': (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/elsewhere': (response) => response.writeHead(302, { location: 'https://elsewhere.example/a.png' }).end(),
  '/silent': () => undefined,
  '/half': (response) => response.writeHead(200, { 'content-type': 'image/png' }).write(png),
  '/endless': (response) => {
    response.writeHead(200, { 'content-type': 'image/png' })
    const more = (): void => {
      while (!response.destroyed && response.write(new Uint8Array(64 * 1024).fill(png[0] ?? 0))) endless += 64 * 1024
    }
    response.on('drain', more)
    more()
  },
}
let endless = 0
let closed: Promise<unknown>
const seen: IncomingMessage[] = []
const server = createServer((request, response) => {
  seen.push(request)
  closed = once(response, 'close')
  const answer = answers[(request.url ?? '').split('?', 1)[0] ?? '']
  if (answer === undefined) response.writeHead(500).end()
  else answer(response, request)
})
let host = ''
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  host = `127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
})
beforeEach(() => {
  seen.length = 0
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function ask(path: string, options: Partial<FetchMediaOptions> = {}, signal: AbortSignal = new AbortController().signal, type = mimeType) {
  const url = path.startsWith('/') ? `http://${host}${path}` : path
  return fetchMedia({ hosts: [host], ...options })({ url, mimeType: type, signal })
}
const refusal = async (asked: unknown) => {
  const error: unknown = await Promise.resolve(asked).then(
    () => undefined,
    (reason) => reason,
  )
  if (!MediaError.isInstance(error)) throw new Error(`no MediaError but ${String(error)}`)
  return error
}

describe('fetchMedia', () => {
  it('fetches from an allowed host and follows redirects between allowed hosts', async () => {
    expect(await ask('/a.png')).toEqual(png)
    expect(await ask('/untyped')).toEqual(png)
    expect(await ask('/once')).toEqual(png)
    expect(seen.map(({ url }) => url)).toEqual(['/a.png', '/untyped', '/once', '/a.png?secret=1'])
    expect(seen[0]?.headers).toMatchObject({ accept: 'image/png' })
    expect(seen[0]?.headers.cookie ?? seen[0]?.headers.referer ?? seen[0]?.headers.authorization).toBeUndefined()
  })

  it('rejects other hosts, private addresses, other protocols and URLs with passwords', async () => {
    const hosts = ['files.example.com', '*.cdn.example']
    const never: typeof fetch = async () => {
      throw new Error('was asked')
    }
    const urls = [
      ...[
        'https://other.example/a.png',
        'https://cdn.example/a.png',
        'https://files.example.com:8443/a.png',
        'https://files.example.com.evil.example/a',
      ],
      ...[
        'https://127.0.0.1/a',
        'https://localhost/a',
        'https://[::1]/a',
        'https://10.1.2.3/a',
        'https://169.254.169.254/a',
        'https://192.168.0.1/a',
      ],
      ...[
        'https://2130706433/a',
        'https://0x7f.1/a',
        'https://[::ffff:7f00:1]/a',
        'https://printer.local/a',
        'https://metadata.google.internal/a',
      ],
      ...[
        'http://files.example.com/a.png',
        'file:///etc/passwd',
        'data:image/png;base64,AAAA',
        'ftp://files.example.com/a',
        'blob:https://files.example.com/x',
      ],
      ...[
        'https://me:pass@files.example.com/a.png',
        'no address',
        '//files.example.com/a',
        `https://files.example.com/${'a'.repeat(9000)}`,
      ],
    ]
    for (const url of urls) {
      const error = await refusal(ask(url, { hosts, fetch: never }))
      expect([url.slice(0, 60), error.code]).toEqual([url.slice(0, 60), 'refused'])
      expect(error.message).not.toContain('pass@')
      expect(error.message.length).toBeLessThan(9000)
    }
    const reached: string[] = []
    const note: typeof fetch = async (input) => {
      reached.push(String(input))
      return new Response(png)
    }
    for (const url of ['https://files.example.com/a', 'https://a.cdn.example/a', 'https://FILES.example.com:443/b'])
      await ask(url, { hosts, fetch: note })
    expect(reached).toEqual(['https://files.example.com/a', 'https://a.cdn.example/a', 'https://files.example.com/b'])
  })

  it.each(['/private', '/metadata', '/file', '/elsewhere', '/round'])('refuses to follow %s', async (path) => {
    const error = await refusal(ask(path))
    expect(error.code).toBe('refused')
    expect(error.message).not.toContain('s3cret')
    expect(seen.length).toBe(path === '/round' ? 6 : 1)
  })

  it('reports a bad status, an empty body and a wrong type', async () => {
    expect((await refusal(ask('/gone'))).message).toContain('responded with 404')
    expect(await refusal(ask('/empty'))).toMatchObject({ code: 'unavailable', message: expect.stringContaining('is empty') })
    expect(await refusal(ask('/login'))).toMatchObject({ code: 'wrongType', message: expect.stringContaining('text/html') })
    expect(await refusal(ask('/liar'))).toMatchObject({ code: 'wrongType', message: expect.stringContaining('a document of text') })
    expect(await refusal(ask('/untyped', {}, undefined, 'application/pdf'))).toMatchObject({ code: 'wrongType' })
  })

  it('stops reading at maxBytes, whatever the declared length', async () => {
    expect(await refusal(ask('/declared'))).toMatchObject({ code: 'tooLarge', message: expect.stringContaining('99999999') })
    await closed
    expect(await refusal(ask('/bomb', { maxBytes: 1_000_000 }))).toMatchObject({ code: 'tooLarge' })
    endless = 0
    expect(await refusal(ask('/endless', { maxBytes: 1_000_000 }))).toMatchObject({
      code: 'tooLarge',
      message: expect.stringContaining('1000000'),
    })
    await closed
    expect(endless).toBeLessThan(30_000_000)
  })

  it('fails after timeoutMs and closes the connection', async () => {
    expect(await refusal(ask('/silent', { timeoutMs: 50 }))).toMatchObject({ code: 'timeout' })
    await closed
    expect(await refusal(ask('/half', { timeoutMs: 50 }))).toMatchObject({ code: 'timeout' })
    await closed
  })

  it('rejects with the reason of the abort signal', async () => {
    for (const path of ['/silent', '/half']) {
      const aborter = new AbortController()
      const asked = Promise.resolve(ask(path, {}, aborter.signal))
      const ended = asked.catch((reason) => reason)
      await Promise.race([once(server, 'request'), ended])
      aborter.abort('enough')
      expect(await ended).toBe('enough')
      await closed
    }
    expect(await Promise.resolve(ask('/a.png', {}, AbortSignal.abort('before'))).catch((reason) => reason)).toBe('before')
  })

  it('reports an unreachable host as unavailable', async () => {
    const free = createServer()
    await once(free.listen(0, '127.0.0.1'), 'listening')
    const port = (free.address() as AddressInfo).port // it listens on a port
    await new Promise((resolve) => free.close(resolve))
    expect(await refusal(ask(`http://127.0.0.1:${port}/a`, { hosts: [`127.0.0.1:${port}`] }))).toMatchObject({ code: 'unavailable' })
  })

  it('rejects a host list with an invalid entry', () => {
    for (const hosts of [['*'], ['*.com'], ['https://a.example'], ['a.example/path'], [''], ['a b'], ['me@a.example']])
      expect(() => fetchMedia({ hosts }), hosts[0]).toThrow(ConfigError)
  })
})
