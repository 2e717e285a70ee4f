import type { JsonObject, JsonValue, PendingInput } from '../../../src/index.ts'

/** One of several values, with its label. */
export interface FieldChoice {
  value: JsonValue
  title: string
}

/** A field in an input request. */
export interface QuestionField {
  name: string
  title: string
  description: string
  kind: 'text' | 'lines' | 'number' | 'check' | 'one' | 'several' | 'json'
  choices: readonly FieldChoice[]
  isNeeded: boolean
  preset: JsonValue | undefined
  /** Constraints that the browser checks. */
  bounds: { min?: number; max?: number; step?: number | 'any'; minLength?: number; maxLength?: number }
}

type Schema = Readonly<Record<string, unknown>>

/** Returns the fields of an untrusted schema, which comes from a tool or its server. */
export function fieldsOf({ schema, url }: Pick<PendingInput, 'schema' | 'url'>): QuestionField[] {
  if (url !== undefined) return []
  const { properties, required }: Schema = Object(schema)
  const needed: unknown[] = Array.isArray(required) ? required : []
  return Object.entries(Object(properties)).map(([name, given]) => fieldOf(name, Object(given), needed.includes(name)))
}

function fieldOf(name: string, schema: Schema, isNeeded: boolean): QuestionField {
  const isList = schema.type === 'array'
  const choices = choicesOf(isList ? Object(schema.items) : schema)
  const kind = choices.length > 0 ? (isList ? 'several' : 'one') : (kinds[String(schema.type)] ?? 'json')
  const { title, description } = schema
  return {
    ...{ name, kind, choices, isNeeded, bounds: boundsOf(schema) },
    title: typeof title === 'string' && title !== '' ? title : name,
    description: typeof description === 'string' ? description : '',
    preset: schema.default as JsonValue | undefined, // JSON, like the whole request
  }
}

const kinds: Readonly<Record<string, QuestionField['kind']>> = { string: 'text', number: 'number', integer: 'number', boolean: 'check' }

function boundsOf({ type, minimum, maximum, minLength, maxLength }: Schema): QuestionField['bounds'] {
  if (type === 'number' || type === 'integer') {
    const step = type === 'integer' ? 1 : 'any'
    return { step, ...numberAt('min', minimum), ...numberAt('max', maximum) }
  }
  return { ...numberAt('minLength', minLength), ...numberAt('maxLength', maxLength) }
}

function numberAt<Name extends string>(name: Name, value: unknown): Partial<Record<Name, number>> {
  return typeof value === 'number' ? ({ [name]: value } as Record<Name, number>) : {}
}

function choicesOf({ enum: values, enumNames, oneOf, anyOf }: Schema): FieldChoice[] {
  const titles: unknown[] = Array.isArray(enumNames) ? enumNames : []
  if (Array.isArray(values)) return values.map((value, at) => ({ value, title: String(titles[at] ?? value) }))
  const titled = oneOf ?? anyOf
  if (!Array.isArray(titled)) return []
  return titled.flatMap((option) => {
    const { const: value, title = value }: Schema = Object(option)
    return value === undefined ? [] : [{ value: value as JsonValue, title: String(title) }] // also JSON
  })
}

/** Returns the values. Throws a `SyntaxError` for invalid JSON. */
export function contentOf(fields: readonly QuestionField[], filled: FormData): JsonObject {
  const content: JsonObject = Object.create(null)
  for (const field of fields) {
    const value = filledValue(field, filled.getAll(field.name).map(String))
    if (value !== undefined) content[field.name] = value
  }
  return { ...content }
}

function filledValue({ kind, choices, isNeeded }: QuestionField, given: readonly string[]): JsonValue | undefined {
  const [text = ''] = given
  if (kind === 'check') return given.length > 0
  if (kind === 'several') return given.flatMap((at) => choices[Number(at)]?.value ?? [])
  if ((kind === 'text' || kind === 'lines') && isNeeded) return text
  if (text === '') return undefined
  if (kind === 'one') return choices[Number(text)]?.value
  if (kind === 'number') return Number(text)
  return kind === 'json' ? JSON.parse(text) : text
}
