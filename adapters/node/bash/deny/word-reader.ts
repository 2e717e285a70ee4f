import { ansiText } from './ansi-text.ts'
import { type HereDocument, lineEnd } from './here-document.ts'
import { laterText, type RawPart, type ShellWord } from './shell-word.ts'

/** Result so far. */
export interface Found {
  commands: ShellWord[][]
  texts: string[]
  isCertain: boolean
  passesText: boolean
  definesFunctions: boolean
}

/** Parses commands up to and including the closing parenthesis, or to the end. */
export type ReadNested = (reader: WordReader, end: ')' | '') => void

const deepest = 60
const endOfWord = /[ \t\n;&|<>()]/
const standsAlone = /^[{},*?[\]]$/

/** Splits a command line into words. `nested` parses the commands inside them. */
export class WordReader {
  text: string
  readonly found: Found
  /** Here-documents that start on the next line. */
  documents: HereDocument[] = []
  at = 0
  readonly #nested: ReadNested
  #depth: number

  constructor(text: string, found: Found, nested: ReadNested, depth = 0) {
    this.text = text
    this.found = found
    this.#nested = nested
    this.#depth = depth
  }

  get next(): string {
    return this.text[this.at] ?? ''
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length
  }

  /** Records that the text may run something else. */
  doubt(): void {
    this.found.isCertain = false
  }

  /** Skips a blank, a continued line or a comment. Returns false if there is none. */
  skipsBlank(): boolean {
    if (/[ \t]/.test(this.next)) this.at++
    else if (this.text.startsWith('\\\n', this.at)) this.at += 2
    else if (this.next === '#') this.at = lineEnd(this.text, this.at)
    else return false
    return true
  }

  /** Returns whether `<(…)` or `>(…)` starts here. */
  get startsProcess(): boolean {
    return this.text[this.at + 1] === '(' && /[<>]/.test(this.next)
  }

  /** Parses commands in parentheses, after the opening one. */
  parentheses(): void {
    if (this.documents.length > 0) this.doubt()
    if (++this.#depth > deepest) this.#giveUp()
    this.#nested(this, ')')
    this.#depth--
  }

  /** Returns the word that starts here as raw parts, or no parts if no word starts here. */
  word(): RawPart[] {
    const parts: RawPart[] = []
    while (!this.isAtEnd) {
      const next = this.next
      if (next === '(' && parts.at(-1)?.text.endsWith('=') === true) this.#array()
      else if (this.startsProcess) this.#process(parts)
      else if (endOfWord.test(next)) return parts
      else if (next === '\\') this.#escape(parts)
      else if (next === "'") this.#singleQuotes(parts)
      else if (next === '"') this.#doubleQuotes(parts)
      else if (!/[$`]/.test(next) || !this.#expansion(parts, false)) this.#bare(parts, next)
    }
    return parts
  }

  #giveUp(): void {
    this.doubt()
    this.at = this.text.length
  }

  #bare(parts: RawPart[], text: string): void {
    this.at++
    const last = parts.at(-1)
    if (last?.kind === 'bare' && !standsAlone.test(text) && !standsAlone.test(last.text)) last.text += text
    else parts.push({ kind: 'bare', text })
  }

  /** Parses the values of `a=(…)`. `"${a[@]}"` runs them as one command. */
  #array(): void {
    if (++this.#depth > deepest) this.#giveUp()
    this.at++
    const values: string[] = []
    while (!this.isAtEnd && this.next !== ')') {
      if (this.skipsBlank()) continue
      if (!endOfWord.test(this.next)) values.push(laterText(this.word()))
      else if (this.next === '\n') this.at++
      else break
    }
    for (const text of [...values, values.join(' ')]) this.found.texts.push(text)
    if (this.next === ')') this.at++
    else this.doubt()
    this.#depth--
  }

  #process(parts: RawPart[]): void {
    const from = this.at
    this.at += 2
    this.found.passesText = true
    this.parentheses()
    parts.push({ kind: 'expansion', text: this.text.slice(from, this.at) })
  }

  // Quotes

  #escape(parts: RawPart[]): void {
    const text = this.text[this.at + 1]
    this.at += 2
    if (text === undefined) this.doubt()
    else if (text !== '\n') parts.push({ kind: 'quoted', text })
  }

  #singleQuotes(parts: RawPart[]): void {
    const end = this.text.indexOf("'", this.at + 1)
    if (end === -1) this.doubt()
    const close = end === -1 ? this.text.length : end
    parts.push({ kind: 'quoted', text: this.text.slice(this.at + 1, close) })
    this.at = close + 1
  }

  #doubleQuotes(parts: RawPart[]): void {
    this.at++
    parts.push({ kind: 'quoted', text: '' })
    while (!this.isAtEnd) {
      if (this.next === '"') {
        this.at++
        return
      }
      this.#quotedPiece(parts, /[$`"\\]/)
    }
    this.doubt()
  }

  /** Parses text in which only `$`, backticks and backslashes are special. */
  #quotedPiece(parts: RawPart[], escapable: RegExp): void {
    const next = this.next
    if (next === '\\' && this.at + 1 < this.text.length) {
      const text = this.text[this.at + 1] ?? ''
      this.at += 2
      if (text !== '\n') parts.push({ kind: 'quoted', text: escapable.test(text) ? text : `\\${text}` })
      return
    }
    if (/[$`]/.test(next) && this.#expansion(parts, true)) return
    parts.push({ kind: 'quoted', text: this.#taken(/[^\\$`"]+|./sy)?.[0] ?? '' })
  }

  #ansiQuotes(parts: RawPart[]): true {
    const quoted = this.#taken(/\$'([^'\\]*(?:\\.[^'\\]*)*)'/sy)
    if (quoted === undefined) this.#giveUp()
    parts.push({ kind: 'quoted', text: ansiText(quoted?.[1] ?? '') })
    return true
  }

  /** Returns a sticky pattern's match, and skips it. */
  #taken(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)
    if (found === null) return undefined
    this.at += found[0].length
    return found
  }

  // Expansions

  /** Parses an expansion that starts with `$` or a backtick. Returns false if the character is literal. */
  #expansion(parts: RawPart[], isQuoted: boolean): boolean {
    const from = this.at
    // A dollar sign combines with the next line.
    const continued = /\$(?:\\\n)+/y
    continued.lastIndex = from
    const split = continued.exec(this.text)?.[0]
    if (split !== undefined) this.text = `${this.text.slice(0, from)}$${this.text.slice(from + split.length)}`
    const begins = (text: string) => this.text.startsWith(text, from)
    if (!isQuoted && begins("$'")) return this.#ansiQuotes(parts)
    if (!isQuoted && begins('$"')) {
      this.at++
      this.#doubleQuotes(parts)
      return true
    }
    // Obsolete arithmetic syntax.
    if (begins('$[')) this.doubt()
    if (begins('`')) this.#backticks()
    else if (begins('$(')) this.#substitution()
    else if (begins('${')) this.#parameter(isQuoted)
    else if (this.#taken(/\$(?:[A-Za-z_]\w*|[\d@*#?$!-])/y) === undefined) return false
    // Normalize `${name}` to `$name`, so that an entry can use either form.
    parts.push({ kind: 'expansion', text: this.text.slice(from, this.at).replace(/^\$\{(\w+)\}$/, '$$$1') })
    return true
  }

  #substitution(): void {
    this.found.passesText = true
    if (this.arithmetic('$((', '))')) return
    this.at += 2
    this.parentheses()
  }

  #backticks(): void {
    const quoted = this.#taken(/`([^`\\]*(?:\\.[^`\\]*)*)`/sy)
    this.found.passesText = true
    if (quoted === undefined || this.#depth > deepest) this.#giveUp()
    const text = (quoted?.[1] ?? '').replace(/\\([`$\\])/g, '$1')
    this.#nested(new WordReader(text, this.found, this.#nested, this.#depth + 1), '')
  }

  #parameter(isQuoted: boolean): void {
    if (++this.#depth > deepest) this.#giveUp()
    this.at += 2
    if (/[\s|]/.test(this.next)) this.doubt()
    const inner: RawPart[] = []
    while (!this.isAtEnd && this.next !== '}') {
      const next = this.next
      if (next === "'" && isQuoted) this.doubt()
      if (next === "'" && !isQuoted) this.#singleQuotes(inner)
      else if (next === '"') this.#doubleQuotes(inner)
      else if (next === '\\') this.#escape(inner)
      else if (!/[$`]/.test(next) || !this.#expansion(inner, isQuoted)) this.at++
    }
    if (this.isAtEnd) this.doubt()
    this.at++
    this.#depth--
  }

  /** Skips arithmetic. Returns false without moving if there is none. */
  arithmetic(open: string, close: string): boolean {
    if (!this.text.startsWith(open, this.at)) return false
    const [one, other] = [open.at(-1), close.at(-1)]
    const first = this.at + open.length
    let level = 1
    let end = first
    for (; end < this.text.length; end++) {
      if (this.text[end] === one) level++
      else if (this.text[end] === other && --level === 0) break
    }
    if (!this.text.startsWith(close, end)) return false
    const inside = this.text.slice(first, end)
    if (/['"\\]/.test(inside)) this.doubt()
    this.substitutionsIn(inside)
    this.at = end + close.length
    return true
  }

  /** Parses the commands in a text without quotes, and returns the rest of the text. */
  substitutionsIn(text: string): string {
    if (this.#depth > deepest) {
      this.doubt()
      return text
    }
    const parts: RawPart[] = []
    const inner = new WordReader(text, this.found, this.#nested, this.#depth + 1)
    while (!inner.isAtEnd) inner.#quotedPiece(parts, /[$`\\]/)
    return laterText(parts)
  }
}

/** Returns the text of raw parts after quote removal. */
export function textOfParts(parts: readonly RawPart[]): string {
  return parts.map((part) => part.text).join('')
}
