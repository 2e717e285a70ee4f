import { createInterface, type Interface } from 'node:readline'
import { Readable, Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { ReadStream } from 'node:tty'
import { bracketedPaste, PasteReader } from './paste.ts'

/** Where lines that a person says come from. */
export interface LineSource {
  /** What is typed and not yet sent. */
  readonly typed: { text: string; cursor: number }
  /** Takes away what is typed, and gives it back. */
  take(): string
  /** Puts text where the cursor is. */
  insert(text: string): void
  close(): void
}

/** What a line source tells. */
export interface LineListener {
  line(text: string): void
  /** Something was typed. */
  change(): void
  /** Ctrl-C. */
  interrupt(): void
  /** The escape key. */
  escape(): void
  /** Nothing will come any more. */
  end(): void
  /** Something to tell the person. */
  note(text: string): void
}

/** Pastes up to this long, of one line, stand in the line as they are. */
const longestInline = 500

/**
 * Lines typed at a terminal, edited with the keys of `node:readline`, which draws nothing: the screen does. What is pasted is one piece, whatever line
 * breaks are in it: where it is long, a mark stands for it until the line is sent.
 */
export function editedLines(
  terminal: ReadStream,
  control: NodeJS.WriteStream,
  on: LineListener,
  complete: (line: string) => string[],
  /** What stands in the line in place of a pasted text; `undefined`: the text. */
  rewrite: (pasted: string) => string | undefined = () => undefined,
): LineSource {
  const keys = new Keys(terminal)
  const pastes: string[] = []
  let isClosing = false
  const editor: Interface = createInterface({
    input: keys,
    output: new Writable({ write: (_chunk, _encoding, done) => done() }),
    terminal: true,
    prompt: '',
    historySize: 200,
    removeHistoryDuplicates: true,
    completer: (line: string) => [complete(line).slice(0, 1), line],
  })
  const insert = (text: string): void => {
    editor.write(text)
    on.change()
  }
  const paste = (text: string, isCut: boolean): void => {
    if (isCut) on.note('The paste was too long; its end was left out.')
    const plain = rewrite(text) ?? text.replace(/\r\n?/g, '\n')
    const isInline = plain.length <= longestInline && !plain.includes('\n')
    if (!isInline) pastes.push(plain)
    insert(isInline ? plain : `[paste ${pastes.length}: ${plain.split('\n').length} lines, ${plain.length} characters]`)
  }
  const reader = new PasteReader({ typed: (text) => keys.emit('data', Buffer.from(text)), pasted: paste })
  const decoder = new StringDecoder('utf8')
  const read = (chunk: Buffer): void => reader.push(decoder.write(chunk))
  const end = (): void => editor.close()
  terminal.on('data', read)
  // Whoever asked before has paused it.
  terminal.resume()
  terminal.on('end', end)
  terminal.on('error', end)
  const giveBack = () => void control.write(bracketedPaste.off)
  control.write(bracketedPaste.on)
  // Also when the process ends in another way.
  process.once('exit', giveBack)
  keys.on('keypress', (_text: unknown, key?: { name?: string }) => (key?.name === 'escape' ? on.escape() : on.change()))
  editor.on('line', (line) => {
    const whole = line.replace(/\[paste (\d+): \d+ lines, \d+ characters\]/g, (mark, number) => pastes[Number(number) - 1] ?? mark)
    pastes.length = 0
    on.line(whole)
  })
  editor.on('SIGINT', () => on.interrupt())
  editor.on('close', () => {
    if (!isClosing) on.end()
  })
  return {
    get typed() {
      return { text: editor.line, cursor: editor.cursor }
    },
    take() {
      const { line } = editor
      // To its end, then all before it.
      editor.write(null, { ctrl: true, name: 'e' })
      editor.write(null, { ctrl: true, name: 'u' })
      return line
    },
    insert,
    close() {
      isClosing = true
      editor.close()
      terminal.off('data', read)
      terminal.off('end', end)
      terminal.off('error', end)
      terminal.pause()
      process.off('exit', giveBack)
      giveBack()
    },
  }
}

/** The keys of a terminal, as `node:readline` reads them. */
class Keys extends Readable {
  readonly #terminal: ReadStream

  constructor(terminal: ReadStream) {
    super({ read: () => undefined })
    this.#terminal = terminal
  }

  setRawMode(isRaw: boolean): this {
    this.#terminal.setRawMode(isRaw)
    return this
  }
}

/** Lines as they come, where nothing can be drawn; the terminal itself edits and shows them. */
export function plainLines(input: NodeJS.ReadStream, on: LineListener): LineSource {
  let isClosing = false
  const lines = createInterface({ input, terminal: false, crlfDelay: Number.POSITIVE_INFINITY })
  lines.on('line', (line) => on.line(line))
  lines.on('close', () => {
    if (!isClosing) on.end()
  })
  return {
    typed: { text: '', cursor: 0 },
    take: () => '',
    insert: () => undefined,
    close() {
      isClosing = true
      lines.close()
      input.pause()
    },
  }
}
