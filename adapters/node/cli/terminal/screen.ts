import { askBackground, isLightBy, joined, linesOf, type Painted, type Painter, painterFor, type Style, type Theme } from './paint.ts'
import { cutTo, rowsOf, widthOf, wrapWords } from './text-width.ts'

/** The input line. */
export interface InputView {
  prompt: Painted
  text: string
  /** Cursor position in UTF-16 units. */
  cursor: number
}

/** A screen's output streams. */
export interface ScreenStreams {
  /** Standard output, for responses. */
  out: NodeJS.WriteStream
  /** Standard error, for everything else. */
  err: NodeJS.WriteStream
}

/**
 * Writes permanent lines in order, followed by a live area with the input line.
 *
 * **Contract**
 * - Writes responses to standard output, and everything else to standard error. If both are the same terminal, lines and the live area do
 *   not mix.
 * - If standard error is not a terminal, there is no live area.
 * - Stops writing to a failed stream and reports it once to `onFailed`. `EPIPE` means that the reader has exited. Other errors mean lost
 *   output.
 */
export class Screen {
  /** Whether there is a live area. */
  readonly isLive: boolean
  /** Whether responses are written to a terminal. */
  readonly showsData: boolean
  readonly paint: Painter
  readonly paintData: Painter
  readonly #streams: ScreenStreams
  readonly #theme: Theme = { isLight: isLightBy(process.env.COLORFGBG) }
  #live: readonly Painted[] = []
  #input: InputView | undefined
  /** Widths of the drawn rows up to the cursor row, in cells. */
  #drawn: number[] = []
  readonly #broken = new Set<NodeJS.WriteStream>()
  /** Buffered output, written after the terminal is returned. */
  #held: { stream: NodeJS.WriteStream; text: string }[] | undefined
  readonly #onResize = () => this.#redraw()

  constructor(streams: ScreenStreams, onFailed: (stream: 'out' | 'err', code: string) => void) {
    const { out, err } = streams
    this.#streams = streams
    this.isLive = err.isTTY === true && process.env.TERM !== 'dumb'
    this.showsData = out.isTTY === true
    this.paint = painterFor(err, this.#theme)
    this.paintData = painterFor(out, this.#theme)
    for (const name of ['out', 'err'] as const) {
      streams[name].on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => {
        const isNew = !this.#broken.has(streams[name])
        this.#broken.add(streams[name])
        if (isNew) onFailed(name, code)
      })
    }
    if (this.isLive) err.on('resize', this.#onResize)
  }

  /** Width of a line in cells. */
  get width(): number {
    return Math.max(20, this.#columns() - 1)
  }

  /** Number of visible rows. */
  get height(): number {
    return Math.max(2, this.#streams.err.rows ?? 24)
  }

  /** Writes to standard output unchanged. */
  data(text: Painted): void {
    if (this.isLive && this.showsData) this.#above(this.#streams.out, text)
    else this.#write(this.#streams.out, text)
  }

  /** Writes one or more lines to standard error. */
  line(text: Painted): void {
    const whole = `${text}\n` as Painted // with a line break of ours
    if (this.isLive) this.#above(this.#streams.err, whole)
    else this.#write(this.#streams.err, whole)
  }

  /** Writes phi's own lines, wrapped at words. */
  say(style: Style, text: string): void {
    this.line(wrapWords(this.paint.paint(style, text), this.width, '  '))
  }

  /** Sets the window title if possible. */
  title(text: string): void {
    if (this.isLive) this.#write(this.#streams.err, `\x1b]0;${this.paint.plain(text.replaceAll('\n', ' ').slice(0, 100))}\x07`)
  }

  /** Notifies the user with the bell, and with a notification if the terminal supports it. */
  call(text: string): void {
    if (this.isLive) this.#write(this.#streams.err, `\x07\x1b]9;${this.paint.plain(text.replaceAll('\n', ' ').slice(0, 100))}\x07`)
  }

  /** Queries the terminal's background. `background` receives the response. */
  askBackground(): void {
    if (this.isLive && this.paint.hasColours) this.#write(this.#streams.err, askBackground)
  }

  /** Switches to colors for this background. */
  background(isLight: boolean): void {
    this.#theme.isLight = isLight
  }

  /** Replaces the live area. */
  show(live: readonly Painted[], input: InputView | undefined): void {
    this.#live = live
    this.#input = input
    this.#redraw()
  }

  /** Clears the live area and buffers output until `release`, because another program uses the terminal. */
  hold(): void {
    this.#write(this.#streams.err, this.#erasure())
    this.#drawn = []
    this.#held = []
  }

  release(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const { stream, text } of held) this.#write(stream, text)
    this.#redraw()
  }

  /** Redraws the live area below another program's output. */
  again(): void {
    this.#drawn = []
    this.#redraw()
  }

  /** Clears the live area and keeps the lines. */
  close(): void {
    this.#streams.err.off('resize', this.#onResize)
    this.show([], undefined)
  }

  #above(stream: NodeJS.WriteStream, text: Painted): void {
    this.#write(this.#streams.err, this.#erasure())
    this.#drawn = []
    this.#write(stream, text)
    this.#redraw()
  }

  #redraw(): void {
    if (this.isLive && this.#held === undefined) this.#write(this.#streams.err, `${this.#erasure()}${this.#drawing()}`)
  }

  /** Moves to the start of the live area and clears from there. Considers rows wrapped by a narrower terminal. */
  #erasure(): string {
    if (this.#drawn.length === 0) return ''
    const columns = this.#columns()
    const rows = this.#drawn.reduce((sum, cells) => sum + Math.max(1, Math.ceil(cells / columns)), 0)
    return `\r${rows > 1 ? `\x1b[${rows - 1}A` : ''}\x1b[J`
  }

  #drawing(): string {
    const columns = this.#columns()
    const { height } = this
    const { rows: inputRows, row, column } = inputOf(this.#input, columns, Math.max(1, height - 2))
    const room = Math.max(0, height - 1 - inputRows.length)
    const live = room === 0 ? [] : this.#live.flatMap((text) => linesOf(text)).slice(-room)
    const rows = [...live.map((text) => cutTo(text, columns - 1)), ...inputRows]
    if (rows.length === 0) {
      this.#drawn = []
      return ''
    }
    const cursorRow = this.#input === undefined ? rows.length - 1 : live.length + row
    this.#drawn = rows.slice(0, cursorRow + 1).map(widthOf)
    const below = rows.length - 1 - cursorRow
    const reset = this.paint.hasColours ? '\x1b[0m' : ''
    const text = rows.map((each) => (each.includes('\x1b') ? `${each}${reset}` : each)).join('\n')
    if (this.#input === undefined) return text
    return `${text}${below > 0 ? `\x1b[${below}A` : ''}\r${column > 0 ? `\x1b[${column}C` : ''}`
  }

  #columns(): number {
    const { err, out } = this.#streams
    return Math.max(10, err.columns || out.columns || 80)
  }

  #write(stream: NodeJS.WriteStream, text: string): void {
    if (text === '' || this.#broken.has(stream) || !stream.writable) return
    if (this.#held !== undefined) this.#held.push({ stream, text })
    else stream.write(text)
  }
}

/** Returns at most `most` input rows around the cursor, and the cursor position in them. */
function inputOf(input: InputView | undefined, columns: number, most: number): { rows: Painted[]; row: number; column: number } {
  if (input === undefined) return { rows: [], row: 0, column: 0 }
  const { prompt, text, cursor } = input
  const rowsIn = (part: string) =>
    part
      .split('\n')
      .flatMap((line, at) => rowsOf(joined(at === 0 ? prompt : inputPainter.plain('  '), inputPainter.plain(line)), columns - 1))
  const before = rowsIn(text.slice(0, cursor))
  const all = rowsIn(text) as Painted[] // parts of safe text
  const row = before.length - 1
  const from = Math.max(0, Math.min(row - most + 1, all.length - most))
  return { rows: all.slice(from, from + most), row: row - from, column: widthOf(before[row] ?? '') }
}

/** Escapes the input, which may be pasted from an untrusted source. */
const inputPainter: Painter = painterFor(process.stderr)
