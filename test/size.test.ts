import { gzipSync } from 'node:zlib'
import { build, type Metafile, type OutputFile } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { publicEntries } from './harness/public-entries.ts'

interface Bundle {
  /** gzip bytes of what is loaded before anything runs: the entry chunk and all it imports statically. */
  initial: number
  metafile: Metafile
  code: string
}

const conditions = { browser: ['browser', 'import', 'module'], workerd: ['workerd', 'worker', 'import', 'module'] }

/** Bundles a program as an application would: minified, split at dynamic imports, no Node built-in at hand. */
async function bundle(program: string, runtime: keyof typeof conditions, external: string[] = []): Promise<Bundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: '.', sourcefile: 'entry.ts', loader: 'ts' },
    outdir: 'out',
    bundle: true,
    minify: true,
    splitting: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: conditions[runtime],
    external,
    logLevel: 'silent',
  })
  return { initial: initialBytes(metafile, outputFiles), metafile, code: outputFiles.map((file) => file.text).join('\n') }
}

function initialBytes(metafile: Metafile, files: OutputFile[]): number {
  const sizeOf = (name: string): number => gzipSync(files.find((file) => file.path.endsWith(`/${name}`))?.contents ?? '').length
  const entry = Object.keys(metafile.outputs).find((name) => metafile.outputs[name]?.entryPoint === 'entry.ts')
  const loaded = new Set([entry ?? ''])
  for (const name of loaded) {
    for (const imported of metafile.outputs[name]?.imports ?? []) {
      if (imported.kind === 'import-statement' && !imported.external) loaded.add(imported.path)
    }
  }
  return [...loaded].reduce((sum, name) => sum + sizeOf(name), 0)
}

const kB = 1000
const agentProgram = "import { Agent } from './src/index.ts'\nconsole.log(Agent)"
const withProvider = (folder: string): string => {
  const name = folder.replace(/-./g, (found) => found.slice(1).toUpperCase())
  return `import { ${name} } from './src/providers/${folder}/index.ts'\n${agentProgram}\nconsole.log(${name})`
}

describe('a program loads little before it runs', () => {
  it('Agent alone', async () => {
    const { initial } = await bundle(agentProgram, 'browser')
    console.log(`Agent: ${initial} bytes gzip`)
    expect(initial).toBeLessThanOrEqual(14 * kB)
  })

  it.each(['anthropic', 'openai', 'openai-responses', 'azure', 'google', 'vertex', 'bedrock'])('Agent with %s', async (name) => {
    // Room for the framing and the credentials of AWS; signing loads with the first call.
    const budget = name === 'bedrock' ? 14 * kB : 6 * kB
    const [alone, whole] = await Promise.all([bundle(agentProgram, 'browser'), bundle(withProvider(name), 'browser')])
    console.log(`Agent with ${name}: ${whole.initial} bytes gzip, ${whole.initial - alone.initial} for the provider`)
    expect(whole.initial).toBeLessThanOrEqual(14 * kB + budget)
    expect(whole.initial - alone.initial).toBeLessThanOrEqual(budget)
  })
})

/** Peers decide for themselves whether to generate code (zod probes and goes without), and ajv exists to generate it. */
const peers = ['zod', 'ajv', 'hono', 'cloudflare:*']

/** `Function(…)` and `eval(…)`, but not a method of that name, called or declared. */
const codeGeneration = /.{0,40}(?<![.\w$])(?:Function|(?<!})eval)\(.{0,40}/g

describe.each(publicEntries().filter((entry) => entry.subpath !== './adapters/node'))('$subpath', ({ subpath, source }) => {
  it.each(['browser', 'workerd'] as const)('bundles for %s without Node and without eval', async (runtime) => {
    const { initial, metafile, code } = await bundle(`export * from './${source}'`, runtime, peers)
    console.log(`${subpath} for ${runtime}: ${initial} bytes gzip`)
    const externals = Object.values(metafile.outputs).flatMap((output) => output.imports.filter((each) => each.external))
    expect(externals.map((each) => each.path).filter((path) => path.startsWith('node:'))).toEqual([])
    expect(code.match(codeGeneration) ?? []).toEqual([])
  })
})

it('code generation is found', () => {
  for (const code of ['new Function("a")', 'x=Function(a)', 'eval(a)', '(0,eval)(a);eval(b)'])
    expect(code.match(codeGeneration), code).not.toBeNull()
  expect('a.eval(b);class C{x(){}eval(a){}}isFunction(a)'.match(codeGeneration)).toBeNull()
})

it('a Node built-in does not bundle', async () => {
  await expect(bundle("import 'node:fs'", 'browser')).rejects.toThrow(/node:fs/)
})
