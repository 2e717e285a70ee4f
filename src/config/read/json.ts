import { errorText } from '../../contract/errors.ts'
import { fieldOf, type Path, type Place } from '../config-error.ts'
import { parseError, placeAt, plainTree, type ReadDocument } from './document.ts'

/** Reads JSON. Throws `ConfigError` `parse` for what is none, and for a key that comes twice. */
export function readJson(text: string): ReadDocument {
  const tree = plainTree(parsed(text))
  const offsets = offsetsIn(text)
  return {
    tree,
    placeOf: (path) => {
      for (let length = path.length; length > 0; length -= 1) {
        const offset = offsets.get(keyOf(path.slice(0, length)))
        if (offset !== undefined) return placeAt(text, offset)
      }
      return undefined
    },
  }
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
  return position === undefined ? undefined : placeAt(text, Number(position))
}

/** Where each key, and each entry of a list, begins, in a text that is known to be JSON. */
function offsetsIn(text: string): Map<string, number> {
  const offsets = new Map<string, number>()
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g
  const path: (string | number)[] = []
  const isList: boolean[] = []
  let isKey = false
  const begin = (offset: number): void => {
    const key = keyOf(path)
    if (offsets.has(key)) throw parseError(`${fieldOf(path)} stands twice in the configuration.`, placeAt(text, offset))
    offsets.set(key, offset)
  }
  for (const { 0: piece, index } of text.matchAll(token)) {
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
