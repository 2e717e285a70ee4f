import { ownOf } from '../../contract/json.ts'
import { base64Digits } from '../base64.ts'

/**
 * Minimum length of a secret. Shorter values are placeholders that ordinary text may contain. Also the length of a substring that counts as
 * a leak.
 */
export const minSecret = 8

const replacement = '[redacted]'

/** Maximum nesting of encodings: base64 of base64, hex of JSON. */
const maxDepth = 2
/** Maximum layers of escapes, such as a URL in JSON in HTML. */
const maxUnescaping = 5

/**
 * A decoded form of a text, with the position of each character in the original.
 * Character `i` comes from `[starts[i], ends[i])`.
 */
interface Reading {
  chars: string
  starts: readonly number[]
  ends: readonly number[]
}

/**
 * Replaces every echo of `secret`, or of several secrets, in `text`.
 *
 * **Contract**
 * - Finds the secret and any substring of at least 8 characters: plain, in different case, or split by white space.
 * - Finds encoded forms, including nested ones: JSON, HTML and URL escapes, hex, byte lists (hex or decimal), and base64 and base64url at
 *   any alignment.
 * - Takes time linear in `text` and the secrets. Ignores secrets of fewer than 8 characters.
 */
export function withoutSecret(text: string, secret: string | readonly string[] | undefined): string {
  const pieces = piecesOf(typeof secret === 'string' ? [secret] : (secret ?? []))
  if (pieces.size === 0 || text === '') return text
  const marks = new Uint8Array(text.length)
  mark(plainReading(text), pieces, marks, maxDepth)
  return replaced(text, marks)
}

/** Maximum number of remembered secrets, for a run with several models whose keys change. */
const maxKnown = 32

/** Recently used secrets, for redacting error messages. Stored only in memory, and never part of a logged object. */
export class KnownSecrets {
  readonly #latest = new Set<string>()

  add(secret: string): void {
    this.#latest.delete(secret)
    this.#latest.add(secret)
    const [oldest] = this.#latest
    if (oldest !== undefined && this.#latest.size > maxKnown) this.#latest.delete(oldest)
  }

  /** Returns the latest secrets and `others`. */
  with(others: readonly string[]): readonly string[] {
    return [...this.#latest, ...others]
  }
}

/** Returns every 8-character piece of the secrets, plain and unescaped. */
function piecesOf(secrets: readonly string[]): ReadonlySet<string> {
  const pieces = new Set<string>()
  for (const secret of secrets) {
    const key = secret.trim()
    const bytes = latin1(new TextEncoder().encode(key))
    for (const form of [key, bytes, ...unescapings(plainReading(key)).map(({ chars }) => chars)]) {
      const lower = form.toLowerCase()
      for (let at = 0; at + minSecret <= lower.length; at++) pieces.add(lower.slice(at, at + minSecret))
    }
  }
  return pieces
}

/** Marks the positions where `reading`, or an encoding within it, contains a piece. */
function mark(reading: Reading, pieces: ReadonlySet<string>, marks: Uint8Array, depth: number): void {
  const forms = [reading, ...unescapings(reading)]
  for (const form of forms) markPieces(form, pieces, marks)
  if (depth === 0) return
  const last = forms.at(-1) ?? reading
  for (const decoded of [...decodedRuns(last, hex), ...decodedRuns(last, base64), ...listedBytes(last)])
    mark(decoded, pieces, marks, depth - 1)
}

function markPieces({ chars, starts, ends }: Reading, pieces: ReadonlySet<string>, marks: Uint8Array): void {
  const lower = chars.toLowerCase()
  // A character whose case mapping changes its length is not ASCII, so it cannot be part of a key.
  if (lower.length !== chars.length) return
  let marked = 0
  for (let at = 0; at + minSecret <= lower.length; at++) {
    if (!pieces.has(lower.slice(at, at + minSecret))) continue
    // For linear time, mark only the new part of overlapping pieces. Include the white space in it.
    marks.fill(1, at < marked ? ends[marked - 1] : starts[at], ends[at + minSecret - 1])
    marked = at + minSecret
  }
}

function replaced(text: string, marks: Uint8Array): string {
  let shown = ''
  let from = 0
  for (let start = marks.indexOf(1); start >= 0; start = marks.indexOf(1, from)) {
    const end = marks.indexOf(0, start)
    shown += text.slice(from, start) + replacement
    from = end < 0 ? text.length : end
  }
  return shown + text.slice(from)
}

function plainReading(text: string): Reading {
  const starts = Array.from({ length: text.length }, (_, at) => at)
  return { chars: text, starts, ends: starts.map((at) => at + 1) }
}

/** Yields `reading` without white space, then repeatedly unescaped until nothing changes. */
function unescapings(reading: Reading): Reading[] {
  const found: Reading[] = []
  let last = reading
  for (let n = 0; n < maxUnescaping; n++) {
    // Remove white space first: a backslash before white space escapes nothing.
    const dense = substituted(last, space)
    const next = substituted(dense, escaped)
    if (dense.chars !== last.chars) found.push(dense)
    if (next.chars !== dense.chars) found.push(next)
    if (next.chars === last.chars) break
    last = next
  }
  return found
}

/** Matches white space, including zero-width characters. */
const space = /[\s\0\u00ad\u200b-\u200d\u2060]+/g

/** `\n`, `%41`, `\u0041`, `\x41`, `\101`, `\/`, `&#65;`, `&#x41;`, `&amp;`. */
const escaped =
  /[\s\0\u00ad\u200b-\u200d\u2060]+|%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|\\([0-7]{2,3})|\\([nrtbf]|[^a-z0-9])|&#(\d{1,7});?|&#x([0-9a-f]{1,6});?|&([a-z]{2,6});/gi

const entities: { readonly [name: string]: string } = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '',
  plus: '+',
  equals: '=',
  sol: '/',
  colon: ':',
  lowbar: '_',
  period: '.',
  hyphen: '-',
  dash: '-',
}

function substituted({ chars, starts, ends }: Reading, pattern: RegExp): Reading {
  const [shown, from, to]: [string[], number[], number[]] = [[], [], []]
  const take = (char: string, first: number, last: number): void => {
    shown.push(char)
    from.push(starts[first] ?? 0)
    to.push(ends[last] ?? 0)
  }
  let at = 0
  for (const match of chars.matchAll(pattern)) {
    for (; at < match.index; at++) take(chars.charAt(at), at, at)
    at = match.index + match[0].length
    const char = meaningOf(match)
    if (char.length === 1) take(char, match.index, at - 1)
    else if (char !== '') for (let i = match.index; i < at; i++) take(chars.charAt(i), i, i)
  }
  for (; at < chars.length; at++) take(chars.charAt(at), at, at)
  return { chars: shown.join(''), starts: from, ends: to }
}

/** Decodes an escape. Returns an empty string for white space, and an invalid escape unchanged. */
function meaningOf([whole, percent, unicode, byte, octal, simple, decimal, hexadecimal, entity]:
  | RegExpExecArray
  | RegExpMatchArray): string {
  const code = percent ?? unicode ?? byte ?? hexadecimal
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
  if (decimal !== undefined) return String.fromCharCode(Number(decimal))
  if (simple !== undefined) return /[a-z]/i.test(simple) ? '' : simple
  if (entity === undefined) return ''
  const name = entity.toLowerCase()
  return ownOf(entities, name) ?? whole
}

/** A text encoding of bytes, with its bits per character. */
interface Alphabet {
  /** Matches runs that are long enough to contain a piece. */
  runs: RegExp
  bits: 4 | 6
  digitOf: (char: string) => number
}

const hex: Alphabet = { runs: /[0-9a-f]{16,}/gi, bits: 4, digitOf: (char) => Number.parseInt(char, 16) }
const base64: Alphabet = {
  runs: /[\w+/-]{11,}/g,
  bits: 6,
  digitOf: (char) => base64Digits.indexOf(char === '-' ? '+' : char === '_' ? '/' : char),
}

/** Decodes every run of `alphabet` in `reading` at each alignment, because characters before the value may belong to the alphabet. */
function* decodedRuns({ chars, starts, ends }: Reading, { runs, bits, digitOf }: Alphabet): Iterable<Reading> {
  const alignments = bits === 4 ? 2 : 4
  for (const { 0: run, index } of chars.matchAll(runs)) {
    for (let alignment = 0; alignment < alignments; alignment++) {
      const [shown, from, to]: [string[], number[], number[]] = [[], [], []]
      let [value, held, first] = [0, 0, alignment]
      for (let at = alignment; at < run.length; at++) {
        value = ((value << bits) | digitOf(run.charAt(at))) & 0xffff
        held += bits
        if (held < 8) continue
        held -= 8
        shown.push(String.fromCharCode((value >> held) & 0xff))
        from.push(starts[index + first] ?? 0)
        to.push(ends[index + at] ?? 0)
        first = held === 0 ? at + 1 : at
      }
      yield { chars: shown.join(''), starts: from, ends: to }
    }
  }
}

/** Matches byte lists, as in dumps or a serialized buffer, that are long enough to contain a piece: `[115,107]`, `73:6b`, `0x73,0x6b`. */
const lists = [
  { runs: /\d{1,3}(?:,\d{1,3}){7,}/g, item: /\d+/g, radix: 10 },
  { runs: /(?:0x)?[0-9a-f]{2}(?:[,:](?:0x)?[0-9a-f]{2}){7,}/gi, item: /[0-9a-f]{2}(?=[,:]|$)/gi, radix: 16 },
]

function* listedBytes({ chars, starts, ends }: Reading): Iterable<Reading> {
  for (const { runs, item, radix } of lists) {
    for (const { 0: run, index } of chars.matchAll(runs)) {
      const items = [...run.matchAll(item)].map((found) => ({ text: found[0], at: index + found.index }))
      yield {
        chars: items.map(({ text }) => String.fromCharCode(Number.parseInt(text, radix) & 0xff)).join(''),
        starts: items.map(({ at }) => starts[at] ?? 0),
        ends: items.map(({ at, text }) => ends[at + text.length - 1] ?? 0),
      }
    }
  }
}

function latin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
}
