import { lateChunk } from '../../../base/late/late-chunk.ts'
import { isObject, type JsonSchema } from '../../../contract/json.ts'
import type { ToolDefinition } from '../../../contract/model/request.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import { perObject } from '../encode/json-pieces.ts'
import type { FittedSchema, SchemaDialect } from '../optional/schema/dialects.ts'

const chunk = lateChunk('the part that fits schemas', () => import('../optional/schema/fit-schema.ts'))

/** Loads what fits the schemas of `request`, where one of them is more than plain. To be awaited before it is encoded. */
export function schemasReady({ tools, searchable, responseFormat }: StreamRequest): Promise<unknown> | undefined {
  if (chunk.loaded !== undefined) return undefined
  const isPlain = ({ parameters }: ToolDefinition): boolean => plainness(parameters).isPlain
  const isReady = tools.every(isPlain) && (searchable === undefined || searchable.tools.every(isPlain))
  if (isReady && (responseFormat?.type !== 'jsonSchema' || plainness(responseFormat.schema).isHeld)) return undefined
  return chunk.load()
}

/** `schema` as a service takes it. Made once. */
export const fittedSchema = perDialect((schema: JsonSchema, dialect): FittedSchema => {
  const { isPlain, isHeld } = plainness(schema)
  if (isHeld || (isPlain && !holding.has(dialect))) return { schema: withProperties(schema), leftOut: [] }
  if (chunk.loaded === undefined) throw new TypeError('A schema was to be encoded before the part that fits it was loaded.')
  return chunk.loaded.fitSchema(schema, dialect)
})

/** `tools` as a service takes them. What was left out is added to `warnings`; calls are checked against all of it. */
export function fittedTools(tools: readonly ToolDefinition[], dialect: SchemaDialect, warnings: string[]): readonly ToolDefinition[] {
  const fitted = fittedList(tools, dialect)
  warnings.push(...fitted.warnings)
  return fitted.tools
}

const fittedList = perDialect((tools: readonly ToolDefinition[], dialect) => ({
  tools: tools.map((tool) => fittedTool(tool, dialect)),
  warnings: tools.flatMap(({ name, parameters }) => {
    const { leftOut } = fittedSchema(parameters, dialect)
    return leftOut.length === 0 ? [] : [`tool ${name} is sent without ${leftOut.join(', ')}: calls are still checked against it`]
  }),
}))

const fittedTool = perDialect((tool: ToolDefinition, dialect): ToolDefinition => {
  const { schema } = fittedSchema(tool.parameters, dialect)
  return schema === tool.parameters ? tool : { ...tool, parameters: schema }
})

/** `make` with a memory for each object and dialect. */
function perDialect<Key extends object, Value>(make: (key: Key, dialect: SchemaDialect) => Value) {
  const known = perObject((_key: Key) => new Map<SchemaDialect, Value>())
  return (key: Key, dialect: SchemaDialect): Value => {
    const values = known(key)
    const value = values.get(dialect) ?? make(key, dialect)
    values.set(dialect, value)
    return value
  }
}

/** Those to which answers are held: they want objects closed. */
const holding: ReadonlySet<SchemaDialect> = new Set(['claudeFormat', 'bedrockFormat', 'openAiStrict'])

/** What a service is sent of a plain schema: the draft that it is written in says nothing, and some want the properties of an object that has none. */
function withProperties(schema: JsonSchema): JsonSchema {
  if (!('$schema' in schema) && schema.properties !== undefined) return schema
  const { $schema: _, ...said } = schema
  return { properties: {}, ...said }
}

/** Whether every service takes a schema in tools, and whether each can be held to it. */
const plainness = perObject((schema: JsonSchema) => {
  const isPlain = schema.type === 'object' && isPlainSchema(schema, true)
  return { isPlain, isHeld: isPlain && isComplete(schema) }
})

const plainKeywords = new Set(['type', 'title', 'description', 'properties', 'required', 'additionalProperties', 'items', 'enum'])
/** Names that every service takes. */
const plainName = /^\w[\w.-]{0,63}$/

function isPlainSchema(value: unknown, isRoot = false): boolean {
  if (!isObject(value) || typeof value.type !== 'string') return false
  if (!Object.keys(value).every((keyword) => plainKeywords.has(keyword) || (isRoot && keyword === '$schema'))) return false
  const { type, properties, additionalProperties: more, items, enum: values } = value
  if (values !== undefined && !(Array.isArray(values) && values.every((each) => typeof each === 'string'))) return false
  if (type === 'array' ? !isPlainSchema(items) : items !== undefined) return false
  if (type !== 'object') return properties === undefined
  if (isRoot && properties === undefined) return more === undefined || typeof more === 'boolean'
  if (!isObject(properties) || (more !== undefined && typeof more !== 'boolean')) return false
  return Object.entries(properties).every(([name, each]) => plainName.test(name) && isPlainSchema(each))
}

/** Whether each object of a plain schema demands all that it names, and takes nothing else. */
function isComplete({ properties, required, additionalProperties, items }: Record<string, unknown>): boolean {
  if (isObject(items)) return isComplete(items)
  if (!isObject(properties)) return true
  const demanded: unknown[] = Array.isArray(required) ? required : []
  const isWhole = ([name, each]: [string, unknown]): boolean => demanded.includes(name) && isObject(each) && isComplete(each)
  return additionalProperties === false && Object.entries(properties).every(isWhole)
}
