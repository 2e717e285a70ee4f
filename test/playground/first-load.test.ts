import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'

/** A little above what was measured. Whoever goes over it imports something early that the first picture, or the first answer, does not need. */
const limits = { opening: { bytes: 24_000, files: 3 }, start: { bytes: 125_600, files: 2 } }

const folder = mkdtempSync(join(tmpdir(), 'phi-playground-'))

beforeAll(() => {
  // As a visitor gets it: not built for tests, although a test asks for it.
  const { VITEST: _ofTests, NODE_ENV: _mode, ...env } = process.env
  const build = ['node_modules/vite/bin/vite.js', 'build', 'playground', '-c', 'vite.config.ts', '--outDir', folder, '--logLevel', 'warn']
  execFileSync(process.execPath, build, { env, stdio: 'inherit' })
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface BuiltFile {
  file: string
  imports?: string[]
}

const read = (path: string) => readFileSync(join(folder, path))
const files = (): Record<string, BuiltFile> => JSON.parse(String(read('files.json')))
/** What the page asks for before anything runs. */
const linked = () => [...String(read('index.html')).matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path = '']) => path)
const sizesOf = (paths: readonly string[]) => paths.map((path) => ({ path, bytes: gzipSync(read(path)).length }))

function check(name: string, paths: readonly string[], limit: { bytes: number; files: number }): void {
  const sizes = sizesOf(paths)
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0)
  console.log(`${name}: ${bytes} bytes gzip: ${sizes.map((size) => `${size.path} ${size.bytes}`).join(', ')}`)
  expect.soft(bytes, `gzip bytes of ${name}`).toBeLessThanOrEqual(limit.bytes)
  expect.soft(sizes.length, `files of ${name}`).toBeLessThanOrEqual(limit.files)
}

it('shows the scenarios after a small download', () => {
  check('the opening', ['index.html', ...linked()], limits.opening)
  expect(files()['index.html']?.imports).toBe(undefined)
})

it('loads the start in few files without a second round trip', () => {
  const known = files()
  const start = known['src/start.tsx']
  const imported = (start?.imports ?? []).filter((name) => name !== 'index.html')
  const paths = [start, ...imported.map((name) => known[name])].map((built) => built?.file ?? '')
  check('the start', paths, limits.start)
  for (const name of imported) expect((known[name]?.imports ?? []).filter((other) => other !== 'index.html')).toEqual([])
})
