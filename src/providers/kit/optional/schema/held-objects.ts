import { resolveRef } from '../../../../base/json/json-value.ts'
import { dataKeywords, namedSchemaKeywords } from '../../../../base/json/schema-keywords.ts'
import { isObject, type JsonSchema } from '../../../../contract/json.ts'

/** Keywords whose schemas can declare properties for an object that declares none. */
const unions = ['anyOf', 'oneOf', 'allOf', '$ref']

/**
 * Returns why a provider with closed objects cannot enforce `schema`, for example an object that allows undeclared names, or `undefined` if it
 * can.
 */
export function openness(schema: JsonSchema, objects: 'closed' | 'complete'): string | undefined {
  if (isOpen(schema)) return 'it has an object that takes any property'
  return objects === 'complete' && schemasIn(schema).some((each) => Object.keys(each).every(saysNothing))
    ? 'it takes any value somewhere'
    : undefined
}

const saysNothing = (keyword: string): boolean => ['title', 'description', 'default', 'examples', '$comment'].includes(keyword)

function isOpen(value: unknown): boolean {
  return schemasIn(value).some((schema) => {
    const { additionalProperties: more, patternProperties } = schema
    if ((more !== undefined && more !== false) || patternProperties !== undefined) return true
    return isObjectSchema(schema) && !isObject(schema.properties) && !unions.some((keyword) => keyword in schema)
  })
}

/** Returns all schemas in `value`, including itself. */
function schemasIn(value: unknown): JsonSchema[] {
  const found = new Set<JsonSchema>()
  const open: unknown[] = [value]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (Array.isArray(each)) open.push(...each)
    if (!isObject(each) || found.has(each)) continue
    found.add(each)
    for (const [keyword, inner] of Object.entries(each)) {
      if (dataKeywords.has(keyword)) continue
      if (namedSchemaKeywords.has(keyword) && isObject(inner)) open.push(...Object.values(inner))
      else if (isObject(inner) || Array.isArray(inner)) open.push(inner)
    }
  }
  return [...found]
}

/** Returns whether `schema` contains a recursive reference. */
export function refersToItself(schema: JsonSchema): boolean {
  const finished = new Set<unknown>()
  const leadsBack = (value: JsonSchema, through: ReadonlySet<string>): boolean =>
    schemasIn(value).some(({ $ref }) => {
      if (typeof $ref !== 'string') return false
      if (through.has($ref) || $ref === '#') return true
      const found = resolveRef(schema, $ref)
      if (!isObject(found) || finished.has(found)) return false
      const isBack = leadsBack(found, new Set([...through, $ref]))
      finished.add(found)
      return isBack
    })
  const { $defs: _, definitions: __, ...root } = schema
  return leadsBack(root, new Set())
}

/** Closes `schema` if it is an object. */
export function closed(schema: JsonSchema): JsonSchema {
  return isObjectSchema(schema) ? { ...schema, additionalProperties: false } : schema
}

/** Makes all properties of `schema` required. Properties that were optional may be null. */
export function completed(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema
  if (!isObject(properties)) return schema
  const demanded: unknown[] = Array.isArray(required) ? required : []
  const entries = Object.entries(properties).map(([name, each]) => [name, demanded.includes(name) ? each : orNull(each)])
  return { ...schema, properties: Object.fromEntries(entries), required: entries.map(([name]) => name) }
}

function orNull(schema: unknown): unknown {
  if (!isObject(schema) || takesNull(schema)) return schema
  const { type, anyOf, ...rest } = schema
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] }
  if (typeof type !== 'string' || 'enum' in rest || 'const' in rest) return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'] }
}

function takesNull({ type, anyOf }: JsonSchema): boolean {
  if (type === 'null' || (Array.isArray(type) && type.includes('null'))) return true
  return Array.isArray(anyOf) && anyOf.some((each) => isObject(each) && takesNull(each))
}

function isObjectSchema(schema: JsonSchema): boolean {
  const { type } = schema
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || isObject(schema.properties)
}
