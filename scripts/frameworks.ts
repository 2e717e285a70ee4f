/**
 * `npm run test:all -- --only frameworks`: `runResponse` as a route handler in production builds of Next.js, SvelteKit and React Router, with the package as it
 * is published, and the starter of Next.js with its page in Chromium. Each has a package file of its own under test/frameworks. Not part of
 * `npm test`: what it installs is as much as everything else.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { chromium, type Page } from 'playwright'
import { findChromium } from './browsers/chromium.ts'

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
  const entry = 'phi-core/node'
  const program = `'use client'\nimport { fileSessionStore } from '${entry}'\nexport const Client = () => <p>{typeof fileSessionStore}</p>\n`
  writeFileSync(join(cwd, component), program)
  const { status, stdout, stderr } = spawnSync('npm', ['run', 'build'], { cwd, env, encoding: 'utf8' })
  const output = `${stdout}\n${stderr}`
  if (status === 0 || !output.includes(entry)) throw new Error(`The build of a page with ${entry} ended with ${status}:\n${output}`)
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

/** A folder with these files, their packages and ours, for as long as `work` takes. */
async function inFolder(packed: string, files: Record<string, string>, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'phi-app-'))
  try {
    for (const [from, to] of Object.entries(files)) cpSync(resolve(from), join(folder, to), { recursive: true })
    run(folder, 'npm', 'ci', '--no-audit', '--no-fund')
    run(folder, 'npm', 'install', '--no-save', '--no-audit', '--no-fund', packed)
    run(folder, 'npm', 'run', 'build')
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts what was built, for as long as `work` takes. */
async function served(folder: string, work: (url: string) => Promise<void>): Promise<void> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  // A process group of its own: npm does not pass signals on to what it started.
  const server = spawn('npm', ['run', 'start'], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...env, PORT: String(port), HOST: '127.0.0.1', ORIGIN: url },
  })
  try {
    await work(url)
  } finally {
    if (server.pid !== undefined) process.kill(-server.pid, 'SIGKILL')
  }
}

async function testFramework(name: string, route: string, packed: string): Promise<void> {
  const files = { [`test/frameworks/${name}`]: '.', 'test/frameworks/agent.js': `${route}/agent.js` }
  await inFolder(packed, files, async (folder) => {
    await served(folder, async (url) => {
      await check(`${url}/api`)
      for (const part of shown[name] ?? []) await eventually(() => fetch(url), part)
      console.log(`${name}: streams piece by piece, hears that a client left, and shows ${(shown[name] ?? []).length} parts of its page`)
    })
    const component = misplaced[name]
    if (component !== undefined) checkMisplaced(folder, component)
  })
}

/** If `work` fails: what the page asked for, what it was answered, what it said and what it shows. */
async function withTrace(page: Page, work: () => Promise<void>): Promise<void> {
  const trace: string[] = []
  page.on('request', (request) => trace.push(`> ${request.method()} ${request.url()}`))
  page.on('response', (response) => trace.push(`< ${response.status()} ${response.url()}`))
  page.on('requestfailed', (request) => trace.push(`x ${request.url()} ${request.failure()?.errorText}`))
  page.on('console', (message) => trace.push(message.text()))
  page.on('pageerror', (error) => trace.push(String(error)))
  try {
    await work()
  } catch (error) {
    console.error(`${trace.join('\n')}\n${await page.content()}`)
    throw error
  }
}

/** The starter of Next.js: somebody asks in its page, and loads it again. */
async function testStarter(packed: string): Promise<void> {
  const needs = (path: string): Record<string, string> => JSON.parse(readFileSync(path, 'utf8')).dependencies
  const { 'phi-core': _, ...asked } = needs('examples/starters/next/package.json')
  if (!isDeepStrictEqual(asked, needs('test/frameworks/next/package.json'))) throw new Error('The starter and test/frameworks/next differ.')
  const files = {
    ...{ 'test/frameworks/next/package.json': 'package.json', 'test/frameworks/next/package-lock.json': 'package-lock.json' },
    ...{ 'examples/starters/next/app': 'app', 'examples/starters/next/proxy.js': 'proxy.js' },
  }
  await inFolder(packed, files, (folder) =>
    served(folder, async (url) => {
      await eventually(() => fetch(url), 'A chat')
      const browser = await chromium.launch((await findChromium()).launchOptions)
      try {
        const page = await browser.newPage()
        await withTrace(page, async () => {
          await page.goto(url)
          await page.getByRole('textbox', { name: 'Message' }).fill('Hello')
          await page.getByRole('button', { name: 'Send' }).click()
          await page.getByText('I am a scripted model.').waitFor({ timeout: 60_000 })
          await page.reload()
          await page.getByText('I am a scripted model.').waitFor({ timeout: 60_000 })
        })
        if ((await fetch(`${url}/api/agent/sessions`)).status !== 401) throw new Error('A stranger was let in.')
        console.log('starter of next: answers in its page, and has the conversation after a reload')
      } finally {
        await browser.close()
      }
    }),
  )
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
  if (asked.length === 0 || asked.includes('starter')) await testStarter(join(packages, file))
} finally {
  rmSync(packages, { recursive: true, force: true })
}
