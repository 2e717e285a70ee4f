import { readFileSync } from 'node:fs'

/** A page of the site: where its Markdown is, and where it goes. */
export interface Page {
  /** Path from the root of the repository. */
  source: string
  /** Path in the site, without an ending: `concepts/tools`. */
  path: string
  title: string
}

/** Pages that belong together, in their order. */
export interface Group {
  title: string
  pages: Page[]
}

/** The headings of the index that make a group each. */
const headings = ['Start', 'Guides', 'Concepts', 'Reference', 'Providers', 'Migrate', 'Internals'] as const

/** The pages as docs/README.md lists them: a group for each of its headings. */
export function navigation(): Group[] {
  const index = readFileSync('docs/README.md', 'utf8')
  return headings.map((title) => {
    const part = new RegExp(`^## ${title}\\n([\\s\\S]*?)(?=^## |(?![\\s\\S]))`, 'm').exec(index)?.[1] ?? ''
    const links = Array.from(part.matchAll(/(?<!!)\[([^\]]+)\]\(([\w./-]+)\.md\)/g), ([, , path = '']) => path)
    return { title, pages: [...new Set(links)].map((path) => pageAt(`docs/${path}.md`)) }
  })
}

/** A page of `docs/`, by its path. */
export function pageAt(source: string): Page {
  const title = /^# (.+)$/m.exec(readFileSync(source, 'utf8'))?.[1]
  if (title === undefined) throw new Error(`${source} has no title.`)
  return { source, path: source.replace(/^docs\//, '').replace(/\.md$/, ''), title: title.replaceAll('`', '') }
}
