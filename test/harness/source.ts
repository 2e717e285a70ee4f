/**
 * Reads TypeScript just well enough for the tests about the code base (TypeScript 7 has no JavaScript API): which modules a file imports,
 * which names it exports, and what is code rather than comment or text.
 */
import { globSync, readFileSync } from 'node:fs'

/** Sources by path relative to the repository root, with forward slashes. */
export type Sources = ReadonlyMap<string, string>

/** Every TypeScript file below the given folders. */
export function readSources(...folders: string[]): Sources {
  const paths = folders.flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`)).filter((path) => !path.includes('node_modules'))
  return new Map(paths.toSorted().map((path) => [path.replaceAll('\\', '/'), readFileSync(path, 'utf8')]))
}

/** Comments and the literals that can contain anything; a slash begins a regular expression only where no operand can stand before it. */
export const literals =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`|\/(?<=(?:^|[(,=:[!&|?{};+\n]|return|=>)\s*\/)(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g

const blanked = new Map<string, string>()

/**
 * The code at its old offsets, with comments, regular expressions and the inside of strings blanked, but not what a template computes. Several tests
 * ask for the same file.
 */
export function blankOut(code: string): string {
  const known = blanked.get(code) ?? withoutWords(code)
  blanked.set(code, known)
  return known
}

function withoutWords(code: string): string {
  const blank = (text: string): string => text.replace(/\$\{[^}]*\}|[^\n]/g, (part) => (part.length > 1 ? part : ' '))
  return code.replace(literals, (token) =>
    /^['"`]/.test(token) ? token[0] + blank(token.slice(1, -1)) + token.at(-1) : token.replace(/[^\n]/g, ' '),
  )
}

/** What a file imports or re-exports from. A computed `import()` has no specifier. */
export interface Import {
  specifier: string | undefined
  line: number
}

/** Every import of a file, static, dynamic, and in a type position. */
export function importsOf(code: string): Import[] {
  const found: Import[] = []
  for (const match of blankOut(code).matchAll(/(?<![.\w$])(?:import\s*(\()\s*|(?:from|import)\s*(?=['"]))(?=(['"`]?))/g)) {
    const [text, parenthesis, quote] = match
    const start = match.index + text.length
    const end = quote ? code.indexOf(quote, start + 1) : -1
    const isLiteral = (quote === "'" || quote === '"') && (!parenthesis || /^\s*[,)]/.test(code.slice(end + 1)))
    const line = code.slice(0, start).split('\n').length
    found.push({ specifier: isLiteral ? code.slice(start + 1, end) : undefined, line })
  }
  return found
}

/** `specifier` of an import in `path`, as a path from the root; packages stay as they are. */
export function resolveImport(path: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier
  return new URL(specifier, `file:///${path}`).pathname.slice(1)
}

/** Every name that a file declares at its top level, or imports. */
export function namesIn(code: string): Set<string> {
  const clean = blankOut(code)
  const declared = clean.matchAll(
    /^(?:export )?(?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/gm,
  )
  const imported = Array.from(clean.matchAll(/^import (?:type )?\{([^}]*)\}/gm), ([, names = '']) => names.split(',')).flat()
  return new Set([
    ...Array.from(declared, ([, name = '']) => name),
    ...imported.map((entry) => entry.trim().replace(/^(type )?(\w+ as )?/, '')).filter((name) => name !== ''),
  ])
}

/** A name that a module offers. */
export interface Export {
  name: string
  isType: boolean
  /** Where it is declared, when this module only passes it on: path from the root, and the name it has there. */
  from?: { path: string; name: string }
}

/** Every name a module exports, in order of appearance. */
export function exportsOf(path: string, code: string): Export[] {
  const clean = blankOut(code)
  const found: Export[] = []
  for (const match of clean.matchAll(
    /^export (?:declare )?(?:abstract )?(?:async )?(function\*?|const|let|class|interface|type) (\w+)/gm,
  )) {
    const [, keyword = '', name = ''] = match
    found.push({ name, isType: keyword === 'interface' || keyword === 'type' })
  }
  for (const match of clean.matchAll(/^export (type )?\{([^}]*)\}(?: from (['"]))?/gm)) {
    const [text, allTypes, names = '', quote] = match
    const start = match.index + text.length
    const source = quote ? resolveImport(path, code.slice(start, code.indexOf(quote, start))) : undefined
    for (const entry of names.split(',').map((part) => part.trim())) {
      if (entry === '') continue
      const [inner = '', outer = inner] = entry.replace(/^type /, '').split(' as ')
      found.push({
        name: outer.trim(),
        isType: allTypes !== undefined || entry.startsWith('type '),
        ...(source !== undefined && { from: { path: source, name: inner.trim() } }),
      })
    }
  }
  return found
}
