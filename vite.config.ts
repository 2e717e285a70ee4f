import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative, resolve as resolvePath } from 'node:path'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import type { BrowserProviderOption } from 'vitest/node'
import { findChromium } from './scripts/browsers/chromium.ts'
import { type BrowserName, findBrowser } from './scripts/browsers/find.ts'
import { webDriverProvider } from './scripts/browsers/vitest-provider.ts'
import { nonceForDevStyles } from './scripts/nonce-for-dev-styles.ts'
import { LongFirst } from './test/harness/long-first.ts'
import { patient } from './test/support/patience.ts'
import { isSoak } from './test/support/runs.ts'

const all = {
  /** The fixture server, started once per project; tests read its address through test/harness/env.ts. */
  ...{ globalSetup: ['test/harness/global-setup.ts'], setupFiles: ['test/harness/setup.ts'] },
  // It ends a test that hangs. No test is late: a busy machine takes many times as long, and `npm run soak` tries many times as much.
  testTimeout: isSoak ? 3_600_000 : 300_000,
  hookTimeout: 300_000,
  // What is waited for comes late there too.
  expect: { poll: patient },
}

/** The package's own name leads to its source, as tsconfig.json says: tests of examples and of the code share one copy. */
const resolve = { tsconfigPaths: true }

/**
 * What packs the package, bundles it, installs from the registry, runs the suites of others, runs on another platform or backend what Node tries too,
 * or shows the comfort of the terminal: `npm run test:all` only. What only a Durable Object promises of its sessions stays in `npm test`.
 */
const ofPackage = [
  'test/package*.test.ts',
  'test/registry/**/*.test.ts',
  'test/size.test.ts',
  'test/site.test.ts',
  'test/late-chunks.test.ts',
  'test/tools/define-tool-refusals.test.ts',
  'test/testing/{stream-provider-suite,suites-find-faults}.test.ts',
  'test/providers/bedrock/suite.test.ts',
  'test/docs/compile.test.ts',
  'test/playground/{first-load,program}.test.ts',
  'test/examples/{migrate,runtimes}.test.ts',
  'test/adapters/cloudflare/{worker,deploy}.test.ts',
  'test/adapters/cloudflare/session/{stores,endpoint,example,handoff,import-kill,live-edge,three-clients}.test.ts',
  'test/adapters/node/cli/{clipboard-image,colours,files,first-day,forms,playground,served-page,typing,undo}.test.ts',
  'test/adapters/node/session/long-session-memory.test.ts',
  'test/adapters/postgres/{killed-ways,lost-replies,many-processes,postgres-live-sessions,postgres-live-ways,silent-database,stolen-leases,unwilling-database,written-by-hand}.test.ts',
  'test/client/durable-objects.test.ts',
  'test/conformance/conformance.test.ts',
  'test/examples/own-store-suite.test.ts',
  'test/scripts/mutants.test.ts',
  'test/adapters/mcp/conformance.test.ts',
  'test/adapters/mcp/server/conformance.test.ts',
]

const cores = availableParallelism()

const node = {
  resolve,
  test: {
    ...all,
    name: 'node',
    environment: 'node',
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**', 'test/harness/workerd.test.ts', ...ofPackage],
    // Files share a process, and what they import is compiled once in it: a test puts back what it changes of the process.
    isolate: false,
    // More than there are cores: half of the time of the long files is waiting, for programs that they have started, for leases and deadlines.
    maxWorkers: cores + Math.min(cores, 4),
    sequence: { groupOrder: 1 }, // vitest refuses to run projects of different numbers of workers together: this one comes after the others
  },
}

const packed = {
  ...node,
  test: { ...node.test, name: 'package', include: ofPackage, exclude: [], maxWorkers: '100%', sequence: { groupOrder: 2 } },
}

/** The shared suite inside the bare workerd binary; this project only reports what happens there. */
const workerd = { test: { ...all, name: 'workerd', environment: 'node', include: ['test/harness/workerd.test.ts'] } }

function dependencies(): string[] {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
  return Object.keys(manifest.dependencies)
}

const ofMcpTests = [...['client/index.js', 'client/auth.js', 'client/sse.js', 'client/streamableHttp.js', 'types.js', 'inMemory.js']].map(
  (path) => `@modelcontextprotocol/sdk/${path}`,
)

/** The runtime suite and what only browsers have, in one browser. */
function inBrowser(name: 'chromium' | BrowserName, provider: BrowserProviderOption) {
  // A browser that does not come up is started twice.
  const connectTimeout = 180_000
  const browser = { enabled: true, connectTimeout, headless: true, screenshotFailures: false, instances: [{ browser: name }], provider }
  // Known from the start: a dependency that vite discovers late reloads the page under a running test.
  const ofUseChat = ['@ai-sdk/react', 'ai', 'react', 'react/jsx-dev-runtime', 'react-dom/client']
  const ofBindings = ['vue', 'solid-js']
  // One page for all files of Chromium: most of the time of a new page is loading again what the last one had.
  const isolate = name !== 'chromium'
  const ofTraces = ['@opentelemetry/api', '@opentelemetry/sdk-trace-base']
  const optimizeDeps = {
    include: [...dependencies(), 'hono', ...ofUseChat, ...ofBindings, '@modelcontextprotocol/client', ...ofMcpTests, ...ofTraces],
  }
  return {
    resolve,
    optimizeDeps,
    test: { ...all, name, isolate, include: ['test/shared/**/*.test.ts', 'test/browser/**/*.test.ts'], browser },
  }
}

/** Absent where there is no Chromium: the other projects still run, and `--project chromium` fails. */
async function chromium() {
  try {
    const { launchOptions } = await findChromium()
    return [inBrowser('chromium', playwright({ launchOptions }))]
  } catch (error) {
    console.warn(error instanceof Error ? error.message : error)
    return []
  }
}

/** Absent where they are not installed, which the last lines of `npm test` say. */
function otherBrowsers() {
  const names: BrowserName[] = ['firefox', 'webkit']
  return names.flatMap((name) => {
    const start = findBrowser(name)
    return start === undefined ? [] : [inBrowser(name, webDriverProvider(start))]
  })
}

/** What the first picture needs: the scenarios, of which one can be picked while the rest is on its way. */
const openingFiles =
  /^(?:node_modules.(?:preact|@preact)\b|playground.src.(?:main|opening|layout.panes|state.layout|conversation.welcome|parts.icon|late.(?:load-failure|answer-parts|late-part|first-words|missing-part)|settings.settings-key|remote.endpoint|demo.(?:scenario|scenarios.\w+|files))\.tsx?$|playground.src.styles\b|playground.index\.html)/

const keptFiles = /^(?:src.session|adapters.browser.indexed-db|node_modules.idb|playground.src.state.backend.kept-here)\b/
const toolFiles = /^(?:src.(?:tools|workspace|agent.sub-agent)|playground.src.demo.(?:tools|naturalist))\b/

/**
 * What the playground needs for its first picture and its first answer, in three files instead of fifty, so that a browser asks for little at first,
 * and for the rest at once: the SDK, which stays in its cache when only the page changes, and the page. All else is a file of its own where it is imported late.
 */
const firstLoad = [
  {
    name: 'opening',
    tags: ['$initial' as const],
    priority: 2,
    test: (id: string) => openingFiles.test(fromRoot(id)),
  },
  {
    name: 'agent',
    tags: ['$initial' as const],
    priority: 1,
    test: (id: string) => /^(?:src|adapters)\b/.test(fromRoot(id)),
  },
  { name: 'page', tags: ['$initial' as const] },
  // Where conversations are kept; most of what is loaded later needs a part of it. And the tools.
  { name: 'kept', test: (id: string) => keptFiles.test(fromRoot(id)) },
  { name: 'tools', test: (id: string) => toolFiles.test(fromRoot(id)) },
]

function fromRoot(id: string): string {
  return relative(import.meta.dirname, id)
}

/** One file for both: the playground's build and preview, and the vitest projects, one per runtime that vitest can drive. */
export default defineConfig(async () => ({
  build: {
    ...{ outDir: '../dist-playground', emptyOutDir: true, target: 'es2023' },
    // `files.json` tells the service worker what there is to keep.
    manifest: 'files.json',
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // The second is what the first asks for when it has drawn its picture.
      input: ['playground/index.html', 'playground/src/start.tsx'].map((path) => resolvePath(import.meta.dirname, path)),
      output: { codeSplitting: { groups: firstLoad } },
    },
  },
  // Grammars are files of their own.
  worker: { format: 'es' as const },
  server: { host: '127.0.0.1' },
  // Of the playground only: two dev servers that share a cache delete each other's dependencies.
  ...(process.env.VITEST ? {} : { plugins: [nonceForDevStyles()], cacheDir: '../node_modules/.vite/playground' }),
  preview: { host: '127.0.0.1', port: 4173, strictPort: true },
  // The warnings of tests that let something fail are theirs, not news.
  test: process.env.VITEST
    ? {
        sequence: { sequencer: LongFirst },
        onConsoleLog: (log: string) => !log.startsWith('phi-core: '),
        projects: [node, packed, workerd, ...(await chromium()), ...otherBrowsers()],
      }
    : {},
}))
