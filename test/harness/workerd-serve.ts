import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** A Worker that listens. `stop` ends its process and removes its files. */
export interface ServedWorker {
  url: string
  stop(): Promise<void>
}

/**
 * Bundles `entry` and serves it with the bare workerd binary, Node compatibility off: no wrangler, no miniflare. `bindings` become text
 * bindings. An import of a Node built-in fails the bundle.
 */
export async function serveWorker(entry: URL, bindings: Record<string, string>): Promise<ServedWorker> {
  const folder = mkdtempSync(join(tmpdir(), 'phi-worker-'))
  try {
    await bundleForWorkerd(fileURLToPath(entry), join(folder, 'worker.js'))
    return await serveWorkerFile(join(folder, 'worker.js'), bindings)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Serves `script`, a module without imports. It may be removed once this has resolved. */
export async function serveWorkerFile(script: string, bindings: Record<string, string>): Promise<ServedWorker> {
  const folder = mkdtempSync(join(tmpdir(), 'phi-workerd-'))
  copyFileSync(script, join(folder, 'worker.js'))
  writeFileSync(join(folder, 'config.capnp'), workerdConfig(bindings))
  const { default: binary }: { default: string } = createRequire(import.meta.url)('workerd') // the package exports the path of its binary
  const child = spawn(binary, ['serve', join(folder, 'config.capnp'), '--control-fd=3'], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    return { url: `http://127.0.0.1:${await listeningPort(child)}`, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Bundles one entry the way wrangler would, without Node built-ins. `vitest` becomes the collector of the harness. */
export async function bundleForWorkerd(entry: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    target: 'es2023',
    // As wrangler does: of some packages there is a browser's version and none for Workers.
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser', 'import', 'module'],
    sourcemap: 'inline',
    logLevel: 'silent',
    ignoreAnnotations: true, // "sideEffects" would drop the bare imports of test files
    alias: { vitest: fileURLToPath(new URL('./mini-vitest.ts', import.meta.url)) },
  })
}

function workerdConfig(bindings: Record<string, string>): string {
  const texts = Object.entries(bindings).map(([name, value]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(value)})`)
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["public", "private"]))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-09-01",
  compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
  bindings = [${texts.join(', ')}]
);
`
}

export async function listeningPort(child: ChildProcess): Promise<number> {
  const control = child.stdio[3] as Readable // asked for as a pipe above
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`workerd exited with ${code} before it listened.`)))
  })
  const listening = (async () => {
    for await (const line of createInterface({ input: control })) {
      const message: { event: string; port?: number } = JSON.parse(line)
      if (message.event === 'listen' && message.port !== undefined) return message.port
    }
    throw new Error('workerd closed its control pipe before it listened.')
  })()
  return Promise.race([listening, failed])
}
