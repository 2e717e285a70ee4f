import { rowsOf, widthOf } from '../../../../adapters/node/cli/terminal/text-width.ts'

/** The sequences that the command is known to write: colours, up, right, clear to the end, paste mode, keys in full, the title of the window, a notification with a bell, the question for the background. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what a terminal reads
const known = /\x1b\[(?:(\d*)([AC])|(J)|([\d;]*m)|\?2004[hl]|>1u|<u)|\x1b\]11;\?\x1b\\|(?:\x1b\]0|\x07\x1b\]9);[^\x07\x1b]*\x07/y

/** The beginning of a title, or of a notification with its bell. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what a terminal reads
const unfinished = /^(?:\x1b\]0|\x07\x1b\]9);[^\x07\x1b]{0,200}$/

/**
 * A small terminal: what a person would see. It throws on any sequence that the command does not write on purpose, so that every test that looks at a
 * screen also looks for escapes that came through.
 */
export class VirtualTerminal {
  #lines: string[][] = [[]]
  #row = 0
  #column = 0
  #hasColours = false
  readonly #columns: number
  /** A sequence whose rest comes with the next chunk. */
  #held = ''

  constructor(columns: number) {
    this.#columns = columns
  }

  /** Whether a colour was ever set. */
  get hasColours(): boolean {
    return this.#hasColours
  }

  /** All lines, those that have scrolled away too; that of the cursor with what stands before it, spaces as well. */
  get text(): string {
    const lines = this.#lines.map((cells, row) => (row === this.#row ? cells.join('') : cells.join('').trimEnd()))
    return lines.join('\n').replace(/\n+$/, '')
  }

  write(chunk: string): void {
    const text = this.#held + chunk
    this.#held = ''
    let at = 0
    while (at < text.length) {
      const character = text[at] ?? ''
      if (character === '\x1b' || character === '\x07') {
        known.lastIndex = at
        const found = known.exec(text)
        if (found === null) {
          if (text.length - at < 12 || unfinished.test(text.slice(at))) {
            this.#held = text.slice(at)
            return
          }
          throw new Error(`The command wrote ${JSON.stringify(text.slice(at, at + 20))}.`)
        }
        this.#obey(found)
        at = known.lastIndex
        continue
      }
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what moves the cursor
      const next = text.slice(at).search(/[\x07\x1b\r\n]/)
      if (next === 0) {
        if (character === '\r') this.#column = 0
        else this.#down()
        at += 1
        continue
      }
      const plain = text.slice(at, next === -1 ? undefined : at + next)
      if (/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(plain)) throw new Error(`The command wrote ${JSON.stringify(plain)}.`)
      this.#print(plain)
      at += plain.length
    }
  }

  #obey([, count = '', move, clear, colour]: RegExpExecArray): void {
    if (move === 'A') this.#row = Math.max(0, this.#row - Number(count || 1))
    else if (move === 'C') this.#column += Number(count || 1)
    else if (clear !== undefined) {
      this.#lines = this.#lines.slice(0, this.#row + 1)
      this.#lines[this.#row] = (this.#lines[this.#row] ?? []).slice(0, this.#column)
    } else if (colour !== undefined && colour !== 'm' && colour !== '0m') this.#hasColours = true
  }

  #print(text: string): void {
    for (const cell of rowsOf(text, 1).filter((each) => each !== '')) {
      const width = widthOf(cell)
      if (this.#column + width > this.#columns) {
        this.#column = 0
        this.#down()
      }
      const cells = this.#lines[this.#row] ?? []
      this.#lines[this.#row] = cells
      while (cells.length < this.#column) cells.push(' ')
      cells[this.#column] = cell
      if (width === 2) cells[this.#column + 1] = ''
      this.#column += width
    }
  }

  #down(): void {
    this.#row += 1
    this.#lines[this.#row] ??= []
  }
}
