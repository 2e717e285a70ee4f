/** A JSON value: it survives `structuredClone`, `postMessage`, IndexedDB and `JSON.stringify` unchanged. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** A JSON object: tool arguments, event metadata, opaque provider payloads. */
export type JsonObject = { [key: string]: JsonValue }

/** Type of a value after a JSON round trip: a `Date` becomes a string. */
export type JsonOf<Value> = 0 extends 1 & Value
  ? Value
  : Value extends { toJSON(...args: never): infer Json }
    ? Json
    : Value extends object
      ? { [Key in keyof Value]: JsonOf<Value[Key]> }
      : Value

/** A JSON Schema document (any draft up to 2020-12) in its object form. */
export type JsonSchema = { [keyword: string]: unknown }

/** Returns whether `value` is an object, but not an array or `null`. Accepts class instances. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** {@link isObject} for JSON values. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value)
}

/** Returns the JSON value if it is an object, otherwise an empty object. */
export function jsonObjectIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** Returns the objects in a JSON array, or an empty list for any other value. */
export function jsonObjectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

/** Returns a property of any value, or `undefined`. */
export function fieldIn(value: unknown, name: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

/** {@link fieldIn} for untrusted names: ignores inherited properties. */
export function ownFieldIn(value: unknown, name: PropertyKey): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}

/** Looks up an untrusted name in a table: ignores inherited properties. */
export function ownOf<Value>(table: { readonly [name: string]: Value }, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** Defines a property with an untrusted name. Assignment would call the `__proto__` setter. */
export function setOwnField(target: object, name: PropertyKey, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}

/** Returns the properties that are not `undefined`, so that an `undefined` option cannot override a default. */
export function definedFields<T extends object>(value: T | undefined): Defined<T> {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, field]) => field !== undefined)) as Defined<T> // fewer fields
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }
