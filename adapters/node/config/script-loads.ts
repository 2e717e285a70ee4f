import { closingWords, leadingWords } from '../policy/reserved-words.ts'

/** What the text of a script says of what it loads. */
export interface ScriptLoads {
  /** Paths, relative to the script. */
  paths: readonly string[]
  /** Why that is not all of it, as far as anybody can know. */
  unknown?: string
}

// The bounds keep a text that was made for it from taking long.
const imported = /\bimport\s{0,99}(?:[\w$*{}\s,]{1,5000}?\bfrom\s{0,99})?(['"])([^'"\\\r\n]+)\1/g
const passedOn = /\bexport\s{0,99}(?:\*(?:\s{1,99}as\s{1,99}[\w$]+)?|\{[^}]{0,5000}\})\s{0,99}from\s{0,99}(['"])([^'"\\\r\n]+)\1/g
const called = /\b(?:import|require)\s{0,99}\(\s{0,99}(['"])([^'"\\\r\n]+)\1\s{0,99}\)/g

/** What could load something, and was not understood. Words in comments and strings too: nobody loses more than a question. */
const others = /\bimport\b(?!\s{0,99}\.\s{0,99}meta\b)|\brequire\b|\bfrom\s{0,99}['"`]|\bcreateRequire\b|\beval\b|\bFunction\b|\bdlopen\b/

/** Modules of Node that start programs, or load code from elsewhere. */
const loading: ReadonlySet<string> = new Set(
  ['child_process', 'cluster', 'inspector', 'inspector/promises', 'module', 'repl', 'sea', 'test', 'vm', 'wasi', 'worker_threads'].map(
    (name) => `node:${name}`,
  ),
)

/** What a script for Node loads: known only where every import is literal and either relative or `node:`. */
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

/** Commands of a shell that run no other file. */
const harmless: ReadonlySet<string> = new Set(
  ': [ test true false exit return echo printf read cat grep head tail tr cut wc uniq date sleep shift local'.split(' '),
)
const leading: ReadonlySet<string> = new Set(leadingWords)
const closing: ReadonlySet<string> = new Set([...closingWords, ''])

/** What a script of a shell runs: known only where it is plain, and each of its commands is one that runs nothing else. */
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
