/** How a text that begins as a JSON object goes on, read with the damages that models and gateways do. */
export type Scan =
  /** It is one object to its end; `fixed` is that object as JSON, `undefined` where it has several readings. */
  | { kind: 'whole'; fixed: string | undefined }
  /** It ends where more has to follow. */
  | { kind: 'open' }
  | { kind: 'broken' }

const open = { kind: 'open' } as const
const broken = { kind: 'broken' } as const

/** Steps that the search for readings may still take, so that a hostile text costs no more than a long one. */
export interface Work {
  left: number
}

const fence = '```'
const whitespace = ' \n\r\t'
/** What JSON does not know after a backslash, and what means a backslash there: letters of regular expressions and paths, no escapes of another language. */
const literal = /^[A-Z.()[\]{}+*?|^\-:;,=<>!#%&@~_ cdghijklmopqswyz89]$/
/** What strings may hold as it is, and how JSON writes it. */
const rawInStrings = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/**
 * Reads `text` from `start` to its end: an object, in a code fence or not, with at most one `}` too many. Strings may hold line breaks and tabs, and a comma
 * may come before a closing bracket. An escape that JSON does not know is a backslash, unless the object has others too: then nobody knows which are meant.
 */
export function scanDocument(text: string, start: number, work: Work): Scan {
  const scanner = new Scanner(text, start)
  const scan = scanner.document()
  work.left -= scanner.at - start + 1
  return scan
}

/** What may come next. */
type Expected = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'more'

class Scanner {
  at: number
  readonly #text: string
  /** The brackets that are open. */
  readonly #open: ('{' | '[')[] = []
  readonly #parts: string[] = []
  /** Where what is not in `parts` yet begins. */
  #copied: number
  #hasUnknownEscape = false
  #hasOtherEscape = false

  constructor(text: string, start: number) {
    this.#text = text
    this.at = start
    this.#copied = start
  }

  document(): Scan {
    const isFenced = this.#text.startsWith(fence, this.at)
    if (isFenced) {
      this.at += fence.length
      if (this.#text.slice(this.at, this.at + 4).toLowerCase() === 'json') this.at += 4
      this.#skip()
    }
    // A fence without an object: it may be the one that closes.
    if (this.#text[this.at] !== '{') return broken
    this.#copied = this.at
    const failure = this.#object()
    if (failure !== undefined) return failure
    const fixed = this.#fixed()
    return this.#ending(isFenced) ?? { kind: 'whole', fixed }
  }

  /** Reads to the end of the object; a failure where there is none. */
  #object(): Scan | undefined {
    let expected: Expected | undefined = 'value'
    /** A comma that may turn out to be one too many. */
    let comma = -1
    do {
      this.#skip()
      const character = this.#text[this.at]
      if (character === undefined) return open
      if ((character === '}' || character === ']') && comma >= 0 && (expected === 'key' || expected === 'value')) {
        this.#replace(comma, comma + 1, '')
        expected = 'more'
      }
      comma = -1
      if (expected === 'more' && character === ',') {
        comma = this.at++
        expected = this.#open.at(-1) === '{' ? 'key' : 'value'
        continue
      }
      const next: Expected | Scan = this.#token(character, expected)
      if (typeof next !== 'string') return next
      expected = next
    } while (this.#open.length > 0)
    return undefined
  }

  /** Reads one token. */
  #token(character: string, expected: Expected): Expected | Scan {
    if (expected === 'colon') {
      this.at++
      return character === ':' ? 'value' : broken
    }
    if (character === '}' || character === ']') return this.#close(character, expected)
    if (expected === 'more') return broken
    if (expected === 'key' || expected === 'firstKey') return character === '"' ? (this.#string() ?? 'colon') : broken
    if (character === '{' || character === '[') {
      this.#open.push(character)
      this.at++
      return character === '{' ? 'firstKey' : 'firstValue'
    }
    return (character === '"' ? this.#string() : this.#scalar()) ?? 'more'
  }

  #close(character: string, expected: Expected): Expected | Scan {
    const isOfObject = character === '}'
    if (expected !== 'more' && expected !== (isOfObject ? 'firstKey' : 'firstValue')) return broken
    if (this.#open.pop() !== (isOfObject ? '{' : '[')) return broken
    this.at++
    return 'more'
  }

  /** Reads a number or a word; what it is `JSON.parse` decides. */
  #scalar(): Scan | undefined {
    const start = this.at
    while (this.at < this.#text.length && /[-+.\w]/.test(this.#text.charAt(this.at))) this.at++
    if (this.at === this.#text.length) return open
    return this.at === start ? broken : undefined
  }

  #string(): Scan | undefined {
    const text = this.#text
    for (this.at++; this.at < text.length; this.at++) {
      const character = text.charAt(this.at)
      if (character === '"') {
        this.at++
        return undefined
      }
      if (character === '\\') {
        const failure = this.#escape()
        if (failure !== undefined) return failure
      } else if (character < ' ') {
        const escaped = rawInStrings.get(character)
        if (escaped === undefined) return broken
        this.#replace(this.at, this.at + 1, escaped)
      }
    }
    return open
  }

  /** Reads an escape; afterwards `at` is on its last character. */
  #escape(): Scan | undefined {
    const escaped = this.#text[this.at + 1]
    if (escaped === undefined) return open
    if (escaped === '"') {
      // Where the backslash stands for itself, the string ends here.
      if (/^[,:}\]]/.test(this.#afterWhitespace(this.at + 2))) this.#hasOtherEscape = true
    } else if ('\\/bfnrtu'.includes(escaped)) this.#hasOtherEscape = true
    else {
      // An escape of another language has two readings. The object goes on, so that its end is found.
      if (!literal.test(escaped)) this.#hasOtherEscape = true
      this.#hasUnknownEscape = true
      this.#replace(this.at, this.at + 1, '\\\\')
      // A line break or tab is looked at again.
      if (escaped < ' ') return undefined
    }
    this.at++
    return undefined
  }

  #afterWhitespace(from: number): string {
    let at = from
    // Blank lines without an end are no reason to read them again and again.
    while (at < from + 16 && whitespace.includes(this.#text.charAt(at)) && at < this.#text.length) at++
    return at === from + 16 ? ',' : this.#text.charAt(at)
  }

  /** What follows the object: the end of its fence, and a bracket too many. */
  #ending(isFenced: boolean): Scan | undefined {
    this.#skip()
    if (this.#text[this.at] === '}') this.at++
    this.#skip()
    if (isFenced) {
      const rest = this.#text.slice(this.at, this.at + fence.length)
      if (rest !== fence) return fence.startsWith(rest) ? open : broken
      this.at += fence.length
      this.#skip()
    }
    return this.at === this.#text.length ? undefined : broken
  }

  #skip(): void {
    while (this.at < this.#text.length && whitespace.includes(this.#text.charAt(this.at))) this.at++
  }

  #replace(from: number, to: number, by: string): void {
    this.#parts.push(this.#text.slice(this.#copied, from), by)
    this.#copied = to
  }

  #fixed(): string | undefined {
    if (this.#hasUnknownEscape && this.#hasOtherEscape) return undefined
    return this.#parts.join('') + this.#text.slice(this.#copied, this.at)
  }
}
