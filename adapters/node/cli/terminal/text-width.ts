import type { Painted } from './paint.ts'

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
const ascii = /^[\x20-\x7e]*$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours of a painter
const colours = /(\x1b\[[\d;]*m)/
const wide =
  /^(?:\p{Emoji_Presentation}|.\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u

/** Width of one grapheme in cells. */
function cellsOf(grapheme: string): number {
  if (ascii.test(grapheme)) return grapheme.length
  if (/^[\p{M}\u200c\u200d]/u.test(grapheme)) return 0
  return wide.test(grapheme) ? 2 : 1
}

/** Splits a text into color codes without width, and graphemes. */
function* piecesOf(text: string): Generator<{ piece: string; cells: number }> {
  for (const [at, part] of text.split(colours).entries()) {
    if (at % 2 === 1) yield { piece: part, cells: 0 }
    else for (const { segment } of graphemes.segment(part)) yield { piece: segment, cells: cellsOf(segment) }
  }
}

/** Width of `text` in terminal cells. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length
  let cells = 0
  for (const each of piecesOf(text)) cells += each.cells
  return cells
}

/** Truncates `text` to one line of at most `width` cells, with an ellipsis. */
export function cutTo(text: Painted, width: number): Painted {
  // Limit the input, because more is not visible and measuring takes time.
  const begin = text.slice(0, width * 8 + 200)
  if (begin.length === text.length && widthOf(begin) <= width) return text
  let shown = ''
  let cells = 0
  for (const each of piecesOf(begin)) {
    cells += each.cells
    if (cells > width - 1) break
    shown += each.piece
  }
  const reset = begin.includes('\x1b') ? '\x1b[0m' : ''
  return `${shown}…${reset}` as Painted // part of the text
}

/** Wraps `text` like a terminal, to rows of exactly `width` cells except the last row. */
export function rowsOf(text: string, width: number): string[] {
  const rows: string[] = []
  let row = ''
  let cells = 0
  for (const each of piecesOf(text)) {
    if (cells + each.cells > width) {
      rows.push(row)
      row = ''
      cells = 0
    }
    row += each.piece
    cells += each.cells
  }
  return [...rows, row]
}

/** Wraps `text` to lines of at most `width` cells, at words if possible. Later lines start with `indent`. */
export function wrapWords(text: Painted, width: number, indent = ''): Painted {
  if (widthOf(text) <= width) return text
  const lines: string[] = []
  let line = ''
  let cells = 0
  const begin = () => {
    lines.push(line.replace(/ +$/, ''))
    line = indent
    cells = indent.length
  }
  for (const word of text.split(/(?<= )/)) {
    const length = widthOf(word)
    if (cells + length - (word.endsWith(' ') ? 1 : 0) > width && cells > indent.length) begin()
    if (length <= width - cells || word.trimEnd().length === 0) {
      line += word
      cells += length
      continue
    }
    for (const row of rowsOf(word, Math.max(1, width - indent.length))) {
      if (cells > indent.length) begin()
      line += row
      cells += widthOf(row)
    }
  }
  return [...lines, line].join('\n') as Painted // the same safe parts, in lines
}
