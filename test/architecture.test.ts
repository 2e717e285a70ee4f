import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path/posix'
import { describe, expect, it } from 'vitest'
import { publicEntries } from './harness/public-entries.ts'
import { blankOut, importsOf, readSources, resolveImport, type Sources } from './harness/source.ts'

/** Who may import whom, as data (docs/internals/architecture.md): the layers a layer may import besides itself, `contract`, `types` and `base`, and the packages it may use. */
const layers: Record<string, { layers: string[]; packages: string[] }> = {
  contract: { layers: [], packages: [] },
  types: { layers: [], packages: [] },
  base: { layers: [], packages: ['yaml'] },
  stream: { layers: [], packages: ['eventsource-parser'] },
  validation: { layers: [], packages: [] },
  workspace: { layers: [], packages: [] },
  context: { layers: [], packages: [] },
  session: { layers: [], packages: [] },
  'shared-state': { layers: ['validation'], packages: [] },
  store: { layers: [], packages: [] },
  ui: { layers: [], packages: [] },
  models: { layers: [], packages: [] },
  providers: { layers: ['stream'], packages: ['aws4fetch'] },
  tools: { layers: ['validation', 'workspace'], packages: ['re2js'] },
  media: { layers: ['providers'], packages: [] },
  openapi: { layers: ['validation'], packages: [] },
  skills: { layers: ['workspace'], packages: ['yaml'] },
  mcp: { layers: ['validation'], packages: [] },
  loop: { layers: ['stream', 'context', 'validation'], packages: [] },
  agent: { layers: ['stream', 'context', 'validation', 'tools', 'loop', 'session'], packages: [] },
  config: {
    layers: [
      'stream',
      'validation',
      'workspace',
      'context',
      'session',
      'providers',
      'tools',
      'mcp',
      'skills',
      'models',
      'media',
      'loop',
      'agent',
    ],
    packages: ['smol-toml', 'yaml', 'zod'],
  },
  client: { layers: ['stream', 'ui'], packages: [] },
  rust: { layers: ['session'], packages: [] },
}

/** What each adapter may reach besides the public entries of `src`: other adapters' entries, packages, and the platform's own modules. */
const adapters: Record<string, { adapters: string[]; packages: string[] }> = {
  browser: { adapters: [], packages: ['idb'] },
  env: { adapters: [], packages: [] },
  http: { adapters: [], packages: ['hono'] },
  mcp: { adapters: ['http'], packages: ['@modelcontextprotocol/sdk', 'hono'] },
  otel: { adapters: ['http'], packages: ['@opentelemetry/api'] },
  react: { adapters: [], packages: ['react'] },
  vue: { adapters: [], packages: ['vue'] },
  svelte: { adapters: [], packages: [] },
  solid: { adapters: [], packages: ['solid-js'] },
  elements: { adapters: ['mcp'], packages: [] },
  cloudflare: { adapters: ['http', 'sqlite'], packages: ['hono', 'cloudflare:'] },
  postgres: { adapters: ['http'], packages: [] },
  sqlite: { adapters: [], packages: [] },
  redis: { adapters: [], packages: [] },
  node: {
    adapters: ['env', 'http', 'mcp'],
    packages: [
      '@agentclientprotocol/sdk',
      '@codemirror/legacy-modes',
      '@codemirror/streamparser',
      '@modelcontextprotocol/sdk',
      'diff',
      'hono',
      're2js',
      'node:',
    ],
  },
}

/** What only some platforms have. The compiler refuses most of them too; a worker's globals only this list refuses. */
const platformUse = [
  /(?<![.\w$])(?:process|Buffer|window|document|localStorage|sessionStorage|indexedDB|caches|self)\s*(?:\?\.|\.|\[)/,
  /(?<![.\w$])(?:Buffer|localStorage|sessionStorage|indexedDB|caches)\b(?!\s*\??:)/,
  /\bglobalThis\s*(?:\?\.|\.|\[)/,
  /(?<![.\w$])(?:eval|require|Function)\s*\(/,
]

const entries = new Set(publicEntries().map((entry) => entry.source))
/** What our adapters share with the core and with each other, and the package does not export. */
const isInternal = (target: string): boolean => target === 'src/internal.ts' || /^adapters\/[a-z]+\/internal\.ts$/.test(target)

/** What every layer stands on, adapters too. */
const isGround = (target: string): boolean => /^src\/(contract|types|base)\//.test(target)
/** Pure parts that reach users through the entry of an adapter. */
const roomsOfAdapters = new Set([
  'src/mcp/client-like.ts',
  'src/mcp/features/prompts.ts',
  'src/mcp/features/resources.ts',
  'src/mcp/features/server-features.ts',
  'src/mcp/instructions.ts',
  'src/mcp/mcp-error.ts',
  'src/mcp/mentions/completion.ts',
  'src/mcp/mentions/mentions.ts',
  'src/mcp/tool-set.ts',
  'src/mcp/web-mcp-client.ts',
  'src/providers/chrome-ai/index.ts',
  'src/providers/web-llm/index.ts',
])

const layerOf = (path: string): string => (path.split('/').length > 2 ? (path.split('/')[1] ?? '') : 'index')
const isAmong = (specifier: string, packages: readonly string[]): boolean =>
  packages.some((name) => (name.endsWith(':') ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`)))

/** Why `from` may not import `target`, or undefined when it may. */
function forbidden(from: string, target: string): string | undefined {
  const isOwn = /^(src|testing|adapters|playground|test|e2e|examples|docs|scripts)\//.test(target)
  const top = from.split('/')[0]
  if (top === 'src') return isOwn ? forbiddenInSrc(from, target) : forbiddenPackage(target, layers[layerOf(from)]?.packages)
  if (top === 'testing') return target.startsWith('src/') || target.startsWith('testing/') ? undefined : 'is outside src and testing'
  if (top === 'adapters') return isOwn ? forbiddenInAdapters(from, target) : forbiddenPackage(target, adapters[layerOf(from)]?.packages)
  if (!isOwn || entries.has(target) || target.split('/')[0] === top) return undefined
  if (top === 'e2e' && /^(scripts|test\/harness|examples|playground)\//.test(target)) return undefined
  return 'is not a public entry'
}

function forbiddenInSrc(from: string, target: string): string | undefined {
  if (!target.startsWith('src/')) return 'is outside src'
  const [own, other] = [layerOf(from), layerOf(target)]
  if (own === other || own === 'index') return undefined
  const allowed = layers[own]
  if (!allowed) return `comes from layer ${own}, which the table does not know`
  // From the bottom up: each may import those before it, and every other layer all of them.
  const ground = ['contract', 'types', 'base']
  const isBelow = ground.includes(other) && (!ground.includes(own) || ground.indexOf(other) < ground.indexOf(own))
  return isBelow || allowed.layers.includes(other) ? undefined : `is in ${other}, which ${own} may not import`
}

function forbiddenInAdapters(from: string, target: string): string | undefined {
  const [own, other] = [layerOf(from), layerOf(target)]
  if (target.startsWith('adapters/') && own === other) return undefined
  if (isGround(target) || roomsOfAdapters.has(target) || target.startsWith('src/mcp/apps/')) return undefined
  if (!entries.has(target) && !isInternal(target)) return 'is not a public entry'
  if (/^(src|testing)\//.test(target) || adapters[own]?.adapters.includes(other)) return undefined
  return `is adapter ${other}, which ${own} may not import`
}

function forbiddenPackage(specifier: string, packages: readonly string[] | undefined): string | undefined {
  return isAmong(specifier, packages ?? []) ? undefined : 'is a package this place may not use'
}

/** Agent files name modules by path, and their host loads these. No bundle can hold them. */
const loadsByPath = new Set(['adapters/node/config/plugin-modules.ts'])

function importViolations(sources: Sources): string[] {
  const found: string[] = []
  for (const [path, code] of sources) {
    for (const { specifier, line } of importsOf(code)) {
      if (specifier === undefined && loadsByPath.has(path)) continue
      const reason = specifier === undefined ? 'a computed import()' : forbidden(path, resolveImport(path, specifier))
      if (reason) found.push(`${path}:${line} ${specifier ?? ''} ${reason}`)
    }
  }
  return found
}

/** What serves sessions over HTTP asks at a gateway (`SessionGateway`): a session may live in another process than its routes. */
const atRoutes = /^adapters\/http\/(?:routes|openai|stream)\//
const behindGateway = /^adapters\/http\/live\/(?:live-session|session-agent|run-starter|run-of|run-followers)\.ts$/
const living = ['Agent', 'AgentRun', 'LiveSession']

function gatewayViolations(sources: Sources): string[] {
  const found: string[] = []
  for (const [path, code] of sources) {
    if (!atRoutes.test(path)) continue
    for (const { specifier = '', line } of importsOf(code)) {
      if (behindGateway.test(resolveImport(path, specifier))) found.push(`${path}:${line} ${specifier} is behind the gateway`)
    }
    for (const [, names = ''] of code.matchAll(/^import (?:type )?\{([^}]*)\}/gm)) {
      const name = names
        .split(',')
        .map((each) => each.replace(/\btype\b|\bas\b.*/g, '').trim())
        .find((each) => living.includes(each))
      if (name !== undefined) found.push(`${path} imports ${name}, which lives where the session is`)
    }
  }
  return found
}

function platformViolations(sources: Sources): string[] {
  const found: string[] = []
  for (const [path, code] of sources) {
    for (const [index, line] of blankOut(code).split('\n').entries()) {
      const use = platformUse.map((pattern) => pattern.exec(line)?.[0]).find(Boolean)
      if (use) found.push(`${path}:${index + 1} ${use}`)
    }
  }
  return found
}

/**
 * `a.b = () => …`: V8 makes such a function in its old space. What it refers to, which is a whole run where a run assigns it, then outlives every young
 * collection. A field that begins with the function is made like any other object.
 */
const tenuredFunction = /^\s*[\w#.]+\.#?\w+ (?:\?\?)?= (?:async )?(?:\([^)]*\)(?:: [^=]+)? =>|\w+ =>|function\b)/

function tenuredFunctions(sources: Sources): string[] {
  return [...sources].flatMap(([path, code]) =>
    code.split('\n').flatMap((line, index) => (tenuredFunction.test(line) ? [`${path}:${index + 1}`] : [])),
  )
}

function shapeViolations(sources: Sources): string[] {
  const found: string[] = []
  for (const [path, code] of sources) {
    const name = basename(path).replace(/(\.(test|e2e|d|config))?\.tsx?$/, '')
    const lines = code.split('\n').length - 1
    if (lines > 400) found.push(`${path} has ${lines} lines; 400 is the limit`)
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) found.push(`${path} is not named in kebab-case`)
    if (/(^|-)(utils?|helpers?|managers?|misc|common)($|-)/.test(name)) found.push(`${path} does not say what it holds`)
    if (/^export \* /m.test(blankOut(code))) found.push(`${path} has an export *; name what is exported`)
    if (path.startsWith('src/') && /^export default\b/m.test(blankOut(code))) found.push(`${path} has a default export`)
  }
  return found
}

/** The first circle among the places that `placeOf` puts files in, as they really import each other, also types alone: `a → b → a`. */
function firstCircle(sources: Sources, placeOf: (path: string) => string): string | undefined {
  const edges = new Map<string, Set<string>>()
  for (const [path, code] of sources) {
    const place = placeOf(path)
    const targets = edges.get(place) ?? new Set<string>()
    edges.set(place, targets)
    for (const { specifier } of importsOf(code)) {
      const target = resolveImport(path, specifier ?? '')
      if (sources.has(target) && (placeOf(target) !== place || target === path)) targets.add(placeOf(target))
    }
  }
  const finished = new Set<string>()
  const visit = (place: string, trail: string[]): string | undefined => {
    if (trail.includes(place)) return [...trail.slice(trail.indexOf(place)), place].join(' → ')
    if (finished.has(place)) return undefined
    for (const next of edges.get(place) ?? []) {
      const circle = visit(next, [...trail, place])
      if (circle) return circle
    }
    finished.add(place)
    return undefined
  }
  for (const place of edges.keys()) {
    const circle = visit(place, [])
    if (circle) return circle
  }
  return undefined
}

const layerCircle = (sources: Sources): string | undefined => firstCircle(sources, layerOf)
const fileCircle = (sources: Sources): string | undefined => firstCircle(sources, (path) => path)

/** What the page knows, by rooms; a file that stands alone is one. */
const roomOfState = (path: string): string => path.split('/').slice(0, 4).join('/')

const src = readSources('src')
const shipped = readSources('src', 'testing', 'adapters', 'playground', 'examples', 'e2e')
const everything = readSources('src', 'testing', 'adapters', 'playground', 'examples', 'e2e', 'test', 'scripts')

describe('the architecture', () => {
  it('follows the import table of docs/internals/architecture.md', () => expect(importViolations(shipped).join('\n')).toBe(''))
  it('documents the same import table in docs/internals/architecture.md', () => {
    const rows = Array.from(readFileSync('docs/internals/architecture.md', 'utf8').matchAll(/^\| (`[a-z`, -]+`) \| (.+) \|$/gm))
    const wordsOf = (cell = '') => Array.from(cell.matchAll(/`([\w-]+)`/g), ([, word = '']) => word)
    const documented = new Map(rows.flatMap(([, names, may]) => wordsOf(names).map((name) => [name, wordsOf(may)] as const)))
    const inSource = Object.entries(layers).filter(([name]) => !['contract', 'types', 'base'].includes(name))
    expect(inSource.filter(([name, { layers: may }]) => documented.get(name)?.join() !== may.join()).map(([name]) => name)).toEqual([])
  })

  it('keeps live sessions out of HTTP routes, which call a session gateway', () => expect(gatewayViolations(shipped)).toEqual([]))

  it('uses no platform API in src', () => expect(platformViolations(new Map([...src, ...readSources('testing')]))).toEqual([]))

  it('assigns no inline function to a property in src', () => expect(tenuredFunctions(src)).toEqual([]))

  it('has no circular dependencies between layers', () => expect(layerCircle(src)).toBeUndefined())

  it('has no circular imports between files, including type imports', () => expect(fileCircle(everything)).toBeUndefined())

  it('has no circular imports between modules of playground state', () => {
    const state = new Map([...shipped].filter(([path]) => path.startsWith('playground/src/state/')))
    expect(state.size).toBeGreaterThan(20)
    expect(firstCircle(state, roomOfState)).toBeUndefined()
  })

  it('limits file length, requires field terms as names, and named exports', () => {
    expect(shapeViolations(everything)).toEqual([])
    for (const [path, code] of shipped) {
      const lines = code.split('\n').length - 1
      if (lines > 300) console.warn(`${path} has ${lines} lines: split it before it has 400`)
    }
  })

  it('reads more than 20 files in more than 5 folders', () => {
    expect(src.size).toBeGreaterThan(20)
    expect(new Set([...src.keys()].map(dirname)).size).toBeGreaterThan(5)
  })
})

describe('the architecture test itself', () => {
  const violations = (path: string, code: string): string[] => importViolations(new Map([[path, code]]))

  it('reports forbidden imports', () => {
    expect(violations('src/stream/a.ts', "import { b } from '../loop/b.ts'")).toHaveLength(1)
    expect(violations('src/stream/a.ts', "export type { B } from '../loop/b.ts'")).toHaveLength(1)
    expect(violations('src/loop/a.ts', "await import('node:fs')")).toHaveLength(1)
    expect(violations('src/loop/a.ts', "await import('node:' + 'fs')")).toHaveLength(1)
    expect(violations('src/types/a.ts', "import { z } from 'zod'")).toHaveLength(1)
    expect(violations('src/novel/a.ts', "import { b } from '../types/b.ts'")).toHaveLength(1)
    expect(violations('src/loop/a.ts', "import { b } from '../../adapters/node/index.ts'")).toHaveLength(1)
    expect(violations('adapters/http/a.ts', "import { b } from '../../src/loop/b.ts'")).toHaveLength(1)
    expect(violations('adapters/http/a.ts', "import { b } from '../node/index.ts'")).toHaveLength(1)
    expect(violations('adapters/http/a.ts', "import { readFile } from 'node:fs/promises'")).toHaveLength(1)
    expect(violations('playground/a.ts', "import { b } from '../src/agent/agent.ts'")).toHaveLength(1)
    expect(violations('playground/a.ts', "import { b } from '../src/internal.ts'")).toHaveLength(1)
    expect(violations('src/agent/a.ts', "import { b } from '../internal.ts'")).toHaveLength(1)
    expect(violations('adapters/env/a.ts', "import { b } from '../http/internal.ts'")).toHaveLength(1)
  })

  it('accepts allowed imports', () => {
    expect(
      violations('src/agent/a.ts', "import { b } from '../loop/b.ts'\nimport type { C } from '../types/c.ts'\nimport { d } from './d.ts'"),
    ).toEqual([])
    expect(
      violations(
        'adapters/cloudflare/a.ts',
        "import { b } from '../../src/index.ts'\nimport { c } from '../http/internal.ts'\nimport { d } from '../../src/internal.ts'",
      ),
    ).toEqual([])
    expect(violations('playground/a.tsx', "import { render } from 'preact'\nimport { b } from '../src/store.ts'")).toEqual([])
  })

  it('reports platform APIs', () => {
    const uses = [
      'process.env.A',
      'globalThis.caches',
      'const db = indexedDB',
      'eval(code)',
      'new Function("a")',
      'window.fetch(a)',
      'require("fs")',
    ]
    for (const use of uses) expect(platformViolations(new Map([['src/a.ts', use]])), use).toHaveLength(1)
    expect(platformViolations(new Map([['src/a.ts', '// process.env\nconst contextWindow = "window.x"; options.process.run()']]))).toEqual(
      [],
    )
  })

  it('reports functions assigned to properties', () => {
    const found = ['this.#a = (b) => b', '    a.b = async ({ c }): Promise<void> => {', 'a.b ??= function () {', 'a.b = b => b']
    for (const code of found) expect(tenuredFunctions(new Map([['src/a.ts', code]])), code).toHaveLength(1)
    const passed = 'readonly #a = (b) => b\nconst a = () => 1\nthis.a = make(() => 1)\nthis.a = b\nif (this.a === b) (() => 1)()'
    expect(tenuredFunctions(new Map([['src/a.ts', passed]]))).toEqual([])
  })

  it('reports routes that bypass the session gateway', () => {
    const found = (path: string, code: string) => gatewayViolations(new Map([[path, code]]))
    expect(found('adapters/http/routes/a.ts', "import type { LiveSession } from '../live/live-session.ts'")).toHaveLength(2)
    expect(found('adapters/http/openai/a.ts', "import {\n  type Agent as Made,\n  textOf,\n} from '../../../src/index.ts'")).toHaveLength(1)
    expect(found('adapters/http/stream/a.ts', "import { runOf } from '../live/run-of.ts'")).toHaveLength(1)
    expect(found('adapters/http/stream/a.ts', "import type { AgentEvent } from '../../../src/index.ts'")).toEqual([])
    expect(found('adapters/http/live/a.ts', "import type { LiveSession } from './live-session.ts'")).toEqual([])
  })

  it('reports long files, odd names and unnamed exports', () => {
    expect(shapeViolations(new Map([['src/a.ts', 'x\n'.repeat(401)]]))).toHaveLength(1)
    expect(shapeViolations(new Map([['src/aB.ts', "export * from './b.ts'\nexport default 1"]]))).toHaveLength(3)
    expect(shapeViolations(new Map([['src/stream-utils.ts', '']]))).toHaveLength(1)
  })

  it('reports circular dependencies', () => {
    const circle = new Map([
      ['src/a/a.ts', "import '../b/b.ts'"],
      ['src/b/b.ts', "import '../c/c.ts'"],
      ['src/c/c.ts', "import type { A } from '../a/a.ts'"],
    ])
    expect(layerCircle(circle)).toBe('a → b → c → a')
    expect(fileCircle(circle)).toBe('src/a/a.ts → src/b/b.ts → src/c/c.ts → src/a/a.ts')
    const room = new Map([
      ['src/a/one.ts', "export type { B } from './two.ts'"],
      ['src/a/two.ts', "const a: import('./one.ts').B = 1"],
      ['src/a/three.ts', "import { a } from './one.ts'"],
    ])
    expect(layerCircle(room)).toBeUndefined()
    expect(fileCircle(room)).toBe('src/a/one.ts → src/a/two.ts → src/a/one.ts')
    expect(fileCircle(new Map([['src/a/self.ts', "import { a } from './self.ts'"]]))).toBe('src/a/self.ts → src/a/self.ts')
    const tree = new Map([...room].filter(([path]) => path !== 'src/a/one.ts'))
    expect(fileCircle(tree)).toBeUndefined()
  })
})
