import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import { rollup } from '@rollup/wasm-node'
import { build as esbuild } from 'esbuild'
import { createLogger, build as vite } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import webpack from 'webpack'
import { blocksOf } from './docs/snippets.ts'
import { installIn, pack } from './harness/packed.ts'
import { publicEntries } from './harness/public-entries.ts'

/** A program, and the folder it is bundled into. */
interface Program {
  project: string
  file: string
  folder: string
}

/** Each bundles for Node, and returns what the bundler warned of. */
const bundlers: Record<string, (program: Program) => Promise<string[]>> = {
  async esbuild({ project, file, folder }) {
    const options = { bundle: true, splitting: true, format: 'esm', platform: 'node', logLevel: 'silent', absWorkingDir: project } as const
    const { warnings } = await esbuild({ ...options, entryPoints: [file], outdir: folder })
    return warnings.map(({ text, location }) => `${text} (${location?.file}:${location?.line})`)
  },
  async vite({ project, file, folder }) {
    const warnings: string[] = []
    const warn = (message: string) => void warnings.push(message)
    const customLogger = { ...createLogger('silent'), info: () => undefined, warn, warnOnce: warn, error: warn }
    const build = {
      ssr: file,
      outDir: folder,
      emptyOutDir: true,
      target: 'node22',
      rolldownOptions: { onwarn: ({ message = '' }) => warn(message) },
    }
    await vite({ root: project, configFile: false, customLogger, build, ssr: { noExternal: true } })
    return warnings
  },
  async rollup({ file, folder }) {
    const warnings: string[] = []
    const external = [...builtinModules, /^node:/]
    const onwarn = ({ message }: { message: string }) => void warnings.push(message)
    const bundle = await rollup({ input: file, external, plugins: [nodeResolve({ preferBuiltins: true })], onwarn })
    await bundle.write({ dir: folder, format: 'esm' })
    await bundle.close()
    return warnings
  },
  async webpack({ project, file, folder }) {
    const compiler = webpack({
      ...{ mode: 'production', context: project, entry: { main: file }, target: 'node22.12', optimization: { minimize: false } },
      experiments: { outputModule: true },
      output: { path: folder, module: true, library: { type: 'module' }, filename: '[name].js' },
    })
    const stats = await new Promise<webpack.Stats | undefined>((done, failed) => {
      compiler.run((error, found) => compiler.close((closing) => (error || closing ? failed(error ?? closing) : done(found))))
    })
    const { errors = [], warnings = [] } = stats?.toJson({ all: false, errors: true, warnings: true }) ?? {}
    return [...errors, ...warnings].map(({ message }) => message)
  },
  async bun({ project, file, folder }) {
    const flags = ['build', file, '--target=node', '--splitting', `--outdir=${folder}`]
    const { status, stderr } = spawnSync(resolve('node_modules/.bin/bun'), flags, { cwd: project, encoding: 'utf8' })
    return status === 0 && stderr === '' ? [] : [stderr]
  },
}

const temporary = mkdtempSync(join(tmpdir(), 'phi-warnings-'))
let project = ''
beforeAll(() => {
  project = installIn(temporary, pack(temporary))
  // As a workspace or `npm link` has it: bundlers are silent about what lies in node_modules.
  mkdirSync(join(project, 'packages'))
  renameSync(join(project, 'node_modules/phi-core'), join(project, 'packages/phi-core'))
  symlinkSync('../packages/phi-core', join(project, 'node_modules/phi-core'), 'dir')

  copyFileSync('examples/first.ts', join(project, 'main.js'))
}, 120_000)
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

it('bundles the exact program of the README', () => {
  const [first] = blocksOf(readFileSync('README.md', 'utf8'))
  expect(readFileSync(join(project, 'main.js'), 'utf8').trim()).toBe(first?.code.trim())
})

it('bundles every entry with esbuild without warnings', async () => {
  const { peerDependencies }: { peerDependencies: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
  const external = [...Object.keys(peerDependencies), 'cloudflare:workers']
  const imports = publicEntries().map(({ subpath }, at) => `export * as entry${at} from '${subpath.replace('.', 'phi-core')}'`)
  const stdin = { contents: imports.join('\n'), resolveDir: project }
  const options = { bundle: true, format: 'esm', platform: 'node', write: false, logLevel: 'silent' } as const
  const { warnings } = await esbuild({ ...options, stdin, external, absWorkingDir: project })
  expect(warnings.map(({ text }) => text)).toEqual([])
})

describe.each(Object.entries(bundlers))('%s', (_name, warningsOf) => {
  const bundle = (file: string) => warningsOf({ project, file: join(project, file), folder: mkdtempSync(join(temporary, 'bundle-')) })

  it('bundles the README program without warnings', async () => {
    expect(await bundle('main.js')).toEqual([])
  })
})
