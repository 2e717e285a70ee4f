import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../contract/json.ts'
import type { SchemaIssue } from '../types/standard-schema.ts'

/** The property that holds an answer which is no object: services take objects only. */
export const wrapperName = 'value'

/** Whether an answer of this schema is held in a property of an object. */
export function isWrapped({ type }: JsonSchema): boolean {
  return type !== 'object'
}

/** A schema of an object that holds what `schema` describes. What it refers to by `#/…` is found where it is now. */
export function wrappedSchema(schema: JsonSchema): JsonSchema {
  const { $defs, definitions, $schema, title, ...value } = moved(schema)
  return {
    ...($schema !== undefined && { $schema }),
    ...(title !== undefined && { title }),
    type: 'object',
    properties: { [wrapperName]: value },
    required: [wrapperName],
    additionalProperties: false,
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  }
}

function moved(schema: JsonSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema), (key, value: JsonValue) =>
    key === '$ref' && typeof value === 'string' ? movedRef(value) : value,
  )
}

function movedRef(ref: string): string {
  if (!ref.startsWith('#') || ref.startsWith('#/$defs/') || ref.startsWith('#/definitions/')) return ref
  return `#/properties/${wrapperName}${ref.slice(1)}`
}

/** The answer in `json`, which holds it as {@link wrappedSchema} says; as it is where it does not. */
export function unwrapped(json: JsonValue): JsonValue {
  return isJsonObject(json) && Object.keys(json).join() === wrapperName ? (json[wrapperName] ?? null) : json
}

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
