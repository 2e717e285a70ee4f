/** What to say about `name`, which is none of `names`: the nearest of them, or all. Of dotted names the last part counts. */
export function nearest(name: string, names: readonly string[]): string {
  let found = ''
  let least = Math.max(2, Math.floor(name.length / 2))
  // Of equals the one that stands outermost.
  for (const known of names.toSorted((a, b) => a.split('.').length - b.split('.').length)) {
    const steps = distance(name.toLowerCase(), known.slice(known.lastIndexOf('.') + 1).toLowerCase())
    if (steps > least || (steps === least && found !== '')) continue
    found = known
    least = steps
  }
  if (found !== '') return `Did you mean ${found}?`
  const own = names.filter((known) => !known.includes('.'))
  return own.length === 0 ? 'There are none.' : `Known: ${own.join(', ')}.`
}

/** How many letters must be put in, left out or replaced to make `b` of `a`. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 0; i < Math.min(a.length, 64); i += 1) {
    const next = [i + 1]
    for (let j = 0; j < b.length; j += 1) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
