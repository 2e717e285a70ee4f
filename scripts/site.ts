/**
 * `npm run site`: the documentation as a static site in `dist-site/`, from the Markdown of `docs/` and the declarations in `dist/types`. It can be
 * put anywhere: all addresses are relative, and the search index is one of its files. `--only index,start/script` builds these pages alone, without
 * the playground; `--to folder` puts them elsewhere.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'vite'
import { anchorOf, type Rendered, renderMarkdown } from './site/markdown.ts'
import { navigation, type Page, pageAt } from './site/nav.ts'
import { missingComments, type ReferencePage, referencePages } from './site/reference.ts'
import { documentPage, landingPage, playgroundPage, rootOf } from './site/template.ts'

const { values } = parseArgs({
  options: { only: { type: 'string' }, to: { type: 'string', default: 'dist-site' } },
  strict: import.meta.main,
})
const folder = `node_modules/.cache/site-${process.pid}`
const target = resolve(String(values.to))

const features = [
  { title: 'One loop, no framework', text: 'Turns, tools, steering, hooks, limits. Events are plain JSON.', to: 'concepts/agent-and-run' },
  { title: 'A person decides', text: 'Approvals are bound to what was shown, and survive a reload.', to: 'concepts/approval' },
  { title: 'Sessions that survive', text: 'Files, PostgreSQL, IndexedDB, Durable Objects, KV.', to: 'concepts/sessions' },
  { title: 'Every screen', text: 'React, Vue, Svelte, Solid, one script tag, useChat, AG-UI.', to: 'guides/frameworks' },
  { title: 'Keys stay on the server', text: 'A model proxy with budgets, for pages without a backend.', to: 'guides/keys-and-proxies' },
  { title: 'You see everything', text: 'The exact request, block by block, its cache and its cost.', to: 'reference/tracing' },
]

/** All pages in the order of the index. */
function documents(): { groups: { title: string; pages: Page[] }[]; pages: Page[] } {
  const groups = navigation()
  return { groups, pages: groups.flatMap((group) => group.pages) }
}

/** Every page as HTML, and the index for search. Links to what the site does not have are left out. */
export function renderSite(): { files: Map<string, string>; dead: string[] } {
  const { groups, pages } = documents()
  const reference = referencePages()
  const index = pageAt('docs/README.md')
  const all: (Page & { markdown: string })[] = [
    ...[{ ...index, path: 'documentation' }, ...pages].map((page) => ({ ...page, markdown: readFileSync(page.source, 'utf8') })),
    ...reference.map(({ entry, path, markdown }: ReferencePage) => ({ source: `docs/${path}.md`, path, title: entry, markdown })),
  ]
  const bySource = new Map(all.map((page) => [page.source, page]))
  const nav = [...groups, { title: 'API', pages: all.filter(({ path }) => path.startsWith('api/')) }]
  const files = new Map<string, string>()
  const dead: string[] = []
  const entries: object[] = []
  const rendered = new Map<string, Rendered>()
  for (const [at, page] of all.entries()) {
    const hrefOf = (to: string, anchor: string): string | undefined => {
      if (to.startsWith('docs/images/')) return `${rootOf(page.path)}${to.slice('docs/'.length)}`
      const found = bySource.get(to)
      if (found === undefined) {
        if (to.startsWith('docs/') && to.endsWith('.md')) dead.push(`${page.source}: ${to}`)
        return undefined
      }
      return `${rootOf(page.path)}${found.path}.html${anchor === '' ? '' : `#${anchorOf(anchor)}`}`
    }
    const content = renderMarkdown(page.markdown, page.source, hrefOf)
    rendered.set(page.path, content)
    for (const { anchor, heading, text } of content.sections) {
      entries.push({ path: page.path, title: page.title, anchor, heading, text: plain(text).slice(0, 4000) })
    }
    const description = content.sections[0]?.text.trim().slice(0, 150) ?? page.title
    const frame = { title: `${page.title} · phi-core`, description, path: page.path, nav, previous: all[at - 1], next: all[at + 1] }
    files.set(`${page.path}.html`, documentPage(frame, content))
  }
  const program = renderMarkdown(`\`\`\`ts\n${readFileSync('examples/first.ts', 'utf8')}\`\`\``, 'docs/README.md', () => undefined).html
  files.set('index.html', landingPage(program, features))
  files.set('playground.html', playgroundPage())
  files.set('search.json', JSON.stringify(entries))
  files.set('llms.txt', llms(nav))
  files.set('llms-full.txt', all.map(({ markdown }) => markdown.replace(/^<!-- snippet: \S+ -->\n/gm, '')).join('\n\n'))
  return { files, dead }
}

/** Markdown without its marks. */
const plain = (text: string): string =>
  text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')

/** What a model reads first: which page says what. */
function llms(nav: { title: string; pages: { path: string; title: string }[] }[]): string {
  const list = nav.map(({ title, pages }) => `## ${title}\n\n${pages.map((page) => `- [${page.title}](${page.path}.html)`).join('\n')}`)
  return `# phi-core\n\n> An SDK for LLM agents in TypeScript: one loop with streaming, tools, approval and sessions, in browsers, Workers, Deno, Bun and Node.\n\nThe whole text is in llms-full.txt.\n\n${list.join('\n\n')}\n`
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

async function buildSite(): Promise<void> {
  const { files, dead } = renderSite()
  if (dead.length > 0) throw new Error(`The site has dead links:\n${dead.join('\n')}`)
  if (missingComments.length > 0) throw new Error(`Exports without a comment:\n${missingComments.join('\n')}`)
  const wanted = typeof values.only === 'string' ? values.only.split(',').map((path) => `${path}.html`) : undefined
  const built = [...files.keys()].filter((path) => path.endsWith('.html') && (wanted?.includes(path) ?? true))
  for (const path of built) write(path, files.get(path) ?? '')
  cpSync('scripts/site/client', join(folder, 'client'), { recursive: true })
  cpSync('docs/images', join(folder, 'public/images'), { recursive: true })
  for (const [path, text] of files) if (!path.endsWith('.html')) write(`public/${path}`, text)
  const input = built.map((path) => join(folder, path))
  const options = { configFile: false, logLevel: 'warn' } as const
  await build({
    ...options,
    root: folder,
    base: './',
    build: { outDir: target, emptyOutDir: true, target: 'es2023', rolldownOptions: { input } },
  })
  rmSync(folder, { recursive: true, force: true })
  if (wanted !== undefined) return
  await build({
    ...options,
    configFile: 'vite.config.ts',
    root: 'playground',
    base: './',
    build: { outDir: join(target, 'playground'), emptyOutDir: true },
  })
}

if (import.meta.main) {
  await buildSite()
  console.log(`${target}: open it with npx vite preview --outDir ${target}`)
}
