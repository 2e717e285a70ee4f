import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { beforeAll } from 'vitest'

const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" }

/**
 * Bundles a program of Node into one file and returns its path. One file starts in a fifth of the time. Programs with the same content share a file and
 * the code that Node compiled of it; both go when the run of tests ends.
 */
export async function bundledProgram(source: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [source],
    ...{ bundle: true, write: false, platform: 'node', format: 'esm', banner, logLevel: 'error' },
  })
  const [file] = outputFiles
  if (file === undefined) throw new Error(`esbuild wrote no file for ${source}. Give it one entry point.`)
  const folder = join(process.env.NODE_COMPILE_CACHE ?? tmpdir(), 'programs', createHash('sha256').update(file.contents).digest('hex'))
  const path = join(folder, basename(source).replace(/\.ts$/, '.mjs'))
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  // Another file of tests may write the same one.
  const unfinished = `${path}.${process.pid}`
  writeFileSync(unfinished, file.contents)
  renameSync(unfinished, path)
  return path
}

/** Bundles a program before the tests of a file, as `bundledProgram` does. Call it where hooks may be set; its path is there in tests. */
export function quickProgram(source: string): { readonly path: string } {
  let bundled: string | undefined
  beforeAll(async () => {
    bundled = await bundledProgram(source)
  })
  return {
    get path() {
      if (bundled === undefined) throw new Error(`${source} is bundled by a hook. Read its path in hooks and tests.`)
      return bundled
    },
  }
}
