import { joined, type Painted, type Painter } from '../terminal/paint.ts'
import { cutTo, widthOf, wrapWords } from '../terminal/text-width.ts'
import type { CodeColours, ColourTime } from './code-colours.ts'
import { paintInline } from './inline.ts'

let loaded: typeof import('./code-colours.ts') | undefined

/** Preloads the highlighter if the terminal supports colors. */
export async function loadColours({ hasColours }: Painter): Promise<void> {
  if (hasColours) loaded ??= await import('./code-colours.ts')
}

/** Returns a highlighter for a code block, or `undefined` for an unknown language, or before the highlighter is loaded. */
function coloursFor(fence: string, time: ColourTime): CodeColours | undefined {
  const name = /^\s*\{?\.?([\w+#-]{1,20})/.exec(fence)?.[1] ?? ''
  return loaded?.coloursOf(name.toLowerCase(), time)
}

/** Longer lines are written in parts. */
const longestLine = 4000
/** Time limit in milliseconds for highlighting one response, because a blocked terminal reads no keys. */
const colourMs = 1000
/** Maximum table rows to align together. */
const longestTable = 200

/**
 * Formats streaming markdown line by line. Writes complete lines once, so the cost is linear in the response length.
 */
export class MarkdownLines {
  readonly #painter: Painter
  readonly #width: () => number
  #rest = ''
  #fence: string | undefined
  #code: CodeColours | undefined
  #colourTime: ColourTime = { leftMs: colourMs }
  #table: string[] = []

  constructor(painter: Painter, width: () => number) {
    this.#painter = painter
    this.#width = width
  }

  /** Returns the lines that `delta` completes. */
  push(delta: string): Painted[] {
    const lines = (this.#rest + delta).split('\n')
    this.#rest = lines.pop() ?? ''
    const done = lines.flatMap((line) => [...cutOff(line)].flatMap((part) => this.#line(part.replace(/\r$/, ''))))
    const parts = [...cutOff(this.#rest)]
    this.#rest = parts.pop() ?? ''
    return [...done, ...parts.flatMap((part) => this.#line(part))]
  }

  /** Returns the incomplete line in its current form, with the table above it. */
  pending(): Painted[] {
    const rows = this.#table.map((row) => this.#painter.plain(row))
    if (this.#rest === '') return rows
    // Highlight code once, when the line is complete.
    return [
      ...rows,
      this.#fence === undefined || this.#code === undefined ? this.#painted(this.#rest) : this.#painter.plain(`  ${this.#rest}`),
    ]
  }

  /** Returns the remaining text at the end. */
  end(): Painted[] {
    const last = this.#rest === '' ? [] : this.#line(this.#rest)
    this.#rest = ''
    this.#fence = undefined
    this.#colourTime = { leftMs: colourMs }
    return [...last, ...this.#flushTable()]
  }

  #line(line: string): Painted[] {
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (this.#fence === undefined && /^\s*\|.*\|\s*$/.test(line) && line.length <= longestLine) {
      this.#table.push(line.trim())
      return this.#table.length < longestTable ? [] : this.#flushTable()
    }
    const before = this.#flushTable()
    if (fence === undefined) return [...before, this.#painted(line)]
    if (this.#fence === undefined) this.#begin(fence, line)
    else if (fence[0] === this.#fence[0] && fence.length >= this.#fence.length) this.#fence = undefined
    // Omit the fence, because the color marks the code.
    return this.#painter.hasColours ? before : [...before, this.#painter.plain(line)]
  }

  #begin(fence: string, line: string): void {
    this.#fence = fence
    this.#code = this.#painter.hasColours ? coloursFor(line.slice(line.indexOf(fence) + fence.length), this.#colourTime) : undefined
  }

  #codeLine(line: string): Painted {
    const { paint, plain, hasColours } = this.#painter
    if (this.#code === undefined) return hasColours ? paint('cyan', `  ${line}`) : plain(`  ${line}`)
    const pieces = this.#code.line(line).map(({ text, style }) => (style === undefined ? plain(text) : paint(style, text)))
    return joined(plain('  '), ...pieces)
  }

  #painted(line: string): Painted {
    const { paint, plain } = this.#painter
    if (this.#fence !== undefined) return this.#codeLine(line)
    const heading = /^#{1,6} +(.*?)(?: +#+)?$/.exec(line)
    if (heading !== null) {
      const shown = this.#painter.hasColours ? (heading[1] ?? '') : line
      return wrapWords(paintInline(shown, this.#painter, ['bold', 'underline']), this.#width())
    }
    if (/^ {0,3}([-*_])(?: *\1){2,} *$/.test(line)) return paint('dim', '─'.repeat(Math.min(40, this.#width())))
    const quote = /^ {0,3}> ?(.*)$/.exec(line)
    if (quote !== null)
      return joined(paint('dim', '│ '), wrapWords(paintInline(quote[1] ?? '', this.#painter, 'italic'), this.#width() - 2))
    const item = /^( *)(?:([-*+])|(\d{1,9}[.)])) +(.*)$/.exec(line)
    if (item === null) return wrapWords(paintInline(line, this.#painter), this.#width())
    const [, indent = '', , number, text = ''] = item
    const mark = `${indent.slice(0, 40)}${number ?? '•'} `
    const whole = joined(
      plain(mark),
      paintInline(
        text.replace(/^\[([ xX])\] /, (_, x) => (x === ' ' ? '☐ ' : '☑ ')),
        this.#painter,
      ),
    )
    return wrapWords(whole, this.#width(), ' '.repeat(Math.min(widthOf(mark), this.#width() - 10)))
  }

  /** Returns the aligned rows of a table. */
  #flushTable(): Painted[] {
    const rows = this.#table.splice(0).map((row) => cellsOf(row))
    if (rows.length === 0) return []
    const { paint } = this.#painter
    const painted = rows.map((cells, at) => cells.map((cell) => paintInline(cell, this.#painter, at === 0 ? 'bold' : undefined)))
    const columns = Math.max(...rows.map((cells) => cells.length))
    const widths = Array.from({ length: columns }, (_, column) =>
      Math.max(3, ...painted.map((cells, at) => (isRule(rows[at] ?? []) ? 0 : widthOf(cells[column] ?? '')))),
    )
    const bar = paint('dim', ' │ ')
    return painted.map((cells, at) => {
      if (isRule(rows[at] ?? [])) return cutTo(paint('dim', widths.map((width) => '─'.repeat(width)).join('─┼─')), this.#width())
      const parts = widths.flatMap((width, column): Painted[] => {
        const cell = cells[column] ?? this.#painter.plain('')
        const space = this.#painter.plain(' '.repeat(width - widthOf(cell)))
        return column === 0 ? [cell, space] : [bar, cell, space]
      })
      return cutTo(joined(...parts), this.#width())
    })
  }
}

/** Splits a long line into parts, at a space if possible, to limit the input of patterns. */
function* cutOff(line: string): Generator<string> {
  let from = 0
  while (line.length - from > longestLine) {
    const space = line.lastIndexOf(' ', from + longestLine - 1)
    const until = space > from ? space + 1 : from + longestLine
    yield line.slice(from, until)
    from = until
  }
  yield line.slice(from)
}

function cellsOf(row: string): string[] {
  return row
    .slice(1, row.endsWith('|') ? -1 : undefined)
    .split('|')
    .map((cell) => cell.trim())
}

const isRule = (cells: readonly string[]): boolean => cells.every((cell) => /^:?-+:?$/.test(cell))
