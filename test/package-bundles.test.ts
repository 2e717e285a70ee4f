import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import { rollup } from '@rollup/wasm-node'
import { build } from 'esbuild'
import { build as vite } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import webpack from 'webpack'
import { installIn, type Packed, pack, run } from './harness/packed.ts'
import { publicEntries } from './harness/public-entries.ts'

/** The packages beside the package's own dependencies without which an entry does not bundle. An entry that is not named needs none. */
const needed: Record<string, string[]> = {
  './config': ['zod'],
  './http': ['hono'],
  './cloudflare': ['hono', 'cloudflare:workers'],
  './mcp': ['@modelcontextprotocol/sdk'],
  './mcp/server': ['@modelcontextprotocol/sdk'],
  './otel': ['@opentelemetry/api'],
  './react': ['react'],
  './vue': ['vue'],
  './solid': ['solid-js'],
  './node/config': ['zod', '@modelcontextprotocol/sdk'],
  './mcp/node': ['@modelcontextprotocol/sdk'],
}

/** What a project bundles. */
interface Bundle {
  /** Where phi-core is installed, without any optional peer. */
  project: string
  /** Name of the bundle and the file it begins with. */
  input: Record<string, string>
  folder: string
  isForNode: boolean
  external: string[]
}

const isOf = (packages: readonly string[], path: string): boolean => packages.some((name) => path === name || path.startsWith(`${name}/`))

/** Each rejects where anything is not found, and where the bundler warns. */
const bundlers: Record<string, (bundle: Bundle) => Promise<void>> = {
  async esbuild({ project, input, folder, isForNode, external }) {
    const platform = isForNode ? 'node' : 'browser'
    const options = { bundle: true, splitting: true, format: 'esm', logLevel: 'silent', absWorkingDir: project } as const
    const { warnings } = await build({ ...options, entryPoints: input, outdir: folder, platform, external })
    if (warnings.length > 0) throw new Error(JSON.stringify(warnings))
  },
  async webpack({ project, input, folder, isForNode, external }) {
    const compiler = webpack({
      ...{ mode: 'production', context: project, entry: input, target: isForNode ? 'node22.12' : 'web', performance: false },
      // It takes nine tenths of the time, and finds nothing.
      optimization: { minimize: false },
      experiments: { outputModule: true },
      output: { path: folder, module: true, library: { type: 'module' }, filename: '[name].js' },
      externals: ({ request = '' }, done) => (isOf(external, request) ? done(undefined, `module ${request}`) : done()),
    })
    const stats = await new Promise<webpack.Stats | undefined>((done, failed) => {
      compiler.run((error, found) => compiler.close((closing) => (error || closing ? failed(error ?? closing) : done(found))))
    })
    const { errors = [], warnings = [] } = stats?.toJson({ all: false, errors: true, warnings: true }) ?? {}
    const found = [...errors, ...warnings].map(({ message }) => message)
    if (found.length > 0) throw new Error(found.join('\n'))
  },
  async rollup({ input, folder, isForNode, external }) {
    const builtIn = isForNode ? [...builtinModules, 'node:'] : []
    const resolving = nodeResolve({ browser: !isForNode, preferBuiltins: isForNode })
    const bundle = await rollup({
      input,
      external: (id) => isOf(external, id) || builtIn.some((name) => id === name || (name.endsWith(':') && id.startsWith(name))),
      plugins: [resolving],
      // What is not found, Rollup only warns of. Circles are those of other packages; 'use client' is for React's bundlers.
      onwarn: ({ code, message }) => {
        if (code !== 'CIRCULAR_DEPENDENCY' && code !== 'MODULE_LEVEL_DIRECTIVE') throw new Error(message)
      },
    })
    await bundle.write({ dir: folder, format: 'esm' })
    await bundle.close()
  },
  async bun({ project, input, folder, isForNode, external }) {
    const flags = [`--target=${isForNode ? 'node' : 'browser'}`, '--splitting', `--outdir=${folder}`]
    run(
      resolve('node_modules/.bin/bun'),
      ['build', ...Object.values(input), ...flags, ...external.flatMap((name) => ['--external', name])],
      project,
    )
  },
}

/** What a server keeps with nothing but phi-core. */
const keeping = `
import { Agent } from 'phi-core'
import { fileSessionStore } from 'phi-core/node'
import { scripted } from 'phi-core/testing'
const session = fileSessionStore(process.argv[2])
await new Agent({ model: scripted([{ text: 'Hello.' }]), session, sessionId: 's1' }).prompt('Hi.').text()
const { sessions } = await session.list()
console.log('kept: ' + sessions.map(({ sessionId }) => sessionId))
`

const temporary = mkdtempSync(join(tmpdir(), 'phi-bundles-'))
let project = ''
let packed: Packed = { tarball: '', files: [], size: 0 }
beforeAll(() => {
  packed = pack(temporary)
  project = installIn(temporary, packed)
})
afterAll(() => rmSync(temporary, { recursive: true, force: true }))

const nameOf = (subpath: string): string => (subpath === '.' ? 'index' : subpath.slice(2).replaceAll('/', '-'))

it('loads entries without required peers and records sessions in files', () => {
  const subpaths = publicEntries().flatMap(({ subpath }) => (needed[subpath] === undefined ? [subpath.replace('.', 'phi-core')] : []))
  expect(subpaths).toContain('phi-core/node')
  writeFileSync(join(project, 'unbundled.js'), `${subpaths.map((path) => `import '${path}'\n`).join('')}${keeping}`)
  expect(run(process.execPath, ['unbundled.js', mkdtempSync(join(temporary, 'sessions-'))], project)).toBe('kept: s1\n')
})

it.each(Object.entries(needed).filter(([subpath]) => subpath !== './cloudflare'))(
  'names the command that installs the missing peer of %s',
  (subpath, [peer]) => {
    writeFileSync(join(project, 'lacking.js'), `import '${subpath.replace('.', 'phi-core')}'\n`)
    const load = () => run(process.execPath, ['lacking.js'], project)
    expect(load).toThrow(`Cannot find package '${peer}'`)
    expect(load).toThrow(`phi-core/dist/npm-install/${peer}`)
  },
)

it('runs the ACP server and MCP client tools without the MCP SDK', () => {
  const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
  const editor = '@agentclientprotocol/sdk'
  const lean = installIn(temporary, packed, [`${editor}@${devDependencies[editor]}`])
  expect(existsSync(join(lean, 'node_modules/@modelcontextprotocol'))).toBe(false)
  expect(run(process.execPath, ['node_modules/phi-core/dist/cli.js', 'acp'], lean)).toBe('')
  const client = `{
    request: async () => ({ tools: [{ name: 'add', inputSchema: { type: 'object' } }] }),
    callTool: async () => ({ content: [] }),
    getServerCapabilities: () => ({ tools: {} }),
    close: async () => {},
  }`
  writeFileSync(
    join(lean, 'tools.js'),
    `import { mcpTools } from 'phi-core/tools'\nconst tools = await mcpTools(${client}, { prefix: 'sum' })\nconsole.log([...tools].map(({ name }) => name).join())\n`,
  )
  expect(run(process.execPath, ['tools.js'], lean)).toContain('add')
})

it('installs with older peer versions, and names supported versions on failure', () => {
  const frameworks = { react: '18.0.0', vue: '3.2.0', 'solid-js': '1.4.0' }
  const mcp = { '@modelcontextprotocol/sdk': '1.4.1', '@opentelemetry/api': '1.4.1' }
  const older = { zod: '3.25.76', hono: '3.12.12', ...mcp, ...frameworks }
  const versions = Object.entries(older).map(([name, version]) => `${name}@${version}`)
  const dated = installIn(temporary, packed, versions)
  const loading = (subpath: string) => () => {
    writeFileSync(join(dated, 'dated.js'), `import '${subpath}'\n`)
    return run(process.execPath, ['dated.js'], dated)
  }
  for (const subpath of ['node', 'react', 'vue', 'solid']) expect(loading(`phi-core/${subpath}`)()).toBe('')
  expect(loading('phi-core/config')).toThrow(
    'phi-core/config needs zod 4.2 or newer, and another version is installed. Run: npm install zod@4',
  )
  const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const [subpath, peer] of [['phi-core/mcp', '@modelcontextprotocol/sdk']] as const) {
    let output = ''
    try {
      loading(subpath)()
    } catch (error) {
      output = String(error)
    }
    const [named = ''] = new RegExp(`phi-core/dist/npm-install/${peer}\\S*?\\.js`).exec(output) ?? []
    expect(readFileSync(join(dated, 'node_modules', named), 'utf8')).toContain(
      `// Tried with: npm install ${peer}@${devDependencies[peer]}`,
    )
  }
}, 60_000)

describe.each(Object.keys(bundlers))('%s without optional peers', (name) => {
  const bundleWith = bundlers[name] as (bundle: Bundle) => Promise<void> // the name is one of its keys

  /** Bundles a file for each subpath. */
  async function bundle(subpaths: readonly string[], isForNode: boolean): Promise<string[]> {
    const folder = mkdtempSync(join(temporary, 'bundle-'))
    const input = Object.fromEntries(
      subpaths.map((subpath) => {
        const file = join(project, `${nameOf(subpath)}.js`)
        writeFileSync(file, `export * from '${subpath.replace('.', 'phi-core')}'\n`)
        return [nameOf(subpath), file]
      }),
    )
    const external = [...new Set(subpaths.flatMap((subpath) => needed[subpath] ?? []))]
    await bundleWith({ project, input, folder, isForNode, external })
    return subpaths.map((subpath) => join(folder, `${nameOf(subpath)}.js`))
  }

  const all = publicEntries().map(({ subpath }) => subpath)
  const ofNode = (path: string): boolean => publicEntries().some(({ subpath, isOfNode }) => subpath === path && isOfNode)
  it.each([
    ['entries without peers for browsers', all.filter((path) => !ofNode(path) && needed[path] === undefined), false],
    ['entries with external peers for browsers', all.filter((path) => !ofNode(path) && needed[path] !== undefined), false],
    ['entries without peers for Node', all.filter((path) => ofNode(path) && needed[path] === undefined), true],
    ['entries with external peers for Node', all.filter((path) => ofNode(path) && needed[path] !== undefined), true],
  ])('bundles %s', async (_, subpaths, isForNode) => {
    expect(subpaths).not.toEqual([])
    const written = await bundle(subpaths, isForNode)
    expect(written.filter((path) => !existsSync(path))).toEqual([])
  })

  it('bundles a program with a file session store, and runs it', async () => {
    const file = join(project, 'keeping.js')
    writeFileSync(file, keeping)
    const folder = mkdtempSync(join(temporary, 'bundle-'))
    await bundleWith({ project, input: { keeping: file }, folder, isForNode: true, external: [] })
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    expect(run(process.execPath, [join(folder, 'keeping.js'), mkdtempSync(join(temporary, 'sessions-'))])).toBe('kept: s1\n')
  })

  it.each(all.filter(ofNode))('rejects bundling %s for browsers and suggests an alternative', async (subpath) => {
    const sentence = `${subpath.slice(2)} needs Node, Deno or Bun. Import it on the server only; a page has phi-core/browser.`
    await expect(bundle([subpath], false)).rejects.toThrow(sentence)
  })

  it('rejects bundling an entry whose peer is missing', async () => {
    const file = join(project, 'missing.js')
    writeFileSync(file, "export * from 'phi-core/config'\n")
    const folder = mkdtempSync(join(temporary, 'bundle-'))
    const failing = bundleWith({ project, input: { missing: file }, folder, isForNode: true, external: [] })
    await expect(failing).rejects.toThrow(/zod/)
  })
})

it('fails a Vite build of a page that imports a Node entry', async () => {
  const page = join(project, 'page')
  mkdirSync(page, { recursive: true })
  writeFileSync(join(page, 'index.html'), '<script type="module" src="./main.js"></script>')
  writeFileSync(join(page, 'main.js'), "import { fileSessionStore } from 'phi-core/node'\nconsole.log(fileSessionStore('x'))\n")
  const building = vite({ root: page, configFile: false, logLevel: 'silent' })
  await expect(building).rejects.toThrow('node needs Node, Deno or Bun. Import it on the server only')
})
