import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { describe, expect, it } from 'vitest'
import { Agent } from '../src/agent/agent.ts'
import { agentTable } from '../src/agent/agent-options.ts'
import { misuseCode, providerErrorCode, sessionErrorCode, toolErrorCode, workspaceErrorCode } from '../src/contract/errors.ts'
import { agentEvent } from '../src/contract/run/event.ts'
import { tagsOf } from '../src/contract/shape/shape.ts'
import { blocksOf, pages, snippet } from './docs/snippets.ts'
import { publicEntries } from './harness/public-entries.ts'
import { importsOf, namesIn, readSources, resolveImport } from './harness/source.ts'

const read = (path: string): string => readFileSync(path, 'utf8')
const manifest: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
const program = /^(ts|tsx|js|jsx|mjs)$/

/** A heading as the anchor that links use. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const anchorsOf = (page: string): string[] =>
  Array.from(withoutCode(read(page)).matchAll(/^#+ (.+)$/gm), (match) => anchorOf(match[1] ?? ''))

const withoutCode = (markdown: string): string => markdown.replace(/^```[\s\S]*?^```$/gm, '')

function brokenLinks(page: string): string[] {
  return Array.from(withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g), (match) => match[1] ?? '').filter((link) => {
    if (/^https?:/.test(link)) return false
    const [path = '', anchor] = link.split('#')
    const target = path === '' ? page : join(dirname(page), path)
    return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
  })
}

/** The pages and anchors that code names, `docs/a.md#b`, and that are not there. */
function missingPages(code: string): string[] {
  return Array.from(code.matchAll(/(?<![\w/.])docs\/[\w./-]+\.md(?:#[\w-]+)?/g), ([named]) => named).filter((named) => {
    const [path = '', anchor] = named.split('#')
    return !existsSync(path) || (anchor !== undefined && !anchorsOf(path).includes(anchor))
  })
}

/** The links of a file's comments that lead nowhere: an editor follows those to names that the file declares or imports. */
function brokenSymbolLinks(code: string): string[] {
  const names = namesIn(code)
  return Array.from(code.matchAll(/\{@link ([^}]*)\}/g), ([, target = '']) => target).filter(
    (target) => !/^https:\/\/\S+$/.test(target) && !names.has(target.split('.')[0] ?? ''),
  )
}

/** Lines of comments in which an example begins behind something else: no reader and no site shows it as code then. */
function crowdedExamples(code: string): string[] {
  return Array.from(code.matchAll(/^[ \t]*\*[ \t](?:```\w+[ \t]+\S.*|@example[ \t]+\S.*)$/gm), ([line]) => line.trim())
}

/** Lines that say where a contract comes from in another form than `Source: docs/a.md, docs/b.md#c` or `Source: https://…`. */
function oddSources(code: string): string[] {
  const form = /^Source: (?:(?:docs\/[\w/-]+\.md(?:#[\w-]+)?(?:, (?=docs)|$))+|https:\/\/\S+|FIPS .+)$/
  const named = code.matchAll(/^\s*(?:\/\*\*|\*)(?:.*\s)?(Source: .*?)(?:\s*\*\/)?$/gm)
  return Array.from(named, ([, source = '']) => source).filter((source) => !form.test(source))
}

/** What a line of a shell block names: scripts of package.json, and files. */
function missingInShell(code: string): string[] {
  const scripts = Array.from(code.matchAll(/npm run (?:--silent )?([\w:-]+)/g), (match) => match[1] ?? '')
  const files = Array.from(code.matchAll(/(?<![\w/])(?:examples|test|playground|scripts)\/[\w./-]+/g), (match) => match[0])
  return [...scripts.filter((name) => manifest.scripts[name] === undefined), ...files.filter((path) => !existsSync(path))]
}

describe.each(pages())('%s', (page) => {
  const blocks = blocksOf(read(page))

  it('shows only code that CI runs', () => {
    for (const { language, code, source, line } of blocks) {
      if (!program.test(language)) continue
      expect(source, `${page}:${line} has no <!-- snippet: file --> comment`).toBeDefined()
      expect(code, `${page}:${line} differs; run: npm exec -- node test/docs/snippets.ts`).toBe(snippet(source ?? '', read(page)))
    }
  })

  it('fills every snippet comment with its code', () => {
    expect(Array.from(read(page).matchAll(/<!-- snippet: (\S+) -->\n(?!```)/g), ([, source]) => source)).toEqual([])
  })

  it('names only commands and files that exist', () => {
    const shell = blocks.filter(({ language }) => language === 'sh')
    expect(shell.flatMap(({ code }) => missingInShell(code))).toEqual([])
  })

  it('contains no broken links', () => expect(brokenLinks(page)).toEqual([]))

  it.skipIf(page === 'CONTRIBUTING.md')('links only to files in the published package', () => {
    const links = Array.from(withoutCode(read(page)).matchAll(/\]\(([^)\s#]+)/g), ([, link = '']) => link).filter(
      (link) => !/^https?:/.test(link),
    )
    const shipped = /^(?:(?:docs|examples)(?:\/|$)|(?:README|CHANGELOG|SECURITY)\.md$|LICENSE$)/
    expect(links.filter((link) => !shipped.test(join(dirname(page), link)))).toEqual([])
  })
})

it.each(['SECURITY.md', 'CHANGELOG.md', 'examples/README.md', 'test/divergences.md'])('accepts no broken links in %s', (page) => {
  expect(brokenLinks(page)).toEqual([])
})

describe('references in comments', () => {
  const sources = readSources('src', 'testing', 'adapters', 'playground', 'examples', 'e2e', 'test', 'scripts')
  const inEach = (find: (code: string) => string[]): string[] =>
    [...sources].flatMap(([path, code]) => (path === 'test/docs.test.ts' ? [] : find(code).map((found) => `${path}: ${found}`)))

  it('finds every referenced page and anchor', () => expect(inEach(missingPages)).toEqual([]))
  it('finds every linked symbol declared or imported', () => expect(inEach(brokenSymbolLinks)).toEqual([]))
  it('formats every source line the same way', () => expect(inEach(oddSources)).toEqual([]))
  it('starts each example on a separate line', () => expect(inEach(crowdedExamples)).toEqual([]))
})

it('runs every example in a test', () => {
  const sources = readSources('test', 'examples', 'e2e')
  const tests = [...sources.keys()].filter((path) => /\.(?:test|e2e)\.ts$/.test(path))
  const reached = new Set(tests)
  for (const path of reached) {
    const code = sources.get(path) ?? ''
    for (const { specifier } of importsOf(code)) reached.add(resolveImport(path, specifier ?? ''))
    // Examples that another runtime, or a browser, runs are named, not imported.
    if (/^(?:test|e2e)\//.test(path))
      for (const [named] of code.matchAll(/(?<=['/])examples\/[\w./[\]-]+\.(?:tsx?|m?js)\b/g)) reached.add(named)
  }
  // Vite reads the configuration of the folder that a test has it serve.
  for (const path of tests)
    for (const [, folder] of (sources.get(path) ?? '').matchAll(/\bvite (examples\/\w+)/g)) reached.add(`${folder}/vite.config.ts`)
  const written = globSync('examples/**/*.{ts,tsx,js,mjs}').map((path) => path.replaceAll('\\', '/'))
  const examples = written.filter((path) => !path.endsWith('.d.ts'))
  expect(examples.length).toBeGreaterThan(20)
  expect(examples.filter((path) => !reached.has(path))).toEqual([])
})

it('opens the README with a first program of at most eight lines', () => {
  expect(snippet('examples/first.ts').trimEnd().split('\n').length).toBeLessThanOrEqual(8)
  expect(blocksOf(read('README.md'))[0]?.source).toBe('examples/first.ts')
})

it('lists every folder in the index of examples', () => {
  const index = read('examples/README.md')
  const folders = globSync('examples/*/').map((path) => path.replaceAll('\\', '/').replace(/^examples\/|\/$/g, ''))
  expect(folders.length).toBeGreaterThan(8)
  expect(folders.filter((name) => !index.includes(`](${name})`))).toEqual([])
  // And each says in one line what it is, the command that runs it, and where its page is.
  const lines = folders.map((name) => [name, read(`examples/${name}/README.md`).trimEnd()] as const)
  expect(lines.filter(([, line]) => !/^[^\n]+: `[^`\n]+`[^\n]*\]\(\.\.\/\.\.\/docs\/[^\n]+$/.test(line))).toEqual([])
  expect(lines.flatMap(([name]) => brokenLinks(`examples/${name}/README.md`))).toEqual([])
  const shell = lines.flatMap(([, line]) => Array.from(line.matchAll(/`([^`]+)`/g), ([, code = '']) => code))
  expect(shell.flatMap(missingInShell)).toEqual([])
})

describe('the reference documentation', () => {
  it('lists every event', () => {
    const types = tagsOf(agentEvent)
    expect(types.length).toBeGreaterThan(10)
    const page = read('docs/reference/events.md')
    expect(types.filter((type) => !page.includes(`| \`${type}\` |`))).toEqual([])
  })

  it('lists every error code', () => {
    const codes = [providerErrorCode, toolErrorCode, workspaceErrorCode, sessionErrorCode, misuseCode].flatMap(({ words }) => words)
    expect(codes.length).toBeGreaterThan(20)
    const page = read('docs/reference/errors.md')
    expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([])
  })

  it('contains exactly one section for each error code', () => {
    const lists = [providerErrorCode, toolErrorCode, workspaceErrorCode, sessionErrorCode, misuseCode]
    const unions = [...readSources('src', 'adapters').values()].flatMap((code) => [
      ...code.matchAll(/^export type \w+ErrorCode =(?: Extract<\w+,)?((?:\s*\|?\s*'\w+')+)/gm),
    ])
    const named = unions.flatMap(([, words = '']) => Array.from(words.matchAll(/\w+/g), ([word]) => word))
    const ofRuns = ['aborted', 'limit', 'paused', 'rejected', 'journal', 'hookFailed', 'loadFailed']
    const ofClasses = ['busy', 'cursorExpired', 'sandboxUnavailable']
    const all = [...new Set([...lists.flatMap(({ words }): readonly string[] => words), ...named, ...ofRuns, ...ofClasses])]
    const part = /\n## Every code\n([\s\S]*?)\n## /.exec(read('docs/reference/errors.md'))?.[1] ?? ''
    const sections = Array.from(
      part.matchAll(/^### (\w+)\n\n\S.+\n\n- \*\*Why:\*\* \S.+\n- \*\*What to do:\*\* \S.+$/gm),
      ([, code]) => code,
    )
    expect(sections).toEqual(all.toSorted((a, b) => a.localeCompare(b)))
  })

  it('lists every public entry', () => {
    const page = read('docs/reference/entries.md')
    const names = publicEntries().map(({ subpath }) => subpath.replace('.', 'phi-core'))
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  it('shows the import for each provider', () => {
    const pages = globSync('docs/providers/*.md').map((path) => path.replaceAll('\\', '/'))
    const entryOf: Record<string, string> = {
      custom: 'providers',
      'openai-responses': 'providers/openai',
      'browser-models': 'browser',
    }
    const entry = (path: string) => {
      const name = path.slice('docs/providers/'.length, -'.md'.length)
      return `phi-core/${entryOf[name] ?? `providers/${name}`}'`
    }
    expect(pages.filter((path) => !read(path).includes(entry(path)))).toEqual([])
  })

  it('lists every page in the index', () => {
    const index = read('docs/README.md')
    const listed = globSync('docs/**/*.md').map((path) => path.replaceAll('\\', '/').replace('docs/', ''))
    expect(listed.filter((path) => path !== 'README.md' && !index.includes(`](${path})`))).toEqual([])
  })
})

describe('the architecture page', () => {
  const page = read('docs/internals/architecture.md')
  const inside = (folder: string): string[] => globSync(`${folder}/*`).map((path) => path.replaceAll('\\', '/').slice(folder.length + 1))

  it('lists exactly the folders of src', () => {
    const folders = inside('src').filter((name) => !name.includes('.'))
    const listed = Array.from(page.matchAll(/^ {2}([\w-]+)\/ /gm), ([, name = '']) => name)
    expect(listed.toSorted()).toEqual(folders.toSorted())
  })

  it('lists exactly the files and folders of src/loop', () => {
    const parts = inside('src/loop').filter((name) => name !== 'index.ts')
    const table = /### The loop, file by file\n([\s\S]*?)\n## /.exec(page)?.[1] ?? ''
    const listed = Array.from(table.matchAll(/^\| (`.+?) \|/gm), ([, cell = '']) => cell).join(' ')
    const named = Array.from(listed.matchAll(/`([^`]+)`/g), ([, name = '']) => name)
    expect(named.filter((name) => !existsSync(`src/loop/${name}`))).toEqual([])
    expect(parts.filter((part) => !named.some((name) => name === part || name.startsWith(`${part}/`)))).toEqual([])
  })

  it('names only existing files', () => {
    const named = Array.from(page.matchAll(/(?<![\w/.])(?:src|testing|adapters|test|scripts)\/[\w./-]+/g), ([path]) =>
      path.replace(/\.$/, ''),
    )
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter((path) => !existsSync(path))).toEqual([])
  })
})

it('names only existing tests in test/divergences.md', () => {
  const named = Array.from(read('test/divergences.md').matchAll(/`(test\/[\w/.-]+)`: \*([^*]+)\*/g))
  expect(named.length).toBeGreaterThan(40)
  const wrong = named.filter(([, path = '', title = '']) => !existsSync(path) || !read(path).includes(title))
  expect(wrong.map(([whole]) => whole)).toEqual([])
  // Nor papers that this repository does not hold.
  expect(read('test/divergences.md')).not.toMatch(/§|ARCHITECTURE|\breference `|\bspec\//)
})

it('documents every member of Agent', () => {
  const page = read('docs/reference/agent.md')
  const documented = [...page.matchAll(/^\| (`.+) \| (.+) \|$/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)/g)].map(([, name]) => name),
  )
  const members = Object.getOwnPropertyNames(Agent.prototype).filter((name) => name !== 'constructor')
  expect(members.filter((name) => !documented.includes(name))).toEqual([])
})

it('documents every option of Agent', () => {
  const page = read('docs/reference/agent.md')
  expect(Object.keys(agentTable).filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

it('has no page with the markers of an unfinished merge', () => {
  const marked = globSync('{docs/**/*.md,*.md,changes/*.md}').filter((path) => /^(?:<{7} |={7}$|>{7} )/m.test(read(path)))
  expect(marked).toEqual([])
})

describe('the documentation test itself', () => {
  it('finds code blocks with and without a source', () => {
    const blocks = blocksOf('a\n<!-- snippet: examples/hello.ts -->\n```ts\nx\n```\n\n```sh\nnpm run nothing\n```\n')
    expect(blocks).toEqual([
      { language: 'ts', code: 'x\n', line: 3, source: 'examples/hello.ts' },
      { language: 'sh', code: 'npm run nothing\n', line: 7 },
    ])
    expect(missingInShell('npm run nothing && node examples/none.ts')).toEqual(['nothing', 'examples/none.ts'])
    expect(() => snippet('examples/hello.ts#none')).toThrow('no region')
  })

  it('finds broken references in comments', () => {
    expect(missingPages('/** Source: docs/none.md, docs/concepts/tools.md#none */')).toEqual([
      'docs/none.md',
      'docs/concepts/tools.md#none',
    ])
    expect(missingPages('/** Source: docs/README.md, docs/README.md#concepts */')).toEqual([])
    expect(brokenSymbolLinks("import { a, type B } from 'c'\nfunction d() {}\n/** {@link a} {@link B.b} {@link d} {@link e} */")).toEqual([
      'e',
    ])
    expect(crowdedExamples(' * ```ts\n * a()\n * ```\n * @example\n * b()\n * ```ts const a = 1\n * @example const b = 2')).toEqual([
      '* ```ts const a = 1',
      '* @example const b = 2',
    ])
    expect(oddSources('/** A. Source: docs/a.md. */')).toEqual(['Source: docs/a.md.'])
    expect(oddSources(' * Source: spec/a.md\n * Source: docs/a.md, docs/b.md#c\n/** Source: https://a.example */')).toEqual([
      'Source: spec/a.md',
    ])
  })
})
