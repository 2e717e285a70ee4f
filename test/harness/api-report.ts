/**
 * The public API as one text, for reviewers: each entry, its names, and how values are called. After a change of it:
 *
 * ```sh
 * npm exec -- node test/harness/api-report.ts
 * ```
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { publicEntries } from './public-entries.ts'
import { type Export, exportsOf } from './source.ts'

/** Where the report is kept. */
export const reportFile = 'test/public-api.txt'

/** A new capability may add one entry. More entries or names need an issue. */
export const limits = { entries: 40, names: 831, root: 70 }

const read = (path: string): string => readFileSync(path, 'utf8')

/** Follows a name to the file that declares it. */
export function declarationOf(path: string, exported: Export): { path: string; name: string } {
  if (!exported.from) return { path, name: exported.name }
  const { from } = exported
  const next = exportsOf(from.path, read(from.path)).find((each) => each.name === from.name)
  if (!next) throw new Error(`${path} exports ${from.name} from ${from.path}, which has no such export.`)
  return declarationOf(from.path, next)
}

/** How many there are of what is limited. */
export function apiFigures(): typeof limits {
  const counts = publicEntries().map(({ subpath, source }) => [subpath, exportsOf(source, read(source)).length] as const)
  const root = counts.find(([subpath]) => subpath === '.')?.[1] ?? 0
  return { entries: counts.length, names: counts.reduce((sum, [, count]) => sum + count, 0), root }
}

/** Entries in the order of package.json, names in alphabetical order, values with their signatures. */
export function apiReport(): string {
  const { entries, names, root } = apiFigures()
  const sections = publicEntries().map(({ subpath, source }) => {
    const exported = exportsOf(source, read(source)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    return [`## ${subpath.replace('.', 'phi-core')} (${exported.length})`, ...exported.map((each) => lineOf(source, each))].join('\n')
  })
  return `${entries} entries, ${names} names, ${root} at the root\n\n${sections.join('\n\n')}\n`
}

function lineOf(source: string, exported: Export): string {
  if (exported.isType) return `type ${exported.name}`
  const { path, name } = declarationOf(source, exported)
  const code = read(path)
  const start = new RegExp(`^export (?:abstract )?(?:async )?(?:function\\*?|const|let|class) ${name}\\b`, 'm').exec(code)?.index ?? 0
  const text = code.slice(start, endOfSignature(code, start)).replaceAll(/\s+/g, ' ').trim()
  return text.replace(/^export (async )?/, '').replace(/,(?= [)}>])/g, '')
}

/** Where the body of a function or class begins, or the value of a constant. */
function endOfSignature(code: string, start: number): number {
  let depth = 0
  for (let at = start; at < code.length; at++) {
    const char = code[at]
    if (depth === 0 && ((char === '=' && code[at + 1] !== '>') || char === '\n')) return at
    if (depth === 0 && char === '{' && /[\w>\])}'] $/.test(code.slice(at - 2, at))) return at
    if (/[({[<]/.test(char ?? '')) depth += 1
    if (/[)}\]]/.test(char ?? '') || (char === '>' && code[at - 1] !== '=')) depth -= 1
  }
  return code.length
}

if (import.meta.main) writeFileSync(reportFile, apiReport())
