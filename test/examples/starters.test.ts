import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { publicEntries } from '../harness/public-entries.ts'

// `npm run test:all` builds them and drives them in Chromium.
const programs = [
  'examples/starters/next/app/api/agent/[[...path]]/route.js',
  'examples/starters/next/proxy.js',
  'examples/starters/next/app/chat.jsx',
  'examples/starters/next/app/page.jsx',
  'examples/starters/next/app/layout.jsx',
]
const packageOf = (folder: string): { dependencies: Record<string, string> } => JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))

it('imports only the package and declared dependencies in the starters', () => {
  expect(
    globSync('examples/starters/**/*.{js,jsx}')
      .map((path) => path.replaceAll('\\', '/'))
      .toSorted(),
  ).toEqual(programs.toSorted())
  const entries = publicEntries().map(({ subpath }) => subpath.replace('.', 'phi-core'))
  const { dependencies } = packageOf('examples/starters/next')
  const imported = programs.flatMap((path) =>
    Array.from(readFileSync(path, 'utf8').matchAll(/ from '([^.'][^']*)'/g), ([, name = '']) => name),
  )
  const known = (name: string) =>
    name.startsWith('phi-core') ? entries.includes(name) : dependencies[name.split('/')[0] ?? ''] !== undefined
  expect(imported.length).toBeGreaterThan(8)
  expect(imported.filter((name) => !known(name))).toEqual([])
})

it('uses the tested versions in the Next.js starter', () => {
  const { 'phi-core': ours, ...others } = packageOf('examples/starters/next').dependencies
  expect(others).toEqual(packageOf('test/frameworks/next').dependencies)
  expect(`^${JSON.parse(readFileSync('package.json', 'utf8')).version}`).toBe(ours)
})
