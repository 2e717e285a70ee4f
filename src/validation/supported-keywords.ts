import { ConfigError } from '../types/errors.ts'
import type { JsonSchema } from '../types/json.ts'
import { isObject, type KeywordShape, keywordShapes, matchesShape } from './keyword-shapes.ts'
import { resolveRef } from './resolve-ref.ts'

interface Walk {
  /** Schemas being copied: meeting one again means the document contains itself. */
  open: Set<object>
  /** Copies made, to tell a schema from an object that merely lies inside one. */
  copies: Set<object>
  refs: { ref: string; pointer: string }[]
}

const maxDepth = 200

/**
 * A copy of `schema` with nothing in it but what a validator enforces: annotations are gone, every keyword left is known and well-formed.
 *
 * **Contract**
 * - The dialect is JSON Schema 2020-12 (`definitions` is accepted beside `$defs`), whatever `$schema` says.
 * - Annotations, `x-…` keywords and formats other than `enforcedFormats` are dropped: `format` is an annotation unless promised.
 * - Throws `ConfigError` `unsupportedSchema`, naming the keyword and its JSON pointer, for an unknown keyword, a malformed value, a `$ref`
 *   that does not lead to a schema inside the same document, and nested `$id`, anchors and dynamic references.
 * - Synchronous and without the interpreter, so it costs nothing to call it when a tool is defined.
 *
 * Source: ARCHITECTURE §3 "AgentTool".
 */
export function enforceableSchema(schema: JsonSchema): JsonSchema {
  const walk: Walk = { open: new Set(), copies: new Set(), refs: [] }
  const copy = copySchema(schema, '#', walk, 0)
  if (!isObject(copy)) throw refuse('#', 'a schema must be an object')
  for (const { ref, pointer } of walk.refs) checkRef(copy, ref, pointer, walk.copies)
  return copy
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
  if (depth > maxDepth) throw refuse(pointer, `the schema is nested more than ${maxDepth} levels deep`)
  walk.open.add(node)
  const copy: JsonSchema = {}
  walk.copies.add(copy)
  for (const keyword of Object.keys(node)) {
    const value = node[keyword]
    if (value === undefined || keyword.startsWith('x-')) continue
    const at = `${pointer}/${escapePointer(keyword)}`
    if (keyword === '$id' && pointer !== '#') throw refuse(at, 'the keyword "$id" cannot be enforced below the root')
    const shape = keywordShapes.get(keyword)
    if (shape === undefined)
      throw refuse(at, `the keyword ${JSON.stringify(keyword)} cannot be enforced. Remove it, or prefix it with "x-"`)
    if (!matchesShape(shape, value)) throw refuse(at, `the keyword ${JSON.stringify(keyword)} has an unusable value`)
    if (shape === 'annotation' || (shape === 'format' && !enforcedFormats.has(String(value)))) continue
    if (shape === 'ref') walk.refs.push({ ref: String(value), pointer: at })
    setOwn(copy, keyword, copyValue(shape, value, at, walk, depth + 1))
  }
  walk.open.delete(node)
  return copy
}

function copyValue(shape: KeywordShape, value: unknown, pointer: string, walk: Walk, depth: number): unknown {
  if (shape === 'schema') return copySchema(value, pointer, walk, depth)
  if (shape === 'schemas' && Array.isArray(value)) return value.map((item, index) => copySchema(item, `${pointer}/${index}`, walk, depth))
  if ((shape === 'schemaMap' || shape === 'patternMap') && isObject(value)) {
    const copy: JsonSchema = {}
    for (const key of Object.keys(value)) setOwn(copy, key, copySchema(value[key], `${pointer}/${escapePointer(key)}`, walk, depth))
    return copy
  }
  return value
}

/** String formats that validators of this package check; any other is an annotation. */
export const enforcedFormats: ReadonlySet<string> = new Set(['date-time', 'date', 'time', 'email', 'uri', 'uuid', 'ipv4', 'ipv6'])

/** Assignment would call the `__proto__` setter. */
function setOwn(target: JsonSchema, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

function escapePointer(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1')
}

function refuse(pointer: string, reason: string): ConfigError {
  return new ConfigError('unsupportedSchema', `Schema at ${pointer}: ${reason}.`)
}
