import { resolveRef } from '../../../../base/json/json-value.ts'
import { namedSchemaKeywords, schemaKeywords, schemaListKeywords } from '../../../../base/json/schema-keywords.ts'
import { isObject, type JsonSchema } from '../../../../contract/json.ts'
import { type Dialect, dialects, type FittedSchema, type SchemaDialect, words } from './dialects.ts'
import { closed, completed, openness, refersToItself } from './held-objects.ts'
import { combined, objectRoot, unions } from './object-root.ts'

/** Maximum number of schemas to send, including inlined references. Schemas beyond the limit accept anything. */
const maxSchemas = 20_000

/** Keywords that no response can violate. */
const silent = words(
  '$schema $id id $comment $anchor title description deprecated readOnly writeOnly xml externalDocs discriminator propertyOrdering ' +
    'contentEncoding contentMediaType default example examples',
)
/** Keywords to describe in text if they cannot be sent. */
const sayable = words(
  'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties ' +
    'format pattern default const enum',
)
const maxHintChars = 200
/** Draft 4 uses a flag for exclusive limits. */
const strictLimits = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const

/**
 * Converts `schema` to `dialect` and reports dropped keywords. The result accepts everything that `schema` accepts. No union variant is
 * lost.
 *
 * Source: docs/guides/structured-output.md
 */
export function fitSchema(schema: JsonSchema, dialect: SchemaDialect): FittedSchema {
  const rules: Dialect = dialects[dialect]
  const whole = rules.refusesRecursion && refersToItself(schema) ? { unheld: 'it refers to itself' } : {}
  const open = rules.objects === undefined ? undefined : openness(schema, rules.objects)
  const fitting = new Fitting(schema, rules)
  const fitted = fitting.root(rules.objects === undefined)
  return { ...(open !== undefined && { unheld: open }), ...whole, schema: fitted, leftOut: fitting.leftOut() }
}

/** A schema's position: its display path, and the references being inlined. */
interface Place {
  path: string
  seen: ReadonlySet<string>
}

class Fitting {
  readonly #whole: JsonSchema
  readonly #rules: Dialect
  readonly #leftOut = new Map<string, string[]>()
  #schemas = 0

  constructor(whole: JsonSchema, rules: Dialect) {
    this.#whole = whole
    this.#rules = rules
  }

  leftOut(): string[] {
    return Array.from(
      this.#leftOut,
      ([keyword, places]) => `${keyword} of ${places.slice(0, 3).join(' and ')}${places.length > 3 ? ' …' : ''}`,
    )
  }

  #tell(keyword: string, path: string): void {
    const places = this.#leftOut.get(keyword) ?? []
    if (places.length <= 3) places.push(path === '' ? 'its root' : path)
    this.#leftOut.set(keyword, places)
  }

  root(isTools: boolean): JsonSchema {
    const { hasObjectRoot, rootKeywords } = this.#rules
    if (hasObjectRoot) for (const keyword of unions) if (keyword in this.#whole) this.#tell(keyword, '')
    const root = hasObjectRoot ? objectRoot(this.#whole, this.#resolve) : this.#whole
    const fitted = this.#fitted(root, { path: '', seen: new Set() })
    if (hasObjectRoot && !isObject(fitted.properties)) fitted.properties = {}
    if (isTools && !['type', '$ref', 'anyOf', 'oneOf'].some((keyword) => keyword in fitted)) fitted.type = 'object'
    if (rootKeywords === undefined) return fitted
    return Object.fromEntries(Object.entries(fitted).filter(([keyword]) => rootKeywords.has(keyword)))
  }

  readonly #resolve = (ref: string, seen: ReadonlySet<string>) => {
    this.#schemas += 1
    const schema = seen.has(ref) || this.#schemas > maxSchemas ? undefined : resolveRef(this.#whole, ref)
    return isObject(schema) ? { schema, seen: new Set([...seen, ref]) } : undefined
  }

  #takes(keyword: string): boolean {
    const { keywords, without } = this.#rules
    return keywords?.has(keyword) ?? !without?.has(keyword)
  }

  #fitted(value: unknown, place: Place): JsonSchema {
    this.#schemas += 1
    if (!isObject(value)) return {}
    if (this.#schemas > maxSchemas) {
      this.#tell('all', place.path)
      return {}
    }
    if (typeof value.$ref === 'string' && !this.#isSent(value.$ref)) return this.#inlined(value, value.$ref, place)
    const schema = this.#rewritten(value, place)
    const fitted: JsonSchema = {}
    const hints: string[] = []
    for (const [keyword, each] of Object.entries(schema)) {
      const kept = this.#keyword(keyword, each, schema, place)
      if (kept !== undefined) fitted[keyword] = kept
      else if (sayable.has(keyword)) hints.push(`${keyword}: ${JSON.stringify(each)}`)
    }
    const unnamed = Object.keys(Object(schema.properties)).filter((name) => !this.#isNameTaken(name))
    if (unnamed.length > 0) {
      // The property is still allowed. Only its name cannot be declared.
      if (fitted.additionalProperties === false) delete fitted.additionalProperties
      hints.push(`also takes ${unnamed.join(', ')}`)
    }
    if (hints.length > 0 && this.#takes('description')) {
      const words = `(${hints.join(', ').slice(0, maxHintChars)})`
      fitted.description = typeof fitted.description === 'string' ? `${fitted.description} ${words}` : words
    }
    return this.#finished(fitted)
  }

  /** Returns one keyword as sent, or `undefined` if it is dropped. */
  #keyword(keyword: string, value: unknown, schema: JsonSchema, place: Place): unknown {
    const { path, seen } = place
    if (!this.#takes(keyword) || (this.#rules.isReferenceAlone && '$ref' in schema && !keyword.startsWith('$'))) {
      if (!silent.has(keyword) && !keyword.startsWith('x-')) this.#tell(keyword, path)
      return undefined
    }
    if (namedSchemaKeywords.has(keyword)) return isObject(value) ? this.#named(keyword, value, place) : undefined
    if (schemaListKeywords.has(keyword)) return Array.isArray(value) ? value.map((each) => this.#fitted(each, place)) : undefined
    if (schemaKeywords.has(keyword))
      return isObject(value) ? this.#fitted(value, { path: keyword === 'items' ? `${path}[]` : path, seen }) : value
    if (keyword === 'required') return Array.isArray(value) ? value.filter((name) => this.#isNameTaken(String(name))) : undefined
    if (this.#isValueTaken(keyword, value)) return value
    this.#tell(keyword, path)
    return undefined
  }

  #isNameTaken(name: string): boolean {
    return this.#rules.propertyNames?.test(name) ?? true
  }

  #isValueTaken(keyword: string, value: unknown): boolean {
    const { formats, enums, maxMinItems, hasPlainPatterns } = this.#rules
    if (keyword === 'format') return formats === undefined || formats.has(String(value))
    if (keyword === 'pattern') return !(hasPlainPatterns && /\(\?[=!<]|\\[1-9bB]|\\p/.test(String(value)))
    if (keyword === 'minItems') return maxMinItems === undefined || Number(value) <= maxMinItems
    if (keyword === 'enum') return Array.isArray(value) && value.every((each) => enums?.has(each === null ? 'null' : typeof each) ?? true)
    return true
  }

  #named(keyword: string, schemas: Record<string, unknown>, { path, seen }: Place): JsonSchema {
    const entries: [string, JsonSchema][] = []
    for (const [name, each] of Object.entries(schemas)) {
      const place = keyword === 'properties' ? (path === '' ? name : `${path}.${name}`) : `${keyword}.${name}`
      // `false` allows no value.
      if (each === false) continue
      if (keyword !== 'properties' || this.#isNameTaken(name)) entries.push([name, this.#fitted(each, { path: place, seen })])
      else this.#tell('the name', place)
    }
    return Object.fromEntries(entries)
  }

  #isSent(ref: string): boolean {
    if (!this.#takes('$ref')) return false
    if (ref === '#') return true
    return ref.startsWith('#/$defs/')
      ? this.#takes('$defs')
      : ref.startsWith('#/definitions/') && (this.#takes('definitions') || this.#takes('$defs'))
  }

  /** Inlines a reference. A recursive reference accepts anything. */
  #inlined({ $ref: _, ...siblings }: JsonSchema, ref: string, place: Place): JsonSchema {
    const found = this.#resolve(ref, place.seen)
    if (found !== undefined) return this.#fitted(combined(found.schema, siblings), { ...place, seen: found.seen })
    this.#tell(`$ref ${ref}`, place.path)
    return this.#fitted(siblings, place)
  }

  /** Replaces keywords with equivalents that the provider accepts, if possible. */
  #rewritten(value: JsonSchema, place: Place): JsonSchema {
    let schema: JsonSchema = { ...value }
    if (Array.isArray(schema.allOf) && !this.#takes('allOf')) schema = this.#merged(schema, schema.allOf, place)
    if (schema.nullable === true && typeof schema.type === 'string') {
      const { nullable: _, ...rest } = schema
      schema = { ...rest, type: [schema.type, 'null'], ...(Array.isArray(rest.enum) && { enum: [...new Set([...rest.enum, null])] }) }
    }
    for (const [strict, limit] of strictLimits) {
      const { [strict]: isStrict, ...rest } = schema
      if (typeof isStrict === 'boolean') schema = isStrict ? { ...rest, [strict]: rest[limit] } : rest
    }
    if (Array.isArray(schema.items)) {
      const { items, additionalItems, ...rest } = schema
      schema = { ...rest, prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) }
    }
    if (Array.isArray(schema.prefixItems) && !this.#takes('prefixItems')) schema = this.#listOfAny(schema, schema.prefixItems, place)
    if ('definitions' in schema && !this.#takes('definitions') && this.#takes('$defs')) {
      const { definitions, ...rest } = schema
      schema = { ...rest, $defs: { ...Object(definitions), ...Object(rest.$defs) } }
    }
    if (typeof schema.$ref === 'string' && schema.$ref.startsWith('#/definitions/') && !this.#takes('definitions'))
      schema.$ref = schema.$ref.replace('#/definitions/', '#/$defs/')
    if ('const' in schema && !this.#takes('const')) {
      const { const: only, ...rest } = schema
      schema = {
        ...rest,
        ...(!('type' in rest) && ['string', 'number', 'boolean'].includes(typeof only) && { type: typeof only }),
        ...(only === null ? { type: 'null' } : { enum: [only] }),
      }
    }
    if (Array.isArray(schema.oneOf) && !this.#takes('oneOf')) {
      const { oneOf, ...rest } = schema
      schema = Array.isArray(rest.anyOf) ? { ...rest, anyOf: [...rest.anyOf, ...schema.oneOf] } : { ...rest, anyOf: oneOf }
    }
    if (this.#rules.objects !== undefined && Array.isArray(schema.anyOf)) schema = this.#spread(schema, schema.anyOf, place)
    return this.#withTypes(schema)
  }

  #withTypes(schema: JsonSchema): JsonSchema {
    const { hasSingleTypes, hasTypesInUnions, enums } = this.#rules
    const { type, anyOf, enum: values, description, title, ...rest } = schema
    const annotations = { ...(description !== undefined && { description }), ...(title !== undefined && { title }) }
    const refusesNull = Array.isArray(values) && values.includes(null) && enums?.has('null') === false
    if (Array.isArray(type) && !Array.isArray(anyOf) && (hasSingleTypes || refusesNull)) {
      const listing = type.map(
        (each): JsonSchema => (each === 'null' ? { type: each } : { ...rest, type: each, ...valuesOf(each, values) }),
      )
      const forms = listing.filter((form) => !Array.isArray(form.enum) || form.enum.length > 0)
      return forms.length === 1 ? { ...annotations, ...forms[0] } : { ...annotations, anyOf: forms }
    }
    if (hasTypesInUnions && type !== undefined && Array.isArray(anyOf)) {
      const { type: _, ...outer } = schema
      return { ...outer, anyOf: anyOf.map((each) => (isObject(each) && !('$ref' in each) ? { type, ...each } : each)) }
    }
    return schema
  }

  /** Moves an object's requirements into each variant of its union, because closed objects would exclude each other. */
  #spread(schema: JsonSchema, forms: readonly unknown[], { seen }: Place): JsonSchema {
    if (schema.type !== 'object' && !isObject(schema.properties)) return schema
    const { type, properties, required, additionalProperties, anyOf: _, ...rest } = schema
    const own: JsonSchema = { type, ...(isObject(properties) && { properties }), ...(Array.isArray(required) && { required }) }
    const spread = forms.filter(isObject).map((form) => {
      const found = typeof form.$ref === 'string' ? this.#resolve(form.$ref, seen)?.schema : form
      return combined(own, found ?? {})
    })
    return { ...rest, anyOf: spread }
  }

  #merged({ allOf: _, ...own }: JsonSchema, branches: readonly unknown[], place: Place): JsonSchema {
    let merged: JsonSchema = own
    for (const branch of branches) {
      if (!isObject(branch)) continue
      const found = typeof branch.$ref === 'string' ? this.#resolve(branch.$ref, place.seen) : undefined
      const { $ref, ...rest } = branch
      const whole = found === undefined ? branch : combined(found.schema, rest)
      const nested = Array.isArray(whole.allOf) ? this.#merged(whole, whole.allOf, { ...place, seen: found?.seen ?? place.seen }) : whole
      for (const keyword of ['anyOf', 'oneOf', '$ref', 'not', 'if'])
        if (keyword in nested && keyword in merged) this.#tell(keyword, place.path)
      merged = combined(merged, nested)
    }
    return merged
  }

  /** Converts a tuple to a list whose items match any of its schemas. */
  #listOfAny({ prefixItems: _, items, ...rest }: JsonSchema, each: readonly unknown[], { path }: Place): JsonSchema {
    this.#tell('prefixItems', path)
    const forms = isObject(items) ? [...each, items] : [...each]
    return { ...rest, items: forms.length === 1 ? forms[0] : { anyOf: forms } }
  }

  #finished(fitted: JsonSchema): JsonSchema {
    const { objects, namesItems } = this.#rules
    const { type } = fitted
    const isList = type === 'array' || (Array.isArray(type) && type.includes('array'))
    if (namesItems && isList && !('items' in fitted)) fitted.items = {}
    if (objects === undefined) return fitted
    const whole = closed(fitted)
    return objects === 'complete' ? completed(whole) : whole
  }
}

/** Returns a schema that allows only the enum values of this type. */
function valuesOf(type: unknown, values: unknown): JsonSchema {
  if (!Array.isArray(values)) return {}
  return {
    enum: values.filter((value) => (value === null ? 'null' : typeof value) === type || (type === 'integer' && Number.isInteger(value))),
  }
}
