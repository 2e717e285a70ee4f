import { errorText } from '../../contract/errors.ts'
import { fieldOf, type Path, type Place, placed } from '../config-error.ts'
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
  try {
    return JSON.parse(text)
  } catch (error) {
    const place = placeOfFailure(text, errorText(error))
    const where = place === undefined ? '' : ` (line ${place.line}, column ${place.column})`
    // Engines quote the text, which may hold a key.
    throw parseError(`The configuration is not valid JSON${text.trim() === '' ? ': it is empty' : ''}${where}.`, place)
  }
}

function placeOfFailure(text: string, message: string): Place | undefined {
  const position = /position (\d+)/.exec(message)?.[1]
  if (position !== undefined) return placeAt(text, Number(position))
  // Some messages name no position: then it ends too early, or a word is none of JSON.
  if (/end of|EOF|unterminated/i.test(message)) return placeAt(text, text.length)
  const word = [...text.matchAll(token)].find(([piece]) => !/^(?:["{}[\],:]|true$|false$|null$|-?\d)/.test(piece))
  return word && placeAt(text, word.index)
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
