import { fieldOf, type Path, placed } from '../config-error.ts'
import { documentOf, maxDepth, parseError, placeAt, type ReadDocument } from './document.ts'
import { syntaxFault } from './json-syntax.ts'

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
