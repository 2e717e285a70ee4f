/** Result of scanning a JSON object that may have the typical defects of models and gateways. */
export type Scan =
  /** A complete object. `fixed` is valid JSON, or `undefined` if the object is ambiguous. */
  | { kind: 'whole'; fixed: string | undefined }
  /** The text ends before the object does. */
  | { kind: 'open' }
  | { kind: 'broken' }

const open = { kind: 'open' } as const
const broken = { kind: 'broken' } as const

/** Remaining step budget. Limits the work for hostile input to that for long input. */
export interface Work {
  left: number
}

const fence = '```'
const whitespace = ' \n\r\t'
/**
 * Matches characters after which a preceding backslash is literal: invalid JSON escapes from regular expressions and paths, but not escapes
 * from other languages.
 */
const literal = /^[A-Z.()[\]{}+*?|^\-:;,=<>!#%&@~_ cdghijklmopqswyz89]$/
/** Characters allowed unescaped in strings, and their JSON escapes. */
const rawInStrings = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
])

/**
 * Scans an object from `start`, with or without a code fence and with at most one extra `}`. Accepts line breaks and tabs in strings, and
 * trailing commas. An invalid escape counts as a literal backslash. If the object also contains valid escapes, it is ambiguous.
 */
export function scanDocument(text: string, start: number, work: Work): Scan {
  const scanner = new Scanner(text, start)
  const scan = scanner.document()
  work.left -= scanner.at - start + 1
  return scan
}

/** The next expected token. */
type Expected = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'more'

class Scanner {
  at: number
  readonly #text: string
  /** Open brackets. */
  readonly #open: ('{' | '[')[] = []
  readonly #parts: string[] = []
  /** Start index of the text that is not yet in `parts`. */
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
    // A fence without an object may be a closing fence.
    if (this.#text[this.at] !== '{') return broken
    this.#copied = this.at
    const failure = this.#object()
    if (failure !== undefined) return failure
    const fixed = this.#fixed()
    return this.#ending(isFenced) ?? { kind: 'whole', fixed }
  }

  /** Scans to the end of the object. Returns a failure if there is none. */
  #object(): Scan | undefined {
    let expected: Expected | undefined = 'value'
    /** Position of a comma that may be trailing. */
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

  /** Scans one token. */
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

  /** Scans a number or word. `JSON.parse` decides what it is. */
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

  /** Scans an escape. Leaves `at` on its last character. */
  #escape(): Scan | undefined {
    const escaped = this.#text[this.at + 1]
    if (escaped === undefined) return open
    if (escaped === '"') {
      // If the backslash is literal, the string ends here.
      if (/^[,:}\]]/.test(this.#afterWhitespace(this.at + 2))) this.#hasOtherEscape = true
    } else if ('\\/bfnrtu'.includes(escaped)) this.#hasOtherEscape = true
    else {
      // An escape of another language is ambiguous. The scan continues to find the end of the object.
      if (!literal.test(escaped)) this.#hasOtherEscape = true
      this.#hasUnknownEscape = true
      this.#replace(this.at, this.at + 1, '\\\\')
      // Scan a line break or tab again.
      if (escaped < ' ') return undefined
    }
    this.at++
    return undefined
  }

  #afterWhitespace(from: number): string {
    let at = from
    // Limit the look-ahead over whitespace.
    while (at < from + 16 && whitespace.includes(this.#text.charAt(at)) && at < this.#text.length) at++
    return at === from + 16 ? ',' : this.#text.charAt(at)
  }

  /** Scans the text after the object: a closing fence, and one extra bracket. */
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
