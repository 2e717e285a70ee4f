import { closingWords, leadingWords } from '../policy/reserved-words.ts'

/** Files that a script loads, according to its text. */
export interface ScriptLoads {
  /** Paths relative to the script. */
  paths: readonly string[]
  /** Why the list may be incomplete, or `undefined` if it is complete. */
  unknown?: string
}

// Bounded repetitions limit the time for a hostile text.
const imported = /\bimport\s{0,99}(?:[\w$*{}\s,]{1,5000}?\bfrom\s{0,99})?(['"])([^'"\\\r\n]+)\1/g
const passedOn = /\bexport\s{0,99}(?:\*(?:\s{1,99}as\s{1,99}[\w$]+)?|\{[^}]{0,5000}\})\s{0,99}from\s{0,99}(['"])([^'"\\\r\n]+)\1/g
const called = /\b(?:import|require)\s{0,99}\(\s{0,99}(['"])([^'"\\\r\n]+)\1\s{0,99}\)/g

/** Words that may load code. Also matches in comments and strings, which only causes one more question. */
const others = /\bimport\b(?!\s{0,99}\.\s{0,99}meta\b)|\brequire\b|\bfrom\s{0,99}['"`]|\bcreateRequire\b|\beval\b|\bFunction\b|\bdlopen\b/

/** Node modules that start programs or load code. */
const loading: ReadonlySet<string> = new Set(
  ['child_process', 'cluster', 'inspector', 'inspector/promises', 'module', 'repl', 'sea', 'test', 'vm', 'wasi', 'worker_threads'].map(
    (name) => `node:${name}`,
  ),
)

/** Returns what a Node script loads: known only if every import is literal and either relative or `node:`. */
export function loadsOfModule(text: string): ScriptLoads {
  const specifiers: string[] = []
  const rest = [imported, passedOn, called].reduce(
    (left, pattern) =>
      left.replace(pattern, (_all, _quote, specifier: string) => {
        specifiers.push(specifier)
        return ' '
      }),
    text,
  )
  const paths = specifiers.filter((specifier) => /^\.\.?\//.test(specifier))
  const odd = specifiers.find((specifier) => !isKnown(specifier)) ?? others.exec(rest)?.[0]
  return odd === undefined ? { paths } : { paths, unknown: `it may load more than its text says (${JSON.stringify(odd)})` }
}

function isKnown(specifier: string): boolean {
  if (specifier.startsWith('node:')) return !loading.has(specifier)
  return /^\.\.?\/[\w@+./-]+\.(?:[cm]?[jt]s|json)$/.test(specifier)
}

/** Shell commands that do not run other files. */
const harmless: ReadonlySet<string> = new Set(
  ': [ test true false exit return echo printf read cat grep head tail tr cut wc uniq date sleep shift local'.split(' '),
)
const leading: ReadonlySet<string> = new Set(leadingWords)
const closing: ReadonlySet<string> = new Set([...closingWords, ''])

/** Returns what a shell script runs: known only if it is plain and none of its commands runs another file. */
export function loadsOfShell(text: string): ScriptLoads {
  const unknown = (what: string): ScriptLoads => ({ paths: [], unknown: `it may run more than its text says (${JSON.stringify(what)})` })
  const plain = text
    .replace(/^\s*#.*$/gm, '')
    .replace(/'[^'\n]*'/g, 'Q')
    .replace(/"(?:[^"`\\$\n]|\$\w+|\$\{\w+\})*"/g, 'Q')
  const odd = /['"`\\]|\$\(|<<|[<>]\(|\b(?:PATH|ENV|BASH_ENV|LD_\w+)=/.exec(plain)
  if (odd !== null) return unknown(odd[0])
  for (const segment of plain.replace(/[<>]&\d?|\d?>+\s*\S+|<\s*\S+/g, ' ').split(/[\n;|&()]+/)) {
    const words = segment.trim().split(/\s+/)
    while (leading.has(words[0] ?? '') || /^[A-Za-z_]\w*=/.test(words[0] ?? '')) words.shift()
    const [command = ''] = words
    if (!harmless.has(command) && !closing.has(command)) return unknown(command)
  }
  return { paths: [] }
}
