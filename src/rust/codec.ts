import * as z from 'zod'
import type { JsonObject, JsonValue } from '../contract/json.ts'
import { invalidMessages } from '../contract/shape/read.ts'

/**
 * One type in two spellings: ours (camelCase) and the specification's JSON.
 *
 * **Contract**
 * - `decode(encode(value))` equals `value`. Keys the other side does not know travel along, both ways.
 * - `encode` leaves absent fields out, or writes `null`, exactly where the Rust implementation does.
 * - `decode` takes a parsed JSON value and throws `SessionError` `invalidMessages`, with the path, for what Rust would refuse too.
 */
export interface SpecCodec<T> {
  encode(value: T): JsonValue
  decode(json: unknown): T
}

/** A codec whose reading side is `schema`; `name` begins the path in errors. */
export function specCodec<T>(name: string, schema: z.ZodType<T>, encode: (value: T) => JsonValue): SpecCodec<T> {
  return { encode, decode: (json) => readSpec(schema, json, name) }
}

/** Reads `json` by `schema`; the first thing wrong becomes a `SessionError` with its path. */
export function readSpec<T>(schema: z.ZodType<T>, json: unknown, name: string): T {
  const result = schema.safeParse(json)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  let value = json
  let path = name
  for (const key of issue?.path ?? []) {
    path += typeof key === 'number' ? `[${key}]` : `.${String(key)}`
    // The value is what JSON.parse made: own properties only, or a path such as `constructor` would find a function.
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
  }
  throw invalidMessages(path, expectation(issue), value, issue?.code === 'invalid_value' || issue?.code === 'invalid_union')
}

function expectation(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'invalid_type') return issue.expected === 'int' ? 'integer' : issue.expected
  if (issue?.code === 'invalid_value') return issue.values.join('|')
  if (issue?.code === 'invalid_union' && 'options' in issue && Array.isArray(issue.options)) return issue.options.join('|')
  return issue?.message ?? 'something else'
}

/** An unsigned integer that survives in a JavaScript number. */
export const count = z.int().min(0, 'integer from 0')

/** A JSON value nobody looks into. */
export const anyJson = z.custom<JsonValue>((value) => value !== undefined, 'JSON value')

/** `{ [key]: … }` when `value` fits `schema`, else nothing: Rust drops malformed extras the same way. */
export function fitting<K extends string, T>(key: K, schema: z.ZodType<T>, value: unknown): { [P in K]?: T } {
  const result = schema.safeParse(value)
  return result.success ? withKey(key, result.data) : {}
}

/** `{ [key]: value }`, or nothing when the value is absent on the other side. */
export function present<K extends string, T>(key: K, value: T | null | undefined): { [P in K]?: T } {
  return value === null || value === undefined ? {} : withKey(key, value)
}

function withKey<K extends string, T>(key: K, value: T): { [P in K]?: T } {
  return { [key]: value } as { [P in K]?: T } // TypeScript widens a computed key to `string`
}

/**
 * A copy with some keys spelled differently. A key that already has a name taken by the other spelling is dropped, so that an unknown key
 * never poses as a known one.
 */
export function renamed<T extends object>(value: T, names: { readonly [K in keyof T]?: string }): JsonObject {
  const spelling = new Map<string, string>(Object.entries<string | undefined>(names).filter(hasName))
  const taken = new Set(spelling.values())
  const entries = Object.entries(value).filter(([key, field]) => field !== undefined && !taken.has(key))
  return Object.fromEntries(entries.map(([key, field]) => [spelling.get(key) ?? key, field]))
}

function hasName(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined
}
