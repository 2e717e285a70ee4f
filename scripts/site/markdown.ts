import { posix } from 'node:path'
import { Marked, type Tokens } from 'marked'
import { createHighlighter } from 'shiki'

/** A part of a page, for search: what stands under one heading. */
export interface Section {
  anchor: string
  heading: string
  text: string
}

/** A page as HTML, and what it says. */
export interface Rendered {
  html: string
  sections: Section[]
  /** Headings of the second level, for the list beside the page. */
  outline: { anchor: string; text: string }[]
}

/** A heading as the anchor that links use. GitHub makes the same one. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const languages = ['ts', 'tsx', 'js', 'jsx', 'vue', 'svelte', 'html', 'css', 'sh', 'toml', 'json', 'yaml', 'sql', 'rust', 'nginx', 'python']
const highlighter = await createHighlighter({ themes: ['github-light-high-contrast', 'github-dark-high-contrast'], langs: languages })

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
/** Text that no browser takes for a tag. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character] ?? '')

function highlighted(code: string, language: string): string {
  const lang = languages.includes(language) ? language : 'text'
  const themes = { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' }
  return highlighter.codeToHtml(code, { lang, themes, defaultColor: false })
}

/**
 * Renders Markdown. `hrefOf` turns the target of a link, as a path from the root of the repository, into an address: undefined where the site
 * does not have it, and the text stays without a link then.
 */
export function renderMarkdown(markdown: string, source: string, hrefOf: (target: string, anchor: string) => string | undefined): Rendered {
  const sections: Section[] = []
  const outline: Rendered['outline'] = []
  let tables = 0
  const isApi = source.startsWith('docs/api/')
  const add = (text: string) => {
    const last = sections.at(-1)
    if (last !== undefined) last.text += ` ${text}`
  }
  const marked = new Marked({ gfm: true })
  marked.use({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const anchor = anchorOf(text.replaceAll('`', '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
        const inner = this.parser.parseInline(tokens)
        const plain = text.replaceAll('`', '')
        sections.push({ anchor: depth === 1 ? '' : anchor, heading: plain, text: '' })
        if (depth === 2 || (depth === 3 && isApi)) outline.push({ anchor, text: plain })
        return depth === 1
          ? `<h1>${inner}</h1>\n`
          : `<h${depth} id="${anchor}">${inner}<a class="anchor" href="#${anchor}" aria-label="Link to ${escapeHtml(plain)}">#</a></h${depth}>\n`
      },
      code({ text, lang = '' }: Tokens.Code) {
        add(text)
        return `<div class="code">${highlighted(text, lang)}<button type="button" class="copy" data-copy>Copy</button></div>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens)
        if (/^https?:/.test(href)) return `<a href="${escapeHtml(href)}" rel="noreferrer">${inner}</a>`
        const [path = '', anchor = ''] = href.split('#')
        const target = path === '' ? source : posix.join(posix.dirname(source), path)
        const address = hrefOf(target, anchor)
        return address === undefined ? inner : `<a href="${escapeHtml(address)}">${inner}</a>`
      },
      image({ href, text }: Tokens.Image) {
        const address = hrefOf(posix.join(posix.dirname(source), href), '')
        return address === undefined ? escapeHtml(text) : `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}" loading="lazy">`
      },
      table(token: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          `<tr>${row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`
        for (const row of token.rows) add(row.map((cell) => cell.text).join(' '))
        tables += 1
        const [head, body] = [cells(token.header, 'th'), token.rows.map((row) => cells(row, 'td')).join('')]
        return `<div class="table" role="region" aria-label="Table ${tables}" tabindex="0"><table><thead>${head}</thead><tbody>${body}</tbody></table></div>\n`
      },
      paragraph({ tokens, text }: Tokens.Paragraph) {
        add(text)
        return `<p>${this.parser.parseInline(tokens)}</p>\n`
      },
      listitem(item: Tokens.ListItem) {
        add(item.text)
        return `<li>${this.parser.parse(item.tokens)}</li>\n`
      },
    },
  })
  const html = marked.parse(markdown.replace(/^<!-- snippet: \S+ -->\n/gm, ''), { async: false })
  return { html, sections, outline }
}
