import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { otherNode } from './harness/other-node.ts'
import { installIn, type Packed, pack, run } from './harness/packed.ts'
import { publicEntries } from './harness/public-entries.ts'
import { serveWorker } from './harness/workerd-serve.ts'
import { limitTexts, sizeLimits } from './support/size-limits.ts'

/** Beside the one of these tests: the oldest that is promised, and the newest. */
const nodes = ['22.12.0', '26.10.0']

const folder = mkdtempSync(join(tmpdir(), 'phi-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const manifest: {
  version: string
  engines: { node: string }
  devDependencies: Record<string, string>
  peerDependencies: Record<string, string>
} = JSON.parse(readFileSync('package.json', 'utf8'))

/** A program of this repository's node_modules. */
const local = (name: string): string => resolve('node_modules/.bin', name)

const newestTypeScript = manifest.devDependencies.typescript ?? ''
/** The first one of the version that Getting started promises. */
const oldestTypeScript = `${/TypeScript (\d+\.\d+) or newer/.exec(readFileSync('docs/start/script.md', 'utf8'))?.[1]}.2`

/** The compiler of a version; one that this repository does not have is installed. */
function compilerOf(version: string): string {
  if (version === newestTypeScript) return local('tsc')
  const compiler = join(folder, `typescript-${version}`)
  if (!existsSync(compiler)) {
    mkdirSync(compiler)
    writeFileSync(join(compiler, 'package.json'), '{ "private": true }')
    run('npm', ['install', `typescript@${version}`, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], compiler)
  }
  return join(compiler, 'node_modules/.bin/tsc')
}

/** A stranger's agent, run to its end. */
const agentProgram = `
import { Agent, defineTool } from 'phi-core'
import { scripted } from 'phi-core/testing'
const add = defineTool({
  name: 'add', label: 'Add', description: 'Adds',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  execute: ({ a, b }) => String(a + b),
})
const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'It is 3.' }])
export const answer = () => new Agent({ model, systemPrompt: 'Add.', tools: [add] }).prompt('1 + 2').text()
`

/** Imports every entry, then runs the agent. */
const program = `
import { answer } from './agent.js'
for (const subpath of SUBPATHS) {
  const names = Object.keys(await import(subpath))
  if (names.length === 0) throw new Error(subpath + ' is empty')
  console.log(subpath + ': ' + names.length)
}
console.log('answer: ' + await answer())
`

const worker = `
import { answer } from './agent.js'
export default { fetch: async () => new Response('answer: ' + await answer()) }
`

describe('the package', () => {
  it('runs the tests on the oldest supported Node and on Node 24', () => {
    expect(nodes[0]).toBe(`${manifest.engines.node.replace('>=', '')}.0`)
    expect(process.versions.node).toMatch(/^24\./)
  })

  let packed: Packed = { tarball: '', files: [], size: 0 }

  beforeAll(() => {
    packed = pack(folder)
    console.log(`tarball: ${packed.files.length} files, ${(packed.size / 1000).toFixed(0)} kB`)
  })

  it(`contains built files without sources or source maps, at most ${limitTexts.unpacked}`, () => {
    const code = packed.files.filter((path) => path.startsWith('dist/') && path.endsWith('.js') && !path.startsWith('dist/playground/'))
    expect(code.length).toBeLessThanOrEqual(sizeLimits.scripts)
    const written = packed.files.filter((path) => !path.startsWith('examples/'))
    expect(written.filter((path) => /\.map$|(?<!\.d)\.ts$/.test(path))).toEqual([])
    const unpacked = packed.files.reduce((sum, path) => sum + statSync(path).size, 0)
    console.log(`unpacked: ${(unpacked / 1e6).toFixed(2)} MB`)
    expect(unpacked).toBeLessThanOrEqual(sizeLimits.unpacked)
  })

  it('excludes dev-server caches of the examples', () => {
    const cache = 'examples/browser/node_modules/.vite/deps'
    const wasThere = existsSync(cache)
    mkdirSync(cache, { recursive: true })
    const file = join(cache, 'package-test.js')
    writeFileSync(file, '')
    try {
      expect(pack(folder).files.filter((path) => path.includes('node_modules'))).toEqual([])
    } finally {
      rmSync(wasThere ? file : 'examples/browser/node_modules', { recursive: true })
    }
  })

  it('contains no broken relative link', () => {
    const pages = packed.files.filter((path) => path.endsWith('.md'))
    const dead = pages.flatMap((page) => {
      const text = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
      const links = Array.from(
        text.matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g),
        ([, link, image]) => (link ?? image ?? '').split('#')[0] ?? '',
      )
      return links.flatMap((link) => {
        if (link === '' || /^https?:/.test(link)) return []
        const target = join(dirname(page), link).replace(/\/$/, '')
        const isThere = packed.files.some((path) => path === target || path.startsWith(`${target}/`))
        return isThere ? [] : [`${page}: ${link}`]
      })
    })
    expect(pages.length).toBeGreaterThan(60)
    expect(dead).toEqual([])
  })

  it('contains no syntax newer than its oldest supported Node', async () => {
    const target = manifest.engines.node.replace('>=', 'node')
    // esbuild does not know that every Node has them.
    const supported = { 'regexp-unicode-property-escapes': true }
    const written = globSync('dist/**/*.js')
    expect(written.length).toBeGreaterThan(30)
    for (const path of written) {
      const code = readFileSync(path, 'utf8')
      const [lowered, same] = await Promise.all([transform(code, { target, supported }), transform(code, { target: 'esnext' })])
      expect(lowered.code === same.code, path).toBe(true)
    }
  })

  it('reports the required Node version in one line on an old Node', () => {
    const lowest = manifest.engines.node.replace('>=', '')
    const old = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: 'VERSION' } })"
    const [major, minor] = lowest.split('.').map(Number)
    for (const version of ['16.20.2', '20.20.2', `${major}.${(minor ?? 0) - 1}.0`]) {
      const preload = join(folder, 'old-node.cjs')
      writeFileSync(preload, old.replace('VERSION', version))
      const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', preload, 'dist/cli.js', '--version'], {
        encoding: 'utf8',
      })
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      expect(stderr.trimEnd().split('\n')).toEqual([expect.stringContaining(`needs Node ${lowest} or newer; this is Node ${version}`)])
    }
  })

  it('prints its version with phi --version', () => {
    const { stdout } = spawnSync(process.execPath, ['dist/cli.js', '--version'], { encoding: 'utf8' })
    expect(stdout.trim()).toBe(manifest.version)
  })

  it('parses the phi entry file on Node 16, without static imports', async () => {
    const code = readFileSync('dist/cli.js', 'utf8')
    const [lowered, same] = await Promise.all([transform(code, { target: 'node16' }), transform(code, { target: 'esnext' })])
    expect(lowered.code).toBe(same.code)
    expect(code).not.toMatch(/^import\b(?!\()/m)
  })

  it('passes publint', () => {
    expect(run(local('publint'), ['run', packed.tarball, '--strict'])).toContain('All good')
  })

  it('gives every entry types that resolve', () => {
    // It ends with an error where a problem is; what it prints is a table of what it looked at.
    expect(run(local('attw'), [packed.tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-emoji', '--no-color'])).toContain(
      'phi-core/tools',
    )
  })

  describe('installed in an empty project', () => {
    let project = ''

    beforeAll(() => {
      const peers = Object.keys(manifest.peerDependencies).map((name) => `${name}@${manifest.devDependencies[name]}`)
      project = installIn(folder, packed, peers)
      const subpaths = publicEntries().map((entry) => entry.subpath.replace('.', 'phi-core'))
      writeFileSync(join(project, 'agent.js'), agentProgram)
      writeFileSync(join(project, 'program.js'), program.replace('SUBPATHS', JSON.stringify(subpaths)))
      writeFileSync(join(project, 'worker.js'), worker)
    })

    const flags = { node: [], deno: ['run', '--node-modules-dir=manual', '--no-lock', '--allow-all'], bun: ['run'] }

    describe.each(nodes)('on Node %s', (version) => {
      it('runs a program and the phi command', (context) => {
        const node = otherNode(version)
        if (node === undefined) return context.skip(`Node ${version} cannot be installed`)
        expect(run(node, ['--version']).trim()).toBe(`v${version}`)
        expect(run(node, ['program.js'], project)).toContain('answer: It is 3.')
        const phi = join(project, 'node_modules/phi-core/dist/cli.js')
        expect(run(node, [phi, '--version']).trim()).toBe(manifest.version)
        expect(run(node, [phi, '--demo', '--yes'], project)).toContain('**4 of 4** checks pass.')
      })
    })

    it.each(['node', 'deno', 'bun'] as const)('runs a program in %s', (runtime) => {
      const command = runtime === 'node' ? process.execPath : local(runtime)
      expect(run(command, [...flags[runtime], 'program.js'], project)).toContain('answer: It is 3.')
    })

    it('installs the phi command', () => {
      const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
      const shown = execFileSync('npx', ['--no-install', 'phi', '--demo', '--yes'], {
        cwd: project,
        env,
        encoding: 'utf8',
        input: '',
        stdio: 'pipe',
      })
      expect(shown).toContain('**4 of 4** checks pass.')
    })

    it('runs bundled in workerd without Node compatibility', async () => {
      const served = await serveWorker(pathToFileURL(join(project, 'worker.js')), {})
      try {
        expect(await (await fetch(served.url)).text()).toBe('answer: It is 3.')
      } finally {
        await served.stop()
      }
    })

    it.each([
      ['nodenext', 'nodenext', newestTypeScript],
      ['esnext', 'bundler', newestTypeScript],
      ['nodenext', 'nodenext', oldestTypeScript],
    ])('type checks for module %s, resolution %s, with TypeScript %s', (module, moduleResolution, version) => {
      const names = publicEntries().map(({ subpath }) => subpath.replace('.', 'phi-core'))
      const source = [
        ...names.map((name, index) => `import * as entry${index} from '${name}'`),
        `export const all: object[] = [${names.map((_, index) => `entry${index}`).join(', ')}]`,
        'export const answer = (agent: entry0.Agent): Promise<string> => agent.prompt("1 + 2").text()',
      ].join('\n')
      writeFileSync(join(project, 'types.ts'), source)
      // What a new project has.
      const compilerOptions = {
        ...{ noEmit: true, strict: true, skipLibCheck: false, target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'] },
        ...{ types: [], module, moduleResolution },
      }
      writeFileSync(join(project, 'types.json'), JSON.stringify({ compilerOptions, files: ['types.ts'] }))
      run(compilerOf(version), ['-p', 'types.json'], project)
    })

    it('requires no browser types in a Node project', () => {
      const names = publicEntries().map(({ subpath }) => subpath.replace('.', 'phi-core'))
      writeFileSync(join(project, 'node.ts'), names.map((name, index) => `export * as entry${index} from '${name}'`).join('\n'))
      const roots = ['--typeRoots', resolve('node_modules/@types'), '--types', 'node']
      const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--lib', 'es2022', '--module', 'nodenext']
      const { stdout } = spawnSync(local('tsc'), [...options, ...roots, 'node.ts'], { cwd: project, encoding: 'utf8' })
      // Types of others, those of the MCP SDK among them, may lack some.
      expect(stdout.split('\n').filter((line) => line.includes('phi-core') || line.startsWith('node.ts'))).toEqual([])
    })
  })
})
