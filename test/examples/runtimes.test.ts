import { type ChildProcess, execFile as execFileCallback, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { createServer } from 'vite'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { remoteRun } from '../../examples/recipes/servers/http-client.ts'
import { modelServer } from '../adapters/node/cli/model-server.ts'
import { baseUrl } from '../harness/env.ts'
import { serveWorker } from '../harness/workerd-serve.ts'

const token = 'a-test-token'
const execFile = promisify(execFileCallback)

/** Prompts the server at `url` as examples/recipes/servers/http-client.ts does; returns the text that arrived in deltas. */
async function streamedText(url: string, sent: string): Promise<string> {
  let text = ''
  for await (const event of remoteRun(url, 'Hi', sent)) {
    if (event.type === 'messageUpdate' && event.delta.type === 'text') text += event.delta.delta
    if (event.type === 'agentEnd') expect(event.status).toBe('completed')
  }
  return text
}

/** Starts an example that serves until it is killed; resolves with the address it prints. */
async function started(...command: [string, ...string[]]): Promise<string> {
  const [program, ...flags] = command
  const env = { ...process.env, PORT: '0', ACCESS_TOKEN: token }
  const child: ChildProcess = spawn(resolve('node_modules/.bin', program), flags, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${command.join(' ')} ended with ${code} before it listened.`)))
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended.catch(() => undefined)
  })
  const firstLine = new Promise<string>((done) => {
    if (child.stdout) createInterface({ input: child.stdout }).once('line', done)
  })
  return (await Promise.race([firstLine, ended])).replace(/\/runs$/, '')
}

const denoFlags = [
  '--config',
  'examples/deno/deno.json',
  '--no-check',
  '--unstable-no-legacy-abort',
  '--allow-net=127.0.0.1',
  '--allow-env',
]

describe('the session servers', () => {
  it.each<[answer: string, mount: string, command: [string, ...string[]]]>([
    ['Node', '', ['node', 'examples/node/sessions.ts']],
    ['Express', '/api', ['node', 'examples/node/express.ts']],
    ['Fastify', '/api', ['node', 'examples/node/fastify.ts']],
    ['Deno', '', ['deno', 'run', ...denoFlags, 'examples/deno/sessions.ts']],
    ['Bun', '', ['bun', 'examples/bun/sessions.ts']],
  ])('keeps the conversation between requests in %s', async (name, mount, command) => {
    const { port }: { port: number } = JSON.parse(await started(...command))
    const url = `http://127.0.0.1:${port}${mount}/sessions/s`
    for (let time = 0; time < 2; time++) expect(await streamedText(url, token)).toBe(`Hello from ${name}.`)
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    const { session }: { session: { loops: unknown[] } } = await answer.json()
    expect([session.loops.length, (await fetch(url)).status]).toEqual([2, 401])
  })
})

// One `serve` for all: Deno and Bun run Node's server.
it.each<[name: string, command: [string, ...string[]]]>([
  ['Deno', ['deno', 'run', ...denoFlags, 'examples/node/sessions.ts']],
  ['Bun', ['bun', 'examples/node/sessions.ts']],
])('streams from serve(app) in %s', async (_name, command) => {
  const { url }: { url: string } = JSON.parse(await started(...command))
  expect(await streamedText(`${url}/sessions/s`, token)).toBe('Hello from Node.')
  expect((await fetch(`${url}/sessions/s`)).status).toBe(401)
})

it('serves the page of each framework next to its endpoint', async () => {
  const { port }: { port: number } = JSON.parse(await started('node', 'examples/frameworks/serve.ts'))
  const at = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  for (const name of ['react', 'vue', 'svelte', 'solid']) {
    expect(await (await at(`/${name}/`)).text()).toMatch(new RegExp(`chat with ${name}`, 'i'))
  }
  expect(await (await at('/elements/')).text()).toContain('<phi-chat endpoint="/agent"')
  expect((await at('/phi-elements.js')).headers.get('content-type')).toBe('text/javascript')
  expect(await (await at('/agent/sessions/s/history')).json()).toMatchObject({ messages: [] })
})

it('requests approval from the useChat server, also through the dev server', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'phi-example-'))
  vi.stubEnv('SESSIONS', directory)
  const { url }: { url: string } = JSON.parse(await started('node', 'examples/use-chat/server.ts'))
  vi.stubEnv('PORT', new URL(url).port)
  const configFile = 'examples/use-chat/vite.config.ts'
  const page = await createServer({ configFile, root: 'examples/use-chat', optimizeDeps: { noDiscovery: true }, logLevel: 'warn' })
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    await page.close()
    rmSync(directory, { recursive: true })
  })
  await page.listen(0)
  const origin = new URL(page.resolvedUrls?.local[0] ?? '').origin
  const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'A coat?' }] }
  const body = JSON.stringify({ id: 'c1', messages: [message], trigger: 'submit-message' })
  const response = await fetch(`${origin}/chat`, { method: 'POST', headers: { 'content-type': 'application/json', origin }, body })
  expect(await response.text()).toContain('"type":"tool-approval-request"')
  expect(JSON.stringify(await (await fetch(`${origin}/chat/c1`)).json())).toContain('"text":"A coat?"')
})

describe('the examples of each runtime', () => {
  it.each<[name: string, command: [string, ...string[]]]>([
    ['Node', ['node', 'examples/first.ts']],
    ['Deno', ['deno', 'run', ...denoFlags, 'examples/first.ts']],
    ['Bun', ['bun', 'examples/first.ts']],
  ])("runs first.ts with the environment's API key in %s", async (_name, [program, ...flags]) => {
    const { env, asked } = await modelServer(({ attempt }) =>
      attempt === 1
        ? { text: [], calls: [{ id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } }] }
        : { text: ['Yes: ', 'it rains in Oslo.'] },
    )
    const { ANTHROPIC_API_KEY: _, PHI_MODEL: __, ...others } = process.env
    const { stdout } = await execFile(resolve('node_modules/.bin', program), flags, { env: { ...others, ...env } })
    expect(stdout).toBe('Yes: it rains in Oslo.')
    expect(JSON.stringify(asked[1])).toContain('Oslo: 4 °C, rain')
  })

  it('lists the missing variables in first.ts', async () => {
    const { PATH } = process.env
    const failed = execFile(resolve('node_modules/.bin/node'), ['examples/first.ts'], { env: { PATH } })
    await expect(failed).rejects.toThrow('Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY in the environment')
  })

  it('streams from node/server.ts and requires a token', async () => {
    vi.stubEnv('PORT', '0')
    vi.stubEnv('ACCESS_TOKEN', token)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { server } = await import('../../examples/node/server.ts')
    try {
      expect(await streamedText(server.url, token)).toBe('Hello from Node.')
      await expect(streamedText(server.url, 'wrong')).rejects.toThrow('401')
    } finally {
      await server[Symbol.asyncDispose]()
    }
  })

  it('continues the conversation on every run of node/remember.ts', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'phi-example-'))
    vi.stubEnv('SESSIONS', directory)
    const print = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    onTestFinished(() => {
      vi.unstubAllEnvs()
      print.mockRestore()
      rmSync(directory, { recursive: true })
    })
    for (let time = 0; time < 2; time++) {
      vi.resetModules()
      await import('../../examples/node/remember.ts')
    }
    expect(print.mock.calls.flat()).toEqual(['I have read 1 messages.', 'I have read 3 messages.'])
  })

  it('streams text from deno/server.ts', async () => {
    expect(await streamedText(await started('deno', 'run', ...denoFlags, 'examples/deno/server.ts'), token)).toBe('Hello from Deno.')
  })

  it('streams text from bun/server.ts', async () => {
    expect(await streamedText(await started('bun', 'examples/bun/server.ts'), token)).toBe('Hello from Bun.')
  })

  it('runs cloudflare/worker.ts in workerd without Node compatibility', async () => {
    const worker = await serveWorker(new URL('../../examples/cloudflare/worker.ts', import.meta.url), {
      ANTHROPIC_API_KEY: 'test-key',
      ANTHROPIC_BASE_URL: `${baseUrl()}/anthropic/text/${crypto.randomUUID()}`,
      ACCESS_TOKEN: token,
    })
    onTestFinished(worker.stop)
    expect(await streamedText(worker.url, token)).toBe('Hello, world.')
    await expect(streamedText(worker.url, 'wrong')).rejects.toThrow('401')
  })

  it('rejects every request to cloudflare/worker.ts without a configured token', async () => {
    const worker = await serveWorker(new URL('../../examples/cloudflare/worker.ts', import.meta.url), { ANTHROPIC_API_KEY: 'test-key' })
    onTestFinished(worker.stop)
    for (const sent of ['undefined', 'null', '']) await expect(streamedText(worker.url, sent)).rejects.toThrow('401')
  })
})
