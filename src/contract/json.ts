/** A JSON value: what survives `structuredClone`, `postMessage`, IndexedDB and `JSON.stringify` unchanged. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** A JSON object: tool arguments, event metadata, opaque provider payloads. */
export type JsonObject = { [key: string]: JsonValue }

/** A JSON Schema document (any draft up to 2020-12) in its object form. */
export type JsonSchema = { [keyword: string]: unknown }

/** Whether `value` is an object with names: no list, not `null`. It may be of a class. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** {@link isObject}, for a value that is JSON. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value)
}

/** `value`, which is JSON, where it is an object; else one without fields. */
export function jsonObjectIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** The objects of `value`, which is JSON, where it is a list; else none. */
export function jsonObjectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** What any value has under a name; `undefined` where it has nothing there, or can have none. */
export function fieldIn(value: unknown, name: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** {@link fieldIn}, for a name that somebody else chose: what the value only inherits does not count. */
export function ownFieldIn(value: unknown, name: PropertyKey): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}

/** What a table has under a name that somebody else chose; what every object inherits does not count. */
export function ownOf<Value>(table: { readonly [name: string]: Value }, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** Gives `target` a field with a name that somebody else chose: assignment would call the `__proto__` setter. */
export function setOwnField(target: object, name: PropertyKey, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}

/** The fields of `value` that hold something. One that is `undefined` is as good as absent: it must not take the place of a default. */
export function definedFields<T extends object>(value: T | undefined): Defined<T> {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, field]) => field !== undefined)) as Defined<T> // the same fields, fewer
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }
