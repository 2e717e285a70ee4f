import { namesFor } from './foreign-names.ts'

/** Suggests the known name nearest to `name`, or lists all. Compares only the last part of dotted names. */
export function nearest(name: string, names: readonly string[]): string {
  const found = meant(name, names)
  if (found !== undefined) return `Did you mean ${found}?`
  const own = names.filter((known) => !known.includes('.'))
  return own.length === 0 ? 'There are none.' : `Known: ${own.join(', ')}.`
}

/**
 * Returns the known name that `name` probably means: equal apart from case and punctuation, a name of another library, or a similar
 * spelling. On a tie, prefers the outermost name, then equal length, then the shorter name. Returns `undefined` if no name is similar.
 */
export function meant(name: string, names: readonly string[]): string | undefined {
  const given = plain(name.slice(0, 64))
  const longer = (spelt: string): number => Math.abs(spelt.length - given.length)
  const known = names
    .map((each) => ({ each, spelt: plain(each.slice(each.lastIndexOf('.') + 1)), depth: each.split('.').length }))
    .toSorted((a, b) => a.depth - b.depth || longer(a.spelt) - longer(b.spelt) || a.spelt.length - b.spelt.length)
  const spellings = [given, ...namesFor(given).map(plain)]
  const same = known.find(({ spelt }) => spellings.includes(spelt))
  if (same !== undefined) return same.each
  let found: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const { each, spelt } of known) {
    const cost = costOf(given, spelt)
    if (cost < least) [found, least] = [each, cost]
  }
  return found
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '')
}

/** Returns the edit cost from `given` to `known`, or infinity if the names have too little in common. */
function costOf(given: string, known: string): number {
  const steps = stepsTo(given, known)
  const all = steps.at(-1) ?? 0
  const costs = [Number.POSITIVE_INFINITY]
  if (all <= Math.max(1, Math.floor(given.length / 3))) costs.push(all)
  if (given.length >= 4 && known.length > given.length) {
    // A prefix, perhaps misspelled, or a substring.
    const beginning = Math.min(...steps)
    if (beginning <= Math.floor(given.length / 6)) costs.push(beginning + 0.5)
    if (known.includes(given)) costs.push(1)
  }
  return Math.min(...costs)
}

/** Returns the edit distances (insert, delete, replace, transpose) from `a` to each prefix of `b`. */
function stepsTo(a: string, b: string): number[] {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 0; i < a.length; i += 1) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j += 1) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1)
      const isSwapped = i > 0 && j > 0 && a[i] === b[j - 1] && a[i - 1] === b[j]
      const swapped = isSwapped ? (before[j - 1] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row
}
