import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publicEntries } from './harness/public-entries.ts'

const folder = mkdtempSync(join(tmpdir(), 'phi-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const manifest: { devDependencies: Record<string, string>; peerDependencies: Record<string, string> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)

/** Runs a program of this repository's node_modules, or npm; returns what it printed. A failure shows it. */
function run(command: string, flags: string[], cwd = process.cwd()): string {
  try {
    return execFileSync(command, flags, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${command} ${flags.join(' ')}\n${stdout}\n${stderr}`)
  }
}

const local = (name: string): string => resolve('node_modules/.bin', name)

/** What is packed is what was built; this test does not build, because others read `dist` while it runs. */
function assertFreshBuild(): void {
  const changed = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const newest = Math.max(...globSync('{src,adapters}/**/*.ts').map(changed))
  if (changed('dist/src/index.js') < newest) throw new Error('dist is older than src or adapters. Run `npm run build` first.')
}

/** A stranger's program: every entry, and one agent that runs to its end. */
const program = `
import { Agent, defineTool } from 'phi-core'
import { scripted } from 'phi-core/providers/scripted'
for (const subpath of SUBPATHS) {
  const names = Object.keys(await import(subpath))
  if (names.length === 0) throw new Error(subpath + ' is empty')
  console.log(subpath + ': ' + names.length)
}
const add = defineTool({
  name: 'add', label: 'Add', description: 'Adds',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  execute: ({ a, b }) => String(a + b),
})
const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'It is 3.' }])
const run = new Agent({ model, systemPrompt: 'Add.', tools: [add] }).prompt('1 + 2')
console.log('answer: ' + await run.text())
`

describe('the package', () => {
  let tarball = ''

  beforeAll(() => {
    assertFreshBuild()
    const [packed]: { filename: string }[] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]))
    tarball = join(folder, packed?.filename ?? '')
  }, 120_000)

  it('passes publint', { timeout: 60_000 }, () => {
    expect(run(local('publint'), ['run', tarball, '--strict'])).toContain('All good')
  })

  it('gives every entry types that resolve', { timeout: 60_000 }, () => {
    // It ends with an error where a problem is; what it prints is a table of what it looked at.
    expect(run(local('attw'), [tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-emoji', '--no-color'])).toContain(
      'phi-core/tools',
    )
  })

  it('installs and works in an empty project', { timeout: 120_000 }, () => {
    const project = mkdtempSync(join(folder, 'project-'))
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }))
    const peers = Object.keys(manifest.peerDependencies).map((name) => `${name}@${manifest.devDependencies[name]}`)
    run(
      'npm',
      ['install', tarball, ...peers, '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
      project,
    )
    const subpaths = publicEntries().map((entry) => entry.subpath.replace('.', 'phi-core'))
    writeFileSync(join(project, 'program.js'), program.replace('SUBPATHS', JSON.stringify(subpaths)))
    expect(run(process.execPath, ['program.js'], project)).toContain('answer: It is 3.')
  })
})
