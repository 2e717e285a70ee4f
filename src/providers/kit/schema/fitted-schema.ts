import { lateChunk } from '../../../base/late/late-chunk.ts'
import { isObject, type JsonSchema } from '../../../contract/json.ts'
import type { ToolDefinition } from '../../../contract/model/request.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import { perObject } from '../encode/json-pieces.ts'
import type { FittedSchema, SchemaDialect } from '../optional/schema/dialects.ts'

const chunk = lateChunk('the part that fits schemas', () => import('../optional/schema/fit-schema.ts'))

/** Loads the schema converter if a schema of `request` needs it. Await it before encoding. */
export function schemasReady({ tools, searchable, responseFormat }: StreamRequest): Promise<unknown> | undefined {
  if (chunk.loaded !== undefined) return undefined
  for (const { parameters } of searchable === undefined ? tools : [...tools, ...searchable.tools])
    if (!isPlain(parameters)) return chunk.load()
  return responseFormat?.type !== 'jsonSchema' || isHeld(responseFormat.schema) ? undefined : chunk.load()
}

/** Returns `schema` in a provider's dialect. The result is cached. */
export const fittedSchema = perDialect((schema: JsonSchema, dialect): FittedSchema => {
  if (holding.has(dialect) ? isHeld(schema) : isPlain(schema)) {
    // Remove the irrelevant draft version, and add `properties`, which some providers require for every object.
    const { $schema: draft, ...fields } = schema
    return { schema: draft === undefined && fields.properties !== undefined ? schema : { properties: {}, ...fields }, leftOut: [] }
  }
  if (chunk.loaded === undefined) throw new TypeError('Cannot encode a schema before its encoder is loaded.')
  return chunk.loaded.fitSchema(schema, dialect)
})

/** Returns `tools` in a provider's dialect. Adds dropped keywords to `warnings`. Calls are still validated against the original schema. */
export function fittedTools(tools: readonly ToolDefinition[], dialect: SchemaDialect, warnings: string[]): readonly ToolDefinition[] {
  const fitted = fittedList(tools, dialect)
  warnings.push(...fitted.warnings)
  return fitted.tools
}

const fittedList = perDialect((tools: readonly ToolDefinition[], dialect) => {
  const fitted: { tools: ToolDefinition[]; warnings: string[] } = { tools: [], warnings: [] }
  for (const tool of tools) {
    const { schema, leftOut } = fittedSchema(tool.parameters, dialect)
    fitted.tools.push(schema === tool.parameters ? tool : fittedTool(tool, dialect))
    if (leftOut.length > 0) fitted.warnings.push(`tool ${tool.name} is sent without ${leftOut.join(', ')}: calls are still validated`)
  }
  return fitted
})

/** Cached, so that encoded forms are reused. */
const fittedTool = perDialect(
  (tool: ToolDefinition, dialect): ToolDefinition => ({ ...tool, parameters: fittedSchema(tool.parameters, dialect).schema }),
)

/** Memoizes `make` per object and dialect. */
function perDialect<Key extends object, Value>(make: (key: Key, dialect: SchemaDialect) => Value) {
  const known = new WeakMap<Key, Map<SchemaDialect, Value>>()
  return (key: Key, dialect: SchemaDialect): Value => {
    const values = known.get(key) ?? new Map<SchemaDialect, Value>()
    const value = values.get(dialect) ?? make(key, dialect)
    known.set(key, values.set(dialect, value))
    return value
  }
}

/** Dialects that enforce a response schema, with closed objects. */
const holding: ReadonlySet<SchemaDialect> = new Set(['claudeFormat', 'bedrockFormat', 'openAiStrict'])

/** Returns whether every provider accepts a schema for tools. */
const isPlain = perObject((schema: JsonSchema) => schema.type === 'object' && isPlainSchema(schema, true))

/** Returns whether every provider can also enforce it. */
const isHeld = perObject((schema: JsonSchema) => isPlain(schema) && isComplete(schema))

const plainKeywords = new Set(['type', 'title', 'description', 'properties', 'required', 'additionalProperties', 'items', 'enum'])
/** Matches property names that every provider accepts. */
const plainName = /^\w[\w.-]{0,63}$/

function isPlainSchema(value: unknown, isRoot = false): boolean {
  if (!isObject(value) || typeof value.type !== 'string') return false
  for (const keyword of Object.keys(value)) if (!plainKeywords.has(keyword) && !(isRoot && keyword === '$schema')) return false
  const { type, properties, additionalProperties: more, items, enum: values } = value
  if (values !== undefined && !(Array.isArray(values) && values.every((each) => typeof each === 'string'))) return false
  if (type === 'array' ? !isPlainSchema(items) : items !== undefined) return false
  if (type !== 'object') return properties === undefined
  if (isRoot && properties === undefined) return more === undefined || typeof more === 'boolean'
  if (!isObject(properties) || (more !== undefined && typeof more !== 'boolean')) return false
  for (const [name, each] of Object.entries(properties)) if (!plainName.test(name) || !isPlainSchema(each)) return false
  return true
}

/** Returns whether each object of a plain schema requires all its properties, and allows no others. */
function isComplete({ properties, required, additionalProperties, items }: Record<string, unknown>): boolean {
  if (isObject(items)) return isComplete(items)
  if (!isObject(properties)) return true
  const demanded: unknown[] = Array.isArray(required) ? required : []
  const isWhole = ([name, each]: [string, unknown]): boolean => demanded.includes(name) && isObject(each) && isComplete(each)
  return additionalProperties === false && Object.entries(properties).every(isWhole)
}
