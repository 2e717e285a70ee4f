import { isObject, type JsonSchema } from '../contract/json.ts'
import type { SchemaIssue } from '../types/standard-schema.ts'
import { keywordsOf } from './enforceable-schema.ts'
import { describeFailure, maxIssues } from './format-issues.ts'

type Primitive = string | number | boolean | null

/** Keywords that examine one value without its children. */
export interface PlainKeywords {
  type?: string | readonly string[]
  const?: unknown
  enum?: readonly unknown[]
  required?: readonly string[]
  minProperties?: number
  maxProperties?: number
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
}

/** A schema whose keywords each examine one value. Most tools have such a schema. */
export interface FlatSchema extends PlainKeywords {
  const?: Primitive
  properties?: Readonly<Record<string, FlatSchema | boolean>>
  additionalProperties?: FlatSchema | boolean
  items?: FlatSchema | boolean
}

/** `enforceableSchema` has already checked the keyword values. */
const known: ReadonlySet<string> = new Set(
  (
    'type const enum required properties additionalProperties items minProperties maxProperties minItems maxItems minLength maxLength ' +
    keywordsOf.number
  ).split(' '),
)

/**
 * Returns whether this module supports the whole schema, a copy made by `enforceableSchema`. References, combinations, patterns, formats
 * and comparisons of items or compound values need the interpreter.
 */
export function isFlat(schema: JsonSchema): schema is JsonSchema & FlatSchema {
  const { properties = {}, additionalProperties = true, items = true, enum: options = [], required = [] } = schema
  return (
    Object.keys(schema).every((keyword) => known.has(keyword)) &&
    isPrimitive(schema.const ?? null) &&
    Array.isArray(options) &&
    options.every(isPrimitive) &&
    Array.isArray(required) &&
    isObject(properties) &&
    Object.values(properties).every(isFlatOrBoolean) &&
    isFlatOrBoolean(additionalProperties) &&
    isFlatOrBoolean(items)
  )
}

function isFlatOrBoolean(schema: unknown): boolean {
  return typeof schema === 'boolean' || (isObject(schema) && isFlat(schema))
}

function isPrimitive(value: unknown): value is Primitive {
  return typeof value !== 'object' || value === null
}

/** Returns up to 20 issues of `value`, or `undefined` if it is valid. Throws for values that are not JSON. */
export function flatIssues(schema: FlatSchema, value: unknown): SchemaIssue[] | undefined {
  const found: Found = { issues: [], path: [] }
  visit(schema, value, found)
  return found.issues.length === 0 ? undefined : found.issues
}

/** Issues found so far. */
export interface Found {
  issues: SchemaIssue[]
  /** Path of the current value. */
  path: PropertyKey[]
}

/** Adds an issue about the current value, or about its property `name`. */
export function addIssue({ issues, path }: Found, message: string, name?: string): void {
  if (issues.length < maxIssues) issues.push({ path: name === undefined ? [...path] : [...path, name], message })
}

function visit(schema: FlatSchema, value: unknown, found: Found): void {
  visitPlain(schema, value, found, isSame)
  if (Array.isArray(value)) visitItems(schema, value, found)
  else if (isObject(value)) visitProperties(schema, value, found)
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b
}

/** Checks the plain keywords of `schema`. `equals` compares with a constant. Throws for values that are not JSON. */
export function visitPlain(schema: PlainKeywords, value: unknown, found: Found, equals: (a: unknown, b: unknown) => boolean): void {
  const kind = kindOf(value)
  if (schema.type !== undefined && !hasType(schema.type, kind, value)) fail(schema, 'type', value, found)
  if (schema.const !== undefined && !equals(schema.const, value)) fail(schema, 'const', value, found)
  if (schema.enum !== undefined && !schema.enum.some((each) => equals(each, value))) fail(schema, 'enum', value, found)
  if (typeof value === 'number') visitNumber(schema, value, found)
  else if (typeof value === 'string') visitString(schema, value, found)
  else if (Array.isArray(value)) visitArray(schema, value, found)
  else if (isObject(value)) visitObject(schema, value, found)
}

function fail(schema: PlainKeywords, keyword: keyof PlainKeywords, value: unknown, found: Found): void {
  if (found.issues.length < maxIssues) addIssue(found, describeFailure(keyword, schema[keyword], value))
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const kind = typeof value
  if (kind === 'object' || kind === 'string' || kind === 'number' || kind === 'boolean') return kind
  throw new Error(`Instances of "${kind}" type are not supported.`)
}

function hasType(wanted: string | readonly string[], kind: string, value: unknown): boolean {
  if (typeof wanted !== 'string') return wanted.some((each) => hasType(each, kind, value))
  return wanted === kind || (wanted === 'integer' && Number.isInteger(value))
}

function visitNumber(schema: PlainKeywords, value: number, found: Found): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  if (minimum !== undefined && value < minimum) fail(schema, 'minimum', value, found)
  if (maximum !== undefined && value > maximum) fail(schema, 'maximum', value, found)
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) fail(schema, 'exclusiveMinimum', value, found)
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) fail(schema, 'exclusiveMaximum', value, found)
}

function visitString(schema: PlainKeywords, value: string, found: Found): void {
  const { minLength, maxLength } = schema
  if (minLength === undefined && maxLength === undefined) return
  let characters = 0
  for (const _ of value) characters += 1
  if (minLength !== undefined && characters < minLength) fail(schema, 'minLength', value, found)
  if (maxLength !== undefined && characters > maxLength) fail(schema, 'maxLength', value, found)
}

function visitArray(schema: PlainKeywords, value: readonly unknown[], found: Found): void {
  const { minItems, maxItems } = schema
  if (maxItems !== undefined && value.length > maxItems) fail(schema, 'maxItems', value, found)
  if (minItems !== undefined && value.length < minItems) fail(schema, 'minItems', value, found)
}

function visitObject(schema: PlainKeywords, value: Readonly<Record<string, unknown>>, found: Found): void {
  const { required, minProperties, maxProperties } = schema
  if (required !== undefined) for (const name of required) if (!Object.hasOwn(value, name)) addIssue(found, 'is required', name)
  if (minProperties !== undefined && Object.keys(value).length < minProperties) fail(schema, 'minProperties', value, found)
  if (maxProperties !== undefined && Object.keys(value).length > maxProperties) fail(schema, 'maxProperties', value, found)
}

function visitItems({ items = true }: FlatSchema, value: readonly unknown[], found: Found): void {
  if (items !== true) for (let index = 0; index < value.length; index += 1) enter(items, index, value[index], found)
}

function visitProperties(schema: FlatSchema, value: Readonly<Record<string, unknown>>, found: Found): void {
  const { properties = {}, additionalProperties = true } = schema
  for (const name in properties) {
    const property = properties[name] ?? true
    if (property !== true && Object.hasOwn(value, name)) enter(property, name, value[name], found)
  }
  if (additionalProperties === true) return
  for (const name in value) {
    if (!Object.hasOwn(properties, name)) enter(additionalProperties, name, value[name], found, properties)
  }
}

/** Checks the child at `key`. `others` are the allowed properties. */
function enter(schema: FlatSchema | boolean, key: PropertyKey, value: unknown, found: Found, others: object = {}): void {
  if (schema === true) return
  found.path.push(key)
  if (schema === false) addIssue(found, notAllowed(others))
  else visit(schema, value, found)
  found.path.pop()
}

/** Describes a forbidden property. `others` are the allowed ones. */
export function notAllowed(others: object): string {
  const names = Object.keys(others)
  return names.length === 0 ? 'is not allowed' : `is not allowed; known: ${names.slice(0, 20).join(', ')}`
}
