import { globSync, readFileSync, writeFileSync } from 'node:fs'

/** The pages whose code must be code that CI runs. */
export const pages = (): string[] =>
  ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')].map((path) => path.replaceAll('\\', '/')).toSorted()

/** A fenced block. `source` is what the comment before it names: `examples/a.ts`, or `examples/a.ts#region`. */
export interface Block {
  language: string
  code: string
  source?: string
  line: number
}

const fence = /(?:<!-- snippet: (\S+) -->\n)?^```(\w*)\n([\s\S]*?)^```$/gm

/** The fenced blocks of a page, in order. */
export function blocksOf(markdown: string): Block[] {
  return Array.from(markdown.matchAll(fence), ({ 0: text, 1: source, 2: language = '', 3: code = '', index }) => {
    const line = markdown.slice(0, index).split('\n').length + (text.startsWith('<!--') ? 1 : 0)
    return { language, code, line, ...(source !== undefined && { source }) }
  })
}

const lineOf = (names: string[], from: string): string =>
  [`import { ${names.join(', ')} } from '${from}'`, `import {\n${names.map((name) => `  ${name},`).join('\n')}\n} from '${from}'`].find(
    (line, index) => index > 0 || line.length <= 140,
  ) ?? ''

/** The imports of a file, less the names that a part of it does not use. */
function importsFor(part: string, code: string): string {
  const lines = Array.from(
    code.matchAll(/^import (type )?(?:\{([^}]*)\}|(\w+)) from '([^']+)'$/gm),
    ([whole, type, list, single = '', from = '']) => {
      const isUsed = (name: string) => new RegExp(`\\b${name}\\b`).test(part)
      if (list === undefined) return isUsed(single) ? whole : ''
      const names = list
        .split(',')
        .flatMap((each) => (isUsed(each.trim().replace(/^type /, '')) && each.trim() !== '' ? [each.trim()] : []))
      if (names.length === 0) return ''
      if (type !== undefined || names.every((name) => name.startsWith('type ')))
        return lineOf(
          names.map((name) => name.replace(/^type /, '')),
          from,
        ).replace('import', 'import type')
      return lineOf(names, from)
    },
  ).filter((line) => line !== '')
  return lines.length === 0 ? '' : `${lines.join('\n')}\n\n`
}

/**
 * What a block must show: a file without its region marks, or one region of it with the imports that the region uses. A page that shows
 * `file#imports` shows them there alone. Throws when there is no such file or region.
 */
export function snippet(source: string, page = ''): string {
  const [path = '', region] = source.split('#')
  const code = readFileSync(path, 'utf8')
  const lines = code.trimEnd().split('\n')
  const from = region === undefined ? 0 : lines.indexOf(`// #region ${region}`) + 1
  const to = region === undefined ? lines.length : lines.indexOf(`// #endregion ${region}`)
  if (region !== undefined && (from === 0 || to < from)) throw new Error(`${path} has no region "${region}".`)
  const shown = lines.slice(from, to).filter((line) => !/^\/\/ #(end)?region /.test(line))
  const part = `${shown.join('\n').trimEnd()}\n`
  const isPart = region !== undefined && region !== 'imports' && !page.includes(`<!-- snippet: ${path}#imports -->`)
  return isPart && !/^import /m.test(part) ? `${importsFor(part, code)}${part}` : part
}

/** The page with every snippet as its file has it now. */
function withCurrentSnippets(markdown: string): string {
  return markdown.replace(fence, (text: string, source: string | undefined, language: string) =>
    source === undefined ? text : `<!-- snippet: ${source} -->\n\`\`\`${language}\n${snippet(source, markdown)}\`\`\``,
  )
}

// npm exec -- node test/docs/snippets.ts: writes the examples into the pages that show them.
if (import.meta.main) {
  for (const page of pages()) {
    const before = readFileSync(page, 'utf8')
    const after = withCurrentSnippets(before)
    if (after !== before) console.log(page)
    writeFileSync(page, after)
  }
}
