import { copyJson } from '../base/json/copy-json.ts'
import type { JsonObject } from '../contract/json.ts'
import { isPlain, jsonFault } from '../contract/shape/json-fault.ts'

/** A copy of `given` with the defaults of the properties of `schema` that are not in it. Whatever the schema says, nothing but the copy is written to. */
export function fillDefaults(schema: unknown, given: JsonObject): JsonObject {
  const filled = copyJson({ ...given })
  const { properties }: { properties?: unknown } = Object(schema)
  if (typeof properties !== 'object' || properties === null || !isPlain(properties)) return filled
  for (const [name, property] of Object.entries(properties)) {
    const { default: value }: { default?: unknown } = Object(property)
    if (value === undefined || Object.hasOwn(filled, name) || jsonFault(value, 'default') !== undefined) continue
    // Assignment would call the `__proto__` setter.
    Object.defineProperty(filled, name, { value: structuredClone(value), enumerable: true, configurable: true, writable: true })
  }
  return filled
}
