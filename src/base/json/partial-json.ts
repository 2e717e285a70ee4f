import type { JsonObject, JsonValue } from '../../contract/json.ts'
import { maxJsonDepth } from '../../contract/shape/json-fault.ts'

/** An object or a list that is not closed yet. */
interface Open {
  value: JsonObject | JsonValue[]
  /** Of an object: the key whose value comes next, or is being read. */
  key: string | undefined
}

/** What a character that nothing has begun may be. */
type Expecting = 'value' | 'valueOrEnd' | 'keyOrEnd' | 'key' | 'colon' | 'commaOrEnd' | 'nothing'

const escapes: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none in its texts
const plainEnd = /["\\\u0000-\u001f]/g
const scalarEnd = /[\s,\]}]/g
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const words: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ['true', true],
  ['false', false],
  ['null', null],
])

/**
 * Reads JSON while it is written: each piece is looked at once.
 *
 * **Contract**
 * - `value` is what has been said so far: of a text that is being written its beginning; numbers and words once they are whole; a key once its value has
 *   begun. What comes later adds to it, and takes nothing back, unless a key comes twice.
 * - Text that is no JSON breaks it: `isBroken`; `value` stays as it was. So does nesting that nobody could store or send.
 *
 * Source: docs/concepts/partial-objects.md
 */
export class PartialJson {
  #root: JsonValue | undefined
  readonly #open: Open[] = []
  #expecting: Expecting = 'value'
  /** The beginning of a number, a word, or an escape, which its rest decides. */
  #held = ''
  /** The text that is being read: a key, or a value. */
  #text: string | undefined
  #isKey = false
  #unread = ''
  #hasRead = false
  #isBroken = false

  /** What has been said so far; `undefined` before anything was. What is open is a new object each time, the rest is shared. */
  get value(): JsonValue | undefined {
    this.#read()
    let child: JsonValue | undefined = this.#text === undefined || this.#isKey ? undefined : wellFormed(this.#text)
    for (const [depth, { value, key }] of [...this.#open.entries()].reverse()) {
      const isDeepest = depth === this.#open.length - 1
      const copy = Array.isArray(value) ? [...value] : { ...value }
      if (child === undefined) child = copy
      else {
        if (!Array.isArray(copy)) setOwn(copy, key ?? '', child)
        else if (isDeepest) copy.push(child)
        else copy[copy.length - 1] = child
        child = copy
      }
    }
    return child ?? this.#root
  }

  /** Whether the value is whole. */
  get isComplete(): boolean {
    this.#read()
    return this.#expecting === 'nothing' && !this.#isBroken
  }

  get isBroken(): boolean {
    this.#read()
    return this.#isBroken
  }

  /** How many elements of the list at `path` are whole; 0 where there is none. Names lead from the root; none is the root itself. */
  completeElements(path: readonly string[]): number {
    this.#read()
    let list: JsonValue | undefined = this.#root
    for (const name of path) list = isObject(list) && Object.hasOwn(list, name) ? list[name] : undefined
    if (!Array.isArray(list)) return 0
    const at = this.#open.findIndex(({ value }) => value === list)
    return at >= 0 && at < this.#open.length - 1 ? list.length - 1 : list.length
  }

  /** Adds what was written. It is read when somebody asks for the value: whoever asks once reads it all at once. */
  push(piece: string): void {
    this.#unread += piece
  }

  #read(): void {
    const piece = this.#unread
    if (piece === '') return
    this.#unread = ''
    if (!this.#hasRead && this.#readWhole(piece)) return
    this.#hasRead = true
    let at = 0
    while (at < piece.length && !this.#isBroken) at = this.#text === undefined ? this.#outside(piece, at) : this.#inside(piece, at)
  }

  /** What is whole when it is asked for first needs no reader of beginnings. */
  #readWhole(piece: string): boolean {
    if (!/^\s*[{[]/.test(piece) || !/[}\]]\s*$/.test(piece)) return false
    try {
      this.#root = JSON.parse(piece)
      this.#hasRead = true
      this.#expecting = 'nothing'
      return true
    } catch {
      return false
    }
  }

  /** Says that nothing follows: a number or a word at the root ends here. */
  end(): void {
    this.#read()
    if (this.#held === '' || this.#text !== undefined || this.#open.length > 0) return
    this.#scalar(this.#held)
    this.#held = ''
  }

  // Texts

  #inside(piece: string, from: number): number {
    if (this.#held !== '') return this.#escape(piece, from)
    plainEnd.lastIndex = from
    const found = plainEnd.exec(piece)
    const end = found?.index ?? piece.length
    if (end > from) this.#text += from === 0 && end === piece.length ? piece : piece.slice(from, end)
    if (found === null) return end
    if (found[0] === '"') this.#endText()
    else if (found[0] === '\\') this.#held = '\\'
    else this.#break()
    return end + 1
  }

  #escape(piece: string, from: number): number {
    const char = piece.charAt(from)
    if (this.#held === '\\' && char !== 'u') {
      const meant = escapes[char]
      if (meant === undefined) this.#break()
      else this.#text += meant
      this.#held = ''
      return from + 1
    }
    this.#held += char
    const unit = /^\\u[0-9a-fA-F]*$/.test(this.#held)
    if (!unit) this.#break()
    if (this.#held.length === 6 && unit) {
      this.#text += String.fromCharCode(Number.parseInt(this.#held.slice(2), 16))
      this.#held = ''
    }
    return from + 1
  }

  #endText(): void {
    const text = this.#text ?? ''
    this.#text = undefined
    const open = this.#open.at(-1)
    if (this.#isKey && open !== undefined) {
      this.#isKey = false
      open.key = text
      this.#expecting = 'colon'
    } else this.#place(text)
  }

  // Everything else

  #outside(piece: string, from: number): number {
    const char = piece.charAt(from)
    if (this.#held !== '' || /[-\dtfn]/.test(char)) return this.#bare(piece, from)
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') return from + 1
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
    if (!this.#mayBegin) return this.#broken(from)
    scalarEnd.lastIndex = from
    const end = scalarEnd.exec(piece)?.index ?? piece.length
    this.#held += piece.slice(from, end)
    if (this.#held.length > 400) return this.#broken(end)
    if (end < piece.length) {
      const said = this.#held
      this.#held = ''
      this.#scalar(said)
    }
    return end
  }

  #scalar(said: string): void {
    const word = words.get(said)
    if (word !== undefined) this.#place(word)
    else if (number.test(said)) this.#place(Number(said))
    else this.#break()
  }

  #beginText(): void {
    this.#isKey = this.#expecting === 'keyOrEnd' || this.#expecting === 'key'
    if (this.#isKey || this.#mayBegin) this.#text = ''
    else this.#break()
  }

  #begin(value: JsonObject | JsonValue[]): void {
    if (!this.#mayBegin || this.#open.length >= maxJsonDepth) this.#break()
    else {
      this.#attach(value)
      this.#open.push({ value, key: undefined })
      this.#expecting = Array.isArray(value) ? 'valueOrEnd' : 'keyOrEnd'
    }
  }

  #close(char: string): void {
    const open = this.#open.at(-1)
    const fits = open !== undefined && Array.isArray(open.value) === (char === ']')
    const mayEnd = this.#expecting === 'keyOrEnd' || this.#expecting === 'valueOrEnd' || this.#expecting === 'commaOrEnd'
    if (fits && mayEnd) {
      this.#open.pop()
      this.#filled()
    } else this.#break()
  }

  #comma(): void {
    if (this.#expecting === 'commaOrEnd') this.#expecting = Array.isArray(this.#open.at(-1)?.value) ? 'value' : 'key'
    else this.#break()
  }

  /** A value that is whole. */
  #place(value: JsonValue): void {
    this.#attach(value)
    this.#filled()
  }

  #filled(): void {
    const open = this.#open.at(-1)
    if (open !== undefined) open.key = undefined
    this.#expecting = open === undefined ? 'nothing' : 'commaOrEnd'
  }

  /** Puts a value where it belongs: into what is open, or at the root. */
  #attach(value: JsonValue): void {
    const open = this.#open.at(-1)
    if (open === undefined) this.#root = value
    else if (!Array.isArray(open.value)) setOwn(open.value, open.key ?? '', value)
    else open.value.push(value)
  }

  get #mayBegin(): boolean {
    return this.#expecting === 'value' || this.#expecting === 'valueOrEnd'
  }

  #break(): void {
    this.#isBroken = true
  }

  #broken(at: number): number {
    this.#break()
    return at
  }
}

/** Not by assignment: "__proto__" is a name like any other in JSON. */
function setOwn(target: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else target[key] = value
}

/** Half a character waits for its other half. */
function wellFormed(text: string): string {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What `text`, the beginning of some JSON, says so far; `undefined` where that is nothing, or no JSON. */
export function parsePartialJson(text: string): JsonValue | undefined {
  const json = new PartialJson()
  json.push(text)
  const before = json.value
  json.end()
  return json.isBroken ? before : json.value
}
