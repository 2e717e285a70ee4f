/** What of other people ends in what is published: the dependencies of the package, and what the playground imports. As the lock file tells it. */

/** A package as `package-lock.json` names it. */
export interface LockedPackage {
  version?: string
  license?: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** By its path, such as `node_modules/a/node_modules/b`. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>

/** Licences that ask for no more than their text: what is published may hold their code. */
const allowed: ReadonlySet<string> = new Set([
  ...[
    '0BSD',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'CC0-1.0',
    'ISC',
    'MIT',
    'MIT-0',
    'Python-2.0',
    'Unlicense',
    'Zlib',
  ],
])

/** The paths of `roots` and of all that they need, each once. Throws for one that the lock file does not have. */
export function publishedPackages(locked: LockedPackages, roots: Iterable<string>): Set<string> {
  const found = new Set<string>()
  const add = (from: string, name: string, isOptional: boolean): void => {
    const path = placeOf(locked, from, name)
    if (path !== undefined) found.add(path)
    else if (!isOptional)
      throw new Error(`package-lock.json does not have ${name}, which ${from || 'this repository'} needs. Run npm install.`)
  }
  for (const name of roots) add('', name, false)
  for (const path of found) {
    const { dependencies = {}, optionalDependencies = {} } = locked[path] ?? {}
    for (const name of Object.keys(dependencies)) add(path, name, name in optionalDependencies)
    for (const name of Object.keys(optionalDependencies)) add(path, name, true)
  }
  return found
}

/** Where Node finds `name` from a package: beside its own dependencies, or further up. */
function placeOf(locked: LockedPackages, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`
    if (locked[path] !== undefined) return path
    if (at === '') return undefined
  }
}

/** The packages that a program imports, by the text of its files; those of Node and of this package are none. */
export function importedPackages(texts: Iterable<string>): Set<string> {
  const names = new Set<string>()
  for (const text of texts) {
    for (const [, specifier = ''] of text.matchAll(/(?:\bfrom\s+|\bimport\s*\(?\s*)'([^'$\n]+)'/g)) {
      const [, name] = /^((?:@[\w.-]+\/)?[\w-][\w.-]*)/.exec(specifier) ?? []
      if (name !== undefined && name !== 'phi-core' && !specifier.includes(':')) names.add(name)
    }
  }
  return names
}

/** Whether a licence, an expression of SPDX, is one that we may pass on: one of several, or all of them. */
export function isAllowed(license: string): boolean {
  const words = license.match(/[()]|[^\s()]+/g) ?? []
  let at = 0
  const one = (): boolean => {
    const word = words[at++]
    if (word !== '(') return allowed.has(word ?? '')
    const inner = any()
    return words[at++] === ')' && inner
  }
  const all = (): boolean => {
    let result = one()
    while (words[at] === 'AND') {
      at++
      result = one() && result
    }
    return result
  }
  const any = (): boolean => {
    let result = all()
    while (words[at] === 'OR') {
      at++
      result = all() || result
    }
    return result
  }
  return any() && at === words.length
}

/** A line for each of these packages whose licence is none of the list. */
export function licenceFaults(locked: LockedPackages, paths: Iterable<string>): string[] {
  return [...paths].flatMap((path) => {
    const { version, license } = locked[path] ?? {}
    if (license !== undefined && isAllowed(license)) return []
    return [`${path}@${version}: ${license ?? 'no licence'} is not on the list of scripts/supply.ts`]
  })
}

/** What `npm audit --json` came to: nothing to say where the registry did not answer as one does. */
export type AuditOutcome = { faults: string[] } | { unreachable: string }

/** Reads the report of `npm audit --json`: what it knows against these packages. What only develops and tests this repository is left out. */
export function readAudit(report: string, paths: ReadonlySet<string>): AuditOutcome {
  let value: { vulnerabilities?: Record<string, Vulnerability>; message?: string; error?: { summary?: string } }
  try {
    value = JSON.parse(report)
  } catch {
    return { unreachable: 'npm wrote no report' }
  }
  if (value.vulnerabilities === undefined) return { unreachable: value.message || value.error?.summary || 'the report has no list' }
  const faults = Object.values(value.vulnerabilities).flatMap(({ name, severity, nodes, via }) => {
    if (!nodes.some((node) => paths.has(node))) return []
    const titles = via.map((each) => (typeof each === 'string' ? `through ${each}` : `${each.title} (${each.url})`))
    return [`${name}: ${severity}: ${titles.join('; ')}`]
  })
  return { faults }
}

interface Vulnerability {
  name: string
  severity: string
  /** Paths of the lock file. */
  nodes: string[]
  via: (string | { title: string; url: string })[]
}
