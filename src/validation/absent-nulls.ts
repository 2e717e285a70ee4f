import { isJsonObject, type JsonValue } from '../contract/json.ts'
import type { SchemaIssue } from '../types/standard-schema.ts'

/**
 * `value` without the properties that are null where one of `issues` is, or within it; `undefined` where there is none. A property that must be
 * there, and one that may be null, are the business of whoever checks the result.
 */
export function withoutNulls(value: JsonValue, issues: readonly SchemaIssue[]): JsonValue | undefined {
  const places = issues.map(({ path = [] }) => path.map((part) => String(typeof part === 'object' ? part.key : part)))
  let isChanged = false
  const isComplained = (path: readonly string[]): boolean =>
    places.some((place) => place.every((part, at) => at >= path.length || part === path[at]))
  const sparse = (each: JsonValue, path: readonly string[]): JsonValue => {
    if (!isComplained(path)) return each
    if (Array.isArray(each)) return each.map((item, at) => sparse(item, [...path, String(at)]))
    if (!isJsonObject(each)) return each
    const kept = Object.entries(each).flatMap(([name, field]): [string, JsonValue][] => {
      const place = [...path, name]
      if (field !== null || !isComplained(place)) return [[name, sparse(field, place)]]
      isChanged = true
      return []
    })
    return Object.fromEntries(kept)
  }
  const result = sparse(value, [])
  return isChanged ? result : undefined
}
