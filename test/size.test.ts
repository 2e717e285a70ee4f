import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, bundleApp, launchChromium, outcomeOf, serveApp } from './harness/app.ts'
import { assertFreshBuild } from './harness/fresh-build.ts'
import { publicEntries } from './harness/public-entries.ts'
import type { Turn } from './harness/server/scenarios.ts'
import { serveWorkerFile } from './harness/workerd-serve.ts'
import { limitTexts, sizeLimits } from './support/size-limits.ts'

const kB = 1000

beforeAll(assertFreshBuild)

const ask = "import { ask } from './examples/hello.ts'\n"
/** The program of Getting started, in a page whose own server plays the model. */
const inPage = `${ask}globalThis.outcome = ask('What is 2 + 3?', { apiKey: 'test-key', baseUrl: location.origin + '/model' }, console.log)`
const inWorker = `${ask}export default {
  fetch: async (request, { BASE_URL }) => new Response(await ask('What is 2 + 3?', { apiKey: 'test-key', baseUrl: BASE_URL + '/model' }, console.log)),
}`
const replies: Turn[] = [
  { text: ['I add.'], calls: [{ id: 'call_1', name: 'add', arguments: { a: 2, b: 3 } }] },
  { text: ['The tool said: ', 'sum 5.'] },
]
const answer = 'The tool said: sum 5.'

describe('the Getting started program with one tool call', () => {
  let browser: Browser | undefined
  beforeAll(async () => {
    browser = await launchChromium()
  }, 60_000)
  afterAll(() => browser?.close())

  /** Runs the program in Chromium; what was loaded until the answer was there, not what was loaded before anything ran. */
  async function loadedBy(app: App): Promise<{ bytes: number; names: string[] } | undefined> {
    if (browser === undefined) return undefined
    const served = await serveApp(app, replies)
    try {
      expect(await outcomeOf(browser, served)).toBe(answer)
      expect(served.prompts).toHaveLength(replies.length)
      return { bytes: served.scripts.reduce((sum, { bytes }) => sum + bytes, 0), names: served.scripts.map(({ name }) => name) }
    } finally {
      await served.close()
    }
  }

  it(`loads at most ${limitTexts.loaded}, with gzip`, async (context) => {
    const loaded = await loadedBy(await bundleApp(inPage))
    if (loaded === undefined) return context.skip('no browser')
    console.log(`really loaded in Chromium: ${loaded.bytes} bytes gzip in ${loaded.names.length} scripts: ${loaded.names.join(', ')}`)
    expect.soft(loaded.bytes, 'gzip bytes really loaded').toBeLessThanOrEqual(sizeLimits.loaded)
    expect.soft(loaded.names.length, `scripts really loaded: ${loaded.names.join(', ')}`).toBeLessThanOrEqual(sizeLimits.requests)
  })

  it(`is at most ${limitTexts.oneFile} gzip as a single file`, async () => {
    const app = await bundleApp(inPage, { splitting: false })
    console.log(`in one file: ${app.initial} bytes gzip`)
    expect([...app.files.keys()]).toEqual([app.entry])
    await loadedBy(app)
    expect(app.initial).toBeLessThanOrEqual(sizeLimits.oneFile)
  })

  it('runs in workerd without Node compatibility', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'phi-size-'))
    const app = await bundleApp(inWorker, { runtime: 'workerd', splitting: false })
    writeFileSync(join(folder, 'worker.js'), app.code)
    const model = await serveApp(app, replies)
    const worker = await serveWorkerFile(join(folder, 'worker.js'), { BASE_URL: model.url })
    try {
      expect(await (await fetch(worker.url)).text()).toBe(answer)
    } finally {
      await Promise.all([worker.stop(), model.close()])
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('initial download size', () => {
  const agent = "import { Agent } from 'phi-core'\nconsole.log(Agent)\n"
  const factories = {
    anthropic: ['anthropic'],
    openai: ['openai', 'openaiResponses', 'azure'],
    google: ['google', 'vertex'],
    bedrock: ['bedrock'],
  }

  it('prints the size of Agent alone and with each provider', async () => {
    const alone = await bundleApp(agent)
    console.log(`Agent: ${alone.initial} bytes gzip`)
    const pairs = Object.entries(factories).flatMap(([entry, names]) => names.map((factory) => [entry, factory]))
    for (const [entry, factory] of pairs) {
      const whole = await bundleApp(`${agent}import { ${factory} } from 'phi-core/providers/${entry}'\nconsole.log(${factory})`)
      console.log(`Agent with ${factory}: ${whole.initial} bytes gzip, ${whole.initial - alone.initial} for the provider`)
      expect(whole.initial).toBeGreaterThan(alone.initial)
    }
  })
})

describe('the bindings', () => {
  const store = "import { createStore } from 'phi-core/store'\nconsole.log(createStore)\n"
  const frameworks = { external: ['react', 'vue', 'solid-js'], splitting: false }

  it.each(['react', 'vue', 'svelte', 'solid'])('adds at most 3 kB gzip to the store: %s', async (name) => {
    const [alone, both] = await Promise.all([
      bundleApp(store, frameworks),
      bundleApp(`${store}import { useAgent } from 'phi-core/${name}'\nconsole.log(useAgent)`, frameworks),
    ])
    console.log(`phi-core/${name}: ${both.initial - alone.initial} bytes gzip beside the store`)
    expect(both.initial - alone.initial).toBeLessThanOrEqual(3 * kB)
  })
})

/** Peers decide for themselves whether to generate code (zod probes and goes without), and ajv exists to generate it. */
const peers = ['zod', 'ajv', 'hono', 'cloudflare:*', 'react', 'vue', 'solid-js']

/** `Function(…)` and `eval(…)`, but not a method of that name, called or declared. */
const codeGeneration = /.{0,40}(?<![.\w$])(?:Function|(?<!})eval)\(.{0,40}/g

describe('entries that do not require Node', () => {
  const subpaths = publicEntries().flatMap(({ subpath, isOfNode }) => (isOfNode ? [] : [subpath.replace('.', 'phi-core')]))
  const program = subpaths.map((name, index) => `export * as entry${index} from '${name}'`).join('\n')

  it.each(['browser', 'workerd'] as const)('bundles every entry for %s without Node modules or eval', async (runtime) => {
    expect(subpaths.length).toBeGreaterThan(20)
    const { initial, metafile, code } = await bundleApp(program, { runtime, external: peers })
    console.log(`${subpaths.length} entries for ${runtime}: ${initial} bytes gzip`)
    const ofNode = Object.entries(metafile.inputs).flatMap(([file, { imports }]) =>
      imports.filter(({ path, external }) => external && path.startsWith('node:')).map(({ path }) => `${file} imports ${path}`),
    )
    expect(ofNode).toEqual([])
    expect(code.match(codeGeneration) ?? []).toEqual([])
  })
})

it('detects code generation', () => {
  for (const code of ['new Function("a")', 'x=Function(a)', 'eval(a)', '(0,eval)(a);eval(b)'])
    expect(code.match(codeGeneration), code).not.toBeNull()
  expect('a.eval(b);class C{x(){}eval(a){}}isFunction(a)'.match(codeGeneration)).toBeNull()
})

it('rejects bundling a Node built-in', async () => {
  await expect(bundleApp("import 'node:fs'")).rejects.toThrow(/node:fs/)
})

/** What one small name of an entry costs beside itself: what a bundler cannot leave out. */
describe('the minimum size of an entry', () => {
  it.each([
    ['phi-core', 'userMessage', 14],
    ['phi-core', 'defineTool', 17],
    ['phi-core/store', 'createStore', 23],
    ['phi-core/client', 'remoteSession', 43],
    ['phi-core/env', 'keyFromEnv', 22],
    ['phi-core/providers/anthropic', 'anthropicTools', 15],
  ])('bundles from %s only %s in at most %i kB gzip', async (entry, name, limit) => {
    const { initial } = await bundleApp(`import { ${name} } from '${entry}'\nconsole.log(${name})`)
    console.log(`${entry} ${name}: ${initial} bytes gzip`)
    expect(initial).toBeLessThanOrEqual(limit * kB)
  })
})
