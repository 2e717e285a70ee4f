import { closingWords, leadingWords } from '../../policy/reserved-words.ts'
import { documentAt } from './here-document.ts'
import { laterText, type RawPart, type ShellWord, textOf, wordsOf } from './shell-word.ts'
import { type Found, textOfParts, WordReader } from './word-reader.ts'

/** Commands and texts that bash would run. */
export interface ShellText {
  /** Every simple command, including those in subshells, substitutions and functions. */
  readonly commands: readonly (readonly ShellWord[])[]
  /** Texts other than commands: here-documents, here-strings, values of variables. */
  readonly texts: readonly string[]
  /** False if the text may run other commands. */
  readonly isCertain: boolean
  /** Whether a command's output may reach another command or a file. */
  readonly passesText: boolean
  readonly definesFunctions: boolean
}

/** Parses a command line like bash. Marks unknown syntax as uncertain and continues. */
export function readShell(text: string): ShellText {
  const found: Found = { commands: [], texts: [], isCertain: true, passesText: false, definesFunctions: false }
  new ListReader(new WordReader(text, found, readNested)).readAll('')
  return found
}

function readNested(reader: WordReader, end: ')' | ''): void {
  new ListReader(reader).readAll(end)
}

/** First words that are not commands. */
const noCommands: ReadonlySet<string> = new Set([...leadingWords, ...closingWords, 'time', 'esac'])
const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/
const redirection = /&>>|&>|<<<|<<-|<<|<>|<&|>&|>>|>\||<|>/y

/** Parses consecutive commands. */
class ListReader {
  readonly #reader: WordReader
  readonly #found: Found
  #words: ShellWord[] = []

  constructor(reader: WordReader) {
    this.#reader = reader
    this.#found = reader.found
  }

  /** Parses commands up to and including `end`. */
  readAll(end: '' | ')'): void {
    const reader = this.#reader
    let isEnded = false
    while (!isEnded && !reader.isAtEnd) {
      const { next } = reader
      if (next === ')') {
        reader.at++
        this.#finish()
        isEnded = end === ')'
        if (!isEnded) reader.doubt()
      } else this.#readOne(next)
    }
    if (end === ')' && !isEnded) reader.doubt()
    this.#close()
  }

  #readOne(next: string): void {
    const reader = this.#reader
    if (reader.skipsBlank()) return
    if (/[<>]/.test(next) ? !reader.startsProcess : reader.text.startsWith('&>', reader.at)) this.#redirection()
    else if (/[;&|]/.test(next)) {
      if (next === '|') this.#found.passesText = true
      reader.at++
      this.#finish()
    } else if (next === '\n') {
      reader.at++
      this.#finish()
      this.#readDocuments()
    } else if (next === '(') this.#parenthesis()
    else this.#addWord(reader.word())
  }

  #finish(): void {
    if (this.#words.length > 0) this.#found.commands.push(this.#words)
    this.#words = []
  }

  #close(): void {
    this.#finish()
    if (this.#reader.documents.length > 0) this.#reader.doubt()
    this.#reader.documents = []
  }

  #parenthesis(): void {
    const reader = this.#reader
    const definition = /^\(\s*\)/.exec(reader.text.slice(reader.at, reader.at + 100))
    if (this.#words.length === 1 && definition !== null) {
      this.#found.definesFunctions = true
      reader.at += definition[0].length
      this.#words = []
      return
    }
    if (this.#words.length > 0) reader.doubt()
    this.#finish()
    if (reader.arithmetic('((', '))')) return
    reader.at++
    reader.parentheses()
  }

  #addWord(raw: readonly RawPart[]): void {
    if (this.#words.length === 0 && this.#isNoCommand(raw)) return
    const words = wordsOf(raw)
    if (words === undefined) this.#reader.doubt()
    this.#words.push(...(words ?? []))
  }

  /** Returns whether a first word only introduces a command. Records its effect. */
  #isNoCommand(raw: readonly RawPart[]): boolean {
    const bare = raw.map(({ kind, text }) => (kind === 'bare' ? text : '\0')).join('')
    if (assignment.test(bare)) {
      const text = laterText(raw)
      this.#found.texts.push(text.slice(text.indexOf('=') + 1))
      return true
    }
    if (bare === 'case' || raw.some(({ kind }) => kind === 'expansion')) this.#reader.doubt()
    if (bare === 'function') this.#found.definesFunctions = true
    return noCommands.has(bare)
  }

  #redirection(): void {
    const reader = this.#reader
    const last = this.#words.at(-1)
    const isAdjacent = reader.at > 0 && !/[ \t\n]/.test(reader.text[reader.at - 1] ?? '')
    // A descriptor number is not a word of the command.
    if (isAdjacent && last?.isPlain === true && /^(?:\d+|\{\w+\})$/.test(textOf(last))) this.#words.pop()
    redirection.lastIndex = reader.at
    const operator = redirection.exec(reader.text)?.[0] ?? reader.next
    reader.at += operator.length
    while (reader.skipsBlank());
    const target = reader.word()
    if (target.length === 0) reader.doubt()
    this.#redirect(operator, target)
  }

  #redirect(operator: string, target: readonly RawPart[]): void {
    const text = textOfParts(target)
    const isDocument = operator === '<<' || operator === '<<-'
    if (isDocument) {
      this.#reader.documents.push({ end: text, isQuoted: target.some(({ kind }) => kind === 'quoted'), stripsTabs: operator === '<<-' })
    }
    if (operator === '<<<') this.#found.texts.push(laterText(target))
    const isDescriptor = operator === '>&' && /^(?:\d+-?|-)$/.test(text)
    const isWritten = operator.includes('>') && !isDescriptor && text !== '/dev/null'
    if (isDocument || operator === '<<<' || isWritten) this.#found.passesText = true
  }

  #readDocuments(): void {
    const reader = this.#reader
    const { documents } = reader
    reader.documents = []
    for (const document of documents) {
      const { body, next, isEnded } = documentAt(reader.text, reader.at, document)
      // Without an end, its lines are also parsed as commands.
      if (isEnded) reader.at = next
      else reader.doubt()
      this.#found.texts.push(document.isQuoted ? body : reader.substitutionsIn(body))
    }
  }
}
