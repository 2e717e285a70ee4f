import { isObject, type JsonSchema } from '../../../contract/json.ts'
import { perObject } from '../encode/per-object.ts'

/** Keywords whose values are names with a schema each. */
const namedSchemas = new Set(['properties', '$defs', 'definitions'])
/** Keywords whose values are data, in which nothing is a schema. */
const data = new Set(['const', 'enum', 'default', 'examples'])

/**
 * `schema` with `additionalProperties: false` on every object, as services want it that hold answers to a schema; `undefined` where that
 * would forbid what the schema allows in so many words: an object with other properties than those it names.
 *
 * Made once per schema. Source: docs/concepts/structured-output.md
 */
export const closedSchema = perObject((schema: JsonSchema): JsonSchema | undefined => (isOpen(schema) ? undefined : closed(schema)))

function isOpen(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isOpen)
  if (!isObject(value)) return false
  const { additionalProperties: more, patternProperties } = value
  if ((more !== undefined && more !== false) || patternProperties !== undefined || (isObjectSchema(value) && !isObject(value.properties)))
    return true
  return Object.entries(value).some(([keyword, each]) => {
    if (data.has(keyword)) return false
    return namedSchemas.has(keyword) && isObject(each) ? Object.values(each).some(isOpen) : isOpen(each)
  })
}

function closed(schema: JsonSchema): JsonSchema {
  const copy: JsonSchema = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (data.has(keyword)) copy[keyword] = value
    else if (namedSchemas.has(keyword) && isObject(value)) {
      copy[keyword] = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closedValue(each)]))
    } else copy[keyword] = closedValue(value)
  }
  if (isObjectSchema(schema)) copy.additionalProperties = false
  return copy
}

function closedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedValue)
  return isObject(value) ? closed(value) : value
}

function isObjectSchema(schema: JsonSchema): boolean {
  const { type } = schema
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(schema.properties)
}
