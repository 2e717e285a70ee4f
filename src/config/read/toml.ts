import { parse, TomlError } from 'smol-toml'
import type { Path, Place } from '../config-error.ts'
import { documentOf, maxDepth, parseError, type ReadDocument } from './document.ts'

/** Parses TOML. Throws `ConfigError` `parse` with the parser's position. */
export function readToml(text: string): ReadDocument {
  return documentOf(parsed(text), tomlPlaces(text))
}

function parsed(text: string): unknown {
  try {
    return parse(text, { maxDepth })
  } catch (error) {
    if (!(error instanceof TomlError)) throw parseError('The configuration is not valid TOML.', { line: 1, column: 1 }, error)
    const { line, column } = error
    const reason = error.message.split('\n', 1)[0]?.replace(/^Invalid TOML document: /, '') ?? ''
    throw parseError(`The configuration is not valid TOML: ${reason} (line ${line}, column ${column}).`, { line, column })
  }
}

// Unambiguous, so that matching takes linear time for long lines.
const header = /^[ \t]*(\[\[?)([^\]]+)\]/
const assignment = /^([ \t]*)((?:[\w-]+|"[^"\n]*"|'[^'\n]*')(?:[ \t]*\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*'))*)[ \t]*=/
const keyPart = /"([^"\n]*)"|'([^'\n]*)'|([\w-]+)/g

/**
 * Finds positions from headers and keys at line starts, because the parser does not report positions. A nested value gets the position of
 * the value that contains it.
 */
function tomlPlaces(text: string): (path: Path) => Place | undefined {
  let places: Map<string, Place> | undefined
  return (path) => {
    places ??= placesIn(text)
    for (let length = path.length; length > 0; length -= 1) {
      const place = places.get(path.slice(0, length).join('\0'))
      if (place !== undefined) return place
    }
    return undefined
  }
}

function placesIn(text: string): Map<string, Place> {
  const places = new Map<string, Place>()
  const lists = new Map<string, number>()
  let table: Path = []
  let quotes = ''
  for (const [at, line] of text.split('\n').entries()) {
    const isInText = quotes !== ''
    quotes = openQuotes(line, quotes)
    if (isInText) continue
    const head = header.exec(line)
    if (head !== null) {
      table = tableOf(partsOf(head[2] ?? ''), head[1] === '[[', lists)
      const place = { line: at + 1, column: line.indexOf('[') + 1 }
      places.set(table.join('\0'), place)
      // Parent tables begin here, unless they have their own header.
      for (let length = 1; length < table.length; length += 1) {
        const outer = table.slice(0, length).join('\0')
        if (!places.has(outer)) places.set(outer, place)
      }
      continue
    }
    const [, indent = '', keys] = assignment.exec(line) ?? []
    if (keys !== undefined) places.set([...table, ...partsOf(keys)].join('\0'), { line: at + 1, column: indent.length + 1 })
  }
  return places
}

/** Resolves a header to a path, using each array's last item. */
function tableOf(parts: readonly string[], isEntry: boolean, lists: Map<string, number>): Path {
  const path: (string | number)[] = []
  for (const [at, part] of parts.entries()) {
    path.push(part)
    const key = path.join('\0')
    if (isEntry && at === parts.length - 1) lists.set(key, (lists.get(key) ?? -1) + 1)
    const last = lists.get(key)
    if (last !== undefined) path.push(last)
  }
  return path
}

/** Splits a dotted key up to the maximum depth. Longer keys would take quadratic time and are rejected later. */
function partsOf(keys: string): string[] {
  const parts: string[] = []
  for (const [, double, single, bare] of keys.matchAll(keyPart)) {
    if (parts.push(double ?? single ?? bare ?? '') === maxDepth) break
  }
  return parts
}

/** Returns the quotes of a multi-line string that is still open after `line`. */
function openQuotes(line: string, open: string): string {
  let quotes = open
  for (const [mark] of line.matchAll(/"""|'''/g)) quotes = quotes === '' ? mark : quotes === mark ? '' : quotes
  return quotes
}
