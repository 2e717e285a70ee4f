import { type Occurrences, occurrencesOf } from './edit-text.ts'

/** Position of a text in a file. `length` is measured in the file, where a line ending may be CRLF although `old_text` contains LF. */
export interface Place extends Occurrences {
  length: number
}

/**
 * Finds `target` in `content`. An LF in `target` also matches CRLF, because models see lines without line endings.
 *
 * A CRLF in `target` matches only CRLF.
 */
export function placeOf(content: string, target: string): Place {
  if (!target.includes('\n') || !content.includes('\r\n')) return { ...occurrencesOf(content, target), length: target.length }
  if (!target.includes('\r\n')) return placeApartFromEnds(content, target)
  const asGiven = occurrencesOf(content, target)
  if (asGiven.count > 0) return { ...asGiven, length: target.length }
  const withCrlf = target.replaceAll(/\r?\n/g, '\r\n')
  return { ...occurrencesOf(content, withCrlf), length: withCrlf.length }
}

/** Returns whether `content` contains `target` if all line endings are treated as equal. */
export function differsInLineEnds(content: string, target: string): boolean {
  return target.includes('\r\n') && occurrencesOf(withLf(content), withLf(target)).count > 0
}

function placeApartFromEnds(content: string, target: string): Place {
  const { first, count } = occurrencesOf(withLf(content), target)
  if (count === 0) return { first, count, length: 0 }
  const start = indexBeforeEnds(content, 0, first)
  return { first: start, count, length: indexBeforeEnds(content, start, target.length) - start }
}

/** Returns the index `distance` characters after `start`, counting CRLF as one character. */
function indexBeforeEnds(content: string, start: number, distance: number): number {
  let at = start
  for (let left = distance; left > 0; left--) at += content.startsWith('\r\n', at) ? 2 : 1
  return at
}

const withLf = (text: string) => text.replaceAll('\r\n', '\n')

/**
 * Returns `newText` with line endings that match `place` in `content`.
 *
 * - Unchanged lines at the beginning or end of the text keep their line endings.
 * - Other lines get the line ending of the line that they replace, or else of the previous line.
 * - If the replaced text contains no line ending, `newText` gets the line ending of the surrounding line.
 * - If the file has no line endings, `newText` stays unchanged.
 */
export function fitLineEnds(content: string, { first, length }: Place, newText: string): string {
  if (!newText.includes('\n')) return newText
  const oldText = content.slice(first, first + length)
  const outside = endAround(content, first, first + length)
  if (!oldText.includes('\n')) return outside === undefined ? newText : withLf(newText).replaceAll('\n', outside)
  const oldEnds = oldText.match(/\r?\n/g) ?? []
  const oldLines = withLf(oldText).split('\n')
  const newLines = withLf(newText).split('\n')
  const before = equalLines(oldLines, newLines)
  const after = equalEnds(oldLines, newLines, before)
  const lastReplaced = oldEnds.length - after - 1
  const endOf = (index: number) => {
    if (index < before) return oldEnds[index]
    const fromEnd = newLines.length - 1 - index
    return fromEnd <= after ? oldEnds[oldEnds.length - fromEnd] : oldEnds[Math.max(0, Math.min(index, lastReplaced))]
  }
  return newLines.map((line, index) => (index === newLines.length - 1 ? line : line + endOf(index))).join('')
}

/** Counts the complete lines that both texts share at the beginning. */
function equalLines(left: readonly string[], right: readonly string[]): number {
  const most = Math.min(left.length, right.length) - 1
  let count = 0
  while (count < most && left[count] === right[count]) count++
  return count
}

/**
 * Counts the complete lines that both texts share at the end, ignoring text after the last line ending. Excludes the first `taken` lines.
 */
function equalEnds(left: readonly string[], right: readonly string[], taken: number): number {
  if (left.at(-1) !== right.at(-1)) return 0
  const most = Math.min(left.length, right.length) - 1 - taken
  let count = 0
  while (count < most && left[left.length - 2 - count] === right[right.length - 2 - count]) count++
  return count
}

/** Returns the line break after `end`, or the line break before `start` if there is none. */
function endAround(content: string, start: number, end: number): string | undefined {
  const next = content.indexOf('\n', end)
  const at = next === -1 ? content.lastIndexOf('\n', start - 1) : next
  // `lastIndexOf` treats a negative position as 0.
  if (at === -1 || (next === -1 && at >= start)) return undefined
  return content[at - 1] === '\r' ? '\r\n' : '\n'
}
