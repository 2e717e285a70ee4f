/**
 * `npm run build`: the package as it is published. Each public entry of package.json is one file in `dist/`, beside
 * - `shared/`: what several entries have in common. `core.js` is all that `phi-core` itself needs at once, `provider-kit.js` what providers share;
 * - `npm-install/`: passes an optional peer on, under its name. Where it is missing, Node and bundlers say "Cannot find package 'hono' imported from
 *   …/npm-install/hono.js": no code of ours runs then that could say what to do;
 * - `in-browser/`: what a bundler for pages finds in place of an entry for Node. It imports a sentence, so that the build ends with it;
 * - `late/`: what `lateChunk` and the registry load when it is first needed, one named file each;
 * - `playground/`: the page of `phi serve`, its assets compressed with gzip;
 * - `elements/page.js`: the web components and all that they need in one file, for a page without a bundler;
 * - `cli.js`: the command `phi`, which `bin` of package.json names;
 * - `licenses.md`, `playground/licenses.md`: what was bundled of others;
 * - `config/schema.json`: the JSON Schema of agent files, for editors;
 * - `types/`: the declarations that a public name leads to, one file per source, written by tsc; shapes as interfaces, not as tables;
 *   optional properties take `undefined`.
 *
 * It also keeps `jsr.json` equal to package.json. Neither sources nor source maps are published: the code is not minified, so that a stack and a debugger
 * show it, and with both the package would be three times as large.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type PluginContext, rolldown } from 'rolldown'
import { minifySync } from 'rolldown/experimental'
import { build } from 'vite'
import { configJsonSchema } from '../src/config.ts'
import { builtFile, publicEntries } from '../test/harness/public-entries.ts'
import { jsrText } from './build/jsr.ts'
import { withUndefined } from './build/optional-types.ts'
import { withPureCalls } from './build/pure-calls.ts'
import { reachedTypes } from './build/reached-types.ts'
import { writtenTypes } from './build/written-types.ts'

const folder = 'dist'
const types = join(folder, 'types')
const entries = publicEntries()
/** No entry for importers: a program. */
const command = { name: 'cli', source: 'adapters/node/cli/bin.ts' }

/** What stands above all else in the file of an entry. React's server components may import hooks from a file that says so alone. */
const firstLines: Record<string, string> = { [command.name]: '#!/usr/bin/env node', react: "'use client'" }

/** The shared file of the languages that a terminal shows in colours, which others wrote. */
const languages = 'languages'

type Graph = Pick<PluginContext, 'getModuleInfo'>

/** Modules and all they import at once. */
function staticImports(graph: Graph, sources: readonly string[]): Set<string> {
  const found = new Set(sources.map((source) => resolve(source)))
  for (const id of found) for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) found.add(imported)
  return found
}

/** Names the shared file a module goes to: few files start faster than many. Undefined where the bundler may decide. */
function sharedFiles(): (id: string, graph: Graph) => string | null {
  let core: Set<string> | undefined
  let ofProviders: Set<string>[] | undefined
  return (id, graph) => {
    if (id.includes('/@codemirror/')) return languages
    core ??= staticImports(graph, ['src/index.ts'])
    if (core.has(id)) return 'core'
    const providers = entries.filter(({ subpath }) => subpath.startsWith('./providers/'))
    ofProviders ??= providers.map(({ source }) => staticImports(graph, [source]))
    // What only two have is one protocol over two services.
    return ofProviders.filter((modules) => modules.has(id)).length > 2 ? 'provider-kit' : null
  }
}

/** What `engines` of package.json promises, as bundlers call it: nothing newer is written. */
function lowestNode(): string {
  const { engines }: { engines: { node: string } } = JSON.parse(readFileSync('package.json', 'utf8'))
  return engines.node.replace('>=', 'node')
}

async function writeCode(): Promise<void> {
  const inFolder = (source: string): string => builtFile(source).slice(`${folder}/`.length)
  const input = Object.fromEntries(entries.map(({ source }) => [inFolder(source).replace(/\.js$/, ''), source]))
  input[command.name] = command.source
  const isExternal = (id: string): boolean => !/^(?:[./]|@oxc-project\/runtime\/|@codemirror\/)/.test(id) && !id.startsWith(process.cwd())
  const transform = { target: lowestNode() }
  const bundle = await rolldown({ input, external: isExternal, platform: 'neutral', transform, treeshake: { moduleSideEffects: false } })
  try {
    await bundle.write({
      dir: folder,
      format: 'esm',
      comments: { legal: true, annotation: true, jsdoc: false },
      entryFileNames: '[name].js',
      banner: ({ name, isEntry }) => (isEntry ? (firstLines[name] ?? '') : ''),
      chunkFileNames: ({ isDynamicEntry, facadeModuleId }) =>
        isDynamicEntry && facadeModuleId ? inFolder(relative('.', facadeModuleId).replaceAll('\\', '/')) : 'shared/[name].js',
      codeSplitting: { groups: [{ name: sharedFiles(), debugName: 'shared' }] },
    })
    chmodSync(join(folder, `${command.name}.js`), 0o755)
  } finally {
    await bundle.close()
  }
}

/** Nobody debugs the grammars of others, and they are half of what the command line loads. */
function minifyLanguages(): void {
  const path = join(folder, 'shared', `${languages}.js`)
  const { code, errors } = minifySync(path, readFileSync(path, 'utf8'), { module: true, compress: { target: lowestNode() } })
  if (errors.length > 0) throw new Error(`${path} cannot be minified: ${errors[0]?.message}`)
  writeFileSync(path, code)
}

/** So that a bundler leaves out what a program does not use. Run before the peers: they are found by the form of their imports. */
function markPureCalls(): void {
  for (const path of globSync(`${folder}/**/*.js`)) writeFileSync(path, withPureCalls(readFileSync(path, 'utf8')))
}

/** No entry either: what a script tag of a page loads. */
async function writePage(): Promise<void> {
  const bundle = await rolldown({ input: 'adapters/elements/page.ts', platform: 'browser', transform: { target: 'es2023' } })
  try {
    const file = join(folder, 'elements/page.js')
    await bundle.write({ file, format: 'esm', minify: true, codeSplitting: false, comments: { legal: true } })
  } finally {
    await bundle.close()
  }
}

/**
 * The page that `phi serve` shows: it is kept by no service worker, so what that needs stays out. Its assets are compressed, as a third of their size;
 * `playgroundFiles` unpacks them for clients that take none such.
 */
async function writePlayground(): Promise<void> {
  const outDir = resolve(folder, 'playground')
  // This page reaches no MCP server, so that it never loads their apps.
  const withoutApps = { external: [/\/mcp-app\.tsx$/] }
  const ofPackage = { outDir, manifest: false, license: { fileName: 'licenses.md' }, rolldownOptions: withoutApps }
  await build({ root: 'playground', configFile: 'vite.config.ts', logLevel: 'warn', publicDir: false, build: ofPackage })
  for (const path of globSync(`${outDir}/assets/*`)) {
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }))
    rmSync(path)
  }
}

/** Writes all declarations, then takes away those that no public one leads to. `npm run check types` looks for type errors; this does not. */
function writeTypes(): void {
  const { status } = spawnSync('tsc', ['-p', 'scripts/tsconfig.build.json'], { stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) throw new Error('tsc could not write the declarations.')
  for (const path of globSync(`${types}/src/{contract,config}/**/*.d.ts`)) {
    if (!path.includes('shape')) writeFileSync(path, writtenTypes(readFileSync(path, 'utf8')))
  }
  const ofEntries = entries.map(({ source }) => join(types, source.replace('.ts', '.d.ts')))
  const reached = reachedTypes(ofEntries, (path) => readFileSync(path, 'utf8'))
  rmSync(types, { recursive: true })
  for (const [path, text] of reached) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, withUndefined(text))
  }
}

/**
 * Writes a file for each module of an optional peer, and has all others import it from there. One for all of a peer would bring along what is for
 * Node alone. Run after the code is written.
 */
function writePeers(): void {
  type Manifest = Record<'peerDependencies' | 'devDependencies', Record<string, string>>
  const { peerDependencies, devDependencies }: Manifest = JSON.parse(readFileSync('package.json', 'utf8'))
  const files = globSync(`${folder}/**/*.js`)
  for (const peer of Object.keys(peerDependencies)) {
    const passedOn = new Map<string, Set<string>>()
    const specifier = `"(${peer}(?:/[^"]+)?)"`
    for (const path of files) {
      const code = readFileSync(path, 'utf8')
      const written = code.replace(
        new RegExp(`^(import (\\{[^}]+\\}|\\* as \\w+) from )${specifier};`, 'gm'),
        (_, head: string, names: string, from: string) => {
          const lines = passedOn.get(from) ?? new Set()
          passedOn.set(from, lines.add(`export ${names.startsWith('*') ? '*' : names.replaceAll(/ as \w+/g, '')} from "${from}";`))
          return `${head}"${relative(dirname(path), peerFile(from))
            .replaceAll('\\', '/')
            .replace(/^(?!\.)/, './')}";`
        },
      )
      if (new RegExp(`^(?:import|export)[^;]* from ${specifier}`, 'm').test(written))
        throw new Error(`${path} imports ${peer} in a way that is not known here.`)
      if (written !== code) writeFileSync(path, written)
    }
    // Where a name is missing in an older version, Node shows the line.
    const tried = ` // Tried with: npm install ${peer}@${devDependencies[peer]}`
    for (const [from, lines] of passedOn) {
      mkdirSync(dirname(peerFile(from)), { recursive: true })
      const written = distinct(lines).map((line) => `${line}${tried}\n`)
      writeFileSync(peerFile(from), written.join(''))
    }
  }
}

/** The error of a missing peer names this file, and with it the command that installs the peer. */
function peerFile(specifier: string): string {
  return join(folder, 'npm-install', `${specifier.replace(/\.js$/, '')}.js`)
}

/** Each name once, however many files import it. */
function distinct(lines: Iterable<string>): string[] {
  const seen = new Set<string>()
  return Array.from(lines, (line) => {
    const [, names, from] = /^export \{ (.+) \} from (.+)$/.exec(line) ?? []
    if (names === undefined) return line
    const fresh = names.split(', ').filter((name) => !seen.has(name))
    for (const name of fresh) seen.add(name)
    return fresh.length === 0 ? '' : `export { ${fresh.join(', ')} } from ${from}`
  }).filter((line) => line !== '')
}

/** Of an entry without a file for browsers, Vite would take the one for Node, and the page would break with a message about `node:fs`. */
function writeRefusals(): void {
  for (const { subpath, inBrowser } of entries) {
    if (inBrowser === undefined) continue
    const name = subpath.replace('.', 'phi-core')
    mkdirSync(dirname(inBrowser), { recursive: true })
    writeFileSync(inBrowser, `import "${name} needs Node, Deno or Bun. Import it on the server only; a page has phi-core/browser.";\n`)
  }
}

/** What was bundled of others, with their terms; the page has a list of its own. */
function writeLicences(): void {
  const packages = ['@codemirror/legacy-modes', '@codemirror/streamparser']
  const texts = packages.map((name) => `## ${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}\n`)
  writeFileSync(join(folder, 'licenses.md'), `# Licences of what is bundled\n\n${texts.join('\n')}`)
}

/** For editors that complete agent files: made of the table that they are checked with. */
function writeConfigSchema(): void {
  mkdirSync(join(folder, 'config'), { recursive: true })
  writeFileSync(join(folder, 'config/schema.json'), `${JSON.stringify(configJsonSchema())}\n`)
}

rmSync(folder, { recursive: true, force: true })
writeTypes()
await writeCode()
markPureCalls()
minifyLanguages()
writePeers()
writeRefusals()
await writePage()
await writePlayground()
writeConfigSchema()
writeLicences()
if (readFileSync('jsr.json', 'utf8') !== jsrText()) writeFileSync('jsr.json', jsrText())
