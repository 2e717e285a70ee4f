import type { JsonObject } from '../../contract/json.ts'

/** What reading keeps beside our own fields for the sake of writing. */
const kept = ['specTimes', 'specBlock', 'specEvent']

/**
 * The keys of `value` that nobody knows, neither under our name nor under Rust's: what a newer version wrote. They travel along, both ways.
 * `names` has our names as keys and Rust's as values.
 */
export function unknownKeys(value: object, names: Readonly<Record<string, string>>): JsonObject {
  const known = new Set([...Object.keys(names), ...Object.values(names), ...kept])
  return Object.fromEntries(Object.entries(value).filter(([key, field]) => !known.has(key) && field !== undefined))
}
