import type { ReadStream } from 'node:tty'
import { EditBuffer } from './edit-buffer.ts'
import { type Key, readKeys } from './key-reader.ts'
import { LineHistory } from './line-history.ts'
import type { LineListener, LineSource, Typed } from './line-source.ts'
import { TerminalMode } from './terminal-mode.ts'

/** A completion that replaces the text from an index to the end of the line. */
export interface Completion {
  from: number
  options: readonly string[]
}

/** Options for a line editor. */
export interface EditorOptions {
  /** Returns completions for the text before the cursor. */
  complete?: (before: string) => Completion | undefined
  /** Returns a label that replaces pasted text in the line, or `undefined` to insert the text. */
  rewrite?: (pasted: string) => string | undefined
  history?: LineHistory
}

/** Maximum length of single-line pastes to insert as text. */
const longestInline = 500

/** Edits single- and multi-line input in a terminal. The screen draws it. A paste is inserted as a whole, with its line breaks. */
export function editedLines(
  terminal: ReadStream,
  control: NodeJS.WriteStream,
  on: LineListener,
  { complete = () => undefined, rewrite = () => undefined, history = new LineHistory(undefined) }: EditorOptions = {},
): LineSource {
  return new LineEditor(terminal, control, on, { complete, rewrite, history })
}

class LineEditor implements LineSource {
  readonly #on: LineListener
  readonly #options: Required<EditorOptions>
  readonly #mode: TerminalMode
  readonly #stopReading: () => void
  readonly #buffer = new EditBuffer()
  readonly #pastes: string[] = []
  /** Position in the history, and the text from before it was opened. */
  #recalled: { at: number; draft: string } | undefined
  #search: { query: string; at: number | undefined; before: string } | undefined
  /** Completions that Tab cycles through. */
  #tabbed: (Completion & { at: number }) | undefined
  #isClosed = false

  constructor(terminal: ReadStream, control: NodeJS.WriteStream, on: LineListener, options: Required<EditorOptions>) {
    this.#on = on
    this.#options = options
    this.#mode = new TerminalMode(terminal, control, () => on.change())
    this.#mode.begin()
    this.#stopReading = readKeys(terminal, {
      key: (text, key) => this.#key(text, key),
      pasted: (text, isCut) => this.#paste(text, isCut),
      background: (isLight) => on.background?.(isLight),
      end: () => {
        if (!this.#isClosed) on.end()
      },
    })
  }

  get typed(): Typed {
    if (this.#search === undefined) return { text: this.#buffer.text, cursor: this.#buffer.cursor }
    const { query, at } = this.#search
    const found = at === undefined ? '' : (this.#options.history.at(at) ?? '')
    return {
      text: found,
      cursor: Math.max(0, found.indexOf(query)),
      label: `search: ${query}${at === undefined && query !== '' ? ' (not found)' : ''} › `,
    }
  }

  get suggestions(): readonly string[] {
    if (this.#search !== undefined) return []
    return this.#tabbed?.options ?? this.#completion()?.options ?? []
  }

  take(): string {
    const { text } = this.#buffer
    this.#buffer.set('')
    this.#search = undefined
    this.#recalled = undefined
    this.#tabbed = undefined
    return text
  }

  insert(text: string): void {
    this.#endSearch(true)
    this.#tabbed = undefined
    this.#buffer.insert(text)
    this.#on.change()
  }

  remember(line: string): void {
    this.#options.history.add(line)
  }

  lend(command: string, args: readonly string[]): Promise<number | undefined> {
    return this.#mode.lend(command, args)
  }

  close(): void {
    this.#isClosed = true
    this.#stopReading()
    this.#mode.end()
  }

  #key(text: string, key: Key): void {
    if (this.#isClosed) return
    if (this.#search !== undefined && this.#searchKey(text, key)) {
      this.#on.change()
      return
    }
    if (key.name === 'tab' && key.shift !== true) this.#complete()
    else {
      this.#tabbed = undefined
      this.#press(text, key)
    }
    if (!this.#isClosed) this.#on.change()
  }

  #press(text: string, key: Key): void {
    const { name = '', ctrl = false, meta = false, shift = false } = key
    const action = ctrl ? this.#withControl[name] : meta ? this.#withAlt[name] : this.#alone[shift && name === 'tab' ? 'shiftTab' : name]
    if (action !== undefined) action()
    else if (!ctrl && !meta && isTyped(text)) this.#buffer.insert(text)
  }

  readonly #alone: Readonly<Record<string, () => void>> = {
    return: () => this.#enter(),
    // Ctrl-J.
    enter: () => this.#buffer.insert('\n'),
    backspace: () => this.#buffer.backspace(),
    delete: () => this.#buffer.delete(),
    left: () => this.#buffer.left(),
    right: () => this.#buffer.right(),
    home: () => this.#buffer.lineBegin(),
    end: () => this.#buffer.lineEnd(),
    up: () => this.#up(),
    down: () => this.#down(),
    escape: () => this.#on.escape(),
    shiftTab: () => this.#on.named?.('shiftTab'),
  }

  readonly #withControl: Readonly<Record<string, () => void>> = {
    a: () => this.#buffer.lineBegin(),
    b: () => this.#buffer.left(),
    c: () => this.#on.interrupt(),
    d: () => (this.#buffer.text === '' ? this.#on.end() : this.#buffer.delete()),
    e: () => this.#buffer.lineEnd(),
    f: () => this.#buffer.right(),
    g: () => this.#on.named?.('editor'),
    h: () => this.#buffer.backspace(),
    k: () => this.#buffer.cutToEnd(),
    n: () => this.#down(),
    o: () => this.#on.named?.('open'),
    p: () => this.#up(),
    r: () => this.#beginSearch(),
    u: () => this.#buffer.cutToBegin(),
    v: () => this.#on.named?.('pasteImage'),
    w: () => this.#buffer.cutWord(),
    y: () => this.#buffer.putBack(),
    z: () => this.#mode.stop(),
    left: () => this.#buffer.wordLeft(),
    right: () => this.#buffer.wordRight(),
  }

  readonly #withAlt: Readonly<Record<string, () => void>> = {
    return: () => this.#buffer.insert('\n'),
    enter: () => this.#buffer.insert('\n'),
    b: () => this.#buffer.wordLeft(),
    f: () => this.#buffer.wordRight(),
    left: () => this.#buffer.wordLeft(),
    right: () => this.#buffer.wordRight(),
    backspace: () => this.#buffer.cutWord(),
    escape: () => this.#on.escape(),
  }

  /** Submits the line. After a backslash, continues on the next line. */
  #enter(): void {
    const { text, cursor } = this.#buffer
    if (cursor === text.length && text.endsWith('\\')) {
      this.#buffer.replaceFrom(cursor - 1, '\n')
      return
    }
    const whole = this.take().replace(
      /\[paste (\d+): \d+ lines, \d+ characters\]/g,
      (mark, number) => this.#pastes[Number(number) - 1] ?? mark,
    )
    this.#pastes.length = 0
    this.#on.line(whole)
  }

  #paste(text: string, isCut: boolean): void {
    if (this.#isClosed) return
    if (isCut) this.#on.note('The pasted text was too long and was truncated.')
    const plain = this.#options.rewrite(text) ?? text.replace(/\r\n?/g, '\n')
    const isInline = plain.length <= longestInline && !plain.includes('\n')
    if (!isInline) this.#pastes.push(plain)
    this.insert(isInline ? plain : `[paste ${this.#pastes.length}: ${plain.split('\n').length} lines, ${plain.length} characters]`)
  }

  // History

  #up(): void {
    if (!this.#buffer.vertical(-1)) this.#recall((this.#recalled?.at ?? this.#options.history.length) - 1)
  }

  #down(): void {
    if (!this.#buffer.vertical(1) && this.#recalled !== undefined) this.#recall(this.#recalled.at + 1)
  }

  #recall(at: number): void {
    const { history } = this.#options
    if (at < 0) return
    const draft = this.#recalled?.draft ?? this.#buffer.text
    this.#recalled = at < history.length ? { at, draft } : undefined
    this.#buffer.set(history.at(at) ?? draft)
  }

  #beginSearch(): void {
    this.#search = { query: '', at: undefined, before: this.#buffer.text }
  }

  #endSearch(isTaken: boolean): void {
    if (this.#search === undefined) return
    const { at, before } = this.#search
    this.#search = undefined
    this.#buffer.set(isTaken && at !== undefined ? (this.#options.history.at(at) ?? before) : before)
  }

  /** Returns whether the search handled the key. Any other key accepts the match and then applies to it. */
  #searchKey(text: string, { name = '', ctrl = false, meta = false }: Key): boolean {
    const search = this.#search
    if (search === undefined) return false
    const { history } = this.#options
    if (ctrl && name === 'r') search.at = history.find(search.query, search.at ?? history.length) ?? search.at
    else if (name === 'escape' || (ctrl && (name === 'c' || name === 'g'))) this.#endSearch(false)
    else if (name === 'backspace' || (!ctrl && !meta && isTyped(text))) {
      search.query = name === 'backspace' ? search.query.slice(0, -1) : search.query + text
      search.at = search.query === '' ? undefined : history.find(search.query, history.length)
    } else {
      this.#endSearch(true)
      // Show a match before submitting it.
      return name === 'return'
    }
    return true
  }

  // Completion

  #completion(): Completion | undefined {
    const found = this.#options.complete(this.#buffer.text.slice(0, this.#buffer.cursor))
    return found === undefined || found.options.length === 0 ? undefined : found
  }

  #complete(): void {
    const last = this.#tabbed
    const next = last === undefined ? this.#completion() : { ...last, at: last.at + 1 }
    if (next === undefined) return
    const at = 'at' in next ? next.at % next.options.length : 0
    this.#buffer.replaceFrom(next.from, next.options[at] ?? '')
    this.#tabbed = { ...next, at }
  }
}

/** Returns whether a key types a character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a key does that types nothing
const isTyped = (text: string): boolean => text !== '' && !/[\x00-\x1f\x7f]/.test(text)
