/** A JSON value: what survives `structuredClone`, `postMessage`, IndexedDB and `JSON.stringify` unchanged. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** A JSON object: tool arguments, event metadata, opaque provider payloads. */
export type JsonObject = { [key: string]: JsonValue }

/** A JSON Schema document (any draft up to 2020-12) in its object form. */
export type JsonSchema = { [keyword: string]: unknown }
