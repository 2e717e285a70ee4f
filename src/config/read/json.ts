import { fieldOf, type Path, placed } from '../config-error.ts'
import { documentOf, maxDepth, parseError, placeAt, type ReadDocument } from './document.ts'

/** Reads JSON. Throws `ConfigError` `parse` for what is none, and for a key that comes twice. */
export function readJson(text: string): ReadDocument {
  const value = parsed(text)
  const offsets = offsetsIn(text)
  return documentOf(value, (path) => {
    for (let length = path.length; length > 0; length -= 1) {
      const offset = offsets.get(keyOf(path.slice(0, length)))
      if (offset !== undefined) return placeAt(text, offset)
    }
    return undefined
  })
}

function parsed(text: string): unknown {
  const fault = text.trim() === '' ? { offset: 0, expected: 'a table: it is empty' } : syntaxFault(text)
  if (fault === undefined) return JSON.parse(text)
  throw placed(parseError(`The configuration is not valid JSON: expected ${fault.expected}.`), placeAt(text, fault.offset))
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Where each key, and each entry of a list, begins, in a text that is known to be JSON. */
function offsetsIn(text: string): Map<string, number> {
  const offsets = new Map<string, number>()
  const path: (string | number)[] = []
  const isList: boolean[] = []
  let isKey = false
  const begin = (offset: number): void => {
    // A document that is deeper is refused.
    if (path.length > maxDepth) return
    const key = keyOf(path)
    if (offsets.has(key)) throw placed(parseError(`${fieldOf(path)} stands twice in the configuration.`), placeAt(text, offset))
    offsets.set(key, offset)
  }
  for (const { 0: piece, index } of text.matchAll(token)) {
    if (isList.at(-1) === true && !/^[\]},:]/.test(piece)) begin(index)
    if (isKey && piece.startsWith('"')) {
      path.push(String(JSON.parse(piece)))
      begin(index)
      isKey = false
    } else if (piece === '{' || piece === '[') {
      isList.push(piece === '[')
      isKey = piece === '{'
      if (piece === '[') path.push(0)
    } else if (piece === '}' || piece === ']') {
      isKey = false
      isList.pop()
      // An empty object has pushed no key.
      if (path.length > isList.length) path.pop()
    } else if (piece === ',') {
      const last = path.pop()
      isKey = isList.at(-1) === false
      if (!isKey) path.push(Number(last) + 1)
    }
  }
  return offsets
}

function keyOf(path: Path): string {
  return JSON.stringify(path)
}

/** What must come next in a text of JSON. */
type Next = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'more' | 'end'

/** What JSON is made of, behind the white space before it. One way to match each character: a text may be as long as a file. */
const piece =
  /[ \t\n\r]*(?:("(?:[^"\\\p{Cc}]|[\x7f-\x9f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|true\b|false\b|null\b)|[{}[\],:])/uy

const words: Record<Next, string> = {
  value: 'a value',
  'first value': 'a value or "]"',
  key: 'a key in double quotes',
  'first key': 'a key in double quotes or "}"',
  colon: '":"',
  more: '"," or the end of what was opened',
  end: 'nothing more',
}

/**
 * Where a text stops being JSON, and what must stand there; undefined for JSON. Engines say neither alike nor always, and quote the text, which
 * may hold a key.
 */
function syntaxFault(text: string): { offset: number; expected: string } | undefined {
  const open: ('{' | '[')[] = []
  let next: Next = 'value'
  let at = 0
  while (next !== 'end') {
    piece.lastIndex = at
    const [whole, scalar] = piece.exec(text) ?? []
    const follows: Next | undefined = whole === undefined ? undefined : after(next, scalar ?? whole.trimStart(), open)
    if (follows === undefined) return faultAt(text, beginning(text, at), next)
    next = follows
    at += whole?.length ?? 0
  }
  const rest = beginning(text, at)
  return rest === text.length ? undefined : { offset: rest, expected: words.end }
}

function faultAt(text: string, offset: number, next: Next): { offset: number; expected: string } {
  const isText = text[offset] === '"' && next !== 'colon' && next !== 'more'
  return { offset, expected: isText ? 'a text that ends in its line, with "\\" before quotes in it' : words[next] }
}

/** What must follow `found`, which stands where `next` must; undefined where it must not. Opens and closes what it does. */
function after(next: Next, found: string, open: ('{' | '[')[]): Next | undefined {
  if (next === 'colon') return found === ':' ? 'value' : undefined
  if (next === 'key' || (next === 'first key' && found !== '}')) return found.startsWith('"') ? 'colon' : undefined
  if (found === '{' || found === '[') {
    if (next !== 'value' && next !== 'first value') return undefined
    open.push(found)
    return found === '{' ? 'first key' : 'first value'
  }
  if (found === '}' || found === ']') {
    if (next === 'value' || open.pop() !== (found === '}' ? '{' : '[')) return undefined
    return open.length === 0 ? 'end' : 'more'
  }
  if (next !== 'more') return /^[,:]/.test(found) ? undefined : open.length === 0 ? 'end' : 'more'
  if (found !== ',') return undefined
  return open.at(-1) === '{' ? 'key' : 'value'
}

/** Where the white space at `at` ends. */
function beginning(text: string, at: number): number {
  return at + (/^[ \t\n\r]*/.exec(text.slice(at))?.[0].length ?? 0)
}
