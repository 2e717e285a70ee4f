import { dataKeywords, namedSchemaKeywords, schemaKeywords, schemaListKeywords } from '../base/json/schema-keywords.ts'
import { isObject, type JsonSchema, setOwnField } from '../contract/json.ts'
import { isUsableKeyword } from '../validation/enforceable-schema.ts'
import { dereference, entriesField, field, type OpenApiDocument } from './document.ts'
import { asKey } from './operation-names.ts'

/** Far beyond what a model reads, and far from the end of a stack. */
const maxDepth = 64
const maxNodes = 20_000

/**
 * Schemas of a document as schemas of one tool: JSON Schema 2020-12 with nothing in it but what is enforced or tells a model something.
 *
 * **Contract**
 * - References become `$ref`s into `$defs`, so that circles stay finite; the outermost schema of an argument stands in its place.
 * - What 3.0 says in its own words (`nullable`, flags for exclusive bounds) is said in those of JSON Schema. Fields that are `readOnly` are left
 *   out: they are not for requests.
 * - What cannot be enforced is left out, which leaves it to the server, and is named in `lost`.
 */
export class SchemaWriter {
  readonly #api: OpenApiDocument
  readonly #defs = new Map<object, string>()
  readonly #written: Record<string, JsonSchema | boolean> = {}
  readonly #names = new Set<string>()
  /** How often a name was wanted. */
  readonly #wanted = new Map<string, number>()
  readonly #open = new Set<object>()
  readonly #waiting: { name: string; target: object }[] = []
  #nodes = 0
  /** Keywords and references that were left out. */
  readonly lost = new Set<string>()

  constructor(api: OpenApiDocument) {
    this.#api = api
  }

  /** The schema of one argument. */
  write(node: unknown): JsonSchema {
    const target = isPureRef(node, this.#api.is30) ? dereference(this.#api, node) : node
    if (target === undefined && isObject(node)) this.lost.add(`$ref ${String(node.$ref).slice(0, 100)}`)
    const schema = this.#schema(target, 0)
    if (schema === false) return { not: {} }
    return schema === true ? {} : schema
  }

  /** What the schemas written so far refer to; `undefined` where they refer to nothing. */
  definitions(): Record<string, JsonSchema | boolean> | undefined {
    for (let next = this.#waiting.pop(); next !== undefined; next = this.#waiting.pop()) {
      setOwnField(this.#written, next.name, this.#schema(next.target, 0))
    }
    for (const name of Object.keys(this.#written)) this.#breakCircle(name)
    return this.#names.size === 0 ? undefined : this.#written
  }

  #schema(node: unknown, depth: number): JsonSchema | boolean {
    if (typeof node === 'boolean') return node
    if (!isObject(node)) return this.#any(node === undefined ? 'a missing schema' : 'a schema that is no object')
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

  /** The name under `$defs` as a reference; a schema that is true or false itself. */
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

  /** Schemas that are nothing but each other say nothing. */
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

/** In 3.1 a reference may have keywords beside it. */
function isPureRef(node: unknown, is30: boolean): boolean {
  return isObject(node) && typeof field(node, '$ref') === 'string' && (is30 || Object.keys(node).length === 1)
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))
/** Of use to others, or, as containers, only to references, which find them in the document. */
const silent = words('$ref $schema $id $comment id $defs definitions xml externalDocs discriminator nullable readOnly writeOnly')

/** Whether a value of a document can be written as JSON in reasonable length and depth: aliases of YAML make some that are endless. */
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

/** `exclusiveMinimum: true` beside a `minimum`, as 3.0 has it. */
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

/** The schema of the media type that a parameter with `content` is written in, or its own. */
export function schemaOfParameter(node: unknown): unknown {
  const media = entriesField(node, 'content')[0]
  return media === undefined ? field(node, 'schema') : field(media[1], 'schema')
}
