/** A text's occurrences: the first index (-1 if none) and the number of non-overlapping occurrences. */
export interface Occurrences {
  first: number
  count: number
}

/**
 * Finds every occurrence of a non-empty `target`.
 *
 * Linear time for any input (Knuth-Morris-Pratt). The engine's `indexOf` can take minutes on crafted input.
 */
export function occurrencesOf(content: string, target: string): Occurrences {
  const found: Occurrences = { first: -1, count: 0 }
  if (target.length > content.length) return found
  const fallback = fallbacksOf(target)
  let matched = 0
  for (let at = 0; at < content.length; at++) {
    const code = content.charCodeAt(at)
    while (matched > 0 && target.charCodeAt(matched) !== code) matched = fallback[matched - 1] ?? 0
    if (target.charCodeAt(matched) === code) matched += 1
    if (matched < target.length) continue
    if (found.count === 0) found.first = at + 1 - target.length
    found.count += 1
    matched = 0
  }
  return found
}

/** Computes the KMP failure table: for each prefix, the length of its longest proper prefix that is also a suffix. */
function fallbacksOf(target: string): Int32Array {
  const fallback = new Int32Array(target.length)
  let matched = 0
  for (let at = 1; at < target.length; at++) {
    const code = target.charCodeAt(at)
    while (matched > 0 && target.charCodeAt(matched) !== code) matched = fallback[matched - 1] ?? 0
    if (target.charCodeAt(matched) === code) matched += 1
    fallback[at] = matched
  }
  return fallback
}

/** Counts lines. A final line break does not start another line, and an empty text has no lines. */
export function countLines(text: string): number {
  if (text === '') return 0
  let count = text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1
  return count
}

/**
 * Returns lines of `content` around the first line of `target` as a hint, one line more than `target` contains, or `undefined` if that line
 * does not occur.
 */
export function similarText(content: string, target: string): string | undefined {
  const wanted = target.trim()
  const firstLine = wanted.slice(0, endOfLines(wanted, 0, 1)).trim()
  if (firstLine === '') return undefined
  const { first } = occurrencesOf(content, firstLine)
  if (first === -1) return undefined
  const start = content.lastIndexOf('\n', first) + 1
  return content.slice(start, endOfLines(content, start, countLines(wanted) + 1)).replaceAll('\r\n', '\n')
}

/** Returns the end index of `count` lines from `start`, excluding the last line break. */
function endOfLines(text: string, start: number, count: number): number {
  let end = start - 1
  for (let line = 0; line < count; line++) {
    end = text.indexOf('\n', end + 1)
    if (end === -1) return text.length
  }
  return text[end - 1] === '\r' ? end - 1 : end
}
