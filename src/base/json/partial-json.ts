import { type JsonObject, type JsonValue, ownOf, setOwnField } from '../../contract/json.ts'
import { maxJsonDepth } from '../../contract/shape/json-fault.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aText } from '../../contract/shape/shape.ts'
import { isHighSurrogate } from '../text/characters.ts'

/** An open object or list. */
interface Open {
  value: JsonObject | JsonValue[]
  /** Position of the next or current value: a key, or the number of complete items. */
  at: string | number
  /** Maximum number of entries. */
  size: number
}

/** What the parser expects next. */
type Expecting = 'value' | 'valueOrEnd' | 'keyOrEnd' | 'key' | 'colon' | 'commaOrEnd' | 'nothing'

const wholeEscape = /^\\(?:["\\/bfnrt]|u[\da-fA-F]{4})$/
const begunEscape = /^\\u[\da-fA-F]{0,3}$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none in its texts
const plainEnd = /["\\\u0000-\u001f]/g
const scalarEnd = /[\s,\]}]/g
const scalar = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

/** Entries that a snapshot may always copy. Beyond this number, each new character allows `entriesPerCharacter` more entries. */
const freeEntries = 1000
const entriesPerCharacter = 2

/**
 * Parses streaming JSON. Reads each chunk once.
 *
 * **Contract**
 * - `value` contains the part read so far: the beginning of an unfinished string, complete numbers and words, and keys whose values have
 *   started. Later text only adds to `value`, unless a key repeats.
 * - `value` grows in place, and reading it is free. `snapshot()` returns an immutable value.
 * - Invalid JSON sets `isBroken` and keeps `value`. Nesting deeper than 200 levels has the same effect, because it could not be stored or
 *   sent.
 *
 * Source: docs/guides/structured-output.md
 */
export class PartialJson {
  #root: JsonValue | undefined
  readonly #open: Open[] = []
  #expecting: Expecting = 'value'
  /** An unfinished number, word or escape. */
  #held = ''
  /** The current string: a key, or a value. */
  #text: string | undefined
  /** A high surrogate at the end of that string. */
  #half = ''
  #isKey = false
  #unread = ''
  #isBroken = false
  #hasEnded = false
  /** Number of characters read, and number of changes to the value. */
  #length = 0
  #changes = 0
  #last: { value: JsonValue | undefined; length: number; changes: number } = { value: undefined, length: 0, changes: 0 }

  /** Returns the value so far, or `undefined` before anything was read. Objects and lists in the value are live and grow with the text. */
  get value(): JsonValue | undefined {
    this.#read()
    if (this.#text !== undefined && !this.#isKey) this.#attach(this.#text)
    return this.#root
  }

  /**
   * Returns an immutable value. Copies open parts and shares closed parts with the previous snapshot. Returns the same object if nothing
   * changed.
   * With more than a thousand open entries, the snapshot may lag (half a character per entry), so that all snapshots together cost linear
   * time. The snapshot is exact once the value is complete, and after `end()`.
   */
  snapshot(): JsonValue | undefined {
    const value = this.value
    const { length, changes } = this.#last
    if (changes === this.#changes) return this.#last.value
    const entries = this.#open.reduce((sum, { size }) => sum + size, 0)
    const isDue = entries <= freeEntries || this.#hasEnded || entries <= (this.#length - length) * entriesPerCharacter
    if (isDue) this.#last = { value: this.#copied(value), length: this.#length, changes: this.#changes }
    return this.#last.value
  }

  /** Returns `root` with copies of the open parts. */
  #copied(root: JsonValue | undefined): JsonValue | undefined {
    let child: JsonValue | undefined
    for (let depth = this.#open.length - 1; depth >= 0; depth -= 1) {
      const { value, at } = this.#open[depth] as Open // the index is within the list
      const copy = Array.isArray(value) ? value.slice() : { ...value }
      if (child !== undefined) put(copy, at, child)
      child = copy
    }
    return child ?? root
  }

  /** Returns whether the value is complete. */
  get isComplete(): boolean {
    this.#read()
    return this.#expecting === 'nothing' && !this.#isBroken
  }

  get isBroken(): boolean {
    this.#read()
    return this.#isBroken
  }

  /** Returns the number of complete items in the list at `path`, or 0 without a list. An empty path is the root. */
  completeElements(path: readonly string[]): number {
    this.#read()
    const list = path.reduce(within, this.#root)
    if (!Array.isArray(list)) return 0
    const at = this.#open.find(({ value }) => value === list)?.at
    return typeof at === 'number' ? at : list.length
  }

  /** Appends text. Reading the value parses the text, so that a single read parses all text in one pass. */
  push(piece: string): void {
    if (typeof piece !== 'string') checkOptions(piece, aText, 'piece')
    this.#unread += piece
  }

  #read(): void {
    const piece = this.#unread
    if (piece === '') return
    this.#unread = ''
    const isFirst = this.#length === 0
    this.#length += piece.length
    if (isFirst && this.#readWhole(piece)) return
    let at = 0
    while (at < piece.length && !this.#isBroken) at = this.#text === undefined ? this.#outside(piece, at) : this.#inside(piece, at)
  }

  /** Uses `JSON.parse` if the text is complete at the first read. */
  #readWhole(piece: string): boolean {
    try {
      const value: JsonValue = JSON.parse(piece)
      // Do not use this for a number, which may continue, or for text that is nested too deeply, which is parsed up to the limit.
      if (!isNested(value) || (mayBeDeep(piece) && !isShallow(value, maxJsonDepth))) return false
      this.#place(value)
      return true
    } catch {
      return false
    }
  }

  /** Ends the text. Completes a number or word at the root. */
  end(): void {
    this.#read()
    this.#hasEnded = true
    if (this.#held === '' || this.#text !== undefined || this.#open.length > 0) return
    this.#scalar(this.#held)
    this.#held = ''
  }

  // Strings

  #inside(piece: string, from: number): number {
    if (this.#held !== '') return this.#escape(piece, from)
    plainEnd.lastIndex = from
    const found = plainEnd.exec(piece)
    const end = found?.index ?? piece.length
    if (end > from) this.#say(from === 0 && end === piece.length ? piece : piece.slice(from, end))
    if (found === null) return end
    if (found[0] === '"') this.#endText()
    else if (found[0] === '\\') this.#held = '\\'
    else this.#break()
    return end + 1
  }

  #escape(piece: string, from: number): number {
    this.#held += piece.charAt(from)
    if (wholeEscape.test(this.#held)) {
      this.#say(JSON.parse(`"${this.#held}"`))
      this.#held = ''
    } else if (!begunEscape.test(this.#held)) this.#break()
    return from + 1
  }

  /** Appends to the current string. Reads only `chunk`, because accessing the whole text would join all pieces. */
  #say(chunk: string): void {
    const isHalf = isHighSurrogate(chunk.charCodeAt(chunk.length - 1))
    this.#text += this.#half + (isHalf ? chunk.slice(0, -1) : chunk)
    this.#half = isHalf ? chunk.slice(-1) : ''
    this.#changes += 1
  }

  #endText(): void {
    const text = (this.#text ?? '') + this.#half
    this.#text = undefined
    this.#half = ''
    const open = this.#open.at(-1)
    if (this.#isKey && open !== undefined) {
      this.#isKey = false
      open.at = text
      this.#expecting = 'colon'
    } else this.#place(text)
  }

  // Other values

  #outside(piece: string, from: number): number {
    const char = piece.charAt(from)
    if (this.#held !== '' || /[-\dtfn]/.test(char)) return this.#bare(piece, from)
    if (' \n\r\t'.includes(char)) return from + 1
    if (char === '"') this.#beginText()
    else if (char === '{') this.#begin({})
    else if (char === '[') this.#begin([])
    else if (char === '}' || char === ']') this.#close(char)
    else if (char === ',') this.#comma()
    else if (char === ':' && this.#expecting === 'colon') this.#expecting = 'value'
    else this.#break()
    return from + 1
  }

  #bare(piece: string, from: number): number {
    scalarEnd.lastIndex = from
    const end = scalarEnd.exec(piece)?.index ?? piece.length
    this.#held += piece.slice(from, end)
    if (!this.#mayBegin || this.#held.length > 400) this.#break()
    else if (end < piece.length) {
      const held = this.#held
      this.#held = ''
      this.#scalar(held)
    }
    return end
  }

  #scalar(literal: string): void {
    if (scalar.test(literal)) this.#place(JSON.parse(literal))
    else this.#break()
  }

  #beginText(): void {
    this.#isKey = this.#expecting === 'keyOrEnd' || this.#expecting === 'key'
    if (this.#isKey || this.#mayBegin) {
      this.#text = ''
      this.#changes += 1
    } else this.#break()
  }

  #begin(value: JsonObject | JsonValue[]): void {
    if (!this.#mayBegin || this.#open.length >= maxJsonDepth) this.#break()
    else {
      this.#changes += 1
      this.#attach(value)
      this.#open.push({ value, at: Array.isArray(value) ? 0 : '', size: 0 })
      this.#expecting = Array.isArray(value) ? 'valueOrEnd' : 'keyOrEnd'
    }
  }

  #close(char: string): void {
    const open = this.#open.at(-1)
    const fits = open !== undefined && Array.isArray(open.value) === (char === ']')
    if (fits && this.#expecting.endsWith('OrEnd')) {
      this.#open.pop()
      this.#filled()
    } else this.#break()
  }

  #comma(): void {
    if (this.#expecting === 'commaOrEnd') this.#expecting = Array.isArray(this.#open.at(-1)?.value) ? 'value' : 'key'
    else this.#break()
  }

  /** Handles a completed value. */
  #place(value: JsonValue): void {
    this.#changes += 1
    this.#attach(value)
    this.#filled()
  }

  #filled(): void {
    const open = this.#open.at(-1)
    if (typeof open?.at === 'number') open.at += 1
    if (open !== undefined) open.size += 1
    this.#expecting = open === undefined ? 'nothing' : 'commaOrEnd'
  }

  /** Stores a value in the open parent, or as the root. */
  #attach(value: JsonValue): void {
    const open = this.#open.at(-1)
    if (open === undefined) this.#root = value
    else put(open.value, open.at, value)
  }

  get #mayBegin(): boolean {
    return this.#expecting.startsWith('value')
  }

  #break(): void {
    this.#isBroken = true
  }
}

/** Stores a value without an assignment, because "__proto__" is an ordinary name in JSON. */
function put(target: JsonObject | JsonValue[], at: string | number, value: JsonValue): void {
  if (Array.isArray(target)) target[Number(at)] = value
  else if (at === '__proto__') setOwnField(target, at, value)
  else target[at] = value
}

/** Returns whether `text` contains enough brackets to be nested too deeply. For most texts, this avoids a walk through the value. */
function mayBeDeep(text: string): boolean {
  return text.split('[', maxJsonDepth).length + text.split('{', maxJsonDepth).length > maxJsonDepth
}

/** Returns whether `value` is nested deeper than `levels`. */
function isShallow(value: JsonObject | JsonValue[], levels: number): boolean {
  if (levels === 0) return false
  if (Array.isArray(value)) {
    for (const part of value) if (isNested(part) && !isShallow(part, levels - 1)) return false
  } else {
    // The value comes from JSON.parse, so enumerable properties are own properties.
    for (const key in value) {
      const part = value[key]
      if (isNested(part) && !isShallow(part, levels - 1)) return false
    }
  }
  return true
}

function isNested(value: JsonValue | undefined): value is JsonObject | JsonValue[] {
  return typeof value === 'object' && value !== null
}

/** Returns the own property `name` of an object. */
export function within(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isNested(value) && !Array.isArray(value) ? ownOf(value, name) : undefined
}

/** Parses `text`, which may be truncated JSON. Returns `undefined` if the text is empty or invalid. */
export function parsePartialJson(text: string): JsonValue | undefined {
  const json = new PartialJson()
  json.push(text)
  const before = json.value
  json.end()
  return json.isBroken ? before : json.value
}
