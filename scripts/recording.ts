/**
 * `npm exec -- node scripts/recording.ts`: runs the demo of `phi` in a pseudo-terminal and writes what it shows, screen by screen, as an SVG that plays by itself:
 * `docs/phi.svg`. It has no script and no font of its own; what plays no animations shows the last screen.
 */
import { writeFileSync } from 'node:fs'
import { spawn } from '@lydell/node-pty'

const [columns, rows] = [90, 26]
const cell = { width: 8.4, height: 18 }
/** Milliseconds. A moment between keys, as a person takes it, and at the end. */
const [readingMs, restMs] = [1800, 4000]

const colours: Readonly<Record<number, string>> = { 31: '#f47067', 32: '#6bc46d', 33: '#daaa3f', 36: '#56d4dd', 90: '#768390' }
const [background, foreground] = ['#1c2128', '#adbac7']

interface Style {
  colour: string
  isBold: boolean
  isDim: boolean
  isInverse: boolean
}

interface Cell {
  text: string
  style: Style
}

const plain: Style = { colour: foreground, isBold: false, isDim: false, isInverse: false }

/** A screen that understands what phi writes. */
class Screen {
  #lines: Cell[][] = [[]]
  #row = 0
  #column = 0
  #style = plain

  write(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what a terminal reads
    for (const [part] of text.matchAll(/\x1b\[[?>]?[\d;]*[A-Za-z]|\x1b\][^\x07]*\x07|\r|\n|[^\x1b\r\n]/gu)) this.#take(part)
  }

  /** The last rows, as many as the screen has. */
  get visible(): Cell[][] {
    return this.#lines.slice(-rows)
  }

  #take(part: string): void {
    if (part === '\r') this.#column = 0
    else if (part === '\n') {
      this.#row += 1
      this.#lines[this.#row] ??= []
    } else if (part.startsWith('\x1b[')) this.#obey(part.slice(2, -1), part.at(-1) ?? '')
    else if (!part.startsWith('\x1b') && part >= ' ') this.#print(part)
  }

  #obey(given: string, letter: string): void {
    const count = Number(given) || 1
    if (letter === 'A') this.#row = Math.max(0, this.#row - count)
    else if (letter === 'C') this.#column += count
    else if (letter === 'J') {
      this.#lines.length = this.#row + 1
      this.#lines[this.#row]?.splice(this.#column)
    } else if (letter === 'm') for (const code of given.split(';')) this.#style = styled(this.#style, Number(code))
  }

  #print(text: string): void {
    const line = this.#lines[this.#row] ?? []
    while (line.length < this.#column) line.push({ text: ' ', style: plain })
    line[this.#column] = { text, style: this.#style }
    this.#lines[this.#row] = line
    this.#column += 1
  }
}

function styled(style: Style, code: number): Style {
  if (code === 0) return plain
  if (code === 1) return { ...style, isBold: true }
  if (code === 2) return { ...style, isDim: true }
  if (code === 7) return { ...style, isInverse: true }
  if (code === 22) return { ...style, isBold: false, isDim: false }
  if (code === 27) return { ...style, isInverse: false }
  return { ...style, colour: code === 39 ? foreground : (colours[code] ?? style.colour) }
}

interface Frame {
  at: number
  lines: Cell[][]
}

/** Plays the first minute: the demo, its change and its command accepted. */
async function record(): Promise<Frame[]> {
  const screen = new Screen()
  const frames: Frame[] = []
  const began = performance.now()
  const phi = spawn(process.execPath, ['adapters/node/cli/bin.ts', '--demo'], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    env: { ...process.env, FORCE_COLOR: '1' },
  })
  let raw = ''
  let waiting: (() => void) | undefined
  phi.onData((chunk) => {
    raw += chunk
    screen.write(chunk)
    const at = performance.now() - began
    const last = frames.at(-1)
    const lines = screen.visible.map((line) => line.slice(0, columns))
    if (last !== undefined && at - last.at < 120) last.lines = lines
    else frames.push({ at, lines })
    waiting?.()
  })
  const shown = (text: string, from: number): Promise<void> =>
    new Promise((resolve) => {
      waiting = () => {
        if (raw.includes(text, from)) resolve()
      }
      waiting()
    })
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  for (const awaited of ['Allow? [y/N]', 'Allow? [y/N]']) {
    const from = raw.length
    await shown(awaited, from)
    await pause(readingMs)
    phi.write('y')
    await pause(300)
    phi.write('\r')
    await pause(200)
  }
  await shown('[done', raw.lastIndexOf('Allow?'))
  await pause(restMs)
  phi.kill('SIGKILL')
  return frames
}

const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)

/** Cells of one style, side by side. */
function runsOf(line: readonly Cell[]): { column: number; text: string; style: Style }[] {
  const found: { column: number; text: string; style: Style }[] = []
  for (const [column, { text, style }] of line.entries()) {
    const last = found.at(-1)
    if (last?.style === style && last.column + last.text.length === column) last.text += text
    else found.push({ column, text, style })
  }
  return found.filter(({ text }) => text.trim() !== '')
}

function drawn(line: readonly Cell[], row: number): string {
  return runsOf(line)
    .map(({ column, text, style }) => {
      const { colour, isBold, isDim, isInverse } = style
      const [x, y] = [(column * cell.width).toFixed(1), row * cell.height]
      const width = (text.length * cell.width).toFixed(1)
      const block = isInverse ? `<rect x="${x}" y="${y}" width="${width}" height="${cell.height}" fill="${colour}"/>` : ''
      const seen = isInverse ? background : colour
      const fill = seen === foreground ? '' : ` fill="${seen}"`
      const marks = `${isBold ? ' font-weight="bold"' : ''}${isDim ? ' opacity=".65"' : ''}`
      return `${block}<text x="${x}" y="${y + 13}" textLength="${width}"${fill}${marks}>${escaped(text)}</text>`
    })
    .join('')
}

/** Lines as they are drawn at their places, by when they come and go: most stay for many frames, and many come together. */
function linesByTime(frames: readonly Frame[], timeOf: (at: number) => string): Map<string, string> {
  const times = new Map<string, string[]>()
  let before = new Set<string>()
  for (const { at, lines } of frames) {
    const now = new Set(lines.map(drawn).filter((shape) => shape !== ''))
    const changed = [...now, ...before].filter((shape) => now.has(shape) !== before.has(shape))
    for (const shape of changed) times.set(shape, [...(times.get(shape) ?? []), timeOf(at)])
    before = now
  }
  const found = new Map<string, string>()
  for (const [shape, changes] of times) found.set(changes.join(';'), (found.get(changes.join(';')) ?? '') + shape)
  return found
}

/** All frames in one drawing, each line seen for its time. */
function svgOf(frames: readonly Frame[]): string {
  const total = (frames.at(-1)?.at ?? 0) + restMs
  const [width, height] = [Math.ceil(columns * cell.width) + 24, rows * cell.height + 24]
  const drawing = Array.from(
    linesByTime(frames, (at) => (at / total).toFixed(4)),
    ([times, shapes]) => {
      const values = times.split(';').map((_, index) => (index % 2 === 0 ? ';inline' : ';none'))
      const isLast = values.length % 2 === 1
      const animate = `<animate attributeName="display" calcMode="discrete" dur="${(total / 1000).toFixed(2)}s" repeatCount="indefinite" values="none${values.join('')}" keyTimes="0;${times}"/>`
      return `<g display="${isLast ? 'inline' : 'none'}">${animate}${shapes}</g>`
    },
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14" role="img" aria-label="The first minute with phi: it finds a bug, shows a change, asks, and runs the checks"><rect width="${width}" height="${height}" rx="8" fill="${background}"/><g transform="translate(12 12)" fill="${foreground}" xml:space="preserve"><style>text{white-space:pre}</style>${drawing.join('')}</g></svg>\n`
}

const frames = await record()
const text = svgOf(frames)
writeFileSync('docs/phi.svg', text)
console.log(`docs/phi.svg: ${frames.length} screens, ${Math.round(text.length / 1000)} kB`)
process.exit(0)
