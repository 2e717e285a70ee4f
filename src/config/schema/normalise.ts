import type { ConfigError } from '../../contract/errors.ts'
import { isObject } from '../../contract/json.ts'
import { nearest } from '../../contract/shape/nearest-name.ts'
import { type ConfigWarning, fieldError, fieldOf, invalidField, type Path } from '../config-error.ts'
import type { Key, KeyTable } from './key-table.ts'

/** What was not taken over, and why. */
export type Note = Pick<ConfigWarning, 'code' | 'message'> & { path: Path }

/** More of them help nobody, and finding the nearest name of each takes time. */
const maxNotes = 100

/**
 * A section in its one form: names without aliases, without what is `null`, a comment or unknown. What is unknown is noted with the nearest known
 * name. Throws `ConfigError` `invalidField` where a name and its alias say the same twice, and for what is unknown where it would guard. What is no section is given back as it is.
 */
export function normalised(value: unknown, table: KeyTable, isOpen: boolean, path: Path, notes: Note[]): unknown {
  if (!isObject(value)) return value
  const found = new Map<string, unknown>()
  const givenNames = new Map<string, string>()
  for (const [given, entry] of Object.entries(value)) {
    // JSON has no comments, and editors are told in the file where its schema is.
    if (entry === null || entry === undefined || given.startsWith('_comment') || (path.length === 0 && given === '$schema')) continue
    const name = nameOf(given, table)
    const key = name === undefined ? undefined : table[name]
    if (name === undefined || key === undefined) {
      if (isOpen) found.set(given, entry)
      else if (isGuard(given, path)) throw guardNotRead(unknownKey(given, table, path))
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

/** Sections that hold a run back: what is not read there would be missed only when it is too late. */
const guardSections = new Set<string | number | undefined>(['callbacks', 'hooks', 'execution', 'limits', 'approval'])
/** What other programs call the section of servers. */
const serverSections = new Set(['mcpServers', 'mcp_servers'])

function isGuard(given: string, path: Path): boolean {
  return (
    guardSections.has(path[0] ?? given) || /approv|permission|allow|deny/i.test(given) || (path.length === 0 && serverSections.has(given))
  )
}

function guardNotRead({ path, message }: Note): ConfigError {
  const isServers = path.length === 1 && serverSections.has(String(path[0]))
  const text = isServers ? `${fieldOf(path)} is not read: servers stand in [[mcp.servers]], each with a name.` : message
  return fieldError('invalidField', path, `${text} It would hold the agent back, so the file is refused.`)
}
