import type { JsonObject, JsonValue } from '../../../contract/json.ts'

/** `body`, a JSON object, with `extra` over it: objects are merged, all else is replaced. */
export function withExtraFields(body: string, extra: JsonObject): string {
  const parsed: JsonObject = JSON.parse(body)
  return JSON.stringify(merged(parsed, extra))
}

function merged(under: JsonObject, over: JsonObject): JsonObject {
  const result: JsonObject = { ...under }
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue
    const known = Object.hasOwn(result, key) ? result[key] : undefined
    const both = isObject(known) && isObject(value) ? merged(known, value) : value
    // Not by assignment: "__proto__" is a name like any other in JSON.
    Object.defineProperty(result, key, { value: both, enumerable: true, configurable: true, writable: true })
  }
  return result
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
