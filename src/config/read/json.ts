import type { ConfigError } from '../../contract/errors.ts'
import { fieldOf, placed } from '../config-error.ts'
import { documentOf, maxDepth, parseError, placeAt, type ReadDocument } from './document.ts'

/** Parses JSON. Throws `ConfigError` `parse` for invalid JSON and for duplicate keys. */
export function readJson(text: string): ReadDocument {
  if (text.trim() === '') throw notJson(text, 0, 'a table: it is empty')
  const offsets = offsetsIn(text)
  return documentOf(JSON.parse(text), (path) => {
    for (let length = path.length; length > 0; length -= 1) {
      const offset = offsets.get(JSON.stringify(path.slice(0, length)))
      if (offset !== undefined) return placeAt(text, offset)
    }
    return undefined
  })
}

/** Replaces the engine's message, which varies by engine and quotes text that may contain a key. */
function notJson(text: string, offset: number, expected: string): ConfigError {
  return placed(parseError(`The configuration is not valid JSON: expected ${expected}.`), placeAt(text, offset))
}

/** Token kinds that are valid next. */
type Next = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'more' | 'end'
type Bracket = '{' | '['

/** A JSON token with leading white space. Unambiguous, so that matching takes linear time. */
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

/** Returns the offset of each key and array item. Throws like {@link readJson}. */
function offsetsIn(text: string): Map<string, number> {
  const offsets = new Map<string, number>()
  const open: Bracket[] = []
  // Key or index of each open bracket.
  const path: (string | number)[] = []
  let next: Next = 'value'
  let at = 0
  let twice: ConfigError | undefined
  while (next !== 'end') {
    piece.lastIndex = at
    const [whole = '', scalar] = piece.exec(text) ?? []
    const found = scalar ?? whole.trimStart()
    const isInList = open.at(-1) === '['
    const follows: Next | undefined = found === '' ? undefined : after(next, found, open)
    if (follows === undefined) throw unexpected(text, at, next)
    at += whole.length
    if (follows === 'colon') path[path.length - 1] = String(JSON.parse(found))
    // Deeper documents are rejected later.
    if ((follows === 'colon' || (isInList && next.endsWith('value') && found !== ']')) && path.length <= maxDepth) {
      const key = JSON.stringify(path)
      const offset = at - found.length
      if (offsets.has(key)) twice ??= placed(parseError(`${fieldOf(path)} is set twice in the configuration.`), placeAt(text, offset))
      offsets.set(key, offset)
    }
    if (found === '{' || found === '[') path.push(found === '[' ? 0 : '')
    else if (found === '}' || found === ']') path.pop()
    else if (found === ',' && isInList) path.push(Number(path.pop()) + 1)
    next = follows
  }
  const rest = beginning(text, at)
  if (rest < text.length) throw notJson(text, rest, words.end)
  if (twice !== undefined) throw twice
  return offsets
}

function unexpected(text: string, at: number, next: Next): ConfigError {
  const offset = beginning(text, at)
  const isText = text[offset] === '"' && next !== 'colon' && next !== 'more'
  return notJson(text, offset, isText ? 'a text that ends in its line, with "\\" before quotes in it' : words[next])
}

/** Returns the tokens that can follow `found` in state `next`, or `undefined` if `found` is not allowed. Updates the open brackets. */
function after(next: Next, found: string, open: Bracket[]): Next | undefined {
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

/** Returns the offset after white space. */
function beginning(text: string, at: number): number {
  return at + (/^[ \t\n\r]*/.exec(text.slice(at))?.[0].length ?? 0)
}
