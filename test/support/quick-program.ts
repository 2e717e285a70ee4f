import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll } from 'vitest'

const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" }

/** A program of Node as one file, which starts in a fifth of the time: for tests that start it again and again. Call it where hooks may be set; its path is there in tests. */
export function quickProgram(source: string): { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'phi-program-'))
  const path = join(folder, basename(source).replace(/\.ts$/, '.mjs'))
  beforeAll(() => build({ entryPoints: [source], outfile: path, bundle: true, platform: 'node', format: 'esm', banner, logLevel: 'error' }))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return { path }
}
