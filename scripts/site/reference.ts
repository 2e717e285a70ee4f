import { readFileSync } from 'node:fs'
import { publicEntries } from '../../test/harness/public-entries.ts'
import { exportsOf } from '../../test/harness/source.ts'

/** One exported name, as its declaration file has it. */
interface Declared {
  name: string
  comment: string
  code: string
}

/** The page of one entry, as Markdown. */
export interface ReferencePage {
  entry: string
  path: string
  markdown: string
}

const read = (path: string): string => readFileSync(path, 'utf8')
const cache = new Map<string, string>()

function declarationFile(path: string): string {
  const code = cache.get(path) ?? read(path)
  cache.set(path, code)
  return code
}

/** Where a name is declared: follows what modules pass on. */
function homeOf(path: string, name: string): { path: string; name: string } {
  const found = exportsOf(path, declarationFile(path)).find((each) => each.name === name)
  if (found?.from === undefined) return { path, name }
  return homeOf(found.from.path.replace(/\.ts$/, '.d.ts'), found.from.name)
}

/** The comment above `at`, without its stars. */
function commentBefore(code: string, at: number): string {
  const before = code.slice(0, at).trimEnd()
  if (!before.endsWith('*/')) return ''
  return before
    .slice(before.lastIndexOf('/**') + 3, -2)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim()
}

/** The end of a declaration that begins at `at`: its last brace, or its semicolon. */
function endOf(code: string, at: number): number {
  let depth = 0
  for (let index = at; index < code.length; index++) {
    const character = code[index]
    if (character === '/' && code[index + 1] === '*') index = code.indexOf('*/', index) + 1
    else if (character === '{' || character === '(' || character === '[') depth += 1
    else if (character === '}' || character === ')' || character === ']') {
      depth -= 1
      if (depth === 0 && character === '}' && /^\s*(?:\n|$)/.test(code.slice(index + 1, index + 3))) return index + 1
    } else if (character === ';' && depth === 0) return index + 1
  }
  return code.length
}

/** Declarations of one name: a function has one for each overload. */
function declarationsOf(path: string, name: string): Declared | undefined {
  const code = declarationFile(path)
  const pattern = new RegExp(`^(?:export )?(?:declare )?(?:abstract )?(?:function|const|let|class|interface|type) ${name}\\b`, 'gm')
  const all = Array.from(code.matchAll(pattern), ({ index }) => ({
    comment: commentBefore(code, index),
    code: code.slice(index, endOf(code, index)).replace(/^(?:export )?(?:declare )?/, ''),
  }))
  if (all.length === 0) return undefined
  const comment = all.map((each) => each.comment).find((text) => text !== '') ?? ''
  return { name, comment, code: all.map((each) => tidy(each.code)).join('\n') }
}

/** Private members say nothing to a reader. */
const tidy = (code: string): string =>
  code
    .replace(/^ {4}#private;\n/gm, '')
    .replace(/^ {4}private [^\n]*\n/gm, '')
    .replaceAll(' | undefined;', ';')
    .replace(/^( +)/gm, (spaces) => ' '.repeat(spaces.length / 2))

/** A comment as Markdown: tags become words, sources become links. */
function asMarkdown(comment: string): string {
  return comment
    .replace(/\{@(?:link) (\w[\w.]*)\}/g, '`$1`')
    .replace(/^@module\s*$/gm, '')
    .replace(/^@defaultValue (.+)$/gm, 'Default: $1')
    .replace(/^@example\s*\n(?!```)([\s\S]*)$/m, (_, code: string) => `**Example**\n\n\`\`\`ts\n${code.trim()}\n\`\`\``)
    .replace(/^@example\s*$/gm, '**Example**\n')
    .replace(/^Source: (.+)$/gm, (_, places: string) => {
      const links = places.split(', ').map((place) => (place.startsWith('docs/') ? `[${titleOf(place)}](../${place.slice(5)})` : place))
      return `More: ${links.join(', ')}`
    })
    .trim()
}

function titleOf(place: string): string {
  return /^# (.+)$/m.exec(read(place.split('#')[0] ?? ''))?.[1]?.replaceAll('`', '') ?? place
}

/** Everything that is said to a reader of the declarations, once: the comments of each public name and of its members. */
export function publicComments(): { name: string; texts: string[] }[] {
  const comments = new Map<string, { name: string; texts: string[] }>()
  for (const { source } of publicEntries()) {
    const path = `dist/types/${source.replace(/\.ts$/, '.d.ts')}`
    for (const { name } of exportsOf(path, declarationFile(path))) {
      const home = homeOf(path, name)
      const { comment = '', code = '' } = declarationsOf(home.path, home.name) ?? {}
      const inside = Array.from(code.matchAll(/\/\*\*[\s\S]*?\*\//g), ([text]) => commentBefore(text, text.length))
      comments.set(`${home.path} ${home.name}`, { name, texts: [comment, ...inside].map(asMarkdown) })
    }
  }
  return [...comments.values()]
}

/** The names of an entry without a comment. */
export const missingComments: string[] = []

/** A page for each entry of the package, made of its declarations in `dist/types`. Build first. */
export function referencePages(): ReferencePage[] {
  return publicEntries().map(({ subpath, source }) => {
    const entry = subpath.replace('.', 'phi-core')
    const path = `dist/types/${source.replace(/\.ts$/, '.d.ts')}`
    const code = declarationFile(path)
    const intro = /^\s*\/\*\*[\s\S]*?@module\s*\*\//.exec(code)?.[0] ?? ''
    const names = exportsOf(path, code)
    const declared = names.flatMap(({ name, isType }) => {
      const home = homeOf(path, name)
      const found = declarationsOf(home.path, home.name)
      if (found === undefined || found.comment === '') missingComments.push(`${entry}: ${name}`)
      return found === undefined ? [] : [{ ...found, name, isType }]
    })
    const [values, types] = [declared.filter(({ isType }) => !isType), declared.filter(({ isType }) => isType)]
    const shown = (each: Declared) => `### ${each.name}\n\n${asMarkdown(each.comment)}\n\n\`\`\`ts\n${each.code}\n\`\`\`\n`
    const part = (title: string, list: Declared[]) => (list.length === 0 ? '' : `## ${title}\n\n${list.map(shown).join('\n')}\n`)
    const head = intro === '' ? '' : `${asMarkdown(commentBefore(intro, intro.length))}\n\n`
    const markdown = `# ${entry}\n\n${head}${part('Functions and classes', values)}${part('Types', types)}`
    return { entry, path: `api/${subpath === '.' ? 'core' : subpath.slice(2).replaceAll('/', '-')}`, markdown }
  })
}
