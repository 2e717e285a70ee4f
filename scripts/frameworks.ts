/**
 * `npm run test:frameworks`: `runResponse` as a route handler in production builds of Next.js, SvelteKit and React Router, with the package as it
 * is published. Each has a package file of its own under test/frameworks. Not part of `npm test`: what it installs is as much as everything else.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'

/** Where the routes of each are. */
const routes: Record<string, string> = { next: 'app/api', sveltekit: 'src/routes/api', 'react-router': 'app/routes' }
/** What the page of one shows before any script ran: what a server component kept in files, and what a client component made. */
const shown: Record<string, string[]> = { next: ['kept: s1', 'in the page: 0 messages'] }
/** What is for Node in a component of the page: the build must say which entry that is. */
const misplaced: Record<string, string> = { next: 'app/client.js' }
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) }

function run(cwd: string, ...[program = '', ...flags]: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, flags, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${flags.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`)
  return stdout
}

/** Throws unless the build fails, and names the entry. */
function checkMisplaced(cwd: string, component: string): void {
  const entry = 'phi-core/adapters/node'
  const program = `'use client'\nimport { fileSessionStore } from '${entry}'\nexport const Client = () => <p>{typeof fileSessionStore}</p>\n`
  writeFileSync(join(cwd, component), program)
  const { status, stdout, stderr } = spawnSync('npm', ['run', 'build'], { cwd, env, encoding: 'utf8' })
  const said = `${stdout}\n${stderr}`
  if (status === 0 || !said.includes(entry)) throw new Error(`The build of a page with ${entry} ended with ${status}:\n${said}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

function ask(url: string, prompt: string, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json', origin: new URL(url).origin }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify({ prompt }), ...(signal !== undefined && { signal }) })
}

/** The answer as text, until it holds `part`, or ends. */
async function readUntil(response: Response, part: string): Promise<string> {
  let text = ''
  if (response.body === null) return text
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece
    if (text.includes(part)) break
  }
  return text
}

/** Asks again until the answer holds `part`: a server that comes up, a run that hears that its client left. */
async function eventually(question: () => Promise<Response>, part: string): Promise<void> {
  let last: unknown
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    try {
      last = await (await question()).text()
      if (String(last).includes(part)) return
    } catch (error) {
      last = error
    }
    await new Promise((done) => setTimeout(done, 100))
  }
  throw new Error(`"${part}" did not come. Last: ${last}`)
}

/** What every framework must do with a run. */
async function check(url: string): Promise<void> {
  await eventually(() => ask(url, 'hi'), 'left 0')
  const response = await ask(url, 'wait')
  const type = response.headers.get('content-type')
  if (!type?.startsWith('text/event-stream')) throw new Error(`The answer is ${response.status} ${type}.`)
  const reading = response.clone()
  if (!(await readUntil(reading, 'one ')).includes('one ')) throw new Error('The first piece did not come before the second.')
  await (await ask(url, 'open')).text()
  if (!(await response.text()).includes('"completed"')) throw new Error('The run did not end.')
  const leaving = new AbortController()
  await readUntil((await ask(url, 'wait', leaving.signal)).clone(), 'one ')
  leaving.abort()
  await eventually(() => ask(url, 'hi'), 'left 1')
}

async function testFramework(name: string, route: string, packed: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), `phi-${name}-`))
  cpSync(resolve('test/frameworks', name), folder, { recursive: true })
  cpSync(resolve('test/frameworks/agent.js'), join(folder, route, 'agent.js'))
  try {
    run(folder, 'npm', 'ci', '--no-audit', '--no-fund')
    run(folder, 'npm', 'install', '--no-save', '--no-audit', '--no-fund', packed)
    run(folder, 'npm', 'run', 'build')
    const port = await freePort()
    // A process group of its own: npm does not pass signals on to what it started.
    const options = { cwd: folder, detached: true, stdio: ['ignore', 'ignore', 'inherit'] as const }
    const url = `http://127.0.0.1:${port}`
    const server = spawn('npm', ['run', 'start'], {
      ...options,
      stdio: [...options.stdio],
      env: { ...env, PORT: String(port), HOST: '127.0.0.1', ORIGIN: url },
    })
    try {
      await check(`${url}/api`)
      for (const part of shown[name] ?? []) await eventually(() => fetch(url), part)
      console.log(`${name}: streams piece by piece, hears that a client left, and shows ${(shown[name] ?? []).length} parts of its page`)
    } finally {
      if (server.pid !== undefined) process.kill(-server.pid, 'SIGKILL')
    }
    const component = misplaced[name]
    if (component !== undefined) checkMisplaced(folder, component)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const packages = mkdtempSync(join(tmpdir(), 'phi-packed-'))
try {
  const [file = ''] = run(resolve('.'), 'npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', packages)
    .trim()
    .split('\n')
    .slice(-1)
  const asked = process.argv.slice(2)
  for (const [name, route] of Object.entries(routes)) {
    if (asked.length === 0 || asked.includes(name)) await testFramework(name, route, join(packages, file))
  }
} finally {
  rmSync(packages, { recursive: true, force: true })
}
