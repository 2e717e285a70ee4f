import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { directory, environment, piped, program } from './command.ts'
import { modelServer } from './model-server.ts'
import { placeOf } from './served-place.ts'
import { inTerminal, pty } from './terminal.ts'

const args = ['--model', 'openai/test', '--no-sandbox']

/** `phi serve`, and the link that it prints. */
async function served(shared: { env: Record<string, string>; cwd: string }, command = 'serve') {
  const child = spawn(process.execPath, [program, command, ...args], { ...shared, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const link = await new Promise<string>((resolve) => child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())))
  return { child, ...placeOf(link) }
}

/** What a client gets that says it accepts these encodings, byte for byte. */
async function sentFor(url: string, accepted: string | undefined) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: accepted === undefined ? {} : { 'accept-encoding': accepted } }, resolve).on('error', reject)
  })
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
}

describe('phi serve', () => {
  it('serves its page without a token but sessions only with the token', async () => {
    const shared = { env: environment((await modelServer(({ attempt }) => ({ text: [`Answer ${attempt}.`] }))).env), cwd: directory() }
    await piped([...args, '-p', 'said in a terminal'], shared)
    const { child, origin, token } = await served(shared)
    const page = await fetch(origin)
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'.*connect-src 'self';.*frame-ancestors 'none'/)
    expect(await page.text()).toContain('<meta name="phi-endpoint" content="/agent" />')
    for (const path of ['/assets/../index.html', '/assets/%2e%2e/%2e%2e/cli.js', '/assets/', '/files.json', '/offline.js'])
      expect((await fetch(`${origin}${path}`)).status, path).toBe(404)
    for (const path of ['/agent//', '/agent//sessions', '/agent//evil.test:99999/about', '/agent//evil.test/about'])
      expect((await fetch(`${origin}${path}`)).status, path).toBe(404)
    expect((await fetch(`${origin}/agent/about`)).status).toBe(401)
    expect((await fetch(`${origin}/agent/sessions`)).status).toBe(401)
    expect((await fetch(`${origin}/agent/sessions`, { headers: { authorization: `Bearer ${token.slice(1)}x` } })).status).toBe(401)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const { sessions }: { sessions: { sessionId: string; title: string }[] } = await (
      await fetch(`${origin}/agent/sessions`, { headers })
    ).json()
    expect(sessions.map(({ title }) => title)).toEqual(['said in a terminal'])
    const prompted = await fetch(`${origin}/agent/sessions/${sessions[0]?.sessionId}/send`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ prompt: 'said in a page' }),
    })
    expect(await prompted.text()).toContain('Answer 2.')
    expect((await fetch(`${origin}/agent/sessions`, { headers: { ...headers, origin: 'https://evil.test' } })).status).toBe(403)
    const ended = new Promise((done) => child.on('exit', done))
    child.kill('SIGTERM')
    expect(await ended).toBe(143)
    const back = await piped([...args, '--resume', sessions[0]?.sessionId ?? '', '-p', 'and again in a terminal'], shared)
    expect(back.stdout).toBe('Answer 3.\n')
  })

  it('compresses assets with gzip only for clients that accept it', async () => {
    const { origin } = await served({ env: environment((await modelServer(() => ({ text: [] }))).env), cwd: directory() })
    const path = /src="(\/assets\/[^"]+\.js)"/.exec(await (await fetch(origin)).text())?.[1]
    const plain = gunzipSync(readFileSync(`dist/playground${path}.gz`))
    const withGzip = ['gzip', 'br, deflate, GZIP;q=0.5', 'x-gzip', '*', 'br;q=0, *;q=0.1']
    const without = [undefined, '', 'identity', 'br', 'gzip;q=0', '*;q=1, gzip; q=0.0', '*;q=0', 'gzip;q=x', 'gzipped']
    for (const accepted of [...withGzip, ...without]) {
      const { headers, body } = await sentFor(`${origin}${path}`, accepted)
      const encoding = withGzip.some((each) => each === accepted) ? 'gzip' : undefined
      expect(headers['content-encoding'], accepted).toBe(encoding)
      expect(headers).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        vary: 'accept-encoding',
        'cache-control': 'no-store',
      })
      expect((encoding === undefined ? body : gunzipSync(body)).equals(plain), accepted).toBe(true)
    }
    expect((await sentFor(`${origin}${path}.gz`, 'gzip')).status).toBe(404)
  })

  it('opens the last session, but none that another phi process has open', async () => {
    const shared = { env: environment((await modelServer(() => ({ text: ['Here.'] }))).env), cwd: directory() }
    const nothing = await piped(['open', ...args], shared)
    expect(nothing).toMatchObject({ code: 2, stdout: '' })
    expect(nothing.stderr).toContain('This directory has no session to resume.')
    await piped([...args, '-p', 'said in a terminal'], shared)
    const { origin, token, session } = await served(shared, 'open')
    const headers = { authorization: `Bearer ${token}` }
    const read = await (await fetch(`${origin}/agent/sessions/${session}`, { headers })).text()
    expect(read).toContain('said in a terminal')
    const second = await piped(['open', ...args], shared)
    expect(second.code).toBe(2)
    expect(second.stderr).toMatch(/is open in another phi, process \d+\. Run \/open there/)
  })
})

describe('phi models and phi doctor', () => {
  it('lists available models, including local servers, without printing keys', async () => {
    const server = createServer((_request, response) => void response.end(JSON.stringify({ data: [{ id: 'llama-test' }] })))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const env = environment({
      ANTHROPIC_API_KEY: 'sk-secret-1',
      OLLAMA_BASE_URL: `http://127.0.0.1:${port}/v1`,
      HTTPS_PROXY: 'http://user:pass@proxy.test',
    })
    const models = await piped(['models'], { env })
    expect(models.stdout).toMatch(/^ollama\/llama-test +local/m)
    expect(models.stdout).toMatch(/^anthropic\/claude-sonnet-4-6 +1\.0M tokens, \$3 in, \$15 out/m)
    expect((await piped(['models', 'sonnet-4-6'], { env })).stdout.trim().split('\n')).toHaveLength(1)
    const { code, stderr } = await piped(['doctor'], { env })
    expect(code).toBe(0)
    expect(stderr).toContain('ANTHROPIC_API_KEY is set')
    expect(stderr).toContain('such as ollama/llama-test')
    expect(stderr).toContain('HTTPS_PROXY set')
    expect(stderr).not.toMatch(/sk-secret|user:pass/)
    expect((await piped(['doctor'])).code).toBe(1)
    expect((await piped(['serve', '--port', 'x'])).stderr).toContain('--port is "x"; it must be a number.')
  })

  it.skipIf(pty === undefined)('selects a model by its number', async () => {
    const phi = inTerminal(args, { env: environment({ OPENAI_API_KEY: 'k', OLLAMA_BASE_URL: 'http://127.0.0.1:9/v1' }), cwd: directory() })
    await phi.shows('› ')
    phi.type('/models gpt-4.1\r')
    await phi.shows(/ {3}1 {2}openai\/gpt-4\.1 +1\.0M/)
    phi.type('/model 2\r')
    await phi.shows(/openai\/gpt-4\.1-mini, 1\.0M tokens of context/)
    phi.type('/model gpt\r')
    await phi.shows(/\d+ model names contain "gpt"/)
  })
})
