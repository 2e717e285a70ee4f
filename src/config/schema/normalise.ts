import { nearest } from '../../contract/shape/nearest-name.ts'
import { fieldOf, invalidField, type Path } from '../config-error.ts'
import type { ConfigWarning } from '../config-types.ts'
import type { Key, KeyTable } from './key-table.ts'

/** What was not taken over, and why. */
export type Note = Pick<ConfigWarning, 'code' | 'message'> & { path: Path }

/** More of them help nobody, and finding the nearest name of each takes time. */
const maxNotes = 100

/**
 * A section in its one form: names without aliases, without what is `null`, a comment or unknown. What is unknown is noted with the nearest known
 * name. Throws `ConfigError` `invalidField` where a name and its alias say the same twice. What is no section is given back as it is.
 */
export function normalised(value: unknown, table: KeyTable, isOpen: boolean, path: Path, notes: Note[]): unknown {
  if (!isTable(value)) return value
  const found = new Map<string, unknown>()
  const givenNames = new Map<string, string>()
  for (const [given, entry] of Object.entries(value)) {
    // JSON has no comments, and editors are told in the file where its schema is.
    if (entry === null || entry === undefined || given.startsWith('_comment') || (path.length === 0 && given === '$schema')) continue
    const name = nameOf(given, table)
    const key = name === undefined ? undefined : table[name]
    if (name === undefined || key === undefined) {
      if (isOpen) found.set(given, entry)
      else if (notes.length < maxNotes) notes.push(unknownKey(given, table, path))
      continue
    }
    if (found.has(name)) throw invalidField([...path, given], entry, `${givenNames.get(name)} or ${given}, not both`)
    givenNames.set(name, given)
    found.set(name, within(entry, key, [...path, given], notes))
  }
  return Object.fromEntries(found)
}

function within(entry: unknown, { inner, isList, isOpen }: Key, path: Path, notes: Note[]): unknown {
  if (inner === undefined) return entry
  if (!isList) return normalised(entry, inner, isOpen, path, notes)
  return Array.isArray(entry) ? entry.map((each, at) => normalised(each, inner, isOpen, [...path, at], notes)) : entry
}

function nameOf(given: string, table: KeyTable): string | undefined {
  if (Object.hasOwn(table, given)) return given
  return Object.entries(table).find(([, { aliases }]) => aliases.includes(given))?.[0]
}

function unknownKey(given: string, table: KeyTable, path: Path): Note {
  const names = Object.entries(table).flatMap(([name, { aliases }]) => [name, ...aliases])
  const field = fieldOf([...path, given])
  const advice = nearest(given, names)
  return { code: 'unknownKey', path: [...path, given], message: `${field} is not read: there is no such key. ${advice}` }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
