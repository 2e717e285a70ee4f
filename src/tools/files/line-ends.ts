import { type Occurrences, occurrencesOf } from './edit-text.ts'

/** Position of a text in a file. `length` counts the CRLF of the file, which `old_text` may write as LF. */
export interface Place extends Occurrences {
  length: number
}

/**
 * Finds `target` in `content`. An LF in `target` matches CRLF too: models read lines without their ends.
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

/** Whether `target` is in `content` if every line end counts as the same. */
export function differsInLineEnds(content: string, target: string): boolean {
  return target.includes('\r\n') && occurrencesOf(withLf(content), withLf(target)).count > 0
}

function placeApartFromEnds(content: string, target: string): Place {
  const { first, count } = occurrencesOf(withLf(content), target)
  if (count === 0) return { first, count, length: 0 }
  const start = indexBeforeEnds(content, 0, first)
  return { first: start, count, length: indexBeforeEnds(content, start, target.length) - start }
}

/** Returns the index `distance` characters after `start`, where a CRLF counts as one character. */
function indexBeforeEnds(content: string, start: number, distance: number): number {
  let at = start
  for (let left = distance; left > 0; left--) at += content.startsWith('\r\n', at) ? 2 : 1
  return at
}

const withLf = (text: string) => text.replaceAll('\r\n', '\n')

/**
 * Returns `newText` with the line ends that fit `place` in `content`.
 *
 * - Lines that stay at the beginning or end of the text keep their ends.
 * - Other lines get the end of the line they replace, else that of the line before them.
 * - A replaced text without line ends takes those of the line it is in.
 * - A file without line ends takes `newText` as it is.
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

/** Counts the whole lines that both begin with. */
function equalLines(left: readonly string[], right: readonly string[]): number {
  const most = Math.min(left.length, right.length) - 1
  let count = 0
  while (count < most && left[count] === right[count]) count++
  return count
}

/** Counts the whole lines that both end with, ahead of the text after the last line end. Does not count the first `taken` lines again. */
function equalEnds(left: readonly string[], right: readonly string[], taken: number): number {
  if (left.at(-1) !== right.at(-1)) return 0
  const most = Math.min(left.length, right.length) - 1 - taken
  let count = 0
  while (count < most && left[left.length - 2 - count] === right[right.length - 2 - count]) count++
  return count
}

/** Returns the end of the line that contains `end`, else of the line before `start`. */
function endAround(content: string, start: number, end: number): string | undefined {
  const next = content.indexOf('\n', end)
  const at = next === -1 ? content.lastIndexOf('\n', start - 1) : next
  // `lastIndexOf` treats a negative position as 0.
  if (at === -1 || (next === -1 && at >= start)) return undefined
  return content[at - 1] === '\r' ? '\r\n' : '\n'
}
