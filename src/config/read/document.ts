import { ConfigError } from '../../contract/errors.ts'
import { isObject, type JsonObject, type JsonValue, jsonObjectIn } from '../../contract/json.ts'
import { isPlain } from '../../contract/shape/json-fault.ts'
import { fieldOf, type Path, type Place, placed, stepsOf } from '../config-error.ts'

/** A parsed text. */
export interface ReadDocument {
  tree: JsonObject
  /** Returns a value's position. For a missing value, returns the position of its parent, or the start of the file. */
  placeOf(path: Path): Place
}

/** Maximum characters of a file, to bound the parsing time. */
const maxText = 131_072
/** Maximum depth, far more than any section needs. */
export const maxDepth = 32
const maxValues = 5000

/** Removes the byte order mark and normalizes line ends. Throws if the text is too long. */
export function checkedText(text: string): string {
  if (text.length <= maxText) return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const advice = 'Move long prompts to separate files, as "file:name.md".'
  const message = `The configuration has ${text.length} characters, but the limit is ${maxText}. ${advice}`
  throw placed(parseError(message), placeAt(text, maxText))
}

/** Error for a text that cannot be parsed, with its position if known. */
export function parseError(message: string, place?: Partial<Place>, cause?: unknown): ConfigError {
  return new ConfigError('parse', message, { ...place, ...(cause !== undefined && { cause }) })
}

/** Creates a document from a parser's result. `find` returns positions if known. Throws like {@link plainTree}, with the position. */
export function documentOf(value: unknown, find: (path: Path) => Place | undefined): ReadDocument {
  const placeOf = (path: Path): Place => find(path) ?? { line: 1, column: 1 }
  try {
    return { tree: plainTree(value), placeOf }
  } catch (error) {
    throw ConfigError.isInstance(error) ? placed(error, placeOf(stepsOf(error.field ?? ''))) : error
  }
}

function unfit(path: Path, words: string): ConfigError {
  const field = fieldOf(path)
  return new ConfigError('parse', `${field} ${words}.`, { field })
}

/**
 * Copies a parser's result to plain JSON: dates become text, aliases become copies. Throws if the result is not a table, is too deep, is
 * too large (aliases multiply), or contains keys such as `__proto__`.
 */
function plainTree(value: unknown): JsonObject {
  if (value === null || value === undefined) return {}
  if (!isObject(value)) throw parseError('The configuration is not a table of keys and values.')
  const room = { left: maxValues }
  return jsonObjectIn(copied(value, [], room))
}

function copied(value: unknown, path: Path, room: { left: number }): JsonValue {
  room.left -= 1
  if (room.left < 0) throw parseError(`The configuration has more than ${maxValues} values.`)
  if (path.length > maxDepth) throw unfit(path.slice(0, 3), `is nested deeper than ${maxDepth} levels`)
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map((entry, at) => copied(entry, [...path, at], room))
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'object' || !isPlain(value)) throw unfit(path, 'has an unsupported type')
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => {
      if (key === '__proto__') throw unfit([...path, key], 'cannot be a key')
      return [key, copied(entry, [...path, key], room)]
    }),
  )
}

/** Converts an offset to line and column. */
export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}
