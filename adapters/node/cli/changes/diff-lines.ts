import { diffWordsWithSpace, structuredPatch } from 'diff'
import { joined, type Painted, type Painter } from '../terminal/paint.ts'
import type { ProposedChange } from './proposed-change.ts'

/** Limits for the search for the smallest difference: milliseconds, and changed lines. */
const patience = { timeout: 300, maxEditLength: 4000 }
/** Maximum line length and block size for a comparison by words. */
const longestCompared = 500
const mostCompared = 40
/** Longer lines are truncated. */
const longestLine = 400

/** Number of added and removed lines. */
interface Size {
  added: number
  removed: number
}

/** Returns a change as a unified diff: lines, counts, and the number of lines omitted beyond `most`. */
export function diffLines(change: ProposedChange, painter: Painter, most: number): { lines: Painted[]; size: Size; left: number } {
  const { before, after } = withoutReturns(change)
  const hunks = structuredPatch('', '', before, after, '', '', { context: 3, ...patience })?.hunks
  const all = hunks === undefined ? wholeFile(before, after) : hunks.flatMap((hunk) => [headOf(hunk), ...hunk.lines])
  const size = {
    added: all.filter((line) => line.startsWith('+')).length,
    removed: all.filter((line) => line.startsWith('-')).length,
  }
  return { lines: painted(all.slice(0, most), painter), size, left: Math.max(0, all.length - most) }
}

const headOf = ({ oldStart, oldLines, newStart, newLines }: Record<'oldStart' | 'oldLines' | 'newStart' | 'newLines', number>): string =>
  `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`

/** Ignores line endings if all are CRLF. */
function withoutReturns({ before = '', after }: ProposedChange): { before: string; after: string } {
  const isPlain = (text: string): boolean => !/(?<!\r)\n/.test(text)
  if (!before.includes('\r\n') || !isPlain(before) || !isPlain(after)) return { before, after }
  return { before: before.replaceAll('\r\n', '\n'), after: after.replaceAll('\r\n', '\n') }
}

/** Treats everything as changed, for example if there is too much to compare. */
function wholeFile(before: string, after: string): string[] {
  const lines = (mark: string, text: string): string[] =>
    text === ''
      ? []
      : text
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => mark + line)
  return [...lines('-', before), ...lines('+', after)]
}

/** Colors the lines. Highlights the changed words in blocks of equal length. */
function painted(lines: readonly string[], painter: Painter): Painted[] {
  const shown: Painted[] = []
  for (let at = 0; at < lines.length; ) {
    const removed = runOf(lines, at, '-')
    const added = runOf(lines, at + removed.length, '+')
    if (removed.length === 0 && added.length === 0) {
      const line = lines[at] ?? ''
      shown.push(painter.paint(line.startsWith('@@') ? 'cyan' : 'dim', cut(line)))
      at += 1
      continue
    }
    const isPaired = painter.hasColours && removed.length === added.length && removed.length <= mostCompared
    shown.push(...removed.map((line, index) => sideOf(line, isPaired ? added[index] : undefined, '-', painter)))
    shown.push(...added.map((line, index) => sideOf(line, isPaired ? removed[index] : undefined, '+', painter)))
    at += removed.length + added.length
  }
  return shown
}

function runOf(lines: readonly string[], from: number, mark: string): string[] {
  const found: string[] = []
  for (let line = lines[from]; line?.startsWith(mark); line = lines[from + found.length]) found.push(line)
  return found
}

/** Formats a diff line. If its counterpart is given, only the differences are bold. */
function sideOf(line: string, other: string | undefined, mark: '-' | '+', { paint }: Painter): Painted {
  const colour = mark === '-' ? 'red' : 'green'
  if (other === undefined || Math.max(line.length, other.length) > longestCompared) return paint(colour, cut(line))
  const [from, to] = mark === '-' ? [line.slice(1), other.slice(1)] : [other.slice(1), line.slice(1)]
  const parts = diffWordsWithSpace(from, to).filter(({ added, removed }) => (mark === '-' ? !added : !removed))
  const same = parts.reduce((sum, { value, added, removed }) => sum + (added || removed ? 0 : value.trim().length), 0)
  // Highlight no words if almost all differ.
  if (same * 3 < line.trim().length) return paint(colour, line)
  return joined(
    paint(colour, mark),
    ...parts.map(({ value, added, removed }) => (added || removed ? paint([colour, 'inverse'], value) : paint(colour, value))),
  )
}

const cut = (line: string): string =>
  line.length > longestLine ? `${line.slice(0, longestLine)}… ${line.length - longestLine} more characters` : line
