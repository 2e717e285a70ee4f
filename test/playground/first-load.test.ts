import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'

/** What was measured, and a twentieth. Whoever goes over it imports something early that the first picture and the first answer do not need. */
const limits = { bytes: 173_000, files: 4 }

const folder = mkdtempSync(join(tmpdir(), 'phi-playground-'))

beforeAll(() => {
  // As a visitor gets it: not built for tests, although a test asks for it.
  const { VITEST: _ofTests, NODE_ENV: _mode, ...env } = process.env
  const build = ['node_modules/vite/bin/vite.js', 'build', 'playground', '-c', 'vite.config.ts', '--outDir', folder, '--logLevel', 'warn']
  execFileSync(process.execPath, build, { env, stdio: 'inherit' })
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('the playground is there after few files', () => {
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  const linked = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path = '']) => path)
  const sizes = ['index.html', ...linked].map((path) => ({ path, bytes: gzipSync(readFileSync(join(folder, path))).length }))
  const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0)
  console.log(`${bytes} bytes gzip: ${sizes.map((size) => `${size.path} ${size.bytes}`).join(', ')}`)
  expect.soft(bytes, 'gzip bytes of the first load').toBeLessThanOrEqual(limits.bytes)
  expect.soft(sizes.length, 'files of the first load').toBeLessThanOrEqual(limits.files)
})

it('what is linked imports nothing else at once, so that nothing is asked for in a second step', () => {
  const files: Record<string, { file: string; isEntry?: boolean; imports?: string[] }> = JSON.parse(
    readFileSync(join(folder, 'files.json'), 'utf8'),
  )
  const linked = readFileSync(join(folder, 'index.html'), 'utf8')
  const entry = Object.values(files).find(({ isEntry }) => isEntry)
  expect(entry?.imports?.length).toBeGreaterThan(0)
  for (const name of entry?.imports ?? []) expect(linked).toContain(files[name]?.file)
})
