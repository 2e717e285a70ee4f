import { isObject, type JsonSchema } from '../../../../contract/json.ts'

/** Resolves a `$ref`, or `undefined` if it does not exist or is being resolved. */
export type Resolve = (ref: string, seen: ReadonlySet<string>) => { schema: JsonSchema; seen: ReadonlySet<string> } | undefined

/** Keywords that a root object must not have next to its properties. */
export const unions: readonly string[] = ['anyOf', 'oneOf', 'allOf', 'not', 'if', 'enum', 'const', 'dependentSchemas', 'dependentRequired']
/** Keywords merged into one object and removed. */
const read: readonly string[] = [...unions, '$ref', 'then', 'else']

const nowhere: ReadonlySet<string> = new Set()

/**
 * Converts `schema` to one object without unions and conditions that accepts everything the schema accepts. The object has all properties
 * of all variants, and requires the properties that every variant requires.
 */
export function objectRoot(schema: JsonSchema, resolve: Resolve): JsonSchema {
  const root = asObject(schema, resolve, nowhere)
  const variants = [schema.anyOf, schema.oneOf].find(Array.isArray)
  const variantsText = variants === undefined ? '' : describeVariants(variants.map((each) => asObject(each, resolve, nowhere)))
  if (variantsText !== '')
    root.description = [root.description, variantsText].filter((text) => typeof text === 'string' && text !== '').join('\n')
  return root
}

function asObject(value: unknown, resolve: Resolve, seen: ReadonlySet<string>): JsonSchema {
  if (!isObject(value)) return { type: 'object' }
  let root: JsonSchema = { ...value, type: 'object' }
  for (const keyword of read) delete root[keyword]
  const found = typeof value.$ref === 'string' ? resolve(value.$ref, seen) : undefined
  if (found !== undefined) root = combined(asObject(found.schema, resolve, found.seen), root)
  for (const each of listOf(value.allOf)) root = combined(root, asObject(each, resolve, seen))
  for (const list of [listOf(value.anyOf), listOf(value.oneOf)]) {
    const variants = list.filter(canBeObject).map((each) => asObject(each, resolve, seen))
    if (variants.length > 0) root = withVariants(root, variants)
  }
  const conditional = [value.then, value.else, ...Object.values(isObject(value.dependentSchemas) ? value.dependentSchemas : {})]
  const added = conditional.filter(isObject).map((each) => asObject(each, resolve, seen))
  return added.length === 0 ? root : withVariants(root, [...added, {}])
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function canBeObject(value: unknown): boolean {
  const type = isObject(value) ? value.type : undefined
  return value !== false && (type === undefined || type === 'object' || listOf(type).includes('object'))
}

/** Merges two schemas, with all properties and requirements. If both have a keyword, the second wins. */
export function combined(first: JsonSchema, second: JsonSchema): JsonSchema {
  const properties = new Map(propertiesOf(first))
  for (const [name, schema] of propertiesOf(second)) properties.set(name, narrowed(properties.get(name), schema))
  const required = new Set([...listOf(first.required), ...listOf(second.required)])
  const both: JsonSchema = { ...first, ...second }
  if (isObject(first.properties) || isObject(second.properties)) both.properties = Object.fromEntries(properties)
  if (required.size > 0) both.required = [...required]
  return both
}

/** Merges two schemas of one property. */
function narrowed(first: unknown, second: unknown): unknown {
  return isObject(first) && isObject(second) ? { ...first, ...second } : second
}

function withVariants(base: JsonSchema, variants: readonly JsonSchema[]): JsonSchema {
  const own = new Map(propertiesOf(base))
  const properties = new Map(own)
  const names = new Set(variants.flatMap((variant) => propertiesOf(variant).map(([name]) => name)))
  for (const name of names) {
    const given = variants.map((variant) => new Map(propertiesOf(variant)).get(name))
    const forms = given.flatMap((each) => (each === undefined ? (own.has(name) ? [own.get(name)] : []) : [narrowed(own.get(name), each)]))
    properties.set(name, anyForm(forms))
  }
  const demanded = variants.map(({ required }) => listOf(required))
  const byAll = (demanded[0] ?? []).filter((name) => demanded.every((list) => list.includes(name)))
  const required = new Set([...listOf(base.required), ...byAll])
  const { additionalProperties: more, ...rest } = base
  const isClosed =
    more === false
      ? variants.every((each) => propertiesOf(each).length === 0)
      : variants.every((each) => each.additionalProperties === false)
  return {
    ...rest,
    ...(isClosed ? { additionalProperties: false } : typeof more === 'object' && { additionalProperties: more }),
    properties: Object.fromEntries(properties),
    ...(required.size > 0 && { required: [...required] }),
  }
}

/** Returns a schema that accepts any of `forms`. Merges constants into one `enum`. */
function anyForm(forms: readonly unknown[]): unknown {
  const distinct = [...new Map(forms.map((form) => [JSON.stringify(form), form])).values()]
  const [first] = distinct
  if (distinct.length === 1) return first
  if (!isObject(first) || !distinct.every(isEnumerated)) return { anyOf: distinct }
  const { const: _, enum: __, ...rest } = first
  const types = new Set(distinct.map(({ type }) => JSON.stringify(type)))
  if (types.size > 1) return { anyOf: distinct }
  return { ...rest, enum: [...new Set(distinct.flatMap(valuesOf))] }
}

function isEnumerated(schema: unknown): schema is JsonSchema {
  return isObject(schema) && ('const' in schema || Array.isArray(schema.enum))
}

const valuesOf = (schema: JsonSchema): readonly unknown[] => ('const' in schema ? [schema.const] : listOf(schema.enum))

function propertiesOf({ properties }: JsonSchema): [string, unknown][] {
  return isObject(properties) ? Object.entries(properties) : []
}

/** Maximum length of the description of variants. */
const maxDescribed = 20
const maxDescriptionChars = 2000

/** Describes the variants for the model: `Give one of: {kind: "a", x} or {kind: "b", y?}`. */
function describeVariants(variants: readonly JsonSchema[]): string {
  const descriptions = variants.slice(0, maxDescribed).map((variant) => {
    const demanded = listOf(variant.required)
    const described = propertiesOf(variant).map(([name, schema]) => describeProperty(name, schema, demanded.includes(name)))
    const bare = demanded.filter((name) => propertiesOf(variant).every(([each]) => each !== name))
    return `{${[...described, ...bare].join(', ')}}`
  })
  const distinct = [...new Set(descriptions)]
  return distinct.length < 2 ? '' : `Give one of: ${distinct.join(' or ')}`.slice(0, maxDescriptionChars)
}

function describeProperty(name: string, schema: unknown, isRequired: boolean): string {
  if (isObject(schema) && 'const' in schema) return `${name}: ${JSON.stringify(schema.const)}`
  return isRequired ? name : `${name}?`
}
