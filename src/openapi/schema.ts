import { dataKeywords, namedSchemaKeywords, schemaKeywords, schemaListKeywords } from '../base/json/schema-keywords.ts'
import { isObject, type JsonSchema, setOwnField } from '../contract/json.ts'
import { isUsableKeyword } from '../validation/enforceable-schema.ts'
import { dereference, entriesField, field, type OpenApiDocument } from './document.ts'
import { asKey } from './operation-names.ts'

/** Maximum depth: more than a model understands, and too little to overflow the stack. */
const maxDepth = 64
const maxNodes = 20_000

/**
 * Converts schemas of a document to JSON Schema 2020-12 for one tool. Keeps only keywords that are enforced or that help the model.
 *
 * **Contract**
 * - References become `$ref`s into `$defs`, so that recursive schemas stay finite. The outermost schema of an argument is inlined.
 * - Converts keywords of 3.0 (`nullable`, boolean exclusive bounds). Drops `readOnly` fields, which do not belong in requests.
 * - Drops keywords that cannot be enforced, leaves those checks to the server, and lists them in `lost`.
 */
export class SchemaWriter {
  readonly #api: OpenApiDocument
  readonly #defs = new Map<object, string>()
  readonly #written: Record<string, JsonSchema | boolean> = {}
  readonly #names = new Set<string>()
  /** Next numeric suffix to try for each base name. */
  readonly #wanted = new Map<string, number>()
  readonly #open = new Set<object>()
  readonly #waiting: { name: string; target: object }[] = []
  #nodes = 0
  /** Dropped keywords and references. */
  readonly lost = new Set<string>()

  constructor(api: OpenApiDocument) {
    this.#api = api
  }

  /** Returns the schema of one argument. */
  write(node: unknown): JsonSchema {
    const target = isPureRef(node, this.#api.is30) ? dereference(this.#api, node) : node
    if (target === undefined && isObject(node)) this.lost.add(`$ref ${String(node.$ref).slice(0, 100)}`)
    const schema = this.#schema(target, 0)
    if (schema === false) return { not: {} }
    return schema === true ? {} : schema
  }

  /** Returns the definitions that the schemas so far refer to, or `undefined` if there are none. */
  definitions(): Record<string, JsonSchema | boolean> | undefined {
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      setOwnField(this.#written, next.name, this.#schema(next.target, 0))
    }
    for (const name of Object.keys(this.#written)) this.#breakCircle(name)
    return this.#names.size === 0 ? undefined : this.#written
  }

  #schema(node: unknown, depth: number): JsonSchema | boolean {
    if (typeof node === 'boolean') return node
    if (!isObject(node)) return this.#any(node === undefined ? 'a missing schema' : 'a schema that is not an object')
    if (depth > maxDepth || this.#nodes >= maxNodes) return this.#any('schemas that are nested too deeply or too large')
    if (this.#open.has(node)) return this.#any('a schema that contains itself without a $ref')
    this.#nodes += 1
    this.#open.add(node)
    const copy = this.#copy(node, depth + 1)
    this.#open.delete(node)
    return copy
  }

  #any(what: string): boolean {
    this.lost.add(what)
    return true
  }

  #copy(node: JsonSchema, depth: number): JsonSchema | boolean {
    const copy: JsonSchema = {}
    const ref = field(node, '$ref')
    if (typeof ref === 'string') {
      const target = this.#reference(ref)
      if (typeof target === 'boolean' && this.#api.is30) return target
      if (typeof target === 'string') copy.$ref = target
      if (this.#api.is30) return copy
    }
    for (const [keyword, value] of Object.entries(node)) this.#keyword(copy, keyword, value, node, depth)
    return nullable(bounds(copy, node), node)
  }

  #keyword(copy: JsonSchema, keyword: string, value: unknown, node: JsonSchema, depth: number): void {
    if (silent.has(keyword) || keyword.startsWith('x-')) return
    if (keyword === 'example') {
      if (!Object.hasOwn(node, 'examples') && isSmall(value)) copy.examples = [value]
      return
    }
    if (!isUsableKeyword(keyword, value) || (dataKeywords.has(keyword) && !isSmall(value))) {
      if (!(keyword.startsWith('exclusiveM') && typeof value === 'boolean')) this.lost.add(keyword.slice(0, 100))
      return
    }
    if (keyword === 'properties') copy.properties = this.#properties(value, depth)
    else if (keyword === 'required') copy.required = (value as string[]).filter((name) => !this.#isReadOnly(field(node.properties, name)))
    else if (schemaKeywords.has(keyword)) copy[keyword] = this.#schema(value, depth)
    else if (schemaListKeywords.has(keyword)) copy[keyword] = (value as unknown[]).map((part) => this.#schema(part, depth))
    else if (namedSchemaKeywords.has(keyword)) copy[keyword] = this.#named(Object.entries(value as object), depth)
    else copy[keyword] = value
  }

  #properties(value: unknown, depth: number): JsonSchema {
    return this.#named(
      Object.entries(value as object).filter(([, property]) => !this.#isReadOnly(property)),
      depth,
    )
  }

  #named(entries: readonly [string, unknown][], depth: number): JsonSchema {
    const copy: JsonSchema = {}
    for (const [name, schema] of entries) setOwnField(copy, name, this.#schema(schema, depth))
    return copy
  }

  #isReadOnly(property: unknown): boolean {
    return field(property, 'readOnly') === true || field(dereference(this.#api, property), 'readOnly') === true
  }

  /** Returns the `$defs` name for a reference. A boolean schema is returned unchanged. */
  #reference(ref: string): string | boolean {
    const target = dereference(this.#api, { $ref: ref })
    if (typeof target === 'boolean') return target
    if (!isObject(target)) return this.#any(`$ref ${ref.slice(0, 100)}`)
    let name = this.#defs.get(target)
    if (name === undefined) {
      name = this.#freeName(ref)
      this.#defs.set(target, name)
      this.#waiting.push({ name, target })
    }
    return `#/$defs/${name}`
  }

  #freeName(ref: string): string {
    const last = asKey(ref.slice(ref.lastIndexOf('/') + 1))
    const base = last === '' || last in {} ? `schema_${last}` : last.slice(0, 80)
    let name = base
    for (let at = this.#wanted.get(base) ?? 2; this.#names.has(name); at += 1) {
      name = `${base}_${at}`
      this.#wanted.set(base, at + 1)
    }
    this.#names.add(name)
    return name
  }

  /** Schemas that only refer to each other accept any value. */
  #breakCircle(start: string): void {
    const seen = new Set<string>()
    let name = start
    for (;;) {
      const schema = this.#written[name]
      const ref = field(schema, '$ref')
      if (typeof ref !== 'string' || !isObject(schema)) return
      seen.add(name)
      name = ref.slice('#/$defs/'.length)
      if (!seen.has(name)) continue
      delete schema.$ref
      this.lost.add(`$ref ${ref}`)
      return
    }
  }
}

/** OpenAPI 3.1 allows keywords next to `$ref`. */
function isPureRef(node: unknown, is30: boolean): boolean {
  return isObject(node) && typeof field(node, '$ref') === 'string' && (is30 || Object.keys(node).length === 1)
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))
/** Keywords for other readers, and containers that only references use. */
const silent = words('$ref $schema $id $comment id $defs definitions xml externalDocs discriminator nullable readOnly writeOnly')

/** Returns whether a value has a reasonable size and depth as JSON. YAML aliases can create endless values. */
function isSmall(value: unknown): boolean {
  let left = 10_000
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    left -= level.length
    if (left <= 0 || depth > maxDepth) return false
    const room = left
    level = level.flatMap((part) => (typeof part === 'object' && part !== null ? Object.values(part).slice(0, room) : []))
  }
  return true
}

/** Converts `exclusiveMinimum: true` with a `minimum`, as in 3.0. */
function bounds(copy: JsonSchema, node: JsonSchema): JsonSchema {
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (field(node, exclusive) !== true || copy[bound] === undefined) continue
    copy[exclusive] = copy[bound]
    delete copy[bound]
  }
  return copy
}

function nullable(copy: JsonSchema, node: JsonSchema): JsonSchema {
  if (field(node, 'nullable') !== true) return copy
  const { type } = copy
  if (type === undefined && ['$ref', 'allOf', 'anyOf', 'oneOf', 'enum'].some((keyword) => copy[keyword] !== undefined)) {
    return { anyOf: [copy, { type: 'null' }] }
  }
  if (Array.isArray(copy.enum) && !copy.enum.includes(null)) copy.enum = [...copy.enum, null]
  if (typeof type === 'string' && type !== 'null') copy.type = [type, 'null']
  return copy
}

/** Returns a parameter's schema: its own, or that of the media type in `content`. */
export function schemaOfParameter(node: unknown): unknown {
  const media = entriesField(node, 'content')[0]
  return media === undefined ? field(node, 'schema') : field(media[1], 'schema')
}
