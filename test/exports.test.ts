import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { apiFigures, apiReport, declarationOf, limits, reportFile } from './harness/api-report.ts'
import { publicEntries } from './harness/public-entries.ts'
import { type Export, exportsOf } from './harness/source.ts'

const read = (path: string): string => readFileSync(path, 'utf8')

/** The words of the TSDoc comment that stands before the declaration of `name`. */
function documentationOf(code: string, name: string): string[] {
  const declaration = new RegExp(`^(?:export )?(?:abstract |async )?(?:function\\*?|const|let|class|interface|type) ${name}\\b`, 'm').exec(
    code,
  )
  // What the linter is told stands between the two.
  const before = code
    .slice(0, declaration?.index ?? 0)
    .replace(/\n\/\/ biome-ignore .*\n$/, '')
    .trimEnd()
  if (!before.endsWith('*/')) return []
  const comment = before.slice(before.lastIndexOf('/**'))
  return comment.match(/[A-Za-z`]{2,}/g) ?? []
}

/** Names that a second entry passes on, with the reason. */
const passedOn: Record<string, string> = {
  bearer: './cloudflare: every worker needs one of the two, and imports nothing else of ./http',
  onLoopback: './cloudflare: as bearer',
  LiveAgentOptions: './cloudflare: what a class that extends LiveSessionObject returns',
  ProviderOptions: './providers/openai: what openai, local and openrouter take',
  Read: './ui/ag-ui, ./ui/ai-sdk: what both readers return',
  mcpTools: './tools: for WebMCP and for clients of other packages, because ./mcp loads the MCP SDK',
}

/** Of these entries a page takes one: each says the same in the words of its framework. */
const bindings = ['./react', './vue', './svelte', './solid']

describe('the public API', () => {
  it(`matches ${reportFile}`, () => {
    expect(apiReport(), `Look at the difference, then run: npm exec -- node test/harness/api-report.ts`).toBe(read(reportFile))
  })

  it(`has at most ${limits.entries} entries, ${limits.names} names, and ${limits.root} names at the root`, () => {
    const figures = apiFigures()
    expect(figures.entries).toBeLessThanOrEqual(limits.entries)
    expect(figures.names).toBeLessThanOrEqual(limits.names)
    expect(figures.root).toBeLessThanOrEqual(limits.root)
  })

  it('has no entry named after an internal folder', () => {
    expect(publicEntries().filter(({ subpath }) => /adapters|src|internal/.test(subpath))).toEqual([])
  })
})

it('exports each name from exactly one entry', () => {
  const homes = new Map<string, { entries: string[]; declared: Set<string> }>()
  for (const { subpath, source } of publicEntries()) {
    if (bindings.indexOf(subpath) > 0) continue
    for (const each of exportsOf(source, read(source))) {
      const { entries, declared } = homes.get(each.name) ?? { entries: [], declared: new Set() }
      const home = declarationOf(source, each)
      homes.set(each.name, { entries: [...entries, subpath], declared: declared.add(`${home.path} ${home.name}`) })
    }
  }
  const twice = Array.from(homes).filter(([, { entries }]) => entries.length > 1)
  expect(twice.filter(([, { declared }]) => declared.size > 1).map(([name]) => `${name} means two things`)).toEqual([])
  expect(twice.map(([name]) => name).toSorted()).toEqual(Object.keys(passedOn).toSorted())
})

describe.each(publicEntries())('$subpath', ({ source }) => {
  const exported = exportsOf(source, read(source))
  const names = (which: Export[]): string[] => which.map((each) => each.name).toSorted()

  it('exports the same names at run time as in its source', async () => {
    const module: object = await import(`../${source}`)
    expect(Object.keys(module).toSorted()).toEqual(names(exported.filter((each) => !each.isType)))
  })

  it('documents every name', () => {
    const silent = exported.filter((each) => {
      const declared = declarationOf(source, each)
      return documentationOf(read(declared.path), declared.name).length < 4
    })
    expect(silent.map((each) => each.name)).toEqual([])
  })
})

it('detects an exported name without a comment', () => {
  expect(documentationOf('/** One word, then some more words. */\nexport const a = 1\nexport const b = 2', 'a').length).toBeGreaterThan(4)
  expect(documentationOf('/** One word, then some more words. */\nexport const a = 1\nexport const b = 2', 'b')).toEqual([])
})
