/** A JSON value: what survives `structuredClone`, `postMessage`, IndexedDB and `JSON.stringify` unchanged. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** A JSON object: tool arguments, event metadata, opaque provider payloads. */
export type JsonObject = { [key: string]: JsonValue }

/** A JSON Schema document (any draft up to 2020-12) in its object form. */
export type JsonSchema = { [keyword: string]: unknown }

/** The fields of `value` that hold something. One that is `undefined` is as good as absent: it must not take the place of a default. */
export function definedFields<T extends object>(value: T | undefined): Defined<T> {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, field]) => field !== undefined)) as Defined<T> // the same fields, fewer
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }
