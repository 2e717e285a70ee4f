import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../contract/json.ts'
import type { SchemaIssue } from '../types/standard-schema.ts'

/** Property that wraps a response that is not an object, because providers accept only objects. */
export const wrapperName = 'value'

/** Returns whether a response of this schema is wrapped in an object. */
export function isWrapped({ type }: JsonSchema): boolean {
  return type !== 'object'
}

/** Wraps `schema` in an object schema and adjusts its `#/…` references. */
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

/** Unwraps a response that {@link wrappedSchema} wrapped. Returns other values unchanged. */
export function unwrapped(json: JsonValue): JsonValue {
  return isJsonObject(json) && Object.keys(json).join() === wrapperName ? (json[wrapperName] ?? null) : json
}

/** Removes null properties at or inside the paths of `issues`. `undefined` if there are none. The caller validates the result again. */
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
