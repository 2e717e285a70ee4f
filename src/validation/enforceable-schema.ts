import { pointerPart, resolveRef } from '../base/json/json-value.ts'
import { namedSchemaKeywords, schemaKeywords, schemaListKeywords } from '../base/json/schema-keywords.ts'
import { ConfigError } from '../contract/errors.ts'
import { isObject, type JsonSchema, setOwnField } from '../contract/json.ts'
import { maxJsonDepth } from '../contract/shape/json-fault.ts'
import { patternFault } from './pattern-fault.ts'

interface Walk {
  /** Schemas being copied: meeting one again means that the schema contains itself. */
  open: Set<object>
  /** Finished copies, to tell schemas from plain objects inside them. */
  copies: Set<object>
  refs: { ref: string; pointer: string }[]
}

/**
 * Copies a schema and keeps only what is enforced: annotations are removed, and every remaining keyword is known and well-formed.
 *
 * **Contract**
 * - The dialect is JSON Schema 2020-12, plus `definitions`, regardless of `$schema`.
 * - Removes annotations, `x-…` keywords and formats other than {@link enforcedFormats}.
 * - Throws `ConfigError` `unsupportedSchema` with the keyword and its JSON pointer. It rejects unknown keywords, malformed values, a `$ref`
 *   to anything but a schema of this document, nested `$id`, anchors, and dynamic references. It also rejects patterns that cannot be
 *   matched in linear time (lookaround, backreferences, large counts).
 * - Synchronous and without the interpreter, so it is cheap to call when a tool is defined.
 *
 * Source: docs/concepts/tools.md
 */
export function enforceableSchema(schema: JsonSchema): JsonSchema {
  const walk: Walk = { open: new Set(), copies: new Set(), refs: [] }
  const copy = copySchema(schema, '#', walk, 0)
  if (!isObject(copy)) throw refuse('#', 'a schema must be an object')
  for (const { ref, pointer } of walk.refs) checkRef(copy, ref, pointer, walk.copies)
  return copy
}

/** {@link enforceableSchema} for a schema that errors call `what`. */
export function enforceableAs(what: string, schema: JsonSchema): JsonSchema {
  try {
    return enforceableSchema(schema)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(error.code, `${what}: ${error.message}`, { cause: error })
  }
}

function checkRef(root: JsonSchema, ref: string, pointer: string, copies: ReadonlySet<object>): void {
  const seen = new Set<unknown>()
  let target = resolveRef(root, ref)
  while (isObject(target) && copies.has(target) && typeof target.$ref === 'string') {
    if (seen.has(target)) throw refuse(pointer, `"$ref": ${JSON.stringify(ref)} leads in a circle`)
    seen.add(target)
    target = resolveRef(root, target.$ref)
  }
  if (typeof target === 'boolean' || (isObject(target) && copies.has(target))) return
  throw refuse(pointer, `"$ref": ${JSON.stringify(ref)} does not lead to a schema in this document. Put the schema under "$defs"`)
}

function copySchema(node: unknown, pointer: string, walk: Walk, depth: number): JsonSchema | boolean {
  if (typeof node === 'boolean') return node
  if (!isObject(node)) throw refuse(pointer, 'a schema must be an object or a boolean')
  if (walk.open.has(node)) throw refuse(pointer, 'the schema contains itself. Use "$defs" and "$ref" for recursive schemas')
  if (depth > maxJsonDepth) throw refuse(pointer, `the schema is nested more than ${maxJsonDepth} levels deep`)
  walk.open.add(node)
  const copy: JsonSchema = {}
  walk.copies.add(copy)
  for (const keyword of Object.keys(node)) {
    const value = node[keyword]
    if (value === undefined || keyword.startsWith('x-')) continue
    const at = `${pointer}/${pointerPart(keyword)}`
    if (keyword === '$id' && pointer !== '#') throw refuse(at, 'the keyword "$id" cannot be enforced below the root')
    const shape = keywordShapes.get(keyword)
    if (shape === undefined)
      throw refuse(at, `the keyword ${JSON.stringify(keyword)} cannot be enforced. Remove it, or prefix it with "x-"`)
    if (!matchesShape(shape, value)) throw refuse(at, `the keyword ${JSON.stringify(keyword)} has an unusable value${whyNot(shape, value)}`)
    if (shape === 'annotation' || (shape === 'format' && !enforcedFormats.has(String(value)))) continue
    if (shape === 'ref') walk.refs.push({ ref: String(value), pointer: at })
    setOwnField(copy, keyword, copyValue(shape, value, at, walk, depth + 1))
  }
  walk.open.delete(node)
  return copy
}

function copyValue(shape: KeywordShape, value: unknown, pointer: string, walk: Walk, depth: number): unknown {
  if (shape === 'schema') return copySchema(value, pointer, walk, depth)
  if (shape === 'schemas' && Array.isArray(value)) return value.map((item, index) => copySchema(item, `${pointer}/${index}`, walk, depth))
  if ((shape === 'schemaMap' || shape === 'patternMap') && isObject(value)) {
    const copy: JsonSchema = {}
    for (const key of Object.keys(value)) setOwnField(copy, key, copySchema(value[key], `${pointer}/${pointerPart(key)}`, walk, depth))
    return copy
  }
  return value
}

const formatNames = ['date-time', 'date', 'time', 'email', 'uri', 'uuid', 'ipv4', 'ipv6'] as const
/** Names of {@link enforcedFormats}. */
export type EnforcedFormat = (typeof formatNames)[number]

/** String formats that validators of this package check. Others are annotations. */
const enforcedFormats: ReadonlySet<string> = new Set(formatNames)

function refuse(pointer: string, reason: string): ConfigError {
  return new ConfigError('unsupportedSchema', `Schema at ${pointer}: ${reason}.`)
}

/** Returns whether `value` is valid for `keyword`. Does not check nested schemas or the target of a `$ref`. */
export function isUsableKeyword(keyword: string, value: unknown): boolean {
  const shape = keywordShapes.get(keyword)
  return shape !== undefined && matchesShape(shape, value)
}

/** Shape of a keyword's value. `annotation` may be anything and constrains nothing. */
type KeywordShape =
  | 'annotation'
  | 'schema'
  | 'schemas'
  | 'schemaMap'
  | 'patternMap'
  | 'type'
  | 'ref'
  | 'format'
  | 'pattern'
  | 'values'
  | 'value'
  | 'names'
  | 'namesMap'
  | 'count'
  | 'number'
  | 'divisor'
  | 'boolean'

/** Keywords by the shape of their value. */
export const keywordsOf: Readonly<Record<KeywordShape, string>> = {
  annotation:
    '$schema $id $comment id title description default examples example deprecated readOnly writeOnly contentEncoding contentMediaType ' +
    'contentSchema xml externalDocs discriminator',
  schema: [...schemaKeywords].join(' '),
  schemas: [...schemaListKeywords].join(' '),
  schemaMap: [...namedSchemaKeywords].filter((keyword) => keyword !== 'patternProperties').join(' '),
  patternMap: 'patternProperties',
  type: 'type',
  ref: '$ref',
  format: 'format',
  pattern: 'pattern',
  values: 'enum',
  value: 'const',
  names: 'required',
  namesMap: 'dependentRequired',
  count: 'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains',
  number: 'minimum maximum exclusiveMinimum exclusiveMaximum',
  divisor: 'multipleOf',
  boolean: 'uniqueItems',
}

/** All keywords that are enforced or are known annotations. */
const keywordShapes: ReadonlyMap<string, KeywordShape> = new Map(
  // The keys of the record above are exactly the shapes.
  (Object.keys(keywordsOf) as KeywordShape[]).flatMap((shape) => keywordsOf[shape].split(' ').map((keyword) => [keyword, shape] as const)),
)

const types: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/** Returns whether `value` has the shape. Subschemas are checked separately. */
function matchesShape(shape: KeywordShape, value: unknown): boolean {
  switch (shape) {
    case 'annotation':
    case 'schema':
    case 'value':
      return true
    case 'schemas':
      return Array.isArray(value) && value.length > 0
    case 'schemaMap':
      return isObject(value)
    case 'patternMap':
      return isObject(value) && Object.keys(value).every(isPattern)
    case 'type':
      return types.includes(value) || (Array.isArray(value) && value.length > 0 && value.every((item) => types.includes(item)))
    case 'ref':
    case 'format':
      return typeof value === 'string'
    case 'pattern':
      return isPattern(value)
    case 'values':
      return Array.isArray(value) && value.length > 0
    case 'names':
      return isNames(value)
    case 'namesMap':
      return isObject(value) && Object.values(value).every(isNames)
    case 'count':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0
    case 'number':
      return typeof value === 'number' && Number.isFinite(value)
    case 'divisor':
      return typeof value === 'number' && Number.isFinite(value) && value > 0
    case 'boolean':
      return typeof value === 'boolean'
  }
}

/** Returns the rejected pattern with the reason. */
function whyNot(shape: KeywordShape, value: unknown): string {
  const patterns = shape === 'pattern' ? [value] : shape === 'patternMap' && isObject(value) ? Object.keys(value) : []
  for (const pattern of patterns) {
    const fault = typeof pattern === 'string' ? patternFault(pattern) : undefined
    if (fault !== undefined) return `, ${JSON.stringify(pattern)}: ${fault}`
  }
  return ''
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Checks patterns when a tool is defined, instead of when it is called. */
function isPattern(value: unknown): boolean {
  return typeof value === 'string' && patternFault(value) === undefined
}
