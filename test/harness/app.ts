/** A program as an application ships it: bundled from this package as it is published, and served to a browser over HTTP. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { type Browser, chromium } from 'playwright'
import { findChromium } from '../../scripts/browsers/chromium.ts'
import { anthropic } from './server/anthropic.ts'
import type { Turn } from './server/scenarios.ts'

/** The files of a program, and what the bundler knows about them. */
export interface App {
  /** The script a page begins with. */
  entry: string
  /** By name, ready to be served: gzip, as a server would. */
  files: ReadonlyMap<string, Buffer>
  /** gzip bytes of the entry and all it imports at once. */
  initial: number
  code: string
  metafile: Metafile
}

const conditions = { browser: ['browser', 'import', 'module'], workerd: ['workerd', 'worker', 'browser', 'import', 'module'] }

/** How `bundleApp` departs from what most applications do. */
export interface AppOptions {
  /** Default: `browser`. */
  runtime?: keyof typeof conditions
  external?: string[]
  /** Default: true. */
  splitting?: boolean
}

/** Bundles a program minified and split at dynamic imports, no Node built-in at hand. `phi-core` is what is in `dist`. */
export async function bundleApp(program: string, { runtime = 'browser', external = [], splitting = true }: AppOptions = {}): Promise<App> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: '.', sourcefile: 'entry.ts', loader: 'ts' },
    outdir: 'out',
    bundle: true,
    minify: true,
    splitting,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: conditions[runtime],
    chunkNames: '[name]-[hash]',
    external,
    logLevel: 'silent',
    tsconfigRaw: '{}', // without the paths that lead from `phi-core` to its sources
  })
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), gzipSync(contents)]))
  const entry = Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === 'entry.ts')?.[0] ?? ''
  const loaded = new Set([entry])
  for (const name of loaded) {
    for (const { kind, path, external: isExternal } of metafile.outputs[name]?.imports ?? []) {
      if (kind === 'import-statement' && !isExternal) loaded.add(path)
    }
  }
  const initial = [...loaded].reduce((sum, name) => sum + (files.get(basename(name))?.length ?? 0), 0)
  return { entry: basename(entry), files, initial, code: outputFiles.map((file) => file.text).join('\n'), metafile }
}

/** A served app, and what was asked of its server. */
export interface ServedApp {
  url: string
  /** Every script that was sent, in order. */
  scripts: { name: string; bytes: number }[]
  /** The bodies of all requests to the model. */
  prompts: string[]
  close(): Promise<void>
}

/** What a served model answers: a turn, or the status of a failure. */
export type ModelReply = Turn | { status: number; headers?: Record<string, string> }

/**
 * Serves `app` at `/`, and at `/model` a service that speaks Anthropic's protocol: the first request gets the first of `replies`, and so on;
 * the last one is repeated. A script of which `isMissing` says so answers 404, as after a new deployment.
 */
export async function serveApp(app: App, replies: readonly ModelReply[], isMissing = (_: string): boolean => false): Promise<ServedApp> {
  const scripts: ServedApp['scripts'] = []
  const prompts: string[] = []
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const name = basename(pathname)
    const file = app.files.get(name)
    if (pathname === '/') {
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><script type="module" src="/app/${app.entry}"></script>`)
    } else if (pathname.startsWith('/model/')) {
      let body = ''
      for await (const chunk of request) body += chunk
      prompts.push(body)
      const reply = replies[Math.min(prompts.length, replies.length) - 1] ?? { status: 500 }
      if ('status' in reply) response.writeHead(reply.status, reply.headers).end(anthropic.failure('refused'))
      else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(anthropic.frames(reply).join(''))
    } else if (file === undefined || isMissing(name)) {
      response.writeHead(404).end()
    } else {
      scripts.push({ name, bytes: file.length })
      response.writeHead(200, { 'content-type': 'text/javascript', 'content-encoding': 'gzip' }).end(file)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port, so it is no path
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, scripts, prompts, close }
}

/** A Chromium, or undefined, said aloud, where there is none. */
export async function launchChromium(): Promise<Browser | undefined> {
  try {
    return await chromium.launch((await findChromium()).launchOptions)
  } catch (error) {
    console.warn(`Nothing is measured in a browser: ${error instanceof Error ? error.message : error}`)
    return undefined
  }
}

/** Opens a served app and resolves with what its program put into `globalThis.outcome`, a promise. */
export async function outcomeOf(browser: Browser, { url }: ServedApp): Promise<unknown> {
  const page = await browser.newPage()
  try {
    await page.goto(url)
    return await page.evaluate('globalThis.outcome')
  } finally {
    await page.close()
  }
}
